//! The suite's own lists of tests: in each folder a file `testlist` with lines `PROGRAM RANKS NAME=VALUE ...`, or the name of a folder.

use std::fs;
use std::path::Path;

/// How the suite judges a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// "No Errors" is printed and nothing else, and the exit code is 0.
    NoErrors,
    /// Nothing is printed by the program, and the exit code is not 0.
    Status,
    /// "No Errors" is printed, and the exit code is not 0.
    StatusNoErrors,
    /// The exit code is not 0.
    Fatal,
}

/// A line of a list.
#[derive(Clone, Debug)]
pub struct Test {
    /// Below the suite's root.
    pub folder: String,
    pub program: String,
    pub ranks: u32,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// Words for the launcher.
    pub launcher: Vec<String>,
    pub judge: Judge,
    /// In seconds.
    pub limit: Option<u64>,
    /// In GiB.
    pub memory: f64,
    /// The words after the program.
    rest: String,
}

impl Test {
    /// Its folder and its line: what it is called in tables and in the list of reasons.
    pub fn key(&self) -> String {
        format!("{}/{} {}", self.folder, self.program, self.rest).trim_end().to_owned()
    }
}

/// What one list says.
#[derive(Default)]
pub struct Listed {
    pub tests: Vec<Test>,
    /// Folders with lists of their own.
    folders: Vec<String>,
}

/// All tests, folder by folder.
pub fn walk(root: &Path) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    below(root, "", &mut tests)?;
    Ok(tests)
}

fn below(root: &Path, folder: &str, tests: &mut Vec<Test>) -> Result<(), String> {
    let path = root.join(folder);
    let list = path.join("testlist");
    let text = fs::read_to_string(&list).map_err(|why| format!("{}: {why}", list.display()))?;
    let listed = parse(folder, &text, &|name| path.join(name).is_dir())?;
    tests.extend(listed.tests);
    listed.folders.iter().try_for_each(|inner| below(root, inner, tests))
}

/// Reads one list; `is_folder` knows which first words are folders.
pub fn parse(folder: &str, text: &str, is_folder: &dyn Fn(&str) -> bool) -> Result<Listed, String> {
    let mut listed = Listed::default();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        // What must be made before a test: everything is.
        if first.starts_with('!') {
            continue;
        }
        let inside =
            |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        if is_folder(first) {
            listed.folders.push(inside(first));
            continue;
        }
        let (folder, program) = match first.rsplit_once('/') {
            Some((inner, program)) => (inside(inner), program),
            None => (folder.to_owned(), first),
        };
        listed.tests.push(test(folder, program, words).map_err(|why| format!("{line}: {why}"))?);
    }
    Ok(listed)
}

fn test<'a>(folder: String, program: &str, words: impl Iterator<Item = &'a str>) -> Result<Test, String> {
    let words: Vec<&str> = words.collect();
    let mut test = Test {
        folder,
        program: program.to_owned(),
        // The suite's own default.
        ranks: 2,
        arguments: Vec::new(),
        environment: Vec::new(),
        launcher: Vec::new(),
        judge: Judge::NoErrors,
        limit: None,
        memory: 0.0,
        rest: words.join(" "),
    };
    for (at, word) in words.into_iter().enumerate() {
        let Some((name, value)) = word.split_once('=') else {
            // Words without a name after the number are no options to the suite either.
            if at == 0 {
                test.ranks = word.parse().map_err(|_| format!("{word} is no number of ranks"))?;
            }
            continue;
        };
        match name {
            "arg" => test.arguments.push(value.to_owned()),
            "mpiexecarg" => test.launcher.push(value.to_owned()),
            "env" => {
                let (name, value) =
                    value.split_once('=').ok_or_else(|| format!("{word} sets no variable"))?;
                test.environment.push((name.to_owned(), value.to_owned()));
            }
            "timeLimit" => test.limit = Some(value.parse().map_err(|_| format!("{word} is no time"))?),
            "mem" => test.memory = value.parse().map_err(|_| format!("{word} is no size"))?,
            "resultTest" => {
                test.judge = match value {
                    "TestStatus" => Judge::Status,
                    "TestStatusNoErrors" => Judge::StatusNoErrors,
                    "TestErrFatal" => Judge::Fatal,
                    _ => return Err(format!("{word} is unknown")),
                }
            }
            // Tests that are expected to fail on MPICH run too: both systems are asked.
            _ => {}
        }
    }
    Ok(test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_list_line_parses_as_in_suite() {
        let text = "# words\nrma\n\nprogram 4 arg=-a=1 arg=b env=NAME=x=y timeLimit=30 mem=6.5 mpiexecarg=-v xfail=why\nlast 2 resultTest=TestErrFatal\nalone\n";
        let listed = parse("pt2pt", text, &|name| name == "rma").unwrap();
        assert_eq!(listed.folders, ["pt2pt/rma"]);
        let [first, last, alone] = &listed.tests[..] else { panic!("three tests: {:?}", listed.tests) };
        assert_eq!(first.ranks, 4);
        assert_eq!(first.arguments, ["-a=1", "b"]);
        assert_eq!(first.environment, [("NAME".to_owned(), "x=y".to_owned())]);
        assert_eq!((first.limit, first.memory, first.judge), (Some(30), 6.5, Judge::NoErrors));
        assert_eq!(first.launcher, ["-v"]);
        assert_eq!(last.judge, Judge::Fatal);
        assert_eq!(last.key(), "pt2pt/last 2 resultTest=TestErrFatal");
        assert_eq!((alone.ranks, alone.key()), (2, "pt2pt/alone".to_owned()));
    }

    #[test]
    fn test_in_subfolder_runs_there() {
        let listed = parse("coll", "inner/program 3\n", &|_| false).unwrap();
        assert_eq!(listed.tests[0].folder, "coll/inner");
        assert_eq!(listed.tests[0].program, "program");
    }

    #[test]
    fn test_list_line_with_invalid_value_is_refused() {
        for line in ["a four", "a 2 mem=much", "a 2 env=NAME", "a 2 resultTest=Other"] {
            assert!(parse("", line, &|_| false).is_err(), "{line}");
        }
    }
}
