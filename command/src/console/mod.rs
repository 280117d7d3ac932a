//! `pvm`, PVM's console: orders line by line.
//!
//! What scripts read stands on standard output, laid out as PVM 3.4.6 lays it out. What only helps a person
//! (why something was refused, which command was meant) goes to standard error.

mod aliases;
mod commands;
mod editor;
mod hosts;
mod input;
mod jobs;
mod line;
mod mail;
mod options;
mod screen;
mod settings;
mod spawn;
mod tasks;
mod trace;

use crate::settings::arguments::Arguments;
use crate::{complain, options as session_options, terminal::signals};
use aliases::Aliases;
use editor::{Editor, Known, Typed};
use input::{Plain, Read};
use jobs::Jobs;
use line::{LineError, Words};
use options::TaskOptions;
use parvum_task::{Session, SessionError};
use parvum_wire::control::{Event, Reply, Request, Role};
use rustix::event::{PollFd, PollFlags, poll};
use screen::Screen;
use settings::Environment;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use trace::Trace;

const PROMPT: &str = "pvm> ";

const USAGE: &str = "\
usage: pvm [-dmask] [-nname] [hostfile]
Takes orders line by line, from a terminal or a script on standard input; `help` lists them. Starts the machine when
none is up, with what the hostfile says; -n names this host. ~/.pvmrc is obeyed first.";

/// `pvm`, or `parvum console`.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::read(arguments) {
        Ok(arguments) if arguments.help => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("pvm: {why}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match attempt(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(Trouble::Words(lines)) => {
            lines.iter().for_each(|line| eprintln!("pvm: {line}"));
            ExitCode::FAILURE
        }
        Err(Trouble::Session(error)) => complain(&error),
    }
}

/// Why the console cannot go on.
enum Trouble {
    Words(Vec<String>),
    Session(SessionError),
}

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Trouble {
        Trouble::Session(error)
    }
}

/// What a command has to say for itself.
type Done = Result<Next, SessionError>;

/// What comes after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Go,
    Leave,
    /// The machine is down.
    Halted,
    /// This signal came.
    Signal(i32),
}

fn attempt(arguments: &Arguments) -> Result<u8, Trouble> {
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let (session, was_up) = open(arguments)?;
    // A machine that is stopped tells its guests to end, and the console is one. At a terminal Ctrl-C is for
    // the line, not for the console.
    let mut caught = vec![libc::SIGTERM, libc::SIGHUP];
    caught.extend(terminal.then_some(libc::SIGINT));
    let signals =
        signals::catch(&caught).map_err(|error| SessionError::System("catch signals".into(), error))?;
    let editor = if terminal { Editor::start() } else { None };
    let screen = Screen::new(editor.as_ref().map(Editor::printer));
    let mut console = Console {
        session,
        signals,
        screen,
        aliases: Aliases::default(),
        jobs: Jobs::default(),
        environment: Environment::inherited(),
        options: TaskOptions::default(),
        trace: Trace::default(),
    };
    if was_up {
        console.screen.line("pvmd already running.");
    }
    match console.run(editor) {
        Ok(next) => Ok(console.farewell(next)),
        // Somebody else has stopped the machine, which told its guests before it went.
        Err(SessionError::Lost) if console.signalled() == Some(libc::SIGTERM) => {
            Ok(console.farewell(Next::Signal(libc::SIGTERM)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Joins the machine, or starts it; says whether it was up.
fn open(arguments: &Arguments) -> Result<(Session, bool), Trouble> {
    match Session::open(&session_options(Role::Task, false)) {
        Ok(session) => {
            if arguments.hostfile.is_some() || arguments.name.is_some() || arguments.mask.is_some() {
                eprintln!("pvm: the machine is up already: hostfile and options are ignored");
            }
            return Ok((session, true));
        }
        Err(SessionError::NoDaemon(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let (settings, remarks, others) = arguments.settings().map_err(Trouble::Words)?;
    let mut session = Session::open(&session_options(Role::Task, true))?;
    session.request(Request::Configure(settings))?;
    remarks.iter().for_each(|remark| eprintln!("pvm: {remark}"));
    for (host, why) in crate::hosts::membership::add_all(&mut session, others)? {
        eprintln!("pvm: {host}: Can't start pvmd: {why}");
    }
    Ok((session, false))
}

struct Console {
    session: Session,
    signals: OwnedFd,
    screen: Screen,
    aliases: Aliases,
    jobs: Jobs,
    environment: Environment,
    options: TaskOptions,
    trace: Trace,
}

impl Console {
    fn run(&mut self, editor: Option<Editor>) -> Done {
        self.keep_from_reset(true)?;
        match (self.startup(editor.is_some())?, editor) {
            (Next::Go, Some(editor)) => self.converse(editor),
            (Next::Go, None) => self.read(Plain::default()),
            (other, _) => Ok(other),
        }
    }

    /// Obeys ~/.pvmrc. As PVM does, a script's output shows its lines; a terminal does not need them.
    fn startup(&mut self, quiet: bool) -> Done {
        let file = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pvmrc"));
        let Some(Ok(text)) = file.map(std::fs::read) else { return Ok(Next::Go) };
        for line in text.split(|byte| *byte == b'\n') {
            if line.is_empty() {
                continue;
            }
            if !quiet {
                self.screen.bytes(line);
                self.screen.bytes(b"\n");
            }
            let next = self.obey(line)?;
            if next != Next::Go {
                return Ok(next);
            }
        }
        Ok(Next::Go)
    }

    /// Reads lines from a file, a pipe, or a terminal that cannot do more. Each is shown after its prompt, as
    /// PVM's console does it, so that the output tells which answer belongs to which order.
    fn read(&mut self, mut input: Plain) -> Done {
        loop {
            self.screen.text(PROMPT);
            self.hear()?;
            let line = loop {
                match input.next() {
                    Read::More => {}
                    other => break other,
                }
                if let Some(end) = self.wait(std::io::stdin())? {
                    return Ok(end);
                }
                input.fill();
            };
            let next = match line {
                Read::Line(line) => {
                    self.screen.bytes(&line);
                    self.screen.bytes(b"\n");
                    self.obey(&line)?
                }
                Read::TooLong => {
                    self.screen.line("command too long");
                    Next::Go
                }
                Read::More | Read::End => {
                    self.screen.line("quit");
                    Next::Leave
                }
            };
            if next != Next::Go || !self.screen.flush() {
                return Ok(next);
            }
        }
    }

    /// Reads lines from a person at a terminal.
    fn converse(&mut self, editor: Editor) -> Done {
        loop {
            let known = self.known()?;
            // From here on the terminal is the editor's.
            self.screen.flush();
            editor.ask(known);
            if let Some(end) = self.wait(editor.wake())? {
                return Ok(end);
            }
            let next = match editor.typed() {
                Typed::Line(line) => self.obey(line.as_bytes())?,
                Typed::Interrupted => Next::Go,
                Typed::End => Next::Leave,
            };
            if next != Next::Go {
                return Ok(next);
            }
            self.hear()?;
        }
    }

    /// What completion may offer now.
    fn known(&mut self) -> Result<Known, SessionError> {
        let tids = self.rows()?.iter().map(|row| row.tid.to_string()).collect();
        let hosts = self.host_rows()?.into_iter().map(|row| row.name).collect();
        let typed = |name: &[u8]| std::str::from_utf8(name).ok().map(str::to_owned);
        let aliases = self.aliases.iter().filter_map(|(name, _)| typed(name)).collect();
        Ok(Known { tids, hosts, aliases })
    }

    /// Waits until there is input, and shows meanwhile what the jobs say. Says when it is time to leave.
    fn wait(&mut self, input: impl AsFd) -> Result<Option<Next>, SessionError> {
        loop {
            self.screen.flush();
            let session = self.session.fd();
            let watch = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
            let mut fds = [watch(input.as_fd()), watch(session), watch(self.signals.as_fd())];
            // An interrupted wait is looked into like any other.
            let _ = poll(&mut fds, None);
            let ready = !fds[0].revents().is_empty();
            let heard = self.hear();
            if let Some(signal) = self.signalled() {
                return Ok(Some(Next::Signal(signal)));
            }
            heard?;
            if ready {
                return Ok(None);
            }
        }
    }

    /// The signal that says it is time to go.
    fn signalled(&self) -> Option<i32> {
        std::iter::from_fn(|| signals::next(&self.signals)).find(|signal| *signal != libc::SIGINT)
    }

    /// Takes in what the daemon has sent.
    fn hear(&mut self) -> Result<(), SessionError> {
        self.session.poll()?;
        while let Some(arrival) = self.session.next_event() {
            match arrival.event {
                Event::Started { tid, parent, .. } => self.jobs.started(tid, parent),
                Event::Output { tid, stream, data } => {
                    self.screen.background(&self.jobs.output(tid, stream, &data.0));
                }
                Event::Exited { tid, .. } => self.screen.background(&self.jobs.exited(tid)),
                Event::Remark { text } => self.hint(&text),
                // The console is a task, but talks to no other.
                _ => {}
            }
        }
        if self.session.is_lost() { Err(SessionError::Lost) } else { Ok(()) }
    }

    /// Obeys one line. A refusal is told, and the console goes on.
    fn obey(&mut self, line: &[u8]) -> Done {
        let words = match Words::parse(line) {
            Ok(words) => words,
            Err(LineError::Unmatched(sign)) => {
                self.screen.line(&format!("unmatched {sign}"));
                self.hint("quotes come in pairs; a backslash goes before the character that it protects");
                return Ok(Next::Go);
            }
            Err(LineError::TooLong) => {
                self.screen.line("command too long");
                return Ok(Next::Go);
            }
        };
        let Ok(words) = self.aliases.expand(words) else {
            self.screen.line("alias loop");
            self.hint("this alias leads back to itself; `unalias` forgets it");
            return Ok(Next::Go);
        };
        if words.is_empty() {
            return Ok(Next::Go);
        }
        match self.command(&words) {
            Err(SessionError::Refused(why)) => {
                self.hint(&why.to_string());
                Ok(Next::Go)
            }
            other => other,
        }
    }

    /// A word for the person, beside what scripts read.
    fn hint(&mut self, text: &str) {
        self.screen.aside(text);
    }

    /// A daemon that answers another question than was asked.
    fn odd<T>(&self) -> Result<T, SessionError> {
        Err(SessionError::Protocol("another answer than asked for".into()))
    }

    fn request(&mut self, request: Request) -> Result<Reply, SessionError> {
        self.session.request(request)
    }

    /// The last words, and the exit code.
    fn farewell(&mut self, next: Next) -> u8 {
        match next {
            Next::Go | Next::Leave => {
                if !self.screen.is_terminal() {
                    self.screen.text("\nConsole: exit handler called\n");
                }
                self.screen.line("pvmd still running.");
            }
            Next::Halted => {}
            Next::Signal(_) => {
                self.screen.text("\n");
                self.hint("told to end: the machine is being stopped, or somebody sent a signal");
            }
        }
        self.screen.flush();
        match next {
            Next::Signal(signal) => 128 + signal as u8,
            _ => 0,
        }
    }
}
