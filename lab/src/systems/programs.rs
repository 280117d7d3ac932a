//! The compiled programs of `apps/`: found, and rebuilt when a source or library is newer.

use crate::error::LabError;
use crate::run::experiment::Job;
use crate::systems::peers::{Kit, Toolbox};
use crate::systems::system::Family;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Where the built programs are.
#[derive(Debug, Clone)]
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Finds the sources, by name or upwards from here and from this executable, and builds what is not up to date.
    pub fn prepare(apps: Option<&Path>, toolbox: &Toolbox, jobs: &[Job]) -> Result<Programs, LabError> {
        let sources = match apps {
            Some(apps) => apps.to_owned(),
            None => find_sources().ok_or(LabError::NoPrograms)?,
        };
        let script = sources.join("build.sh");
        if !script.is_file() {
            return Err(LabError::NoPrograms);
        }
        let root = sources.parent().unwrap_or(&sources).to_owned();
        let programs = Programs { folder: root.join("build/programs") };
        if programs.fresh(&sources, toolbox, jobs) {
            return Ok(programs);
        }
        let mut build = Command::new("sh");
        build.arg(&script).arg(&programs.folder);
        let ours = toolbox.kits.iter().find(|kit| kit.family.is_ours());
        if let Some(Kit { libraries: Some(libraries), .. }) = ours {
            build.env("PARVUM_LIB", libraries).env("PARVUM_INCLUDE", root.join("interfaces/pvm/include"));
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

pub(crate) fn find_sources() -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let executable = std::env::current_exe().ok();
    here.iter()
        .chain(executable.iter())
        .flat_map(|start| start.ancestors())
        .map(|folder| folder.join("apps"))
        .find(|apps| apps.join("build.sh").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

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
