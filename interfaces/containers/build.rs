//! Names the shared library for the loader, and takes the unwinder along.

#[path = "../../crates/engine/runtime/unwinder.rs"]
mod unwinder;

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcontainers.so.0");
    unwinder::link();
}
