//! The Debian packages whose programs are run.

use crate::machines::Kind;
use crate::mpi;
use crate::table::Case;
use std::path::Path;
use std::process::{Command, Stdio};

/// A file of each package, and the package.
const PVM: [(&str, &str); 7] = [
    ("/usr/bin/pvmd", "pvm"),
    ("/usr/include/pvm3.h", "pvm-dev"),
    ("/usr/bin/hello.pvm", "pvm-examples"),
    ("/usr/bin/NPpvm", "netpipe-pvm"),
    ("/usr/bin/tablix2", "tablix2"),
    ("/usr/bin/slsh", "slsh"),
    ("/usr/share/slsh/local-packages/pvm.sl", "slang-pvm"),
];

/// Those without which nothing of a peer's can be compared.
const NEEDED: [&str; 4] = ["pvm", "pvm-dev", "pvm-examples", "mpich"];

/// Installs what is missing if it can; says why nothing can be compared when the peer is not to be had.
pub fn ready(peer: Kind) -> Result<(), String> {
    let packages: &[(&str, &str)] = if peer == Kind::Mpich { &mpi::PACKAGES } else { &PVM };
    let missing: Vec<&str> = lacking(packages);
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
    if !lacking(packages).iter().any(|package| NEEDED.contains(package)) {
        return Ok(());
    }
    let name = peer.name();
    Err(format!("the {name} to compare with is missing; as root: apt-get install {}", missing.join(" ")))
}

fn lacking(packages: &[(&'static str, &'static str)]) -> Vec<&'static str> {
    packages.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, package)| *package).collect()
}

/// A file that the case needs and that is not there.
pub fn missing(case: &Case) -> Option<&'static str> {
    case.needs.iter().copied().find(|file| !Path::new(file).exists())
}
