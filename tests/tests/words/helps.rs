//! Helps: each as it was last looked at, narrow enough, with examples, and in groups.

use super::{snapshot, text};
use parvum_tests::{TestMachine, parvum};
use std::fmt::Write as _;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Help as a terminal of 80 columns shows it.
fn help(words: &[&str]) -> String {
    let done = Command::new(parvum()).args(words).env("COLUMNS", "80").output().expect("parvum runs");
    assert!(done.status.success(), "{done:?}");
    // The version is in no help, and the folder of a user is not either.
    text(&done.stdout)
}

/// The commands that `parvum --help` lists.
fn commands() -> Vec<String> {
    let all = help(&["--help"]);
    let names = all
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   ") && !line.starts_with("  -"));
    let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

#[test]
fn helps_are_as_they_were_looked_at() {
    let mut all = format!("$ parvum --help\n{}", help(&["--help"]));
    for name in commands() {
        let _ = write!(all, "\n$ parvum {name} --help\n{}", help(&[&name, "--help"]));
    }
    let done = Command::new(parvum()).arg0("mpiexec").arg("-help").output().expect("parvum runs");
    let mpiexec = text(&done.stdout);
    assert!(mpiexec.lines().all(|line| line.chars().count() <= 80), "{mpiexec}");
    let _ = write!(all, "\n$ mpiexec -help\n{mpiexec}");
    snapshot("helps.txt", &all);
}

#[test]
fn helps_fit_80_columns_and_end_with_examples() {
    for name in commands() {
        let long = help(&[&name, "--help"]);
        let short = help(&[&name, "-h"]);
        for line in long.lines().chain(short.lines()) {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
        let (_, examples) =
            long.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{name} has no examples:\n{long}"));
        let count = examples.lines().filter(|line| !line.starts_with("   ") && !line.is_empty()).count();
        assert!((2..=5).contains(&count), "{name} has {count} examples");
        assert!(
            !short.contains("Examples:") && short.lines().count() < long.lines().count(),
            "{name} -h is short"
        );
    }
}

#[test]
fn help_of_the_command_names_all_that_helps() {
    let all = help(&["--help"]);
    for word in [
        "Run:",
        "Jobs:",
        "Look:",
        "Machine:",
        "Shell:",
        "Measure:",
        "mpiexec",
        "man parvum",
        "parvum explain",
        "parvum doctor",
        "parvum report",
    ] {
        assert!(all.contains(word), "{word} is missing:\n{all}");
    }
    for hidden in ["\n  daemon", "\n  keep-job"] {
        assert!(!all.contains(hidden), "{hidden}");
    }
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
    assert!(commands().len() >= 20, "{:?}", commands());
}

#[test]
fn examples_have_commands_and_options_that_exist() {
    let machine = TestMachine::new();
    for name in commands() {
        let long = help(&[&name, "--help"]);
        let examples = long.split_once("\nExamples:\n").map_or("", |(_, examples)| examples);
        for line in examples.lines().filter(|line| line.starts_with("  parvum ")) {
            // The description is behind two blanks.
            let line = line.trim().split("  ").next().unwrap_or_default();
            let words: Vec<&str> =
                line.split(['|', '>', ':']).next().unwrap_or_default().split_whitespace().skip(1).collect();
            // What a help is asked of is parsed up to there: unknown options are refused first.
            let (command, rest) = words.split_first().expect("a command");
            let options: Vec<&str> = rest.iter().copied().filter(|word| word.starts_with("--")).collect();
            for option in options {
                let listed = help(&[command, "--help"]);
                assert!(listed.contains(option), "`{line}` of {name}: {command} has no {option}");
            }
            assert!(machine.run(&[command, "--help"]).status.success(), "{line}");
        }
    }
}
