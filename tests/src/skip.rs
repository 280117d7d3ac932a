//! Tests that cannot run where they are, said aloud and counted apart.
//!
//! Libtest knows no test that finds out at run time that it cannot run: one that returns counts as passed. So each
//! says here why; `./x test` collects it (`PARVUM_SKIPPED`), takes it off the sum, and prints it. Where everything
//! must be there, as in continuous integration, `PARVUM_DEMAND` makes a failure of it.

use std::fs::OpenOptions;
use std::io::Write;

/// What a test lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The rights of root, or what only root can make.
    Root,
    /// A system to compare with.
    Peers,
    /// A program that the test uses.
    Tools,
    /// Something else of this host.
    Host,
    /// Time: the test takes long, and only the essential ones were asked for (`./x test` without `--all`).
    Time,
}

impl Lack {
    fn word(self) -> &'static str {
        match self {
            Lack::Root => "root",
            Lack::Peers => "peers",
            Lack::Tools => "tools",
            Lack::Host => "host",
            Lack::Time => "time",
        }
    }
}

/// Says why the test that runs is skipped; the test then returns. Fails where that must be there: `PARVUM_DEMAND`
/// names it (`root peers tools`).
pub fn skip(lack: Lack, why: impl AsRef<str>) {
    let demanded = std::env::var("PARVUM_DEMAND").unwrap_or_default();
    let line = line(&test(), why.as_ref());
    assert!(!is_demanded(lack, &demanded), "{line}; it may not be, as PARVUM_DEMAND={demanded} says");
    // Not by a macro: libtest keeps what those print to itself.
    let _ = writeln!(std::io::stderr(), "{line}");
    if let Some(file) = std::env::var_os("PARVUM_SKIPPED") {
        // One write: several programs may do so at once.
        let file = OpenOptions::new().create(true).append(true).open(file);
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).expect("PARVUM_SKIPPED");
    }
}

/// Whether a test that takes long is to be left out: `./x test` without `--all`. If so, says it.
pub fn is_left_out() -> bool {
    if is_quick() {
        skip(Lack::Time, "takes long; ./x test --all runs it");
    }
    is_quick()
}

/// Whether only tests that take a short time were asked for.
pub fn is_quick() -> bool {
    std::env::var("PARVUM_TESTS").is_ok_and(|which| which == "quick")
}

fn is_demanded(lack: Lack, demanded: &str) -> bool {
    demanded.split_whitespace().any(|word| word == lack.word())
}

/// One line, whatever the reason has in it.
fn line(test: &str, why: &str) -> String {
    let why: Vec<&str> = why.split_whitespace().collect();
    format!("skipped: {test}: {}", why.join(" "))
}

/// The program, and the test that runs in it: libtest calls its thread so.
fn test() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let program = without_hash(&program);
    match std::thread::current().name() {
        None | Some("main") => program.to_owned(),
        Some(name) => format!("{program}::{name}"),
    }
}

/// Cargo puts a number behind the names of tests.
fn without_hash(program: &str) -> &str {
    match program.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skip_reason_is_one_line_that_names_its_test() {
        let line = line(&test(), "no\n  luck");
        assert_eq!(
            line,
            "skipped: parvum_tests::skip::tests::skip_reason_is_one_line_that_names_its_test: no luck"
        );
    }

    #[test]
    fn program_name_loses_only_cargo_hash() {
        assert_eq!(without_hash("pvm-0123456789abcdef"), "pvm");
        assert_eq!(without_hash("drop-in"), "drop-in");
    }

    #[test]
    fn demanded_kind_may_not_be_lacking() {
        assert!(is_demanded(Lack::Peers, "root peers"));
        assert!(!is_demanded(Lack::Tools, "root peers"));
        assert!(!is_demanded(Lack::Root, ""));
    }
}
