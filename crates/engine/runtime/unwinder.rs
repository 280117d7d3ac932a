//! For the build scripts of the shared libraries.

use std::path::Path;
use std::process::Command;

/// Links GCC's unwinder statically. Otherwise libgcc_s.so.1 would add 0.2 ms to the start of every task, because it
/// queries the kind of the processor, which is slow in a virtualised computer. If the compiler has no such archive, the
/// shared library is used.
pub fn link() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let Ok(said) = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output() else { return };
    let path = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if let Some(folder) = Path::new(&path).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}
