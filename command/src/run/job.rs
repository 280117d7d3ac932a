//! The job while it runs: output, input, ends, signals, hosts that are lost.

use super::input::{Input, Reader};
use super::plan::short_name;
use super::printer::{Closed, Printer, Who};
use super::record::Record;
use super::{OnFailure, RunArgs, places};
use crate::look::views::odd;
use crate::{terminal::out, terminal::signal_names, terminal::signals};
use parvum_task::{Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{
    ErrorKind, Event, ExitStatus, Failure, HostRow, Notice, Reply, Request, SpawnRequest,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Signals that end the job, and those that its tasks get instead of us: batch systems tell programs so to save their state.
pub const SIGNALS: [i32; 8] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// After so long we say that tasks do not end.
const SOON: Duration = Duration::from_secs(1);
/// The code of a job that took too long, as `timeout` has it.
const TIMED_OUT: u8 = 124;

/// The signal that tasks get when we get one that is meant for them. They have no terminal whose SIGTSTP would stop them.
fn passed_on(signal: i32) -> Option<i32> {
    match signal {
        libc::SIGUSR1 | libc::SIGUSR2 | libc::SIGALRM | libc::SIGCONT => Some(signal),
        libc::SIGTSTP => Some(libc::SIGSTOP),
        _ => None,
    }
}

/// How far the end of the job has come, if it was told to end.
#[derive(Clone, Copy)]
enum Ending {
    Not,
    /// Its tasks got that signal then; whether we have said that some do not end.
    Told {
        signal: i32,
        at: Instant,
        said: bool,
    },
    /// They got SIGKILL.
    Killed,
}

/// What became of a job.
pub struct Ended {
    pub code: u8,
    /// The session whose job it was.
    pub session: Session,
    /// Tasks that a signal has ended, and which.
    pub killed: BTreeMap<Tid, i32>,
}

pub struct Job {
    session: Session,
    signals: OwnedFd,
    printer: Printer,
    input: Input,
    reader: Reader,
    linger: Duration,
    grace: Duration,
    timeout: Option<(Duration, Instant)>,
    on_failure: OnFailure,
    verbose: bool,
    quiet: bool,
    hosts: Vec<HostRow>,
    /// Hosts whose loss we shall hear of.
    watched: BTreeSet<u32>,
    /// How many tasks there were of the program.
    size: usize,
    /// Tasks of the program that run.
    program: BTreeMap<Tid, String>,
    /// Tasks that those have spawned.
    others: BTreeMap<Tid, String>,
    /// Exits heard of before the answer that names the tasks.
    early: Vec<(Tid, ExitStatus)>,
    ranks: BTreeMap<Tid, u32>,
    /// How each task ended, for a program.
    ends: Record,
    /// Tasks that a signal has ended, and which.
    killed: BTreeMap<Tid, i32>,
    code: u8,
    /// The job is mpiexec's, whose code has the bits of all codes.
    mpi: bool,
    /// At the end say what each task ended with.
    all_codes: bool,
    codes: BTreeMap<u32, i32>,
    ending: Ending,
    interrupted: bool,
}

impl Job {
    pub fn new(args: &RunArgs, session: Session, signals: OwnedFd, hosts: Vec<HostRow>, ends: Record) -> Job {
        let printer = Printer::new(args.tag, args.label, args.output_filename.clone());
        Job {
            session,
            signals,
            printer: match &args.mpi {
                Some(job) => printer.like_mpich(job.out.clone(), job.err.clone()),
                None => printer,
            },
            mpi: args.mpi.is_some(),
            all_codes: args.mpi.as_ref().is_some_and(|job| job.all_codes),
            codes: BTreeMap::new(),
            input: Input::default(),
            reader: args.stdin,
            linger: Duration::from_secs(args.linger),
            grace: Duration::from_secs(args.grace),
            timeout: args.timeout.map(|time| (time, Instant::now() + time)),
            on_failure: args.on_failure,
            verbose: args.verbose,
            quiet: args.quiet,
            hosts,
            watched: BTreeSet::new(),
            size: 0,
            program: BTreeMap::new(),
            others: BTreeMap::new(),
            early: Vec::new(),
            ranks: BTreeMap::new(),
            ends,
            killed: BTreeMap::new(),
            code: 0,
            ending: Ending::Not,
            interrupted: false,
        }
    }

    /// What became of it.
    pub fn end(self) -> Result<Ended, SessionError> {
        if self.all_codes {
            let each = self.codes.iter().map(|(rank, code)| format!("rank {rank}: {code}"));
            out::note(format!("exit codes: {}", each.collect::<Vec<_>>().join(", ")));
        }
        self.ends.write(self.code)?;
        Ok(Ended { code: self.code, session: self.session, killed: self.killed })
    }

    pub fn start(&mut self, plan: SpawnRequest, report: bool) -> Result<(), SessionError> {
        let names: Vec<String> = [&plan.program]
            .into_iter()
            .chain(plan.details.programs.iter().map(|p| &p.program))
            .map(short_name)
            .collect();
        let each = plan.details.each.clone();
        let Reply::Spawned(results) = self.session.request(Request::Spawn(plan))? else { return Err(odd()) };
        // Of several the first real cause counts, not its consequences.
        let cause = |why: &&Failure| why.kind != ErrorKind::NotAll;
        if let Some(why) = results.iter().filter_map(|r| r.as_ref().err()).find(cause) {
            return Err(why.clone().into());
        }
        for (spawned, each) in results.into_iter().flatten().zip(each) {
            let name = names.get(each.program as usize).cloned().unwrap_or_default();
            self.ranks.insert(spawned.tid, each.rank);
            self.program.insert(spawned.tid, name);
            self.know(spawned.tid)?;
            if self.reader.is(each.rank) {
                self.input.goes_to(spawned.tid);
            }
            if self.verbose {
                out::note(format!("started {}", self.describe(spawned.tid)));
            }
        }
        self.size = self.program.len();
        if report { self.report_bindings() } else { Ok(()) }
    }

    /// Says which processors each task may use, as the system of its host has it.
    fn report_bindings(&mut self) -> Result<(), SessionError> {
        let Reply::Tasks(rows) = self.session.request(Request::Tasks { of: None, deep: true })? else {
            return Err(odd());
        };
        for tid in self.program.keys() {
            let row = rows.iter().find(|row| row.tid == *tid);
            let cpus = row.and_then(|row| row.sight.as_ref()).map_or("", |sight| sight.cpus.as_str());
            match cpus {
                "" => out::note(format!("{} has ended already", self.describe(*tid))),
                cpus => out::note(format!("{} may use processors {cpus}", self.describe(*tid))),
            }
        }
        Ok(())
    }

    /// A task that is new here: who it is, and that we want to hear when its host is lost.
    fn know(&mut self, tid: Tid) -> Result<(), SessionError> {
        let host = tid.daemon();
        if host != self.session.me.tid.daemon() && self.watched.insert(tid.host()) {
            if !self.hosts.iter().any(|row| row.tid == host) {
                self.hosts = places::hosts(&mut self.session)?;
            }
            let (about, targets) = (Notice::HostDelete, vec![host]);
            self.session.start(Request::Notify { about, targets, count: 1, cookie: 0 })?;
        }
        let who = Who { rank: self.ranks.get(&tid).copied(), host: self.host_of(tid) };
        let name = self.program.get(&tid).or_else(|| self.others.get(&tid)).map_or("", String::as_str);
        self.ends.began(tid, who.rank, name, who.host.clone());
        self.printer.know(tid, who);
        Ok(())
    }

    fn host_of(&self, tid: Tid) -> String {
        let row = self.hosts.iter().find(|row| row.tid == tid.daemon());
        row.map_or_else(|| format!("host {}", tid.host()), |row| row.name.clone())
    }

    /// A task for people: `task t40001 (sleep, rank 2) on alpha`.
    fn describe(&self, tid: Tid) -> String {
        let name = self.program.get(&tid).or_else(|| self.others.get(&tid)).map_or("", String::as_str);
        let rank = self.ranks.get(&tid).map_or(String::new(), |rank| format!(", rank {rank}"));
        format!("task {tid} ({name}{rank}) on {}", self.host_of(tid))
    }

    /// Shows output and takes exits until the job is over.
    pub fn attend(&mut self) -> Result<(), SessionError> {
        let mut patience: Option<Instant> = None;
        loop {
            self.session.poll()?;
            self.take_events()?;
            match self.printer.closed.take() {
                // Whoever read our output has gone; so goes the job, as in a pipe.
                Some(Closed::Pipe) => {
                    self.code = 128 + libc::SIGPIPE as u8;
                    return Ok(());
                }
                Some(Closed::Error(what, error)) => return Err(SessionError::System(what, error)),
                None => {}
            }
            self.take_signals()?;
            if self.program.is_empty() && self.others.is_empty() {
                return Ok(());
            }
            if self.session.is_lost() {
                return Err(SessionError::Lost);
            }
            self.input.carry(&mut self.session)?;
            let due = self.press_on()?;
            // MPI's spawned processes are of the job as the first ones are.
            if self.program.is_empty() && !self.mpi {
                let until = *patience.get_or_insert_with(|| Instant::now() + self.linger);
                if Instant::now() >= until {
                    self.give_up();
                    return Ok(());
                }
            }
            self.sleep([patience, due].into_iter().flatten().min());
        }
    }

    fn sleep(&self, until: Option<Instant>) {
        let limit = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() }
        });
        let (session, own) = (self.session.fd(), stdin());
        let mut fds = vec![PollFd::new(&session, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
        if self.input.wants() {
            fds.push(PollFd::new(&own, PollFlags::IN));
        }
        // An interrupted wait is looked into like any other.
        let _ = poll(&mut fds, limit.as_ref());
    }

    fn take_events(&mut self) -> Result<(), SessionError> {
        while let Some(arrival) = self.session.next_event() {
            match arrival.event {
                Event::Output { tid, stream, data } => self.printer.print(tid, stream, &data.0),
                Event::Started { tid, name, .. } => {
                    let early = self.early.iter().position(|(t, _)| *t == tid);
                    if early.map(|at| self.early.swap_remove(at)).is_none() {
                        self.others.insert(tid, name);
                        self.know(tid)?;
                    }
                }
                Event::Exited { tid, status } => self.exited(tid, status)?,
                Event::Remark { text } => crate::terminal::out::note(text),
                Event::Notified { about: Notice::HostDelete, tid, .. } => self.host_is_lost(tid)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn exited(&mut self, tid: Tid, status: ExitStatus) -> Result<(), SessionError> {
        self.printer.finish(tid);
        self.ends.ended(tid, Some(status));
        if let ExitStatus::Signal(signal) = status {
            self.killed.insert(tid, signal);
        }
        if !self.program.contains_key(&tid) {
            if self.others.remove(&tid).is_none() {
                self.early.push((tid, status));
            }
            return Ok(());
        }
        let who = self.describe(tid);
        self.program.remove(&tid);
        let expected = !matches!(self.ending, Ending::Not);
        if self.code == 0 {
            self.code = status.shell_code() as u8;
        } else if self.mpi && !expected {
            self.code |= status.shell_code() as u8;
        }
        if let Some(rank) = self.ranks.get(&tid) {
            self.codes.insert(*rank, status.shell_code());
        }
        let how = match status {
            ExitStatus::Code(code) => format!("ended with code {code}"),
            ExitStatus::Signal(signal) => format!("was killed by {}", signal_names::name(signal)),
        };
        if status.shell_code() == 0 || expected {
            if self.verbose {
                out::note(format!("{who} {how}"));
            }
            return Ok(());
        }
        // What one task alone ends with its user learns from our own code, as of any program.
        let is_worth_a_word = self.size > 1 || matches!(status, ExitStatus::Signal(_));
        self.failed(is_worth_a_word.then(|| format!("E-TASKFAILED: {who} {how}")))
    }

    /// A host is out of the machine: nobody will tell how its tasks ended.
    fn host_is_lost(&mut self, daemon: Tid) -> Result<(), SessionError> {
        let of_it = |tid: &&Tid| tid.daemon() == daemon;
        let lost: Vec<Tid> = self.program.keys().filter(of_it).copied().collect();
        let spawned: Vec<Tid> = self.others.keys().filter(of_it).copied().collect();
        let name = self.host_of(daemon);
        let named = lost.iter().chain(&spawned).map(|tid| self.describe(*tid));
        let what = match named.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => return Ok(()),
            tasks => format!("E-HOSTLOST: host {name} is gone from the machine, and with it {tasks}"),
        };
        for tid in lost.iter().chain(&spawned) {
            self.printer.finish(*tid);
            self.ends.ended(*tid, None);
            self.program.remove(tid);
            self.others.remove(tid);
        }
        if lost.is_empty() {
            // The program that spawned them may know what to do.
            out::note(what);
            return Ok(());
        }
        if self.code == 0 {
            self.code = 1;
        }
        self.failed(Some(what))
    }

    /// A task of the program has failed: so do the others, unless they are to go on.
    fn failed(&mut self, what: Option<String>) -> Result<(), SessionError> {
        let others_run = !self.program.is_empty() || self.mpi && !self.others.is_empty();
        let ends = self.on_failure == OnFailure::End && matches!(self.ending, Ending::Not) && others_run;
        if let Some(what) = what {
            let rest = match (ends, self.mpi) {
                (true, false) => {
                    "; note: the others are told to end; help: `--on-failure continue` lets them go on"
                }
                (true, true) => {
                    "; note: the others are told to end; help: `-disable-auto-cleanup` lets them go on"
                }
                (false, _) => "",
            };
            out::note(format!("{what}{rest}"));
        }
        if ends { self.tell_to_end(libc::SIGTERM) } else { Ok(()) }
    }

    fn tell_to_end(&mut self, signal: i32) -> Result<(), SessionError> {
        self.ending = Ending::Told { signal, at: Instant::now(), said: false };
        self.input.close();
        self.session.start(Request::SignalJob { signal }).map(drop)
    }

    fn take_signals(&mut self) -> Result<(), SessionError> {
        while let Some(signal) = signals::next(&self.signals) {
            if let Some(passed) = passed_on(signal) {
                self.session.start(Request::SignalJob { signal: passed })?;
                if signal == libc::SIGTSTP {
                    // The daemon hears of it before we stand still too, until SIGCONT.
                    self.session.request(Request::Hosts)?;
                    let _ = rustix::process::kill_process(
                        rustix::process::getpid(),
                        rustix::process::Signal::STOP,
                    );
                }
                continue;
            }
            if std::mem::replace(&mut self.interrupted, true) {
                // The second one means it: the daemon ends the job with us.
                self.code = 128 + signal as u8;
                self.program.clear();
                self.others.clear();
                return Ok(());
            }
            self.tell_to_end(signal)?;
        }
        Ok(())
    }

    /// Ends what took too long, and kills what does not end; gives when to look again.
    fn press_on(&mut self) -> Result<Option<Instant>, SessionError> {
        let now = Instant::now();
        let late = self.timeout.filter(|_| matches!(self.ending, Ending::Not));
        if let Some((time, _)) = late.filter(|(_, until)| *until <= now) {
            out::note(format!(
                "E-TIMEOUT: the job was not done after {time:?}; note: its tasks are told to end"
            ));
            self.code = TIMED_OUT;
            self.tell_to_end(libc::SIGTERM)?;
        }
        let Ending::Told { signal, at, said } = self.ending else {
            return Ok(late.map(|(_, until)| until).filter(|_| matches!(self.ending, Ending::Not)));
        };
        let (word, kill) = (at + SOON.min(self.grace), at + self.grace);
        if now >= kill {
            self.say(&format!("{} still run: SIGKILL", self.those_that_run()));
            self.ending = Ending::Killed;
            if self.code == 0 {
                self.code = 128 + signal as u8;
            }
            self.session.start(Request::SignalJob { signal: libc::SIGKILL })?;
            return Ok(None);
        }
        if now >= word && !said {
            self.ending = Ending::Told { signal, at, said: true };
            let (signal, left) = (signal_names::name(signal), (kill - now).as_secs_f64());
            self.say(&format!(
                "{} do not end on {signal}; they get SIGKILL in {left:.0} s (--grace), or immediately by a second Ctrl-C",
                self.those_that_run()
            ));
            return Ok(Some(kill));
        }
        Ok(Some(if said { kill } else { word }))
    }

    fn those_that_run(&self) -> String {
        let all: Vec<Tid> = self.program.keys().chain(self.others.keys()).copied().collect();
        let named: Vec<String> = all.iter().take(4).map(|tid| self.describe(*tid)).collect();
        let more = all.len().saturating_sub(named.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", named.join(", "))
    }

    fn give_up(&self) {
        let names: Vec<_> = self.others.iter().map(|(tid, name)| format!("{tid} ({name})")).collect();
        self.say(&format!(
            "the program has ended, but {} that it spawned still run after {:?}: {}; ending them (--linger gives them \
             longer)",
            names.len(),
            self.linger,
            names.join(", ")
        ));
    }

    fn say(&self, what: &str) {
        if !self.quiet {
            out::note(what);
        }
    }
}
