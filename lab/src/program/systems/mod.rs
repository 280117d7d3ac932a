//! The systems that can run a program, and the command of each.

pub mod executors;
pub mod kind;
mod peer;
mod script;

use super::Asked;
use super::once::Why;
use super::parts::{self, BETWEEN, Part};
use crate::error::LabError;
use crate::run::launch::Launch;
use crate::systems::peers::{Kit, Own, Toolbox};
use crate::systems::sessions::{Session, remote_shell_in};
use crate::systems::system::{Encoding, Family, System};
use executors::Executor;
use kind::{Kind, Library};
use peer::Installed;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A system that runs the program.
#[derive(Debug)]
pub struct Way {
    starter: Starter,
    /// The program and its arguments, or several with their numbers of processes; another build for another MPI.
    parts: Vec<Part>,
    /// The folders of the program's MPI, if the loader does not find it by itself.
    libraries: Vec<PathBuf>,
}

/// The part of a system that starts programs.
#[derive(Debug)]
enum Starter {
    /// A system that the laboratory knows, with its daemon.
    Known { family: Family, kit: Kit, session: Session },
    /// A system that a file describes.
    Described(Installed),
    /// A Python package with an executor.
    Executor(Executor),
}

/// The name of a system, for pages.
#[derive(Debug, Clone)]
pub struct Named {
    /// With its version.
    pub name: String,
    /// Its colour.
    pub class: &'static str,
    /// Whether it is Parvum.
    pub is_ours: bool,
}

/// The systems that run programs of this kind, Parvum first; and those that are not there, each with a remedy.
pub fn find(
    kind: &Kind,
    asked: &Asked,
    own: &Own,
    scratch: &Path,
) -> Result<(Vec<Way>, Vec<String>), LabError> {
    if let Some(script) = &asked.python {
        let (found, absent) = executors::find(asked, script, own, scratch)?;
        let way = |executor| Way {
            starter: Starter::Executor(executor),
            parts: asked.parts.clone(),
            libraries: Vec::new(),
        };
        return Ok((found.into_iter().map(way).collect(), absent));
    }
    let mut families = match kind.library {
        Library::Pvm => vec![Family::Parvum, Family::Pvm],
        Library::Mpich | Library::Mpi4py => vec![Family::Mpi, Family::Mpich, Family::Mpich4],
        Library::Standard => vec![Family::Mpi, Family::Mpich],
        Library::OpenMpi | Library::Executor => vec![],
    };
    if kind.library == Library::Pvm && !asked.hosts.is_empty() {
        return Err(LabError::Program(
            "a PVM program starts its tasks on the hosts of its virtual machine itself, so --host goes with programs of MPI. help: `parvum \
             add HOST`, then time the program"
                .into(),
        ));
    }
    if kind.library == Library::OpenMpi {
        return Err(LabError::Program(format!(
            "{}: the program was built for Open MPI, which only Open MPI runs. help: build it again with MPICH's or Parvum's mpicc, and name this \
             build by --openmpi {0}",
            kind.program.display()
        )));
    }
    if asked.open_mpi.is_some() || kind.library == Library::Mpi4py {
        families.push(Family::OpenMpi);
    }
    let mut toolbox = Toolbox::find(own, &families);
    if families.contains(&Family::Mpi) {
        toolbox = toolbox.has_programs(own);
    }
    let mut absent: Vec<String> =
        toolbox.absent.iter().map(|one| format!("{}: {}", one.name, one.remedy)).collect();
    let mut ways = Vec::new();
    for family in families {
        let Some(kit) = toolbox.kit(family) else { continue };
        let (route, encoding) = match family {
            Family::Parvum => ("shm", Encoding::Raw),
            Family::Mpi => ("shm", Encoding::None),
            Family::Pvm => ("direct", Encoding::Raw),
            _ => ("", Encoding::None),
        };
        let mut parts = asked.parts.clone();
        if let (Some(build), Family::OpenMpi) = (&asked.open_mpi, family) {
            parts[0].words[0] = build.canonicalize().map_err(LabError::file("read", build))?.into();
        }
        match Session::start(kit, &System::new(family, route, encoding), None, scratch, &asked.hosts) {
            Ok(session) => {
                let libraries = libraries(kit, &scratch.join(format!("lib{}", family.ending())))?;
                let libraries = libraries.into_iter().collect();
                let starter = Starter::Known { family, kit: kit.clone(), session };
                ways.push(Way { starter, parts, libraries });
            }
            Err(why) => absent.push(format!("{}: cannot be started: {why}", family.name())),
        }
    }
    let described = peer::all(&asked.peers).map_err(LabError::Program)?;
    for (at, peer) in described.iter().filter(|peer| peer.runs.contains(&kind.library)).enumerate() {
        match peer.find(&scratch.join(format!("peer{at}"))) {
            Ok(mut found) => {
                if !asked.hosts.is_empty() {
                    let rsh = remote_shell_in(&scratch.join(format!("rsh{at}")), &asked.hosts)
                        .map_err(LabError::file("write", scratch))?;
                    if let Err(why) = found.over(&asked.hosts, &rsh) {
                        absent.push(why);
                        continue;
                    }
                }
                let libraries = found.libraries().to_vec();
                ways.push(Way { starter: Starter::Described(found), parts: asked.parts.clone(), libraries });
            }
            Err(why) => absent.push(why),
        }
    }
    if ways.is_empty() {
        return Err(LabError::Program(format!("no system here runs it: {}", absent.join("; "))));
    }
    Ok((ways, absent))
}

/// The names of one library: programs ask for the name that their maker's library had.
const ALIASES: [[&str; 2]; 2] =
    [["libmpi.so.12", "libmpich.so.12"], ["libmpifort.so.12", "libmpichfort.so.12"]];

/// Where the libraries of a peer are: its own folder, or a folder of links if programs ask for other names.
fn libraries(kit: &Kit, links: &Path) -> Result<Option<PathBuf>, LabError> {
    if kit.family.is_ours() || kit.family == Family::Pvm {
        return Ok(None);
    }
    // PyPI's: such a library finds its neighbours by its own path, so it must not be reached by a link.
    let own =
        kit.starter.parent().and_then(Path::parent).map(|prefix| prefix.join("lib")).unwrap_or_default();
    if own != Path::new("/usr/lib") {
        return Ok(Some(own));
    }
    if matches!(kit.family, Family::OpenMpi | Family::OpenMpi4) {
        return Ok(None);
    }
    let of_system = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|folder| folder.path());
    let folders: Vec<PathBuf> = of_system.chain(["/usr/lib64".into()]).collect();
    std::fs::create_dir_all(links).map_err(LabError::file("create", links))?;
    for names in ALIASES {
        let found =
            folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|file| file.exists());
        let Some(found) = found else { continue };
        for name in names {
            let link = links.join(name);
            std::os::unix::fs::symlink(&found, &link).map_err(LabError::file("link", link))?;
        }
    }
    Ok(Some(links.to_owned()))
}

/// The variable with the loader's folders.
const LOADER_PATH: &str = "LD_LIBRARY_PATH";

/// Whether a folder has the library of an MPI.
fn has_mpi(folder: &Path) -> bool {
    let names = ["libmpi.so.12", "libmpich.so.12", "libmpi.so.40", "libmpi_abi.so", "libmpi_abi.so.0"];
    names.iter().any(|name| folder.join(name).exists())
}

impl Way {
    /// Its name.
    pub fn named(&self) -> Named {
        match &self.starter {
            Starter::Known { family, kit, .. } => named(*family, kit),
            Starter::Executor(one) => {
                Named { name: one.name.clone(), class: one.class(), is_ours: one.is_ours() }
            }
            Starter::Described(peer) => Named { name: peer.name.clone(), class: "s-ucx", is_ours: false },
        }
    }

    /// One run with a number of processes.
    pub fn launch(&self, processes: u32, patience: Duration) -> Launch {
        // Numbers of processes that the parts cannot have were refused before.
        let counts = parts::counts(&self.parts, processes).unwrap_or_default();
        let filled: Vec<Vec<OsString>> =
            self.parts.iter().map(|part| parts::filled(&part.words, processes)).collect();
        let counted: Vec<(u32, &[OsString])> =
            counts.into_iter().zip(filled.iter().map(Vec::as_slice)).collect();
        let (mut environment, mut words) = match &self.starter {
            Starter::Known { family, kit, session } => {
                let hosts = session.starter_arguments(*family, processes);
                (session.environment.clone(), words(*family, kit, hosts, &counted))
            }
            Starter::Described(peer) => (peer.environment(), peer.words(&counted)),
            // The first word is the script.
            Starter::Executor(one) => (one.environment(), one.words(processes, &filled[0][1..])),
        };
        if !self.libraries.is_empty() {
            let known = environment.iter().rfind(|one| one.0 == LOADER_PATH).map(|one| one.1.clone());
            let known = known.or_else(|| std::env::var_os(LOADER_PATH)).unwrap_or_default();
            // The user's folders, but for those of another MPI: they have other versions of the libraries below an MPI.
            let others = std::env::split_paths(&known).filter(|folder| !has_mpi(folder));
            let all = self.libraries.iter().cloned().chain(others.filter(|one| !one.as_os_str().is_empty()));
            if let Ok(path) = std::env::join_paths(all) {
                environment.push((LOADER_PATH.into(), path));
            }
        }
        let program = PathBuf::from(words.remove(0));
        Launch { program, arguments: words, environment, deadline: patience }
    }

    /// The command that explains a run that hangs; Parvum alone has such a command.
    pub fn why(&self) -> Option<Why> {
        match &self.starter {
            Starter::Known { family, kit, session } if family.is_ours() => {
                Some(Why { command: kit.starter.clone(), environment: session.environment.clone() })
            }
            _ => None,
        }
    }

    /// After a run that failed: removes its leftovers, which would disturb the next runs.
    pub fn tidy(&self) {
        match &self.starter {
            Starter::Known { session, .. } => session.reset(),
            Starter::Executor(executor) => executor.tidy(),
            Starter::Described(_) => {}
        }
    }
}

/// The name of a system that the laboratory knows.
fn named(family: Family, kit: &Kit) -> Named {
    let system = System::new(family, "", Encoding::None);
    let name = if family.is_ours() {
        "Parvum".to_owned()
    } else {
        let version = kit.version.split(' ').next().unwrap_or_default();
        let name = match family {
            // The version says which of the two it is.
            Family::Mpich4 => "MPICH",
            family => family.name(),
        };
        if name.ends_with(version) { name.to_owned() } else { format!("{name} {version}") }
    };
    Named { name, class: crate::report::headline::class(&system), is_ours: family.is_ours() }
}

/// The command that starts a program under a system that the laboratory knows.
fn words(family: Family, kit: &Kit, hosts: Vec<OsString>, parts: &[(u32, &[OsString])]) -> Vec<OsString> {
    let mut words = vec![kit.starter.clone().into_os_string()];
    match family {
        Family::Mpi => words.push("mpiexec".into()),
        // A PVM program starts its tasks itself.
        Family::Parvum => words.push("run".into()),
        Family::Pvm => words.clear(),
        Family::OpenMpi => words.push("--oversubscribe".into()),
        _ => {}
    }
    if family == Family::OpenMpi && !hosts.is_empty() {
        // The other hosts need the library, too, and nobody else tells them of its folder.
        words.extend(["-x", "LD_LIBRARY_PATH"].map(OsString::from));
    }
    words.extend(hosts);
    for (at, (count, program)) in parts.iter().enumerate() {
        if at > 0 {
            words.push(BETWEEN.into());
        }
        if !matches!(family, Family::Parvum | Family::Pvm) {
            words.extend(["-n".into(), count.to_string().into()]);
        }
        words.extend(program.iter().cloned());
    }
    words
}
