//! For the build scripts of the shared libraries.

use std::path::Path;
use std::process::Command;

/// Links GCC's unwinder itself: the loader would take 0.2 ms of every task's start for libgcc_s.so.1,
/// which asks the processor what it is, and that is slow in a virtual machine. Where the compiler has
/// no such archive the shared one is used.
pub fn link() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let Ok(said) = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output() else { return };
    let path = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if let Some(folder) = Path::new(&path).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}
