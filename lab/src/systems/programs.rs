//! The compiled programs of `apps/`: found, and rebuilt when a source or library is newer.

use crate::error::LabError;
use crate::run::experiment::Job;
use crate::run::shell;
use crate::systems::peers::{self, Kit, Toolbox};
use crate::systems::system::Family;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Where the built programs are.
#[derive(Debug, Clone)]
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Finds the sources, by name, upwards from here and from this executable, or in the installed Parvum. Builds what is not up to date.
    pub fn prepare(apps: Option<&Path>, toolbox: &Toolbox, jobs: &[Job]) -> Result<Programs, LabError> {
        let sources = Sources::find(apps).ok_or(LabError::NoPrograms)?;
        let script = sources.apps.join("build.sh");
        if !script.is_file() {
            return Err(LabError::NoPrograms);
        }
        let programs = Programs { folder: sources.built.clone() };
        if programs.fresh(&sources.apps, toolbox, jobs) {
            return Ok(programs);
        }
        std::fs::create_dir_all(&programs.folder).map_err(LabError::file("make", programs.folder.clone()))?;
        if !sources.built.join(".made").is_dir() {
            eprintln!("building the benchmark programs in {}, once", sources.built.display());
        }
        let mut build = Command::new("sh");
        build.arg(&script).arg(&programs.folder);
        let ours = toolbox.kits.iter().find(|kit| kit.family.is_ours());
        if let Some(Kit { libraries: Some(libraries), .. }) = ours {
            let headers = sources.headers.unwrap_or_else(|| libraries.with_file_name("include"));
            build.env("PARVUM_LIB", libraries).env("PARVUM_INCLUDE", headers);
        }
        let output = build.output().map_err(LabError::file("run", script))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            eprint!("{words}");
            let line =
                words.lines().find(|l| l.contains("error")).or_else(|| words.lines().last()).unwrap_or("");
            return Err(LabError::Build(line.trim().to_owned()));
        }
        Ok(programs)
    }

    /// Programs in a folder, as they are.
    #[cfg(test)]
    pub(crate) fn in_folder(folder: &str) -> Programs {
        Programs { folder: folder.into() }
    }

    /// The program of a family, or the floors for no family.
    pub fn path(&self, program: &str, family: Option<Family>) -> PathBuf {
        match family {
            Some(family) => self.folder.join(format!("{program}.{}", family.programs())),
            None => self.folder.join(program),
        }
    }

    /// The program that measures layers: beside the `parvum` command, or where `./x build` puts it.
    pub fn layers(&self, toolbox: &Toolbox) -> Option<PathBuf> {
        let ours = toolbox.kits.iter().filter(|kit| kit.family.is_ours());
        let beside = ours.map(|kit| kit.starter.with_file_name("layers"));
        beside.chain([self.folder.join("layers")]).find(|file| file.is_file())
    }

    /// The folder of another build of the engine, if `./x variants` has made it.
    pub fn build(&self, name: &str) -> Option<PathBuf> {
        let folder = self.folder.parent()?.join("variants").join(name);
        folder.join("libparvum.so.0").is_file().then_some(folder)
    }

    fn fresh(&self, sources: &Path, toolbox: &Toolbox, jobs: &[Job]) -> bool {
        let kits = toolbox.kits.iter().map(|kit| changed(&kit.starter));
        let newest = kits.chain([newest_in(sources)]).max().flatten();
        let mut files = jobs.iter().flat_map(Job::files);
        files.all(|(program, family)| {
            changed(&self.path(program, family)).is_some_and(|built| Some(built) >= newest)
        })
    }
}

fn changed(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|data| data.modified()).ok()
}

/// When the newest file in a folder, or in a folder below, was changed.
fn newest_in(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.filter_map(|path| if path.is_dir() { newest_in(&path) } else { changed(&path) }).max()
}

/// The sources of the programs.
#[derive(Debug, PartialEq)]
pub(crate) struct Sources {
    /// The folder `apps`.
    pub apps: PathBuf,
    /// The folder of `pvm3.h` in Parvum's sources. An installed Parvum has all headers in one folder, beside its libraries.
    headers: Option<PathBuf>,
    /// The folder for the programs.
    built: PathBuf,
}

impl Sources {
    /// The sources that the user names, else Parvum's repository, else the installed Parvum.
    pub(crate) fn find(named: Option<&Path>) -> Option<Sources> {
        match named.map(Path::to_owned).or_else(find_sources) {
            Some(apps) => Some(Sources::of(apps)),
            None => installed().map(|apps| Sources { built: in_cache(&apps), ..Sources::of(apps) }),
        }
    }

    fn of(apps: PathBuf) -> Sources {
        let root = apps.parent().unwrap_or(&apps);
        let headers = Some(root.join("interfaces/pvm/include")).filter(|folder| folder.is_dir());
        Sources { headers, built: root.join("build/programs"), apps }
    }
}

/// A folder of the user's for the programs of these sources, which may lie where the user cannot write.
fn in_cache(apps: &Path) -> PathBuf {
    let apps = apps.canonicalize().unwrap_or_else(|_| apps.to_owned());
    let bytes = apps.as_os_str().as_bytes();
    // A name of a file has at most 255 bytes.
    let end = &bytes[bytes.len().saturating_sub(200)..];
    let name: Vec<u8> = end.iter().map(|byte| if *byte == b'/' { b'-' } else { *byte }).collect();
    let base = peers::cache_base().unwrap_or_else(std::env::temp_dir);
    base.join("parvum/programs").join(OsStr::from_bytes(&name))
}

/// Places from here and from this executable upwards.
fn upwards(part: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let executable = std::env::current_exe().and_then(|file| file.canonicalize()).ok();
    here.iter()
        .chain(executable.iter())
        .flat_map(|start| start.ancestors())
        .map(|folder| folder.join(part))
        .find(|apps| apps.join("build.sh").is_file())
}

/// The folder `apps` of Parvum's sources.
pub(crate) fn find_sources() -> Option<PathBuf> {
    upwards("apps")
}

/// The folder `apps` of the installed Parvum that this command belongs to.
fn installed() -> Option<PathBuf> {
    upwards("share/parvum/apps")
}

/// The command that installs the systems to compare with.
pub(crate) fn peers_command() -> String {
    match (find_sources(), installed()) {
        (None, Some(apps)) => {
            let script = shell::word(apps.with_file_name("peers.sh").as_os_str());
            format!("sh {}", String::from_utf8_lossy(&script))
        }
        _ => "./x peers".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_installed_sources_are_built_in_the_cache() {
        let folder = std::env::temp_dir().join(format!("parvum-sources-{}", std::process::id()));
        let headers = folder.join("repository/interfaces/pvm/include");
        std::fs::create_dir_all(&headers).expect("a folder");
        let of = |name: &str| Sources::of(folder.join(name).join("apps"));
        let (repository, installed) = (of("repository"), of("share/parvum"));
        let installed = Sources { built: in_cache(&installed.apps), ..installed };
        std::fs::remove_dir_all(&folder).expect("it was made above");
        assert_eq!(repository.headers, Some(headers));
        assert_eq!(repository.built, folder.join("repository/build/programs"));
        assert_eq!(installed.headers, None);
        assert!(!installed.built.starts_with(&folder), "{installed:?}");
        let name = installed.built.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.contains("parvum-sources-") && name.ends_with("-share-parvum-apps"), "{name}");
        let long = in_cache(Path::new(&"/long".repeat(100)));
        assert_eq!(long.file_name().map(|name| name.len()), Some(200));
    }

    #[test]
    fn newest_file_is_found_in_subfolders() {
        let folder = std::env::temp_dir().join(format!("parvum-newest-{}", std::process::id()));
        let below = folder.join("ring/deeper");
        std::fs::create_dir_all(&below).expect("a folder");
        std::fs::write(folder.join("build.sh"), "").expect("a file");
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        let file = std::fs::File::create(below.join("ring.c")).expect("a file");
        file.set_modified(later).expect("a time");
        let newest = newest_in(&folder);
        std::fs::remove_dir_all(&folder).expect("it was made above");
        assert_eq!(newest, Some(later));
    }
}
