//! The table of promises: `tests/findings.txt`.

use std::collections::HashSet;

/// A promise of Parvum's, and the tests that fail if it is broken.
#[derive(Debug)]
pub struct Promise {
    pub number: String,
    pub text: String,
    pub tests: Vec<Test>,
    /// Why no test shows it.
    pub untested: Option<String>,
}

/// One test: the program that it is in, and its whole name there. A program is a name in `tests/tests`, the folder of a crate for its unit
/// tests, or `pytest` for the tests of the Python package.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    pub program: String,
    pub name: String,
}

/// Promises of one kind.
#[derive(Debug)]
pub struct Kind {
    pub number: String,
    pub text: String,
    pub promises: Vec<Promise>,
}

/// Reads the table. Kinds begin with `[NUMBER]`, promises with their number; tests and reasons are indented below their promise.
pub fn read(text: &str) -> Result<Vec<Kind>, String> {
    let (mut kinds, mut numbers): (Vec<Kind>, _) = (Vec::new(), HashSet::new());
    for (at, line) in text.lines().enumerate() {
        let fault = |why: &str| format!("findings.txt:{}: {line}: {why}", at + 1);
        let words = line.trim();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let (number, text) = rest.split_once("] ").ok_or_else(|| fault("expected `[NUMBER] TEXT`"))?;
            kinds.push(Kind { number: number.to_owned(), text: text.to_owned(), promises: Vec::new() });
            continue;
        }
        let kind = kinds.last_mut().ok_or_else(|| fault("no kind comes before it"))?;
        if line == words {
            let (number, text) = line.split_once(' ').ok_or_else(|| fault("expected `NUMBER TEXT`"))?;
            if number.split_once('.').is_none_or(|(of, _)| of != kind.number) {
                return Err(fault("the number is not one of its kind"));
            }
            if !numbers.insert(number.to_owned()) {
                return Err(fault("the number is there twice"));
            }
            let (number, text) = (number.to_owned(), text.trim().to_owned());
            kind.promises.push(Promise { number, text, tests: Vec::new(), untested: None });
            continue;
        }
        let promise = kind.promises.last_mut().ok_or_else(|| fault("no promise comes before it"))?;
        let (program, name) = words.split_once(' ').ok_or_else(|| fault("expected `PROGRAM TEST`"))?;
        match program {
            "untested:" => promise.untested = Some(name.to_owned()),
            _ => promise.tests.push(Test { program: program.to_owned(), name: name.to_owned() }),
        }
    }
    match kinds.iter().flat_map(|kind| &kind.promises).find(|it| it.tests.is_empty() && it.untested.is_none())
    {
        Some(promise) => {
            Err(format!("findings.txt: {} {}: no test and no reason", promise.number, promise.text))
        }
        None => Ok(kinds),
    }
}

/// Leaves the promises that the words choose: by kind (`3`), by number (`3.1`), or by a piece of the text. No words: all.
pub fn choose(kinds: &mut Vec<Kind>, words: &[String]) -> Result<(), String> {
    // Kinds are also called K1, K2 and so on.
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let plain = |word: &String| match word.strip_prefix(['K', 'k']) {
        Some(number) if is_number(number) => number.to_owned(),
        _ => word.clone(),
    };
    let words: Vec<String> = words.iter().map(plain).collect();
    let is_meant = |word: &str, kind: &Kind, promise: &Promise| {
        word == kind.number
            || word == promise.number
            || (!is_number(word) && promise.text.to_lowercase().contains(&word.to_lowercase()))
    };
    for word in &words {
        if !kinds.iter().any(|kind| kind.promises.iter().any(|promise| is_meant(word, kind, promise))) {
            return Err(format!("no promise has the number or the words \"{word}\"; --list shows all"));
        }
    }
    for kind in kinds.iter_mut().filter(|_| !words.is_empty()) {
        let mut promises = std::mem::take(&mut kind.promises);
        promises.retain(|promise| words.iter().any(|word| is_meant(word, kind, promise)));
        kind.promises = promises;
    }
    kinds.retain(|kind| !kind.promises.is_empty());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_tests::stage::project;
    use std::fs;
    use std::path::{Path, PathBuf};

    const SMALL: &str = "# A comment\n[1] Ends\n1.1 Contexts end\n    machine a::b\n\n1.2 Names end\n    untested: too long\n[2] Data\n2.1 Data arrive\n    pytest test_a.py::test_b\n";

    fn chosen(words: &[&str]) -> Result<Vec<String>, String> {
        let mut kinds = read(SMALL)?;
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        choose(&mut kinds, &words)?;
        Ok(kinds.into_iter().flat_map(|kind| kind.promises).map(|promise| promise.number).collect())
    }

    #[test]
    fn findings_table_parses_kinds_promises_and_tests() {
        let kinds = read(SMALL).unwrap();
        assert_eq!(kinds[1].promises[0].tests[0].name, "test_a.py::test_b");
        assert_eq!(kinds[0].promises[1].untested.as_deref(), Some("too long"));
        for wrong in [
            "1.1 A promise\n",
            "[1] A\n2.1 B\n    m n\n",
            "[1] A\n1.1 B\n",
            "[1] A\n1.1 B\n    m n\n1.1 C\n    m n\n",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn promises_are_selected_by_kind_number_and_words() {
        assert_eq!(chosen(&[]).unwrap(), ["1.1", "1.2", "2.1"]);
        assert_eq!(chosen(&["1"]).unwrap(), ["1.1", "1.2"]);
        assert_eq!(chosen(&["K2", "k1.2"]).unwrap(), ["1.2", "2.1"]);
        assert_eq!(chosen(&["1.2", "data"]).unwrap(), ["1.2", "2.1"]);
        assert!(chosen(&["3"]).is_err() && chosen(&["nothing"]).is_err());
    }

    /// All files below a folder with that ending.
    fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true if path.ends_with("target") => {}
                true => files(&path, ending, found),
                false if path.to_str().is_some_and(|path| path.ends_with(ending)) => found.push(path),
                false => {}
            }
        }
    }

    #[test]
    fn tests_of_findings_table_exist_in_sources() {
        let mut missing = Vec::new();
        let kinds = read(include_str!("../findings.txt")).unwrap();
        for test in kinds.iter().flat_map(|kind| &kind.promises).flat_map(|promise| &promise.tests) {
            let (mut sources, own) = (Vec::new(), project().join("tests/tests").join(&test.program));
            let name = test.name.rsplit("::").next().unwrap_or_default();
            if test.program == "pytest" {
                sources.push(
                    project().join("python/tests").join(test.name.split("::").next().unwrap_or_default()),
                );
            } else {
                sources.push(own.with_extension("rs"));
                files(&own, ".rs", &mut sources);
                files(&project().join(&test.program).join("src"), ".rs", &mut sources);
            }
            let has = |source: &PathBuf| {
                let text = fs::read_to_string(source).unwrap_or_default();
                text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
            };
            if !sources.iter().any(has) {
                missing.push(format!("{} {}", test.program, test.name));
            }
        }
        assert!(missing.is_empty(), "no source has these tests:\n{}", missing.join("\n"));
    }
}
