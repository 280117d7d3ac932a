//! Names the shared library for the loader.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libparvum.so.0");
}
