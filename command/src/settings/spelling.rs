//! MPI's spellings: `-np 4`, `-hostfile f`, `-wdir d` become the long options that they mean.

use clap::Command;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Long options that MPI's commands take with one hyphen as well.
const ONE_HYPHEN: [(&str, &str); 17] = [
    ("-np", "--np"),
    ("-host", "--host"),
    ("-hosts", "--host"),
    ("-hostfile", "--hostfile"),
    ("-machinefile", "--hostfile"),
    ("-f", "--hostfile"),
    ("-ppn", "--ppn"),
    ("-wdir", "--wdir"),
    ("-wd", "--wdir"),
    ("-timeout", "--timeout"),
    ("-bind-to", "--bind-to"),
    ("-map-by", "--map-by"),
    ("-report-bindings", "--report-bindings"),
    ("-stdin", "--stdin"),
    ("-tag-output", "--label"),
    ("-prepend-rank", "--label"),
    ("-l", "--label"),
];

/// The arguments of this process, with the options of `run` and `trace` spelled in full.
pub fn of_process(arguments: Vec<OsString>, cli: &Command) -> Vec<OsString> {
    let runs =
        arguments.get(1).and_then(|name| name.to_str()).filter(|name| matches!(*name, "run" | "trace"));
    let Some(command) = runs.and_then(|name| cli.find_subcommand(name)) else { return arguments };
    let (before, words) = arguments.split_at(2);
    [before.to_vec(), of_words(words, command)].concat()
}

/// The words of one command line, from its first option to its program.
pub fn of_words(words: &[OsString], command: &Command) -> Vec<OsString> {
    let mut spelled = words.to_vec();
    let mut at = 0;
    while let Some(word) = spelled.get(at) {
        if !word.as_bytes().starts_with(b"-") || word == "-" || word == "--" {
            break;
        }
        // A word that is not UTF-8 has its value in itself: `--wdir=...`.
        let Some(word) = word.to_str() else {
            at += 1;
            continue;
        };
        let full = ONE_HYPHEN.iter().find(|(short, _)| *short == word).map(|(_, full)| *full);
        let takes = takes_the_next(full.unwrap_or(word), command);
        if let Some(full) = full {
            spelled[at] = full.into();
        }
        at += if takes { 2 } else { 1 };
    }
    spelled
}

/// Whether the next word is the option's value.
fn takes_the_next(word: &str, command: &Command) -> bool {
    let option = command.get_arguments().find(|option| match word.strip_prefix("--") {
        Some(long) => {
            let others = option.get_all_aliases().unwrap_or_default();
            option.get_long() == Some(long) || others.contains(&long)
        }
        None => {
            let letter = word.strip_prefix('-').filter(|rest| rest.chars().count() == 1);
            letter.and_then(|rest| rest.chars().next()).is_some_and(|letter| {
                let others = option.get_all_short_aliases().unwrap_or_default();
                option.get_short() == Some(letter) || others.contains(&letter)
            })
        }
    });
    option.is_some_and(|option| option.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::os::unix::ffi::OsStringExt;

    fn spelled(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = of_process(words, &crate::Cli::command());
        words.join(" ".as_ref()).into_string().expect("text")
    }

    #[test]
    fn mpi_options_with_one_hyphen_are_accepted() {
        assert_eq!(
            spelled("parvum run -np 4 -wdir /tmp prog -np 3"),
            "parvum run --np 4 --wdir /tmp prog -np 3"
        );
        assert_eq!(spelled("parvum run -n 2 -f hosts prog"), "parvum run -n 2 --hostfile hosts prog");
        assert_eq!(spelled("parvum run -x -np prog -np"), "parvum run -x -np prog -np", "a value is a value");
        assert_eq!(spelled("parvum trace -- -np 4"), "parvum trace -- -np 4");
        assert_eq!(spelled("parvum ps -np"), "parvum ps -np");
        let bytes = OsString::from_vec(b"--wdir=/\xff".to_vec());
        let words = ["parvum".into(), "run".into(), bytes.clone(), "-np".into(), "2".into(), "prog".into()];
        let words = of_process(words.to_vec(), &crate::Cli::command());
        assert_eq!((&words[2], words[3].to_str()), (&bytes, Some("--np")), "bytes stay as they are");
    }
}
