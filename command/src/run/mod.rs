//! `parvum run`: a job from its start to its exit code.

mod elf;
mod input;
mod job;
mod places;
mod plan;
mod printer;
mod races;
mod record;

use crate::{options, terminal::signals};
use clap::{Args, ValueEnum};
pub use job::Ended;
use job::Job;
pub use job::SIGNALS;
use parvum_task::{Session, SessionError};
use parvum_wire::control::{ErrorKind, Recorder, Role};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum run -n 4 ./hello", "four tasks, their output here"),
    ("parvum run -n 8 --label --timeout 60 ./app", "ranks shown, 60 s at most"),
    ("parvum run -n 4 -H alpha:2,beta:2 ./app", "two tasks on each of two hosts"),
    ("parvum run -n 1 ./master : -n 4 ./worker", "two programs as one job"),
    ("parvum run -n 4 --json ends.json ./app", "how each task ended, for a program"),
]))]
pub struct RunArgs {
    /// Start N tasks of the program, 1 to 4096
    #[arg(short, long = "np", alias = "n", short_alias = 'c', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    n: u32,
    /// End the job, or continue, when a task fails
    ///
    /// A task fails if it exits with a code other than 0, ends by a signal, or loses its host.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnFailure::End)]
    on_failure: OnFailure,
    /// End the job after SECONDS; exit code 124
    #[arg(long, value_name = "SECONDS", value_parser = some_time)]
    timeout: Option<Duration>,
    /// Give tasks SECONDS between SIGTERM and SIGKILL
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
    /// Let spawned tasks run SECONDS after the program ended
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    linger: u64,
    /// Schedule the job as a gang: stop all its tasks together
    ///
    /// Jobs with --gang that share processors get time slices in turn. Tasks of a waiting job are stopped.
    #[arg(long)]
    gang: bool,
    /// Find data races of a TreadMarks program; exit code 66
    ///
    /// A race is two accesses to one word, one of them a write, that no lock or barrier orders. Parvum prints both places
    /// in the program. Every access takes some 20 microseconds.
    #[arg(long)]
    races: bool,
    /// Pass standard input to one rank, to all, or to none
    #[arg(long, value_name = "RANK|all|none", default_value = "0", value_parser = input::reader)]
    stdin: input::Reader,
    /// Start the tasks in DIR [default: this folder]
    #[arg(long, alias = "wd", value_name = "DIR")]
    wdir: Option<PathBuf>,
    /// Set a variable for the tasks
    ///
    /// `-x NAME` fails if NAME is unset here. Tasks inherit all other variables.
    #[arg(short = 'x', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    variables: Vec<String>,
    /// Pass `:` to the program instead of starting a second program
    #[arg(long)]
    single: bool,
    /// Print the rank before each line of output
    #[arg(long, visible_alias = "tag-output", conflicts_with = "tag", help_heading = "Output")]
    label: bool,
    /// Print the task id before each line of output
    #[arg(long, help_heading = "Output")]
    tag: bool,
    /// Write each task's output to a file
    ///
    /// PATTERN has %r (rank), %t (task id), %h (host), %s (out or err). PREFIX is short for PREFIX.%r.%s. A folder FOLDER is short for FOLDER/%r.%s.
    #[arg(long, alias = "outfile-pattern", value_name = "PREFIX|PATTERN", help_heading = "Output")]
    output_filename: Option<String>,
    /// Give tasks a terminal, so that C programs print line by line
    #[arg(long, help_heading = "Output")]
    pty: bool,
    /// Print where each task started and how it ended
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,
    /// Write how each task ended to FILE, as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<PathBuf>,
    /// Use only these hosts, with SLOTS tasks each: alpha:2,beta
    ///
    /// Without SLOTS a host has one slot for each processor.
    #[arg(
        short = 'H',
        long,
        visible_alias = "hosts",
        value_name = "HOST[:SLOTS],...",
        help_heading = "Where"
    )]
    host: Vec<String>,
    /// Use only the hosts of FILE, one in each line
    ///
    /// A line is `NAME`, `NAME:SLOTS` or `NAME slots=N`.
    #[arg(
        long,
        visible_alias = "machinefile",
        value_name = "FILE",
        conflicts_with = "host",
        help_heading = "Where"
    )]
    hostfile: Option<PathBuf>,
    /// Give each host N slots
    #[arg(short = 'N', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), help_heading = "Where")]
    ppn: Option<u32>,
    /// Fill host after host, or deal tasks out in turn [default: idle hosts first]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Where")]
    map_by: Option<MapBy>,
    /// Bind each task to a core, a socket, or nothing
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = BindTo::None, help_heading = "Where")]
    bind_to: BindTo,
    /// Bind the tasks of each host to these CPUs in turn: 0,2,4-7
    #[arg(long, alias = "cpu-set", value_name = "LIST", value_parser = places::processors, conflicts_with = "bind_to", help_heading = "Where")]
    cpu_list: Option<places::Processors>,
    /// Print which CPUs each task may use
    #[arg(long, help_heading = "Where")]
    report_bindings: bool,
    /// The program and its arguments; ` : ` begins a second program
    #[arg(required = true, trailing_var_arg = true)]
    pub program: Vec<OsString>,
    /// The job in MPI's manner: its parts stand for the program.
    #[arg(skip)]
    pub mpi: Option<MpiJob>,
}

impl RunArgs {
    /// Has how each task ended written to this file, if the line does not name another.
    pub fn write_json_to(&mut self, path: PathBuf) {
        self.json.get_or_insert(path);
    }
}

/// What `mpiexec` asks for beside what `run` knows.
pub struct MpiJob {
    pub parts: Vec<MpiPart>,
    /// Folders to look for programs in, before PATH.
    pub search: Vec<OsString>,
    /// Files for standard output, and for standard error.
    pub out: Option<String>,
    pub err: Option<String>,
    /// Say how each process ended.
    pub all_codes: bool,
    pub hosts: HostRules,
}

/// The hosts that `mpiexec` may use, and how it adds named hosts to the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostRules {
    /// The command that starts daemons, with `{host}`. None: the usual command.
    pub start_by: Option<String>,
    /// No host is added.
    pub only_known: bool,
    /// This host is not used.
    pub not_here: bool,
    /// More processes than slots are an error.
    pub no_more_than_slots: bool,
}

/// One of its programs.
pub struct MpiPart {
    /// With its arguments.
    pub program: Vec<OsString>,
    /// Nothing: what was said of hosts tells how many.
    pub count: Option<u32>,
    pub wdir: Option<PathBuf>,
    /// All variables that it gets.
    pub environment: Vec<(OsString, OsString)>,
    /// The hosts of this part; else those of the job.
    pub hosts: Vec<String>,
}

/// What a failure does to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnFailure {
    /// End all tasks
    End,
    /// Let the other tasks go on
    Continue,
}

/// How tasks are given to hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MapBy {
    /// Fill one host after the other
    Slot,
    /// Deal tasks out to hosts in turn
    #[value(alias = "host")]
    Node,
}

/// What a task is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BindTo {
    /// Bind to nothing
    None,
    /// Bind to a core
    Core,
    /// Bind to a socket, the processors of one package
    #[value(alias = "package")]
    Socket,
}

/// Seconds, with a fraction if need be: some time, not none.
fn some_time(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds, such as 90 or 0.5".to_owned())?;
    let time =
        Duration::try_from_secs_f64(seconds).map_err(|_| "a number of seconds that can be".to_owned())?;
    if time.is_zero() {
        return Err("more than 0 seconds; note: without this option the job has all the time".into());
    }
    Ok(time)
}

pub fn run(args: &RunArgs) -> ExitCode {
    ExitCode::from(code(args))
}

/// Runs the job. Returns what the command ends with.
pub fn code(args: &RunArgs) -> u8 {
    match attempt(args, None) {
        Ok(mut ended) if args.races => races::end(&mut ended.session, ended.code),
        Ok(ended) => ended.code,
        Err(error) => failed(error),
    }
}

/// What the command ends with.
pub fn end(result: Result<u8, SessionError>) -> ExitCode {
    ExitCode::from(result.unwrap_or_else(failed))
}

/// Prints why a job was not run. Returns what the command ends with.
fn failed(error: SessionError) -> u8 {
    let code = crate::complained(&error);
    match error {
        // As shells have it.
        SessionError::Refused(failure) => match failure.kind {
            ErrorKind::ProgramNotFound => 127,
            ErrorKind::NotExecutable | ErrorKind::ExecFailed => 126,
            _ => 1,
        },
        _ => code,
    }
}

/// Adds hosts that the command line or a hostfile names.
fn add_hosts(
    session: &mut Session,
    names: Vec<String>,
    rules: &HostRules,
    quiet: bool,
) -> Result<(), SessionError> {
    let by = rules.start_by.as_ref().map(|by| format!(" by={by}")).unwrap_or_default();
    let lines = names.iter().map(|name| format!("{name}{by}")).collect();
    let failed = crate::hosts::membership::add_all(session, lines)?;
    if let Some((_, why)) = failed.into_iter().next() {
        return Err(SessionError::Refused(why));
    }
    if !quiet {
        let names = names.join(" ");
        crate::terminal::out::note(format!(
            "added to the machine: {names}; `parvum remove {names}` takes them out again"
        ));
    }
    Ok(())
}

/// Runs the job. What the tasks do is recorded, if there is a recorder.
pub fn attempt(args: &RunArgs, record: Option<Recorder>) -> Result<Ended, SessionError> {
    let plan = plan::Plan::of(args).map_err(SessionError::Start)?;
    let ends = record::Record::into(args.json.as_deref())?;
    let mut session = Session::open(&options(Role::Runner, true))?;
    let caught = signals::catch(&SIGNALS);
    let signals = caught.map_err(|error| SessionError::System("catch signals".into(), error))?;
    let mut hosts = places::hosts(&mut session)?;
    if let Some(job) = &args.mpi {
        let missing = plan.missing(&hosts, session.me.tid.daemon());
        if !job.hosts.only_known && !missing.is_empty() {
            add_hosts(&mut session, missing, &job.hosts, args.quiet)?;
            hosts = places::hosts(&mut session)?;
        }
    }
    let request = plan.request(args, &hosts, session.me.tid.daemon(), record).map_err(SessionError::Start)?;
    let mut job = Job::new(args, session, signals, hosts, ends);
    job.start(request, args.report_bindings)?;
    job.attend()?;
    job.end()
}
