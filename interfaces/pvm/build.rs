//! Names the shared library for the loader, and compiles the calls with variable arguments.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpvm3.so.3");
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
