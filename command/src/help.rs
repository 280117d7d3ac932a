//! The parts of `--help` that clap does not write: commands in groups, and examples.

use clap::Command;
use std::fmt::Write as _;

/// The commands in groups. A test compares the list with the commands that there are.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Run", &["run", "trace", "predict"]),
    ("Jobs", &["submit", "jobs", "logs", "wait", "cancel"]),
    ("Look", &["ps", "top", "why", "stack", "info", "hosts", "algorithms"]),
    ("Machine", &["up", "down", "add", "remove", "invite", "join", "leave", "kill", "console"]),
    ("Shell", &["env", "completion"]),
    ("Measure", &["compare", "lesson"]),
    ("Help", &["explain", "doctor", "report", "docs", "help"]),
];

/// Where bugs are reported: `repository` of the manifest, if the sources are published somewhere.
fn bugs() -> String {
    match env!("CARGO_PKG_REPOSITORY") {
        "" => "parvum report; SECURITY.md and CONTRIBUTING.md say where".to_owned(),
        address => format!("parvum report, then {address}/issues"),
    }
}

/// The text behind the commands in `parvum --help`.
const MORE: &str = "\
Every command has examples: parvum run --help

MPI programs:  mpiexec -n 4 ./program    (mpiexec -help; mpirun is the same)
Man pages:     man parvum, man mpiexec, man 7 parvum
Errors:        parvum explain CODE
Problems:      parvum doctor, and parvum why if a program hangs
A bug report:  ";

/// The examples at the end of a help: what to type, and what it does.
pub fn examples(all: &[(&str, &str)]) -> String {
    let width = all.iter().map(|(line, _)| line.len()).max().unwrap_or_default();
    let mut text = "Examples:".to_owned();
    for (line, what) in all {
        // In one line if a terminal of 80 columns has room for both.
        let fits = 2 + width + 2 + what.len() <= 80;
        let _ = match fits {
            true => write!(text, "\n  {line:width$}  {what}"),
            false => write!(text, "\n  {line}\n      {what}"),
        };
    }
    text
}

/// The command with its subcommands in groups.
pub fn grouped(command: Command) -> Command {
    let mut list = String::new();
    let bold = |text: &str| format!("\x1b[1m\x1b[4m{text}:\x1b[0m");
    for (title, names) in GROUPS {
        let _ = writeln!(list, "{}", bold(title));
        for name in names {
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None if *name == "help" => "Print the help of a command".to_owned(),
                None => continue,
            };
            let _ = writeln!(list, "  \x1b[1m{name:<11}\x1b[0m {about}");
        }
        list.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{}\n{{options}}\n\n{MORE}{}\n",
        bold("Options"),
        bugs()
    );
    // Clap removes the escapes for who wants no colour.
    command.help_template(clap::builder::StyledStr::from(template))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_that_is_shown_stands_in_one_group() {
        let cli = crate::Cli::command();
        let shown: BTreeSet<_> =
            cli.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name).collect();
        let listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len());
        let missing: Vec<_> = shown.iter().filter(|name| !listed.contains(name)).collect();
        assert_eq!(missing, Vec::<&&str>::new());
    }

    #[test]
    fn a_long_example_gets_a_line_of_its_own() {
        let long = "x".repeat(70);
        assert_eq!(examples(&[("a", "one"), ("bb", "two")]), "Examples:\n  a   one\n  bb  two");
        assert_eq!(examples(&[(&long, "what it does")]), format!("Examples:\n  {long}\n      what it does"));
    }
}
