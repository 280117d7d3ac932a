//! Names the shared library for the loader, takes the unwinder along, and compiles the call with variable arguments.

#[path = "../../crates/engine/runtime/unwinder.rs"]
mod unwinder;

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libTmk.so.1");
    unwinder::link();
    println!("cargo:rerun-if-changed=c/errexit.c");
    println!("cargo:rerun-if-changed=include/Tmk.h");
    cc::Build::new()
        .file("c/errexit.c")
        .include("include")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .compile("tmk_errexit");
}
