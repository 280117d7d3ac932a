//! Builds of commits: one tree and one folder of objects for all, and a folder with the command and the libraries for each.

use super::search::Failure;
use super::sources::{Commit, Tree};
use crate::error::LabError;
use crate::run::launch::Launch;
use crate::systems::system::Family;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// A build takes minutes. A build that takes an hour hangs.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The packages that measurements of these systems need: the command, the engine, PVM, and the interface of each system.
pub fn packages(families: impl IntoIterator<Item = Family>) -> Vec<&'static str> {
    let mut packages = vec!["parvum", "parvum-runtime", "parvum-pvm"];
    packages.extend(families.into_iter().filter_map(|family| match family {
        // The package of the library, not of the calls.
        Family::Mpi => Some("parvum-mpich"),
        Family::Nx => Some("parvum-nx"),
        Family::Cmmd => Some("parvum-cmmd"),
        Family::Containers => Some("parvum-containers"),
        family if family.protocol().is_some() => Some("parvum-treadmarks"),
        _ => None,
    }));
    packages[3..].sort_unstable();
    packages.dedup();
    packages
}

/// Builds commits in a scratch folder.
pub struct Workshop<'a> {
    /// The scratch folder.
    pub scratch: PathBuf,
    /// The files of the commit that is built.
    pub tree: Tree,
    /// The packages that are built.
    pub packages: Vec<&'static str>,
    /// Whether the user has had enough.
    pub interrupted: &'a AtomicBool,
}

impl Workshop<'_> {
    /// The folder with `bin` and `lib` of a commit.
    pub fn installed(&self, number: usize) -> PathBuf {
        self.scratch.join(format!("b{number}"))
    }

    /// Builds a commit, unless it was built before.
    pub fn build(&self, number: usize, commit: &Commit) -> Result<(), Failure> {
        let to = self.installed(number);
        if to.is_dir() {
            return Ok(());
        }
        self.tree.checkout(commit).map_err(Failure::Stop)?;
        let target = self.scratch.join("target");
        // Cargo and rustup read settings of the folder that they are started in.
        let script = "cd \"$1\" && shift && exec cargo build --release --locked \"$@\"";
        let mut arguments = ["-c", script, "sh"].map(Into::into).to_vec();
        arguments.push(self.tree.folder.clone().into());
        arguments.extend(self.packages.iter().flat_map(|package| ["-p".into(), (*package).into()]));
        let environment = vec![("CARGO_TARGET_DIR".to_owned(), target.clone().into_os_string())];
        let launch = Launch { program: "/bin/sh".into(), arguments, environment, deadline: PATIENCE };
        let ended = launch.run_unless(&self.scratch.join("build.log"), self.interrupted);
        // Relaxed: a signal's handler sets it, and hands over nothing.
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Stop(LabError::Interrupted));
        }
        if let Some(why) = ended.failure {
            return Err(Failure::Skip(format!("it does not build: {why}")));
        }
        let done = install(&self.tree.folder, &target.join("release"), &to);
        done.map_err(|why| {
            let _ = fs::remove_dir_all(&to);
            Failure::Skip(format!("its build cannot be used: {why}"))
        })
    }
}

/// Copies the command, and the libraries that were built, under the names by which programs find them.
fn install(sources: &Path, built: &Path, to: &Path) -> std::io::Result<()> {
    let (bin, lib) = (to.join("bin"), to.join("lib"));
    fs::create_dir_all(&bin)?;
    fs::create_dir_all(&lib)?;
    let command = bin.join("parvum");
    fs::copy(built.join("parvum"), &command)?;
    // The programs of the comparison count as out of date if a command is newer. They serve all commits.
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400);
    fs::File::options().write(true).open(&command)?.set_modified(long_ago)?;
    let interfaces = fs::read_dir(sources.join("interfaces"))?.flatten().map(|entry| entry.path());
    let mut links = Vec::new();
    for folder in interfaces.chain([sources.join("crates/engine/runtime")]) {
        let text = fs::read_to_string(folder.join("shipped.txt")).unwrap_or_default();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["library", name, file] if built.join(file).is_file() => {
                    fs::copy(built.join(file), lib.join(name))?;
                }
                ["link", name, file] => links.push((name.to_owned(), file.to_owned())),
                _ => {}
            }
        }
    }
    for (name, file) in links {
        if lib.join(&file).exists() {
            symlink(&file, lib.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::bisect::sources::Sources;
    use crate::history::commits::{git, tests::repository};
    use crate::run::comparison::Scratch;

    /// A commit of a small package called parvum.
    fn write_package(root: &Path, program: &str) {
        let package = "[package]\nname = \"parvum\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        let lock = "version = 4\n[[package]]\nname = \"parvum\"\nversion = \"0.1.0\"\n";
        fs::create_dir_all(root.join("src")).expect("made");
        fs::create_dir_all(root.join("interfaces")).expect("made");
        for (file, text) in [
            ("Cargo.toml", package),
            ("Cargo.lock", lock),
            ("src/main.rs", program),
            ("interfaces/empty", ""),
        ] {
            fs::write(root.join(file), text).expect("written");
        }
        git(root, &["add", "."]).expect("added");
        git(root, &["commit", "-q", "-m", "package"]).expect("a commit");
    }

    #[test]
    fn workshop_builds_commits_and_skips_what_does_not_compile() {
        let Some((root, _)) = repository(&["nothing"]) else { return };
        for program in
            ["fn main() { println!(\"one\") }", "fn main() { one }", "fn main() { println!(\"two\") }"]
        {
            write_package(root.path(), program);
        }
        let sources = Sources::at(root.path());
        let commits = sources.between("main~2", "main").expect("commits");
        let scratch = Scratch::create().expect("a folder");
        let interrupted = AtomicBool::new(false);
        let workshop = Workshop {
            scratch: scratch.path().to_owned(),
            tree: sources.clone_into(&scratch.path().join("t")).expect("a clone"),
            packages: vec!["parvum"],
            interrupted: &interrupted,
        };
        let prints = |number: usize| {
            let done = std::process::Command::new(workshop.installed(number).join("bin/parvum")).output();
            String::from_utf8(done.expect("it runs").stdout).expect("text")
        };
        // The second build takes the place of the first in the target folder, and both stay.
        for number in [0, 2] {
            workshop.build(number, &commits[number]).expect("it builds");
        }
        assert_eq!([prints(0), prints(2)], ["one\n", "two\n"]);
        let Err(Failure::Skip(why)) = workshop.build(1, &commits[1]) else { panic!("it does not compile") };
        assert!(why.starts_with("it does not build: ") && !workshop.installed(1).exists(), "{why}");
        interrupted.store(true, Ordering::Relaxed);
        let ended = workshop.build(1, &commits[1]);
        assert!(matches!(ended, Err(Failure::Stop(LabError::Interrupted))), "{ended:?}");
    }

    #[test]
    fn install_has_built_libraries_by_their_names_and_old_command() {
        let scratch = Scratch::create().expect("a folder");
        let (sources, built, to) =
            (scratch.path().join("s"), scratch.path().join("r"), scratch.path().join("b"));
        for (folder, text) in [
            (
                "interfaces/pvm",
                "# words\nlibrary libpvm3.so.3 libpvm3.so\nlink libpvm3.so libpvm3.so.3\nlibrary libfpvm3.so.3 -\n",
            ),
            ("interfaces/nx", "library libnx.so.1 libnx.so\nlink libnx.so libnx.so.1\n"),
            ("crates/engine/runtime", "library libparvum.so.0 libparvum.so\n"),
        ] {
            fs::create_dir_all(sources.join(folder)).expect("made");
            fs::write(sources.join(folder).join("shipped.txt"), text).expect("written");
        }
        fs::create_dir_all(&built).expect("made");
        for file in ["parvum", "libpvm3.so", "libparvum.so"] {
            fs::write(built.join(file), file).expect("written");
        }
        install(&sources, &built, &to).expect("installed");
        let mut names: Vec<_> =
            fs::read_dir(to.join("lib")).expect("it is there").flatten().map(|one| one.file_name()).collect();
        names.sort();
        assert_eq!(names, ["libparvum.so.0", "libpvm3.so", "libpvm3.so.3"], "nx was not built");
        assert_eq!(fs::read_to_string(to.join("lib/libpvm3.so")).expect("a link"), "libpvm3.so");
        let age = fs::metadata(to.join("bin/parvum")).and_then(|data| data.modified()).expect("a time");
        assert!(age < fs::metadata(&built).and_then(|data| data.modified()).expect("a time"));
        fs::remove_file(built.join("parvum")).expect("removed");
        assert!(install(&sources, &built, &scratch.path().join("c")).is_err());
    }
}
