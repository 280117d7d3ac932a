//! The command that repeats a run inside of its bundle, and the files that this command needs.

use super::bundle::Bundle;
use crate::error::LabError;
use crate::run::options::CompareOptions;
use crate::systems::programs::Sources;
use clap::ValueEnum;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the program within a bundle.
const PROGRAM: &str = "program";

/// The bundle of a finished run.
pub fn of_run<'a>(
    options: &CompareOptions,
    run: &'a Path,
    results: &'a str,
    seconds: f64,
) -> Result<Bundle<'a>, LabError> {
    let mut needs = Needs::default();
    let mut command: Vec<OsString> = vec!["parvum".into(), "compare".into()];
    let mut say = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            command.extend([name.into(), value]);
        }
    };
    let listed = |numbers: &[u32]| {
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        (!words.is_empty()).then(|| words.join(",").into())
    };
    say("--budget", options.budget.map(|seconds| seconds.to_string().into()));
    if options.program.is_empty() {
        say("--suite", Some(options.suite.clone().into()));
        say("--systems", Some(&options.systems).filter(|list| !list.is_empty()).map(Into::into));
        say(
            "--class",
            Some(options.classes.iter().map(char::to_string).collect::<Vec<_>>().join(","))
                .filter(|list| !list.is_empty())
                .map(Into::into),
        );
        say(
            "--benchmark",
            Some(options.benchmarks.join(",")).filter(|list| !list.is_empty()).map(Into::into),
        );
        say("--tasks", listed(&options.tasks));
        say("--apps", Some(needs.sources(options)?));
        say("--against", Some("run".into()));
        command.extend(options.full.then(|| "--full".into()));
    } else {
        say("--processes", listed(&options.processes));
        let patience = Some(options.patience).filter(|seconds| *seconds > 0);
        say("--timeout", patience.map(|seconds| seconds.to_string().into()));
        say("--precision", Some(options.precision.to_string().into()));
        let library = options.built_for.and_then(|library| library.to_possible_value());
        say("--built-for", library.map(|library| library.get_name().into()));
        say("--check", options.check.clone().map(Into::into));
        say("--input", options.input.as_ref().map(|file| needs.file(file)));
        say("--openmpi", options.openmpi.as_ref().map(|file| needs.file(file)));
        for file in &options.peer {
            say("--peer", Some(needs.file(file)));
        }
        command.push("--".into());
        command.extend(options.program.iter().enumerate().map(|(at, word)| needs.word(at, word)));
    }
    Ok(Bundle { run, results, seconds, needs: needs.files, command })
}

/// Files that go into the bundle.
#[derive(Default)]
struct Needs {
    files: Vec<(PathBuf, OsString)>,
}

impl Needs {
    /// Takes a file along; its path within the bundle. Two files of one name get different names.
    fn file(&mut self, file: &Path) -> OsString {
        let known = self.files.iter().find(|(from, _)| from == file).map(|one| one.1.clone());
        let name = known.unwrap_or_else(|| {
            let own = file.file_name().unwrap_or_default().to_owned();
            let mut name = own.clone();
            for number in 2.. {
                if self.files.iter().all(|(_, taken)| *taken != name) {
                    break;
                }
                name = OsString::from(format!("{number}-"));
                name.push(&own);
            }
            self.files.push((file.to_owned(), name.clone()));
            name
        });
        Path::new(PROGRAM).join(name).into_os_string()
    }

    /// A word of the user's command: the program, or a file that it reads. A program that PATH has stays where it is.
    fn word(&mut self, at: usize, word: &OsString) -> OsString {
        let path = Path::new(word);
        let is_in_path = at == 0 && path.components().count() == 1;
        if is_in_path || !path.is_file() {
            return word.clone();
        }
        let inside = self.file(path);
        if at == 0 { Path::new(".").join(inside).into_os_string() } else { inside }
    }

    /// The sources of the benchmark programs, with the headers that they include.
    fn sources(&mut self, options: &CompareOptions) -> Result<OsString, LabError> {
        let apps = Sources::find(options.apps.as_deref()).ok_or(LabError::NoPrograms)?.apps;
        let root = apps.parent().unwrap_or(&apps).to_owned();
        self.files.push((apps, "apps".into()));
        for folder in ["interfaces", "crates/engine"] {
            for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
                let headers = entry.path().join("include");
                if headers.is_dir() {
                    let name = Path::new(folder).join(entry.file_name()).join("include");
                    self.files.push((headers, name.into_os_string()));
                }
            }
        }
        Ok(Path::new(PROGRAM).join("apps").into_os_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_are_told_apart() {
        let mut needs = Needs::default();
        assert_eq!(needs.file(Path::new("/a/work")), "program/work");
        assert_eq!(needs.file(Path::new("/b/work")), "program/2-work");
        assert_eq!(needs.file(Path::new("/a/work")), "program/work");
        assert_eq!(needs.files.len(), 2);
    }

    #[test]
    fn command_of_own_program_names_files_of_bundle() {
        let here = std::env::current_exe().expect("a file");
        let options = CompareOptions {
            program: vec![here.clone().into_os_string(), "-x".into(), here.clone().into_os_string()],
            processes: vec![1, 2],
            check: Some("grep -q ok".into()),
            patience: 600,
            built_for: Some(crate::program::Library::Mpi4py),
            precision: 3.0,
            ..CompareOptions::default()
        };
        let bundle = of_run(&options, Path::new("run"), "", 1.0).expect("files");
        let name = here.file_name().expect("a name").to_string_lossy().into_owned();
        let words: Vec<_> = bundle.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let expected = format!(
            "parvum compare --processes 1,2 --timeout 600 --precision 3 --built-for mpi4py --check grep -q ok -- ./program/{name} -x program/{name}"
        );
        assert_eq!(words.join(" "), expected);
        assert_eq!(bundle.needs.len(), 1);
    }
}
