//! Names the shared library for the loader, takes the unwinder along, and compiles the calls with variable arguments.

#[path = "../../crates/engine/runtime/unwinder.rs"]
#[expect(clippy::disallowed_methods, reason = "what cargo reads is text")]
mod unwinder;

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpvm3.so.3");
    unwinder::link();
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
