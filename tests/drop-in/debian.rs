//! The Debian packages whose programs are run.

use crate::table::Case;
use std::path::Path;
use std::process::{Command, Stdio};

/// A file of each package, and the package.
const PACKAGES: [(&str, &str); 7] = [
    ("/usr/bin/pvmd", "pvm"),
    ("/usr/include/pvm3.h", "pvm-dev"),
    ("/usr/bin/hello.pvm", "pvm-examples"),
    ("/usr/bin/NPpvm", "netpipe-pvm"),
    ("/usr/bin/tablix2", "tablix2"),
    ("/usr/bin/slsh", "slsh"),
    ("/usr/share/slsh/local-packages/pvm.sl", "slang-pvm"),
];

/// Installs what is missing if it can; says why nothing can be compared when the real PVM is not to be had.
pub fn ready() -> Result<(), String> {
    let missing: Vec<&str> = lacking();
    if missing.is_empty() {
        return Ok(());
    }
    let is_root = rustix::process::geteuid().is_root();
    if is_root && Path::new("/usr/bin/apt-get").exists() {
        eprintln!("drop-in: installing {}", missing.join(" "));
        for arguments in [&["update", "-qq"][..], &["install", "-y", "-qq", "--no-install-recommends"][..]] {
            let mut apt = Command::new("apt-get");
            apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
            if arguments[0] == "install" {
                apt.args(&missing);
            }
            // What could not be installed is seen below.
            let _ = apt.stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
    let needed = lacking().into_iter().filter(|name| matches!(*name, "pvm" | "pvm-dev" | "pvm-examples"));
    let needed: Vec<&str> = needed.collect();
    if needed.is_empty() {
        return Ok(());
    }
    Err(format!("the PVM to compare with is missing; as root: apt-get install {}", missing.join(" ")))
}

fn lacking() -> Vec<&'static str> {
    PACKAGES.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, package)| *package).collect()
}

/// A file that the case needs and that is not there.
pub fn missing(case: &Case) -> Option<&'static str> {
    case.needs.iter().copied().find(|file| !Path::new(file).exists())
}
