//! Names the shared library for the loader, takes the unwinder along, and compiles the calls with variable arguments.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpvm3.so.3");
    link_unwinder();
    println!("cargo:rerun-if-changed=c/packf.c");
    println!("cargo:rerun-if-changed=include/pvm3.h");
    cc::Build::new()
        .file("c/packf.c")
        .include("include")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .compile("packf");
}

/// As in `crates/library/build.rs`, where the reason stands.
fn link_unwinder() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let Ok(said) = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output() else { return };
    let path = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if let Some(folder) = Path::new(&path).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}
