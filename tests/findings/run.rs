//! Runs tests by their names, many of a program at a time, and reads how each has ended.

use crate::table::Test;
use parvum_tests::{bed, stage};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a test has ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Passed,
    Skipped(String),
    /// Its program did not run it.
    Missing,
    Failed,
}

/// Programs of tests: where each is, and the folder that it runs in. A program of `tests/tests` has its name as key, unit tests have the
/// folder of their crate.
struct Programs(HashMap<String, (PathBuf, PathBuf)>);

impl Programs {
    /// Cargo builds what is missing, and lists them.
    fn build() -> Result<Programs, String> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.current_dir(stage::project());
        cargo.args([
            "test",
            "--locked",
            "--workspace",
            "--no-run",
            "--message-format=json-render-diagnostics",
        ]);
        let done =
            cargo.stderr(Stdio::inherit()).output().map_err(|why| format!("cannot run cargo: {why}"))?;
        if !done.status.success() {
            return Err("cargo could not build the tests".to_owned());
        }
        let mut found = HashMap::new();
        for line in done.stdout.split(|byte| *byte == b'\n') {
            let Ok(said) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
            let (Some(program), Some(name), Some(manifest)) = (
                said["executable"].as_str(),
                said["target"]["name"].as_str(),
                said["manifest_path"].as_str(),
            ) else {
                continue;
            };
            if said["profile"]["test"] != true {
                continue;
            }
            let folder = Path::new(manifest).parent().unwrap_or(Path::new("/")).to_owned();
            let is_unit = |kind: &serde_json::Value| kind.as_str().is_some_and(|kind| kind.ends_with("lib"));
            let key = match (folder.strip_prefix(stage::project()), said["target"]["kind"].as_array()) {
                (Ok(of), Some(kinds)) if of == "tests" && kinds[0] == "test" => name.to_owned(),
                (Ok(of), Some(kinds))
                    if kinds.iter().any(is_unit) || (of == "command" && kinds[0] == "bin") =>
                {
                    of.display().to_string()
                }
                _ => continue,
            };
            found.insert(key, (PathBuf::from(program), folder));
        }
        Ok(Programs(found))
    }
}

/// Runs each test once.
pub fn run(tests: &[Test]) -> Result<HashMap<Test, Outcome>, String> {
    let mut by_program: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for test in tests {
        let names = by_program.entry(&test.program).or_default();
        if !names.contains(&test.name.as_str()) {
            names.push(&test.name);
        }
    }
    let programs = Programs::build()?;
    let mut outcomes = HashMap::new();
    for (program, names) in by_program {
        eprintln!("==> {program}: {} tests", names.len());
        let found = match program {
            "pytest" => of_python(&names)?,
            _ => match programs.0.get(program) {
                Some((path, folder)) => of_program(path, folder, &names)?,
                None => HashMap::new(),
            },
        };
        for name in names {
            let test = Test { program: program.to_owned(), name: name.to_owned() };
            outcomes.insert(test, found.get(name).cloned().unwrap_or(Outcome::Missing));
        }
    }
    Ok(outcomes)
}

fn of_program(path: &Path, folder: &Path, names: &[&str]) -> Result<HashMap<String, Outcome>, String> {
    let notes = bed::profile().join("findings.skipped");
    let _ = std::fs::remove_file(&notes);
    let mut command = Command::new(path);
    command.arg("--exact").args(names).current_dir(folder).env("PARVUM_SKIPPED", &notes).stdin(Stdio::null());
    let done =
        command.stderr(Stdio::inherit()).output().map_err(|why| format!("{}: {why}", path.display()))?;
    let said = String::from_utf8_lossy(&done.stdout);
    let mut found = of_libtest(&said);
    let notes = std::fs::read_to_string(&notes).unwrap_or_default();
    skipped(&notes, &mut found);
    if !done.status.success() {
        eprint!("{said}");
    }
    Ok(found)
}

/// From lines `test NAME ... ok`.
fn of_libtest(said: &str) -> HashMap<String, Outcome> {
    let line = |line: &str| {
        let (name, end) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let outcome = match end.split([' ', ',']).next()? {
            "ok" => Outcome::Passed,
            "ignored" => Outcome::Skipped("ignored".to_owned()),
            _ => Outcome::Failed,
        };
        Some((name.to_owned(), outcome))
    };
    said.lines().filter_map(line).collect()
}

/// From lines `skipped: PROGRAM::NAME: REASON`: libtest takes such a test for one that passed.
fn skipped(notes: &str, found: &mut HashMap<String, Outcome>) {
    for line in notes.lines() {
        let said = line.strip_prefix("skipped: ").and_then(|rest| rest.split_once(": "));
        let Some((test, reason)) = said else { continue };
        let outcome = test.split_once("::").and_then(|(_, name)| found.get_mut(name));
        if let Some(outcome @ Outcome::Passed) = outcome {
            *outcome = Outcome::Skipped(reason.to_owned());
        }
    }
}

fn of_python(names: &[&str]) -> Result<HashMap<String, Outcome>, String> {
    let has_pytest = Command::new("python3").args(["-c", "import pytest"]).stderr(Stdio::null()).status();
    if !has_pytest.is_ok_and(|status| status.success()) {
        let why = Outcome::Skipped("this python3 has no pytest".to_owned());
        return Ok(names.iter().map(|name| ((*name).to_owned(), why.clone())).collect());
    }
    let mut by_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        by_file.entry(name.split("::").next().unwrap_or_default()).or_default().push(name);
    }
    let mut found = HashMap::new();
    // Each file by itself: if pytest does not find a test, it runs none.
    for (file, names) in by_file {
        let mut python = Command::new("python3");
        python.current_dir(stage::project().join("python/tests")).stdin(Stdio::null());
        python.env("PYTHONPATH", stage::python()).env("PYTHONDONTWRITEBYTECODE", "1");
        // Reasons stand whole in a line that is long enough.
        python.env("PARVUM_BIN", parvum_tests::parvum()).env_remove("PARVUM_DIR").env("COLUMNS", "300");
        python.args(["-m", "pytest", "-v", "-rs", "--tb=short", "-p", "no:cacheprovider"]).args(&names);
        let done = python.output().map_err(|why| format!("python3: {why}"))?;
        let said = String::from_utf8_lossy(&done.stdout);
        let of_file = of_pytest(&said);
        match whole_skipped(&said, file).filter(|_| of_file.is_empty()) {
            Some(why) => {
                found.extend(names.iter().map(|name| ((*name).to_owned(), Outcome::Skipped(why.to_owned()))))
            }
            None if !done.status.success() => eprint!("{said}{}", String::from_utf8_lossy(&done.stderr)),
            None => {}
        }
        found.extend(of_file);
    }
    Ok(found)
}

/// Why a whole file was skipped, from a line `SKIPPED [1] FILE:LINE: REASON`.
fn whole_skipped<'a>(said: &'a str, file: &str) -> Option<&'a str> {
    let reason = |line: &'a str| line.strip_prefix("SKIPPED [1] ")?.strip_prefix(file)?.splitn(3, ':').nth(2);
    said.lines().find_map(reason).map(str::trim)
}

/// From lines `FILE::NAME[PARAMETERS] PASSED [ 10%]`: the worst counts of a test with several parameters.
fn of_pytest(said: &str) -> HashMap<String, Outcome> {
    let mut found: HashMap<String, Outcome> = HashMap::new();
    for line in said.lines().filter(|line| line.contains(".py::") && !line.starts_with("FAILED")) {
        let words = [" PASSED", " FAILED", " ERROR", " SKIPPED", " XFAIL", " XPASS"];
        let Some((at, word)) = words.iter().find_map(|word| Some((line.find(word)?, word))) else { continue };
        let name = line[..at].split('[').next().unwrap_or_default();
        let outcome = match *word {
            " PASSED" => Outcome::Passed,
            " SKIPPED" => {
                let why = line[at..].split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
                Outcome::Skipped(why.map_or("skipped", |(why, _)| why).to_owned())
            }
            _ => Outcome::Failed,
        };
        let known = found.entry(name.to_owned()).or_insert_with(|| outcome.clone());
        *known = outcome.max(known.clone());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_parsed_from_program_output() {
        let said = "running 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest a::d ... ok\ntest result: FAILED. 2 passed\n";
        let mut found = of_libtest(said);
        skipped("skipped: mpi::a::d: no root: none\nskipped: mpi::a::c: no root\n", &mut found);
        assert_eq!(found.len(), 3);
        assert_eq!(found["a::b"], Outcome::Passed);
        assert_eq!(found["a::c"], Outcome::Failed);
        assert_eq!(found["a::d"], Outcome::Skipped("no root: none".to_owned()));
    }

    #[test]
    fn python_test_counts_its_worst_parameter() {
        let said = "test_a.py::test_b[1] PASSED    [ 10%]\ntest_a.py::test_b[2] FAILED  [ 20%]\n\
                    test_a.py::test_c SKIPPED (no numpy) [ 30%]\nFAILED test_a.py::test_b[2] - assert\n";
        let found = of_pytest(said);
        assert_eq!(found["test_a.py::test_b"], Outcome::Failed);
        assert_eq!(found["test_a.py::test_c"], Outcome::Skipped("no numpy".to_owned()));
        assert_eq!(found.len(), 2);
        let said =
            "collected 0 items / 1 skipped\nSKIPPED [1] test_d.py:20: could not import 'IPython': none\n";
        assert_eq!(whole_skipped(said, "test_d.py"), Some("could not import 'IPython': none"));
        assert_eq!(whole_skipped(said, "test_e.py"), None);
    }
}
