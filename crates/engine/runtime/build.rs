//! Names the shared library for the loader, and takes the unwinder along.

mod unwinder;

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libparvum.so.0");
    unwinder::link();
}
