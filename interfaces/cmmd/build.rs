//! Names the shared library for the loader, takes the unwinder along, and compiles the call with variable arguments.

#[path = "../../crates/engine/runtime/unwinder.rs"]
mod unwinder;

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcmmd.so.1");
    unwinder::link();
    println!("cargo:rerun-if-changed=c/error.c");
    println!("cargo:rerun-if-changed=include/cmmd.h");
    cc::Build::new()
        .file("c/error.c")
        .include("include")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .compile("cmmd_error");
}
