//! Makes the functions of the face and its table of numbers, names the shared library for the loader, and takes the unwinder along.

#[path = "face.rs"]
mod face;
#[path = "names.rs"]
mod names;
#[allow(clippy::disallowed_methods, reason = "what a compiler says is text")]
#[path = "../../../crates/engine/runtime/unwinder.rs"]
mod unwinder;

use std::path::Path;

fn main() {
    for file in
        ["functions.txt", "faces.rs", "description.rs", "target.rs", "include/mpi.h", "include/mpi_abi.h"]
    {
        println!("cargo:rerun-if-changed=../{file}");
    }
    for file in ["face.rs", "names.rs"] {
        println!("cargo:rerun-if-changed={file}");
    }
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    // The C library calls a function of it at the end of the process.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    let read =
        |file: &str| std::fs::read_to_string(file).unwrap_or_else(|why| panic!("{file}, beside this: {why}"));
    let out = std::env::var("OUT_DIR").expect("cargo says where");
    let write = |file: &str, text: String| std::fs::write(Path::new(&out).join(file), text).expect("room");
    write("face.rs", face::make(&read("../functions.txt")));
    write("names.rs", names::make(&read("../include/mpi.h"), &read("../include/mpi_abi.h")));
    unwinder::link();
}
