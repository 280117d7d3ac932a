//! Makes the functions of the face, names the shared library for the loader, and takes the unwinder along.

#[path = "../faces.rs"]
mod faces;
#[allow(clippy::disallowed_methods, reason = "what a compiler says is text")]
#[path = "../../../crates/engine/runtime/unwinder.rs"]
mod unwinder;

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=../functions.txt");
    println!("cargo:rerun-if-changed=../faces.rs");
    println!("cargo:rerun-if-changed=../description.rs");
    println!("cargo:rerun-if-changed=../target.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpi.so.12");
    // The C library calls a function of it at the end of the process.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    let description =
        std::fs::read_to_string("../functions.txt").expect("the description of MPI's functions");
    let out = std::env::var("OUT_DIR").expect("cargo says where");
    std::fs::write(Path::new(&out).join("face.rs"), faces::make(&description)).expect("room for the face");
    unwinder::link();
}
