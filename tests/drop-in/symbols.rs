//! Names that Debian's programs take from PVM's and MPICH's libraries: all of them must be in ours.

use crate::machines::{Kind, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// PVM's own daemon and console are made of one source with its library. The daemon is what Parvum replaces.
const REPLACED: [&str; 1] = ["/usr/bin/pvmd"];

/// Of whom names are taken, and by whom.
struct Giver {
    /// Our library.
    ours: &'static str,
    /// The peer's, which ours stands for.
    theirs: &'static [&'static str],
    packages: &'static [&'static str],
}

impl Giver {
    /// Whether a file is the library itself, by any of its names.
    fn is_own(&self, file: &str) -> bool {
        let name = file.rsplit('/').next().expect("at least one part");
        self.theirs.iter().any(|theirs| {
            let stem = theirs.split(".so").next().expect("at least one part");
            name.strip_prefix(stem).is_some_and(|rest| rest.starts_with(".so"))
        })
    }
}

const PVM: Giver = Giver {
    ours: "libpvm3.so.3",
    theirs: &["libpvm3.so.3", "libgpvm3.so.3"],
    packages: &["pvm", "pvm-dev", "pvm-examples", "netpipe-pvm", "tablix2", "slang-pvm"],
};

/// What is above the C library, those of Fortran and C++ among it.
const MPICH: Giver = Giver {
    ours: "libmpi.so.12",
    theirs: &["libmpich.so.12"],
    packages: &[
        "libmpich12",
        "netpipe-mpich2",
        "yorick-mpy-mpich2",
        "mocassin",
        "libtachyon-mpich-0",
        "libhdf5-mpich-103-1",
        "scalapack-mpi-test",
        "libscalapack-mpich2.2",
    ],
};

/// Whether every program finds what it needs; says what is missing.
pub fn check(peer: Kind, place: &Place) -> bool {
    let giver = if peer == Kind::Mpich { &MPICH } else { &PVM };
    let ours = defined(&place.libraries().join(giver.ours));
    let mut theirs = BTreeSet::new();
    for library in giver.theirs {
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"];
        let file = folders.iter().map(|folder| Path::new(folder).join(library)).find(|file| file.exists());
        theirs.extend(file.map(|file| defined(&file)).unwrap_or_default());
    }
    let mut lacking: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let programs = programs(giver);
    for program in &programs {
        for name in names(program, "--undefined-only") {
            if theirs.contains(&name) && !ours.contains(&name) {
                let short = program.file_name().expect("a file").to_string_lossy().into_owned();
                lacking.entry(name).or_default().push(short);
            }
        }
    }
    println!(
        "{} programs and libraries take names from {}'s; {} of the names are not in ours",
        programs.len(),
        peer.name(),
        lacking.len()
    );
    for (name, users) in &lacking {
        println!("  {name}: {}", users.join(" "));
    }
    lacking.is_empty() && !theirs.is_empty()
}

fn programs(giver: &Giver) -> Vec<PathBuf> {
    let listed = Command::new("dpkg")
        .arg("-L")
        .args(giver.packages)
        .output()
        .map(|done| done.stdout)
        .unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut files: Vec<PathBuf> = listed
        .lines()
        .filter(|line| line.starts_with("/usr/bin/") || line.contains("-tests/") || line.contains(".so"))
        .filter(|line| !REPLACED.contains(line) && !giver.is_own(line))
        .map(PathBuf::from)
        .filter(|file| !defined(file).is_empty() || !names(file, "--undefined-only").is_empty())
        .collect();
    files.sort();
    files
}

fn defined(file: &Path) -> BTreeSet<String> {
    names(file, "--defined-only")
}

/// The dynamic names of a file; none when it is no program.
fn names(file: &Path, which: &str) -> BTreeSet<String> {
    let listed = Command::new("nm").args(["-D", which]).arg(file).output();
    let listed = listed.map(|done| done.stdout).unwrap_or_default();
    let names = String::from_utf8_lossy(&listed).into_owned();
    names
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(|name| name.split('@').next().expect("the first part").to_owned())
        .collect()
}
