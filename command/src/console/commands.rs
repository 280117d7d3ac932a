//! The commands: their names, their arguments, what `help` says, and who obeys them.

use super::line::Words;
use super::{Console, Done, Next};
use crate::shown::shown;
use std::ops::RangeInclusive;

/// A command. Its words and their number are PVM's; there are no abbreviations.
pub struct Command {
    pub name: &'static str,
    summary: &'static str,
    arguments: &'static str,
    /// More lines for `help`.
    details: &'static [&'static str],
    /// How many words may follow.
    count: RangeInclusive<usize>,
    obey: fn(&mut Console, &Words) -> Done,
}

const MANY: usize = usize::MAX;

macro_rules! commands {
    ($($name:literal $arguments:literal $count:expr, $summary:literal, $obey:expr $(, $detail:literal)*;)*) => {
        /// All of them, in the order of the alphabet.
        const COMMANDS: &[Command] = &[$(Command {
            name: $name,
            summary: $summary,
            arguments: $arguments,
            details: &[$($detail),*],
            count: $count,
            obey: $obey,
        }),*];
    };
}

commands! {
    "add" "hostname ..." 1..=MANY, "Take hosts into the machine", Console::add,
        "Daemons are started there with your ssh, all at once; what goes wrong is said with its step",
        "A host may have the options of a hostfile, of which the name counts: add \"fred ep=/opt/bin\"";
    "alias" "[ name word ... ]" 0..=MANY, "Give a command another name, or list such names", Console::alias,
        "The name stands for the words; what follows it is added to them";
    "conf" "" 0..=0, "List the hosts of the machine", Console::conf,
        "HOST   the host's name", "DTID   the id of its daemon", "ARCH   its kind",
        "SPEED  its speed beside other hosts", "DSIG   how it lays out data";
    "delete" "hostname ..." 1..=MANY, "Take hosts out of the machine", Console::delete;
    "echo" "[ word ... ]" 0..=MANY, "Print the words", Console::echo;
    "export" "[ variable ... ]" 0..=MANY, "Give spawned tasks these variables, or list the names", Console::export;
    "getopt" "[ option ]" 0..=1, "Show options of the console's own task", Console::getopt;
    "halt" "" 0..=0, "Stop the machine and every task, and leave", Console::halt;
    "help" "[ command ]" 0..=1, "List the commands, or tell about one", Console::help;
    "id" "" 0..=0, "Show the console's task id", Console::id;
    "jobs" "[ -l ]" 0..=1, "List the jobs that run: what `spawn ->` began", Console::list_jobs,
        "-l     tell more about each task";
    "kill" "[ -c ] tid ..." 1..=MANY, "End tasks (SIGTERM)", Console::kill,
        "-c     end the tasks that these have spawned, not them";
    "mstat" "host ..." 1..=MANY, "Say of hosts whether they run", Console::mstat;
    "names" "[ beginning ]" 0..=1, "List the entries of the mailbox", Console::names;
    "ps" "[ -alx ] [ -hdtid | -nhost ]" 0..=1, "List tasks", Console::ps,
        "-a     on all hosts", "-hdtid on the host of this daemon", "-nhost on the host of this name",
        "-l     with parent and process", "-x     the console too",
        "FLAG: c is connected to its daemon, f was started by it";
    "pstat" "tid ..." 1..=MANY, "Say of tasks whether they run", Console::pstat;
    "put" "name flags number" 3..=3, "Put a number into the mailbox", Console::put,
        "flags is the sum of 1 (stays when the console goes), 2 (one of several), 4 (others may replace it)";
    "quit" "" 0..=0, "Leave; the machine and its tasks stay", |_, _| Ok(Next::Leave);
    "reset" "[ info [ name [ index ] ] ]" 0..=3, "End all tasks; or delete mailbox entries", Console::reset,
        "Without words it ends all tasks but consoles, and deletes what they left in the mailbox",
        "info   delete only entries whose owner is gone: all, those of a name, or one";
    "setenv" "[ name [ value ] ]" 0..=MANY, "Show or set variables of the console", Console::setenv,
        "Tasks get those that are exported";
    "setopt" "option value" 2..=2, "Set an option of the console's own task", Console::setopt;
    "sig" "number tid ..." 2..=MANY, "Send a signal to tasks", Console::sig;
    "spawn" "[ options ] program [ argument ... ]" 1..=MANY, "Start tasks", Console::spawn,
        "-3             so many of them, instead of one", "-host          on this host",
        "-ARCH          on a host of this kind", "-host:/folder  there, beginning in the folder",
        "-:/folder      anywhere, beginning in the folder", "--host=address like -host",
        "-?             under a debugger", "->             as a job: what they say is shown here",
        "->file         as a job: what they say goes into a new file",
        "->>file        as a job: what they say goes to the end of a file";
    "trace" "[ [ + | - ] name ... ]" 0..=MANY, "Show or set which events are traced", Console::trace,
        "name ...       trace these too, as does + name ...", "- name ...     trace these no more",
        "*              stands for all names", "xpvm           trace what XPVM shows",
        "buf [ bytes ]  show or set how much is collected before it is sent",
        "opt [ full | time | count ]  show or set how much is told";
    "unalias" "name ..." 1..=MANY, "Forget other names of commands", Console::unalias;
    "unexport" "[ variable ... ]" 0..=MANY, "Give spawned tasks these variables no more", Console::unexport;
    "version" "" 0..=0, "Show which PVM this is", Console::version;
}

/// The names, in the order of the alphabet.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

impl Console {
    /// Obeys a line that is not empty.
    pub(super) fn command(&mut self, words: &Words) -> Done {
        let name = words.text(0);
        let Some(command) = find(&name) else {
            let name = printable(&name);
            self.screen.line(&format!("{name}: not found"));
            self.hint(&suggestion(&name));
            return Ok(Next::Go);
        };
        if !command.count.contains(&(words.len() - 1)) {
            self.screen.line(&format!("{}: wrong #args", command.name));
            self.hint(format!("usage: {} {}", command.name, command.arguments).trim_end());
            return Ok(Next::Go);
        }
        (command.obey)(self, &words.rest(1))
    }

    fn help(&mut self, words: &Words) -> Done {
        let name = if words.is_empty() { "help".into() } else { words.text(0) };
        let Some(command) = find(&name) else {
            let name = printable(&name);
            self.hint(&format!("{name}: there is no such command; {}", suggestion(&name)));
            return Ok(Next::Go);
        };
        self.screen.line(&format!("{:<12}{}", command.name, command.summary));
        self.screen.line(format!("Syntax:  {} {}", command.name, command.arguments).trim_end());
        for detail in command.details {
            self.screen.line(&format!("  {detail}"));
        }
        if command.name == "help" {
            self.screen.line("Commands are:");
            for command in COMMANDS {
                self.screen.line(&format!("  {:<12}{}", command.name, command.summary));
            }
        }
        Ok(Next::Go)
    }

    fn alias(&mut self, words: &Words) -> Done {
        if words.len() >= 2 {
            self.aliases.define(&words.0[0], words.rest(1));
            return Ok(Next::Go);
        }
        let mut text = Vec::new();
        for (name, meaning) in self.aliases.iter() {
            text.extend([name.as_slice(), b"\t", &meaning.joined(0), b"\n"].concat());
        }
        self.screen.bytes(&text);
        Ok(Next::Go)
    }

    fn unalias(&mut self, words: &Words) -> Done {
        for name in &words.0 {
            if !self.aliases.remove(name) {
                self.hint(&format!("{}: no such alias", printable(&shown(name))));
            }
        }
        Ok(Next::Go)
    }

    fn echo(&mut self, words: &Words) -> Done {
        self.screen.bytes(&words.joined(0));
        self.screen.bytes(b"\n");
        Ok(Next::Go)
    }
}

/// Something that was typed, fit to be shown: no control characters, no page full of it.
pub fn printable(text: &str) -> String {
    const ENOUGH: usize = 200;
    let mut shown: String = text.chars().take(ENOUGH).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(ENOUGH).is_some() {
        shown += "...";
    }
    shown
}

/// What somebody may have meant.
fn suggestion(word: &str) -> String {
    const OTHERS: [(&str, &str); 8] = [
        ("exit", "quit"),
        ("bye", "quit"),
        ("stop", "halt"),
        ("hosts", "conf"),
        ("run", "spawn"),
        ("tasks", "ps"),
        ("print", "echo"),
        ("set", "setenv"),
    ];
    match word {
        "!!" | "history" => return "the up arrow brings back what was typed".into(),
        "?" => return "`help` lists the commands; `alias ? help` makes this one of them".into(),
        "tickle" | "idump" => return "PVM's insides are not here; `parvum info` shows Parvum's".into(),
        _ => {}
    }
    let other = OTHERS.iter().find(|(name, _)| *name == word).map(|(_, meant)| *meant);
    let begun = || names().find(|name| word.len() >= 2 && name.starts_with(word));
    let near = || {
        let all = names().map(|name| (crate::explain::distance(word, name), name));
        all.filter(|(far, _)| *far <= 2 && *far < word.chars().count()).min().map(|(_, name)| name)
    };
    match other.or_else(begun).or_else(near) {
        Some(known) => format!("did you mean `{known}`? `help` lists all commands"),
        None => "`help` lists the commands".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted_and_each_has_a_summary() {
        let all: Vec<_> = names().collect();
        let mut sorted = all.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(all, sorted);
        assert_eq!(all.len(), 27, "as many as PVM's help lists");
        assert!(COMMANDS.iter().all(|command| !command.summary.is_empty()));
    }

    #[test]
    fn misspelled_command_suggests_nearest_name() {
        for (word, meant) in [
            ("spwan", "spawn"),
            ("con", "conf"),
            ("hlp", "help"),
            ("sp", "spawn"),
            ("exit", "quit"),
            ("Halt", "halt"),
            ("setenvv", "setenv"),
        ] {
            assert!(suggestion(word).contains(&format!("`{meant}`?")), "{word}: {}", suggestion(word));
        }
        for word in ["xyzzy", "", "q", &"x".repeat(100_000)] {
            assert_eq!(suggestion(word), "`help` lists the commands", "{word}");
        }
    }

    #[test]
    fn printable_shortens_text_and_replaces_control_bytes() {
        assert_eq!(printable("a\u{1b}[2Jb"), "a?[2Jb");
        assert_eq!(printable(&"x".repeat(1000)).len(), 203);
    }
}
