//! `parvum run`: a job from its start to its exit code.

use crate::{complain, options, signals};
use clap::Args;
use parvum_task::{Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{
    Blob, ErrorKind, Event, ExitStatus, Failure, Output, Reply, Request, Role, SpawnRequest, Stream,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A line without an end longer than this is written in pieces.
const LONGEST_LINE: usize = 64 * 1024;

#[derive(Args)]
pub struct RunArgs {
    /// How many tasks of the program to start: 1 to 4096
    #[arg(short, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    n: u32,
    /// Put the task's id in front of every line of output
    #[arg(long)]
    tag: bool,
    /// Run all tasks at the same time or none: jobs started so take turns on processors that they share
    #[arg(long)]
    gang: bool,
    /// How many seconds tasks that the program has spawned may go on after it ended
    #[arg(long, default_value_t = 5)]
    linger: u64,
    /// The program, and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<OsString>,
}

pub fn run(args: &RunArgs) -> ExitCode {
    end(attempt(args, None).map(|(code, _)| code))
}

/// What the command ends with.
pub fn end(result: Result<u8, SessionError>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(SessionError::Refused(failure)) => {
            complain(&failure);
            // As shells have it.
            ExitCode::from(match failure.kind {
                ErrorKind::ProgramNotFound => 127,
                ErrorKind::NotExecutable | ErrorKind::ExecFailed => 126,
                _ => 1,
            })
        }
        Err(error) => complain(&error),
    }
}

/// Runs the job; gives its code, and the session whose job it was. What the tasks do is recorded in so many bytes for each,
/// if in any.
pub fn attempt(args: &RunArgs, record: Option<u64>) -> Result<(u8, Session), SessionError> {
    let system = |what: &str, error| SessionError::System(what.into(), error);
    let session = Session::open(&options(Role::Runner, true))?;
    let caught = signals::catch(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP]);
    let signals = caught.map_err(|error| system("catch signals", error))?;
    let mut job = Job {
        session,
        signals,
        printer: Printer::new(args.tag),
        linger: Duration::from_secs(args.linger),
        program: BTreeMap::new(),
        others: BTreeMap::new(),
        early: Vec::new(),
        code: 0,
        interrupted: None,
    };
    job.start(args, record)?;
    job.attend()?;
    Ok((job.code, job.session))
}

struct Job {
    session: Session,
    signals: OwnedFd,
    printer: Printer,
    linger: Duration,
    /// Tasks of the program that run.
    program: BTreeMap<Tid, String>,
    /// Tasks that those have spawned.
    others: BTreeMap<Tid, String>,
    /// Exits heard of before the answer that names the tasks.
    early: Vec<(Tid, ExitStatus)>,
    code: u8,
    interrupted: Option<i32>,
}

impl Job {
    fn start(&mut self, args: &RunArgs, record: Option<u64>) -> Result<(), SessionError> {
        let blob = |text: &OsString| Blob(text.clone().into_vec());
        let pair = |(mut name, value): (OsString, OsString)| {
            name.push("=");
            name.push(value);
            Blob(name.into_vec())
        };
        let plan = SpawnRequest {
            program: blob(&args.program[0]),
            args: args.program[1..].iter().map(blob).collect(),
            count: args.n,
            cwd: std::env::current_dir().ok().map(|dir| Blob(dir.into_os_string().into_vec())),
            env: Some(std::env::vars_os().map(pair).collect()),
            output: Output::Spawner,
            all_or_none: true,
            // A program asks for its parent to learn whether it is the first: the runner is none of it.
            orphan: true,
            gang: args.gang,
            record,
            ..Default::default()
        };
        let Reply::Spawned(results) = self.session.request(Request::Spawn(plan))? else {
            return Err(SessionError::Protocol("another answer than to spawn".into()));
        };
        // Of several the first real cause counts, not its consequences.
        let cause = |why: &&Failure| why.kind != ErrorKind::NotAll;
        if let Some(why) = results.iter().filter_map(|r| r.as_ref().err()).find(cause) {
            return Err(why.clone().into());
        }
        let name = args.program[0].to_string_lossy();
        self.program.extend(results.into_iter().flatten().map(|s| (s.tid, name.to_string())));
        Ok(())
    }

    /// Shows output and takes exits until the job is over.
    fn attend(&mut self) -> Result<(), SessionError> {
        let mut patience: Option<Instant> = None;
        loop {
            self.session.poll()?;
            self.take_events();
            if self.printer.closed {
                // Whoever read our output has gone; so goes the job, as in a pipe.
                self.code = 128 + libc::SIGPIPE as u8;
                return Ok(());
            }
            self.take_signals()?;
            if self.program.is_empty() && self.others.is_empty() {
                return Ok(());
            }
            if self.session.is_lost() {
                return Err(SessionError::Lost);
            }
            if self.program.is_empty() {
                let until = *patience.get_or_insert_with(|| Instant::now() + self.linger);
                if Instant::now() >= until {
                    self.give_up();
                    return Ok(());
                }
            }
            self.sleep(patience);
        }
    }

    fn sleep(&self, until: Option<Instant>) {
        let limit = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() }
        });
        let session = self.session.fd();
        let mut fds = [PollFd::new(&session, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
        // An interrupted wait is looked into like any other.
        let _ = poll(&mut fds, limit.as_ref());
    }

    fn take_events(&mut self) {
        while let Some(arrival) = self.session.next_event() {
            match arrival.event {
                Event::Output { tid, stream, data } => self.printer.print(tid, stream, &data.0),
                Event::Started { tid, name, .. } => {
                    let early = self.early.iter().position(|(t, _)| *t == tid);
                    if early.map(|at| self.early.swap_remove(at)).is_none() {
                        self.others.insert(tid, name);
                    }
                }
                Event::Exited { tid, status } => self.exited(tid, status),
                _ => {}
            }
        }
    }

    fn exited(&mut self, tid: Tid, status: ExitStatus) {
        self.printer.finish(tid);
        let Some(name) = self.program.remove(&tid) else {
            if self.others.remove(&tid).is_none() {
                self.early.push((tid, status));
            }
            return;
        };
        if let ExitStatus::Signal(signal) = status
            && self.interrupted != Some(signal)
        {
            eprintln!("parvum: task {tid} ({name}) was killed by signal {signal}");
        }
        if self.code == 0 {
            self.code = status.shell_code() as u8;
        }
    }

    fn take_signals(&mut self) -> Result<(), SessionError> {
        while let Some(signal) = signals::next(&self.signals) {
            if self.interrupted.replace(signal).is_some() {
                // The second one means it: the daemon ends the job with us.
                self.code = 128 + signal as u8;
                self.program.clear();
                self.others.clear();
                return Ok(());
            }
            self.session.start(Request::SignalJob { signal })?;
        }
        Ok(())
    }

    fn give_up(&self) {
        let names: Vec<_> = self.others.iter().map(|(tid, name)| format!("{tid} ({name})")).collect();
        eprintln!(
            "parvum: the program has ended, but {} that it spawned still run after {:?}: {}; ending them \
             (--linger gives them longer)",
            names.len(),
            self.linger,
            names.join(", ")
        );
    }
}

/// Puts the tasks' lines on our own streams, never one inside another.
struct Printer {
    tag: bool,
    /// Beginnings of lines.
    partial: HashMap<(Tid, Stream), Vec<u8>>,
    /// The last thing on a stream was a line without an end.
    dangling: HashMap<Stream, Tid>,
    closed: bool,
}

impl Printer {
    fn new(tag: bool) -> Printer {
        Printer { tag, partial: HashMap::new(), dangling: HashMap::new(), closed: false }
    }

    fn print(&mut self, tid: Tid, stream: Stream, data: &[u8]) {
        let end = data.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let (lines, rest) = data.split_at(end);
        let mut begun = self.partial.remove(&(tid, stream)).unwrap_or_default();
        if !lines.is_empty() {
            begun.extend_from_slice(lines);
            self.write(tid, stream, &begun);
            begun.clear();
        }
        begun.extend_from_slice(rest);
        if begun.len() > LONGEST_LINE {
            self.write(tid, stream, &begun);
            begun.clear();
        }
        if !begun.is_empty() {
            self.partial.insert((tid, stream), begun);
        }
    }

    /// The task has ended: what it began is all there will be.
    fn finish(&mut self, tid: Tid) {
        for stream in [Stream::Out, Stream::Err] {
            if let Some(begun) = self.partial.remove(&(tid, stream)) {
                self.write(tid, stream, &begun);
            }
        }
    }

    fn write(&mut self, tid: Tid, stream: Stream, text: &[u8]) {
        let mut bytes = Vec::new();
        let last = self.dangling.remove(&stream);
        if last.is_some_and(|last| last != tid) {
            bytes.push(b'\n');
        }
        if self.tag {
            for (i, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
                if i > 0 || last != Some(tid) {
                    bytes.extend_from_slice(format!("{tid}: ").as_bytes());
                }
                bytes.extend_from_slice(line);
            }
        }
        if !text.ends_with(b"\n") {
            self.dangling.insert(stream, tid);
        }
        let text = if self.tag { &[][..] } else { text };
        let written = match stream {
            Stream::Out => put(&mut io::stdout().lock(), &bytes, text),
            Stream::Err => put(&mut io::stderr().lock(), &bytes, text),
        };
        self.closed |= written.is_err();
    }
}

fn put(to: &mut impl Write, before: &[u8], text: &[u8]) -> io::Result<()> {
    to.write_all(before)?;
    to.write_all(text)?;
    to.flush()
}
