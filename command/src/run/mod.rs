//! `parvum run`: a job from its start to its exit code.

mod elf;
mod input;
mod job;
mod places;
mod plan;
mod printer;
mod races;

use crate::{complain, options, terminal::signals};
use clap::{Args, ValueEnum};
pub use job::Ended;
use job::Job;
use parvum_task::{Session, SessionError};
use parvum_wire::control::{ErrorKind, Recorder, Role};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
pub struct RunArgs {
    /// How many tasks of the program to start: 1 to 4096
    #[arg(short, long = "np", alias = "n", short_alias = 'c', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    n: u32,
    /// What happens to the others when a task of the program fails (ends with another code than 0, by a signal, or with
    /// its host): the job ends, or goes on
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnFailure::End)]
    on_failure: OnFailure,
    /// End the job after so many seconds; the exit code is then 124
    #[arg(long, value_name = "SECONDS", value_parser = some_time)]
    timeout: Option<Duration>,
    /// How many seconds tasks may take to end when they are told to, before SIGKILL
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
    /// How many seconds tasks that the program has spawned may go on after it ended
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    linger: u64,
    /// Run all tasks at the same time or none: jobs started so take turns on processors that they share
    #[arg(long)]
    gang: bool,
    /// Look for races of a program that shares memory by TreadMarks' interface: accesses to one word by two tasks, one of them
    /// a write, that no lock or barrier orders. Each is told with both places in the program; the code is then 66. Every
    /// access costs some 20 microseconds
    #[arg(long)]
    races: bool,
    /// Which task gets this command's standard input: the number of one, all (each gets the same), or none
    #[arg(long, value_name = "RANK|all|none", default_value = "0", value_parser = input::reader)]
    stdin: input::Reader,
    /// Where the tasks begin, instead of here
    #[arg(long, alias = "wd", value_name = "DIR")]
    wdir: Option<PathBuf>,
    /// Set a variable for the tasks; NAME alone says that it must be set here (tasks have all that is)
    #[arg(short = 'x', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    variables: Vec<String>,
    /// Take `:` among the program's arguments as one of them; else `A : -n 2 B` starts two programs as one job
    #[arg(long)]
    single: bool,
    /// Put the number of the task among those of the job in front of every line of output
    #[arg(long, visible_alias = "tag-output", conflicts_with = "tag", help_heading = "Output")]
    label: bool,
    /// Put the task's id in front of every line of output
    #[arg(long, help_heading = "Output")]
    tag: bool,
    /// Write each task's output to a file: %r is its number, %t its id, %h its host, %s out or err; PREFIX alone stands for
    /// PREFIX.%r.%s, and a folder for FOLDER/%r.%s
    #[arg(long, alias = "outfile-pattern", value_name = "PREFIX|PATTERN", help_heading = "Output")]
    output_filename: Option<String>,
    /// Give tasks a terminal for standard output, so that C programs write line by line
    #[arg(long, help_heading = "Output")]
    pty: bool,
    /// Say where each task started and how it ended
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
    /// Say nothing but errors
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,
    /// Only on these hosts of the machine, with so many slots each (else one for each processor): alpha:2,beta
    #[arg(
        short = 'H',
        long,
        visible_alias = "hosts",
        value_name = "HOST[:SLOTS],...",
        help_heading = "Where"
    )]
    host: Vec<String>,
    /// Only on the hosts of this file: a line for each, `NAME`, `NAME:SLOTS` or `NAME slots=N`
    #[arg(
        long,
        visible_alias = "machinefile",
        value_name = "FILE",
        conflicts_with = "host",
        help_heading = "Where"
    )]
    hostfile: Option<PathBuf>,
    /// How many slots each host has
    #[arg(short = 'N', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), help_heading = "Where")]
    ppn: Option<u32>,
    /// Fill the slots of one host before those of the next, or give hosts tasks in turns; else the machine decides, idle
    /// hosts first
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Where")]
    map_by: Option<MapBy>,
    /// Bind each task to a core of its own, to a socket (the processors of one package), or to none
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = BindTo::None, help_heading = "Where")]
    bind_to: BindTo,
    /// Bind the tasks of each host to these processors, one after the other: 0,2,4-7
    #[arg(long, alias = "cpu-set", value_name = "LIST", value_parser = places::processors, conflicts_with = "bind_to", help_heading = "Where")]
    cpu_list: Option<places::Processors>,
    /// Say which processors each task may use
    #[arg(long, help_heading = "Where")]
    report_bindings: bool,
    /// The program, and its arguments; after ` : ` another one, with -n, --wdir and -x of its own
    #[arg(required = true, trailing_var_arg = true)]
    pub program: Vec<OsString>,
    /// The job in MPI's manner: its parts stand for the program.
    #[arg(skip)]
    pub mpi: Option<MpiJob>,
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
    /// They are told to end
    End,
    /// They go on
    Continue,
}

/// How tasks are given to hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MapBy {
    /// One host after the other
    Slot,
    /// In turns
    #[value(alias = "host")]
    Node,
}

/// What a task is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BindTo {
    /// Nothing
    None,
    /// A core
    Core,
    /// A socket
    #[value(alias = "package")]
    Socket,
}

/// Seconds, with a fraction if need be: some time, not none.
fn some_time(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds, such as 90 or 0.5".to_owned())?;
    let time =
        Duration::try_from_secs_f64(seconds).map_err(|_| "a number of seconds that can be".to_owned())?;
    if time.is_zero() {
        return Err("more than 0 seconds; without this option the job has all the time".into());
    }
    Ok(time)
}

pub fn run(args: &RunArgs) -> ExitCode {
    end(attempt(args, None).map(|mut ended| match args.races {
        true => races::end(&mut ended.session, ended.code),
        false => ended.code,
    }))
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

/// Runs the job. What the tasks do is recorded, if there is a recorder.
pub fn attempt(args: &RunArgs, record: Option<Recorder>) -> Result<Ended, SessionError> {
    let plan = plan::Plan::of(args).map_err(SessionError::Start)?;
    let mut session = Session::open(&options(Role::Runner, true))?;
    let caught = signals::catch(&job::SIGNALS);
    let signals = caught.map_err(|error| SessionError::System("catch signals".into(), error))?;
    let hosts = places::hosts(&mut session)?;
    let request = plan.request(args, &hosts, session.me.tid.daemon(), record).map_err(SessionError::Start)?;
    let mut job = Job::new(args, session, signals, hosts);
    job.start(request, args.report_bindings)?;
    job.attend()?;
    Ok(job.end())
}
