//! The systems that can run a program, and how each is called.

use super::Asked;
use super::kind::{Kind, Library};
use crate::error::LabError;
use crate::run::launch::Launch;
use crate::systems::peers::{Kit, Own, Toolbox};
use crate::systems::sessions::Session;
use crate::systems::system::{Encoding, Family, System};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A system that runs the program.
#[derive(Debug)]
pub struct Way {
    family: Family,
    kit: Kit,
    session: Session,
    /// The program and its arguments; another build for another MPI.
    words: Vec<OsString>,
    /// Where the program's MPI lies, if the loader does not find it by itself.
    libraries: Option<PathBuf>,
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
    let mut families = match kind.library {
        Library::Pvm => vec![Family::Parvum, Family::Pvm],
        Library::Mpich | Library::Mpi4py => vec![Family::Mpi, Family::Mpich, Family::Mpich4],
        Library::Standard => vec![Family::Mpi, Family::Mpich],
        Library::OpenMpi => vec![],
    };
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
        let words = match (&asked.open_mpi, family) {
            (Some(build), Family::OpenMpi) => {
                let build = build.canonicalize().map_err(LabError::file("read", build))?;
                std::iter::once(build.into()).chain(asked.words[1..].iter().cloned()).collect()
            }
            _ => kind.words(&asked.words),
        };
        match Session::start(kit, &System::new(family, route, encoding), None, scratch, &[]) {
            Ok(session) => {
                let libraries = libraries(kit, &scratch.join(format!("lib{}", family.ending())))?;
                ways.push(Way { family, kit: kit.clone(), session, words, libraries });
            }
            Err(why) => absent.push(format!("{}: its daemon did not start: {why}", family.name())),
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

impl Way {
    /// Its name.
    pub fn named(&self) -> Named {
        let system = System::new(self.family, "", Encoding::None);
        let name = if self.family.is_ours() {
            "Parvum".to_owned()
        } else {
            let version = self.kit.version.split(' ').next().unwrap_or_default();
            let name = match self.family {
                // The version says which of the two it is.
                Family::Mpich4 => "MPICH",
                family => family.name(),
            };
            if name.ends_with(version) { name.to_owned() } else { format!("{name} {version}") }
        };
        Named { name, class: crate::report::headline::class(&system), is_ours: self.family.is_ours() }
    }

    /// One run with so many processes.
    pub fn launch(&self, processes: u32, asked: &Asked) -> Launch {
        let mut environment = self.session.environment.clone();
        if let Some(folder) = &self.libraries {
            let mut path = folder.clone().into_os_string();
            if let Some(known) = environment.iter().rfind(|one| one.0 == "LD_LIBRARY_PATH") {
                path.push(":");
                path.push(&known.1);
            }
            environment.push(("LD_LIBRARY_PATH".into(), path));
        }
        let count = OsString::from(processes.to_string());
        let mut arguments: Vec<OsString> = match self.family {
            Family::Mpi => vec!["mpiexec".into(), "-n".into(), count],
            // A PVM program starts its tasks itself.
            Family::Parvum => vec!["run".into()],
            Family::Pvm => vec![],
            Family::OpenMpi => vec!["--oversubscribe".into(), "-n".into(), count],
            _ => vec!["-n".into(), count],
        };
        arguments.extend(self.words.iter().cloned());
        let program = match self.family {
            Family::Pvm => PathBuf::from(arguments.remove(0)),
            _ => self.kit.starter.clone(),
        };
        Launch { program, arguments, environment, deadline: asked.patience }
    }

    /// After a run that failed: what it left would disturb those that follow.
    pub fn tidy(&self) {
        self.session.reset();
    }
}
