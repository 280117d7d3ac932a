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

/// The systems that run programs of this kind, Parvum first. Then the missing systems, each with a remedy.
pub fn find(
    kind: &Kind,
    asked: &Asked,
    own: &Own,
    scratch: &Path,
) -> Result<(Vec<Way>, Vec<String>), LabError> {
    if let Some(script) = &asked.python {
        let (found, absent) = executors::find(asked, script, own, scratch)?;
        let way = |executor| Way { starter: Starter::Executor(executor), parts: asked.parts.clone() };
        return Ok((found.into_iter().map(way).collect(), absent));
    }
    // Files describe the other MPIs.
    let families = match kind.library {
        Library::Pvm => vec![Family::Parvum, Family::Pvm],
        Library::Mpich | Library::Mpi4py | Library::Standard => vec![Family::Mpi],
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
            Family::Pvm => ("direct", Encoding::Raw),
            _ => ("shm", Encoding::None),
        };
        match Session::start(kit, &System::new(family, route, encoding), None, scratch, &asked.hosts) {
            Ok(session) => {
                let starter = Starter::Known { family, kit: kit.clone(), session };
                ways.push(Way { starter, parts: asked.parts.clone() });
            }
            Err(why) => absent.push(format!("{}: cannot be started: {why}", family.name())),
        }
    }
    let (described, missing) = described(kind, asked, scratch)?;
    ways.extend(described);
    absent.extend(missing);
    if ways.is_empty() {
        return Err(LabError::Program(format!("no system here runs it: {}", absent.join("; "))));
    }
    Ok((ways, absent))
}

/// The systems that files describe and that run programs of this kind. Then the missing systems, each with a remedy.
fn described(kind: &Kind, asked: &Asked, scratch: &Path) -> Result<(Vec<Way>, Vec<String>), LabError> {
    let (mut ways, mut absent) = (Vec::new(), Vec::new());
    for (at, peer) in peer::all(&asked.peers).map_err(LabError::Program)?.iter().enumerate() {
        let other_build = asked.open_mpi.as_ref().filter(|_| peer.runs.contains(&Library::OpenMpi));
        if !peer.runs.contains(&kind.library) && other_build.is_none() {
            continue;
        }
        let mut parts = asked.parts.clone();
        if let Some(build) = other_build {
            parts[0].words[0] = build.canonicalize().map_err(LabError::file("read", build))?.into();
        }
        let found = peer.find(&scratch.join(format!("peer{at}"))).and_then(|mut found| {
            if !asked.hosts.is_empty() {
                let rsh = remote_shell_in(&scratch.join(format!("rsh{at}")), &asked.hosts)
                    .map_err(|why| format!("{}: cannot write its remote shell: {why}", peer.name))?;
                found.over(&asked.hosts, &rsh)?;
            }
            Ok(found)
        });
        match found {
            Ok(found) => ways.push(Way { starter: Starter::Described(found), parts }),
            Err(why) => absent.push(why),
        }
    }
    Ok((ways, absent))
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
            Starter::Described(peer) => {
                Named { name: peer.name.clone(), class: peer.class(), is_ours: false }
            }
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
            Starter::Described(peer) => (peer.environment(processes), peer.words(&counted)),
            // The first word is the script.
            Starter::Executor(one) => (one.environment(), one.words(processes, &filled[0][1..])),
        };
        // An MPI of the system needs no folder. Folders of other MPIs would still stand before the system.
        if let Starter::Described(peer) = &self.starter {
            let known = environment.iter().rfind(|one| one.0 == LOADER_PATH).map(|one| one.1.clone());
            let known = known.or_else(|| std::env::var_os(LOADER_PATH)).unwrap_or_default();
            // The user's folders, but for those of another MPI: they have other versions of the libraries below an MPI.
            let others = std::env::split_paths(&known).filter(|folder| !has_mpi(folder));
            let all =
                peer.libraries().iter().cloned().chain(others.filter(|one| !one.as_os_str().is_empty()));
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
        if family.name().ends_with(version) {
            family.name().to_owned()
        } else {
            format!("{} {version}", family.name())
        }
    };
    Named { name, class: crate::report::headline::class(&system), is_ours: family.is_ours() }
}

/// The command that starts a program under a system that the laboratory knows.
fn words(family: Family, kit: &Kit, hosts: Vec<OsString>, parts: &[(u32, &[OsString])]) -> Vec<OsString> {
    let mut words = vec![kit.starter.clone().into_os_string()];
    match family {
        Family::Mpi => words.push("mpiexec".into()),
        Family::Parvum => words.push("run".into()),
        // A PVM program starts its tasks itself.
        _ => words.clear(),
    }
    words.extend(hosts);
    for (at, (count, program)) in parts.iter().enumerate() {
        if at > 0 {
            words.push(BETWEEN.into());
        }
        if family == Family::Mpi {
            words.extend(["-n".into(), count.to_string().into()]);
        }
        words.extend(program.iter().cloned());
    }
    words
}
