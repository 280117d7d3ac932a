//! A bundle: one archive with a run, its program, the expected results and the command that runs it again.

use super::archive;
use crate::error::LabError;
use crate::run::shell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The contents of a bundle.
#[derive(Debug)]
pub struct Bundle<'a> {
    /// The folder of a finished run.
    pub run: &'a Path,
    /// The table that the run printed: the expected results.
    pub results: &'a str,
    /// Seconds that the run took.
    pub seconds: f64,
    /// Files and folders that the run needs, each with its name in the bundle.
    pub needs: Vec<(PathBuf, OsString)>,
    /// The words of the command that runs it again, in the folder of the bundle.
    pub command: Vec<OsString>,
}

/// Refuses a name before minutes are spent on a run.
pub fn check(target: &Path) -> Result<(), LabError> {
    let refused = |why: &str| LabError::Bundle(format!("{}: {why}", target.display()));
    if name_of(target).is_none() {
        return Err(refused("the name of a bundle ends with .tar.gz; help: --bundle NAME.tar.gz"));
    }
    if fs::symlink_metadata(target).is_ok() {
        return Err(refused("the file exists already; help: choose another name"));
    }
    if !archive::folder_of(target).is_dir() {
        return Err(refused("the folder does not exist; help: make it, or name another one"));
    }
    Ok(())
}

/// The name without its endings.
fn name_of(target: &Path) -> Option<&OsStr> {
    let bytes = target.file_name()?.as_bytes().strip_suffix(b".tar.gz")?;
    (!bytes.is_empty()).then(|| OsStr::from_bytes(bytes))
}

fn script(command: &[OsString]) -> Vec<u8> {
    let words: Vec<Vec<u8>> = command.iter().map(|word| shell::word(word)).collect();
    let mut text = b"#!/bin/sh\n# Runs the comparison again. results.txt has what is to be expected.\nset -eu\ncd \"$(dirname \"$0\")\"\n".to_vec();
    text.extend(words.join(&b' '));
    text.push(b'\n');
    text
}

fn readme(bundle: &Bundle<'_>) -> String {
    format!(
        "# A comparison of message-passing systems\n\n\
         - `sh run.sh` runs the comparison again. It takes about {:.0} s and needs `parvum` in PATH.\n\
         - `results.txt`: the results of the first run, with its verdicts. Another computer has other times; verdicts about large differences \
         stay.\n\
         - `run/`: the first run: `report.html`, `manifest.json` (command, versions, computer, each launch), raw samples, `summary.json`, \
         `summary.csv`.\n\
         - `program/`: the program, or the sources of the benchmark programs.\n",
        bundle.seconds.ceil()
    )
}

/// Writes the archive. Nothing stays of a bundle that failed.
pub fn write(bundle: &Bundle<'_>, target: &Path) -> Result<(), LabError> {
    check(target)?;
    let name = name_of(target).unwrap_or_default();
    let result = archive::write(target, name, true, |folder| fill(bundle, folder));
    result.map_err(|why| {
        LabError::Bundle(format!(
            "cannot write {}: {why}; help: make room, or name another place: --bundle /tmp/NAME.tar.gz",
            target.display()
        ))
    })
}

fn fill(bundle: &Bundle<'_>, folder: &Path) -> Result<(), std::io::Error> {
    fs::create_dir_all(folder.join("program"))?;
    fs::write(folder.join("README.md"), readme(bundle))?;
    fs::write(folder.join("results.txt"), bundle.results)?;
    fs::write(folder.join("run.sh"), script(&bundle.command))?;
    copy(bundle.run, &folder.join("run"))?;
    for (from, name) in &bundle.needs {
        let to = folder.join("program").join(name);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        copy(from, &to)?;
    }
    Ok(())
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<(), std::io::Error> {
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("parvum-bundle-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("run/deeper")).expect("a folder");
        path
    }

    #[test]
    fn bundle_unpacks_to_run_program_and_script() {
        let place = place("whole");
        fs::write(place.join("run/deeper/raw"), "raw").expect("a file");
        let program = OsStr::from_bytes(b"work \xff'x");
        fs::write(place.join(program), "program").expect("a file");
        let command = vec!["echo".into(), "again".into(), program.to_owned()];
        let needs = vec![(place.join(program), program.to_owned())];
        let bundle = Bundle { run: &place.join("run"), results: "table\n", seconds: 3.2, needs, command };
        let target = place.join("mine.tar.gz");
        write(&bundle, &target).expect("written");
        let done = Command::new("tar").arg("-C").arg(&place).arg("-xzf").arg(&target).status().expect("tar");
        assert!(done.success());
        let inside = place.join("mine");
        assert_eq!(fs::read(inside.join("run/deeper/raw")).expect("there"), b"raw");
        assert_eq!(fs::read(inside.join("program").join(program)).expect("there"), b"program");
        let said = Command::new("sh").arg(inside.join("run.sh")).output().expect("sh");
        assert_eq!(said.stdout, b"again work \xff'x\n");
        assert!(fs::read_to_string(inside.join("README.md")).expect("there").contains("about 4 s"));
        assert!(write(&bundle, &target).expect_err("there is one").to_string().contains("exists already"));
        fs::remove_dir_all(&place).expect("removed");
    }

    #[test]
    fn bad_targets_are_refused_before_the_run() {
        for (target, why) in [
            ("bundle.zip", "ends with .tar.gz"),
            (".tar.gz", "ends with .tar.gz"),
            ("/no/such/folder/x.tar.gz", "does not exist"),
        ] {
            let said = check(Path::new(target)).expect_err(target).to_string();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn nothing_stays_of_a_bundle_that_failed() {
        let place = place("failed");
        let needs = vec![(place.join("missing"), "missing".into())];
        let bundle = Bundle { run: &place.join("run"), results: "", seconds: 1.0, needs, command: vec![] };
        let why = write(&bundle, &place.join("x.tar.gz")).expect_err("no such file").to_string();
        assert!(why.contains("cannot write") && why.contains("help:"), "{why}");
        let left: Vec<_> =
            fs::read_dir(&place).expect("there").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["run"]);
        fs::remove_dir_all(&place).expect("removed");
    }
}
