//! A person at a terminal: line editing, history, completion.
//!
//! The editor has a thread of its own and reads one line when it is asked to. The console waits for it and for
//! the daemon at once, so that what jobs say appears above the line that is being typed.

use super::commands;
use rustix::event::{EventfdFlags, eventfd};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, ExternalPrinter, Helper};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

const REMEMBERED: usize = 1000;

/// What a person did.
pub enum Typed {
    Line(String),
    /// Ctrl-C: the line is dropped.
    Interrupted,
    End,
}

/// What completion may offer, beside the commands.
#[derive(Default)]
pub struct Known {
    pub tids: Vec<String>,
    pub hosts: Vec<String>,
    pub aliases: Vec<String>,
}

pub struct Editor {
    /// Says that a line is wanted.
    go: Sender<()>,
    typed: Receiver<Typed>,
    /// Readable when something was typed.
    wake: Arc<OwnedFd>,
    printer: Sender<String>,
    known: Arc<Mutex<Known>>,
    terminal: Option<Termios>,
}

impl Editor {
    /// None when the terminal can do nothing but lines.
    pub fn start() -> Option<Editor> {
        let terminal = tcgetattr(std::io::stdin()).ok();
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?);
        let known = Arc::new(Mutex::new(Known::default()));
        let config = Config::builder().max_history_size(REMEMBERED).ok()?.history_ignore_dups(true).ok()?;
        let config = config.completion_type(CompletionType::List).bracketed_paste(false).build();
        let mut editor = rustyline::Editor::<Completion, DefaultHistory>::with_config(config).ok()?;
        let mut above = editor.create_external_printer().ok()?;
        editor.set_helper(Some(Completion { known: known.clone(), files: FilenameCompleter::new() }));
        let (go, wanted) = channel();
        let (sender, typed) = channel();
        let (printer, texts) = channel::<String>();
        let bell = wake.clone();
        std::thread::spawn(move || read_lines(editor, &wanted, &sender, &bell));
        // A thread again: printing waits while the editor is between two lines.
        std::thread::spawn(move || texts.into_iter().try_for_each(|text| above.print(text)));
        Some(Editor { go, typed, wake, printer, known, terminal })
    }

    pub fn printer(&self) -> Sender<String> {
        self.printer.clone()
    }

    /// Lets the person type a line.
    pub fn ask(&self, known: Known) {
        if let Ok(mut shared) = self.known.lock() {
            *shared = known;
        }
        let _ = self.go.send(());
    }

    pub fn wake(&self) -> &OwnedFd {
        &self.wake
    }

    /// What was typed, once [`Editor::wake`] is readable.
    pub fn typed(&self) -> Typed {
        let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
        self.typed.recv().unwrap_or(Typed::End)
    }
}

impl Drop for Editor {
    /// The console may end while a line is being typed: the terminal gets back what it had.
    fn drop(&mut self) {
        if let Some(terminal) = &self.terminal {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, terminal);
        }
    }
}

fn read_lines(
    mut editor: rustyline::Editor<Completion, DefaultHistory>,
    wanted: &Receiver<()>,
    typed: &Sender<Typed>,
    wake: &OwnedFd,
) {
    let history = history_file();
    if let Some(file) = &history {
        // There is none the first time.
        let _ = editor.load_history(file);
    }
    while wanted.recv().is_ok() {
        let done = match editor.readline(super::PROMPT) {
            Ok(line) => {
                if !line.trim().is_empty() && editor.add_history_entry(line.as_str()).unwrap_or(false) {
                    // A history that cannot be kept is no reason to stop.
                    let _ = history.as_ref().map(|file| editor.append_history(file));
                }
                Typed::Line(line)
            }
            Err(ReadlineError::Interrupted) => Typed::Interrupted,
            Err(_) => Typed::End,
        };
        let over = typed.send(done).is_err();
        let _ = rustix::io::write(wake, &1u64.to_ne_bytes());
        if over {
            return;
        }
    }
}

/// `$XDG_STATE_HOME/parvum/history`, else `~/.local/state/parvum/history`; its folder is made when need be.
fn history_file() -> Option<PathBuf> {
    let folder = crate::settings::state::folder()?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    Some(folder.join("history"))
}

struct Completion {
    known: Arc<Mutex<Known>>,
    files: FilenameCompleter,
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..at).unwrap_or_default();
        let start = before.rfind([' ', '\t']).map_or(0, |blank| blank + 1);
        let known = self.known.lock().map_err(|_| ReadlineError::Eof)?;
        match candidates(&before[..start], &known) {
            Some(words) => Ok((start, fitting(words, &before[start..]))),
            None => self.files.complete_path(line, at),
        }
    }
}

/// The words that may come after `before`; none means files.
fn candidates(before: &str, known: &Known) -> Option<Vec<String>> {
    let mut words = before.split_whitespace();
    let Some(command) = words.next() else {
        let commands = commands::names().map(str::to_owned);
        return Some(commands.chain(known.aliases.iter().cloned()).collect());
    };
    let texts = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    match command {
        "help" => Some(commands::names().map(str::to_owned).collect()),
        "kill" | "pstat" => Some(known.tids.clone()),
        "sig" if words.next().is_some() => Some(known.tids.clone()),
        "mstat" | "delete" | "add" => Some(known.hosts.clone()),
        "unalias" | "alias" => Some(known.aliases.clone()),
        "getopt" | "setopt" => Some(super::options::names().map(str::to_owned).collect()),
        "trace" => Some(super::trace::names().map(str::to_owned).collect()),
        "reset" => texts(&["info"]),
        "ps" => texts(&["-a", "-l", "-x"]),
        "jobs" => texts(&["-l"]),
        "spawn" => None,
        _ => Some(Vec::new()),
    }
}

fn fitting(mut words: Vec<String>, begun: &str) -> Vec<Pair> {
    words.retain(|word| word.starts_with(begun));
    words.sort_unstable();
    words.dedup();
    let pair = |word: String| Pair { replacement: format!("{word} "), display: word };
    words.into_iter().map(pair).collect()
}

impl Hinter for Completion {
    type Hint = String;
}
impl Highlighter for Completion {}
impl Validator for Completion {}
impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(before: &str, begun: &str) -> Vec<String> {
        let known = Known {
            tids: vec!["t40001".into(), "t40002".into()],
            hosts: vec!["here".into()],
            aliases: vec!["spin".into()],
        };
        let words = candidates(before, &known).expect("words, not files");
        fitting(words, begun).into_iter().map(|pair| pair.display).collect()
    }

    #[test]
    fn completion_offers_only_words_valid_at_position() {
        assert_eq!(offered("", "sp"), ["spawn", "spin"]);
        assert_eq!(offered("kill ", "t4"), ["t40001", "t40002"]);
        assert_eq!(offered("sig 9 ", ""), ["t40001", "t40002"]);
        assert!(offered("sig ", "").is_empty(), "a number comes first");
        assert_eq!(offered("mstat ", "h"), ["here"]);
        assert_eq!(offered("setopt ", "PvmRou"), ["PvmRoute"]);
        assert_eq!(offered("help ", "una"), ["unalias"]);
        assert!(candidates("spawn -> ", &Known::default()).is_none(), "programs are files");
    }
}
