//! The `parvum` command. The daemon is inside it.

#![deny(unsafe_code)]

mod compare;
mod completion;
mod console;
mod docs;
mod doctor;
mod explain;
mod help;
mod hosts;
mod jobs;
mod lesson;
mod look;
mod mpiexec;
mod predict;
mod processes;
mod report;
mod run;
mod settings;
mod shown;
mod stack;
mod terminal;
mod top;
mod trace;
mod why;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use parvum_machine::Manner;
use parvum_task::{MachineDirectory, Options, Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{HostSettings, Role};
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

/// Run MPI, PVM and Python message-passing programs on one host or many
#[derive(Parser)]
#[command(
    name = "parvum",
    version = env!("COMMAND_VERSION"),
    arg_required_else_help = true,
    max_term_width = 100,
    long_about = "Run MPI, PVM and Python message-passing programs on one host or many\n\n\
        The virtual machine (the daemons of one user) starts when a program needs it. `parvum down` stops it.\n\
        Its directory is $PARVUM_DIR, else $XDG_RUNTIME_DIR/parvum, else /tmp/parvum-UID.\n\n\
        ~/.config/parvum/config, or the file $PARVUM_CONFIG, holds your usual options: `run.label = yes`.\n\
        An option on the command line overrides a variable, and a variable overrides the file."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the virtual machine; does nothing if it is up
    #[command(after_long_help = help::examples(&[
        ("parvum up", "start the machine on this host"),
        ("parvum up hosts.txt", "and add the hosts of a PVM hostfile"),
        ("parvum up --expect 4", "and wait until 4 hosts are in the machine"),
    ]))]
    Up {
        /// A PVM hostfile: hosts and their options
        hostfile: Option<PathBuf>,
        /// Print errors only
        #[arg(short, long)]
        quiet: bool,
        /// Then wait until the machine has N hosts
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        expect: Option<u32>,
        /// Wait at most SECONDS [default: no limit]
        #[arg(long, value_name = "SECONDS", requires = "expect")]
        timeout: Option<u64>,
    },
    /// Stop the virtual machine and all its tasks
    #[command(after_long_help = help::examples(&[
        ("parvum down", "stop the machine on all hosts"),
        ("PARVUM_DIR=/tmp/other parvum down", "stop another machine"),
    ]))]
    Down {
        /// Print errors only
        #[arg(short, long)]
        quiet: bool,
    },
    /// Run a program: start N tasks, return its exit code
    Run(run::RunArgs),
    /// Submit a job: it outlives this shell
    Submit(jobs::SubmitArgs),
    /// List the jobs that were submitted on this host
    Jobs(jobs::JobsArgs),
    /// Print the output of a job
    Logs(jobs::LogsArgs),
    /// Wait for the end of a job, and return its exit code
    #[command(after_long_help = help::examples(&[
        ("parvum wait 7", "return what `parvum run` would have returned"),
        ("parvum wait 7 && parvum logs 7", "print its output if it succeeds"),
    ]))]
    Wait {
        /// The number of the job
        job: u32,
    },
    /// End a job
    #[command(after_long_help = help::examples(&[
        ("parvum cancel 7", "its tasks get SIGTERM; waits for their end"),
        ("parvum jobs", "which jobs run"),
    ]))]
    Cancel {
        /// The number of the job
        job: u32,
    },
    /// Be the process that runs a job and keeps its output
    #[command(hide = true)]
    KeepJob {
        number: u32,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        line: Vec<OsString>,
    },
    /// Run a program and draw what its tasks did
    Trace(trace::TraceArgs),
    /// Run an experiment with a question and its answer
    Lesson(lesson::LessonArgs),
    /// Predict a program's run time on other hosts
    Predict(predict::PredictArgs),
    /// List the tasks and what each does
    #[command(after_long_help = help::examples(&[
        ("parvum ps", "a line for each task"),
        ("parvum ps --json | jq '.[].tid'", "for a program"),
    ]))]
    Ps {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the hosts of the virtual machine
    #[command(after_long_help = help::examples(&[
        ("parvum hosts", "a line for each host"),
        ("parvum hosts -v", "and the addresses tried, with their results"),
    ]))]
    Hosts {
        /// Print how this host reaches each other host
        #[arg(short, long)]
        verbose: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add hosts: start daemons there by ssh or another command
    Add(hosts::membership::AddArgs),
    /// Remove hosts from the virtual machine; their tasks end
    #[command(after_long_help = help::examples(&[
        ("parvum remove beta", "end beta's tasks and its daemon"),
        ("parvum remove beta gamma", "two hosts"),
    ]))]
    Remove {
        /// The hosts, as `parvum hosts` prints them
        #[arg(required = true)]
        hosts: Vec<String>,
    },
    /// Make a token with which other hosts join, without ssh
    Invite(hosts::invite::InviteArgs),
    /// Join the virtual machine of another host, with a token
    Join(hosts::guest::JoinArgs),
    /// Take this host out of the virtual machine; its tasks end
    #[command(after_long_help = help::examples(&[
        ("parvum leave", "the other hosts go on"),
        ("parvum remove beta", "on another host: take beta out"),
    ]))]
    Leave,
    /// Send a signal to a task
    #[command(after_long_help = help::examples(&[
        ("parvum kill t40002", "SIGTERM"),
        ("parvum kill -s KILL t40002", "SIGKILL"),
        ("parvum kill -s STOP t40002", "stop the task; CONT continues it"),
    ]))]
    Kill {
        /// The task, such as t40001; `parvum ps` lists them
        #[arg(value_parser = parse_tid)]
        tid: Tid,
        /// Send SIGNAL, by name or number: KILL, SIGKILL, 9
        #[arg(short, long, default_value = "TERM", value_parser = terminal::signal_names::parse)]
        signal: i32,
    },
    /// Show versions, limits and counters of the daemon, or of one task
    #[command(after_long_help = help::examples(&[
        ("parvum info", "directory, log, limits, settings and their sources"),
        ("parvum info t40002", "a task: state, time, messages by peer"),
        ("parvum info --json", "for a program"),
    ]))]
    Info {
        /// Show one task, such as t40001 [default: the daemon]
        #[arg(value_parser = parse_tid)]
        tid: Option<Tid>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which algorithm a collective uses
    Algorithms(look::algorithms::AlgorithmsArgs),
    /// Show tasks, rates, waits and load live
    Top(top::TopArgs),
    /// Explain why a program hangs: which task waits for which
    Why(why::WhyArgs),
    /// Print where the threads of a task are
    Stack(stack::StackArgs),
    /// Open PVM's console
    ///
    /// The console takes the words of PVM's `pvm`: -dMASK, -nNAME, and a hostfile.
    #[command(after_long_help = help::examples(&[
        ("parvum console", "then `help` lists the console's commands"),
        ("parvum console hosts.txt", "start the machine with the hosts of a hostfile"),
    ]))]
    Console {
        /// -dMASK, -nNAME, a hostfile
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Print the path of the documentation, or of one page
    Docs(docs::DocsArgs),
    /// Print the variables that a shell needs for this Parvum
    Env(settings::environment::EnvArgs),
    /// Print shell completions
    #[command(after_long_help = help::examples(&[
        ("source <(parvum completion bash)", "for this bash"),
        ("parvum completion zsh > ~/.zfunc/_parvum", "for all zsh"),
        ("parvum completion fish | source", "for this fish"),
    ]))]
    Completion {
        /// The shell
        #[arg(value_enum)]
        shell: completion::Shell,
    },
    /// Compare message-passing systems on this host, and write a report
    #[command(after_long_help = help::examples(&[
        ("parvum compare", "which MPI is the fastest here, in a minute"),
        ("parvum compare --suite mpi", "MPI: Parvum, Open MPI, MPICH; 3 minutes"),
        ("parvum compare --suite mpi --full", "30 minutes, sharper verdicts"),
        ("parvum compare --suite mpi --against results/OLD", "what changed since a run"),
        ("parvum compare --history", "which commits made a figure better or worse"),
    ]))]
    Compare(Box<parvum_lab::CompareOptions>),
    /// Explain an error code or a variable
    Explain(explain::ExplainArgs),
    /// Check what could stop programs, here and on other hosts
    Doctor(doctor::DoctorArgs),
    /// Pack what a bug report needs
    Report(report::ReportArgs),
    #[command(hide = true)]
    Daemon {
        /// The machine's directory
        #[arg(long)]
        dir: Option<PathBuf>,
        /// Start the daemon as a process of its own and return
        #[arg(long)]
        launch: bool,
        /// Be the process that tidies up after a daemon that was killed
        #[arg(long, conflicts_with = "launch")]
        keep: bool,
        /// Stay attached to the terminal
        #[arg(long, conflicts_with = "launch")]
        foreground: bool,
        /// Join a machine by what is said on standard input
        #[arg(long, conflicts_with_all = ["launch", "foreground"])]
        join: bool,
        /// The name of this host
        #[arg(long)]
        name: Option<String>,
        /// Join a machine with the token on standard input
        #[arg(long, conflicts_with_all = ["launch", "foreground", "join"])]
        guest: bool,
        /// Join a machine by a ticket that a hoster has passed on
        #[arg(long, requires = "join")]
        hosted: Option<String>,
    },
}

/// What the command is called by besides its own name: links to it.
const OTHER_NAMES: [&str; 5] = ["pvm", "pvmd", "pvmd3", "mpiexec", "mpirun"];

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().peekable();
    let mut called = arguments.next().map(PathBuf::from);
    // Where there can be no links, as in a wheel, the name comes as the first word.
    let is_name = |word: &OsString| word.to_str().is_some_and(|word| OTHER_NAMES.contains(&word));
    if let Some(name) = arguments.next_if(is_name) {
        called = called.map(|path| path.with_file_name(name));
    }
    // By PVM's names the command is PVM's console and daemon.
    match called.as_ref().and_then(|path| path.file_name()?.to_str()) {
        Some("pvm") => return console::run(arguments),
        Some("pvmd" | "pvmd3") => return hosts::pvmd::run(arguments),
        // And by MPI's the launcher of its programs.
        Some("mpiexec" | "mpirun") => {
            return mpiexec::run(called.unwrap_or_default().as_os_str(), arguments);
        }
        _ => {}
    }
    let command = match command_line() {
        Ok(command) => command,
        Err(code) => return code,
    };
    if command.only_looks() {
        terminal::signals::end_with_the_reader();
    }
    let result = match command {
        Command::Compare(options) => {
            return match compare::run(&options) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => complain(&error),
            };
        }
        Command::Docs(args) => {
            return docs::docs(&args).map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS);
        }
        Command::Explain(args) => {
            return explain::explain(&args).map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS);
        }
        Command::Report(args) => {
            return report::report(&args).map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS);
        }
        Command::Doctor(args) => return doctor::doctor(&args).unwrap_or_else(|error| complain(&error)),
        Command::Env(args) => settings::environment::print(&args),
        Command::Completion { shell } => completion::print(shell, &mut Cli::command()),
        Command::Up { hostfile, quiet, expect, timeout } => {
            let up = match hostfile {
                Some(file) => hosts::power::up_with(quiet, file),
                None => hosts::power::up(quiet).map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS),
            };
            return match expect {
                Some(hosts) if up == ExitCode::SUCCESS => hosts::expect::wait(hosts, timeout, quiet),
                _ => up,
            };
        }
        Command::Down { quiet } => hosts::power::down(quiet),
        Command::Run(args) => return run::run(&args),
        Command::Submit(args) => return jobs::submit(&args),
        Command::Jobs(args) => return jobs::list(&args),
        Command::Logs(args) => return jobs::logs(&args),
        Command::Wait { job } => return jobs::wait(job),
        Command::Cancel { job } => return jobs::cancel(job),
        Command::KeepJob { number, line } => return jobs::keep(number, &line),
        Command::Trace(args) => return trace::trace(&args),
        Command::Lesson(args) => {
            return lesson::lesson(&args).map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS);
        }
        Command::Predict(args) => {
            return predict::predict(&args).map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS);
        }
        Command::Why(args) => {
            return why::why(&args).unwrap_or_else(|error| complain(&error));
        }
        Command::Stack(args) => return stack::stack(&args),
        Command::Ps { json } => look::views::ps(json),
        Command::Top(args) => top::top(&args),
        Command::Hosts { verbose, json } => look::views::hosts(verbose, json),
        Command::Add(args) => return hosts::membership::add(&args),
        Command::Remove { hosts } => return hosts::membership::remove(hosts),
        Command::Invite(args) => return hosts::invite::invite(&args),
        Command::Join(args) if args.is_called() => return hosts::membership::join(args.hosted.as_deref()),
        Command::Join(args) => return hosts::guest::join(&args),
        Command::Leave => return hosts::guest::leave(),
        Command::Kill { tid, signal } => look::views::kill(tid, signal),
        Command::Algorithms(asked) => look::algorithms::algorithms(&asked),
        Command::Info { tid: None, json } => look::views::info(json),
        Command::Info { tid: Some(tid), json } => look::task::task(tid, json),
        Command::Console { arguments } => return console::run(arguments.into_iter()),
        Command::Daemon { dir, keep: true, .. } => {
            parvum_machine::keep(&place(dir));
            Ok(())
        }
        Command::Daemon { dir, guest: true, .. } => return hosts::guest::become_guest(place(dir)),
        Command::Daemon { dir, join: true, hosted, .. } => {
            return hosts::membership::become_host(place(dir), hosted.as_deref());
        }
        Command::Daemon { dir, launch, foreground, name, .. } => {
            return daemon(place(dir), launch, foreground, name);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

impl Command {
    /// Whether it prints what there is, and nothing of what it does hangs on who reads that.
    fn only_looks(&self) -> bool {
        use Command::{Algorithms, Completion, Docs, Env, Explain, Hosts, Info, Predict, Ps, Top, Why};
        matches!(
            self,
            Algorithms(_)
                | Ps { .. }
                | Hosts { .. }
                | Info { .. }
                | Top(_)
                | Why(_)
                | Predict(_)
                | Docs(_)
                | Env(_)
                | Explain(_)
                | Completion { .. }
        ) || matches!(self, Command::Compare(options) if options.history.is_some())
    }
}

/// Reads the command line and the file of settings. What makes no sense was said.
fn command_line() -> Result<Command, ExitCode> {
    let line = settings::spelling::of_process(std::env::args_os().collect(), &Cli::command());
    parsed(&line).map_err(|why| {
        terminal::out::note(why);
        ExitCode::from(USAGE)
    })
}

/// What a line asks for, where it and the user's settings make sense.
fn parsed(line: &[OsString]) -> Result<Command, String> {
    let cli = Cli::command();
    let file = settings::configuration::read(&cli)?;
    file.take_variables()?;
    let parsed = help::grouped(file.applied(cli, line)).try_get_matches_from(line);
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok(cli.command),
        // Help that was asked for is no error.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        Err(error) => Err(format!("E-USAGE: {}", usage(&error, &command_of(line)))),
    }
}

/// The same of a line of `parvum run`.
fn run_args(line: &[OsString]) -> Result<run::RunArgs, String> {
    match parsed(&settings::spelling::of_process(line.to_vec(), &Cli::command()))? {
        Command::Run(args) => Ok(args),
        _ => Err("E-USAGE: this line is no line of `parvum run`".into()),
    }
}

/// The code of a command line that makes no sense.
const USAGE: u8 = 2;

/// `parvum run` of a line that runs something; `parvum` if the line names no command.
fn command_of(line: &[OsString]) -> String {
    let cli = Cli::command();
    let known =
        line.iter().skip(1).filter_map(|word| word.to_str()).find(|word| cli.find_subcommand(word).is_some());
    known.map_or_else(|| "parvum".to_owned(), |name| format!("parvum {name}"))
}

/// What clap has to say, in the form of an error: its tips are help, and so is the command's own help.
fn usage(error: &clap::Error, command: &str) -> String {
    let text = error.render().to_string();
    let mut text =
        text.strip_prefix("error: ").unwrap_or(&text).lines().map(str::trim).filter(|line| !line.is_empty());
    let mut what = vec![text.next().unwrap_or_default()];
    let (mut notes, mut help) = (Vec::new(), Vec::new());
    for line in text {
        match line.split_once(": ") {
            Some(("tip", tip)) => help.push(tip.to_owned()),
            Some(("Usage", usage)) => notes.push(format!("usage: {usage}")),
            _ if line.starts_with("For more information") => {}
            _ if line.starts_with("[possible values: ") => {
                let values = line.trim_start_matches("[possible values: ").trim_end_matches(']');
                help.push(format!("use one of {values}"));
            }
            // The missing arguments.
            _ if notes.is_empty() && help.is_empty() => what.push(line),
            _ => {}
        }
    }
    help.push(format!("`{command} --help`"));
    let message = parvum_errors::Message { code: String::new(), what: what.join(" "), notes, help };
    message.to_string()
}

/// Standard output is a pipe to the starter here, and errors go there too.
fn daemon(place: MachineDirectory, launch: bool, foreground: bool, name: Option<String>) -> ExitCode {
    let manner = if foreground { Manner::Attached } else { Manner::Detached };
    if launch && let Some(allocation) = hosts::slurm::Allocation::of_environment().transpose() {
        let launched = allocation.and_then(|allocation| hosts::slurm::launch(&place, &allocation));
        println!("{}", launched.as_ref().map_or_else(String::as_str, |()| "ready"));
        return if launched.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let settings = HostSettings { name, ..HostSettings::default() };
    let result = match launch {
        true => parvum_machine::launch(&place),
        false => parvum_machine::serve(place, manner, settings, Vec::new()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if foreground => complain(&error),
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The place that was named, with the source of its name when that is known.
fn place(dir: Option<PathBuf>) -> MachineDirectory {
    let usual = MachineDirectory::from_env();
    match dir {
        Some(dir) if dir != usual.dir() => MachineDirectory::at(dir),
        _ => usual,
    }
}

/// One error, one line.
fn complain(error: &dyn Display) -> ExitCode {
    ExitCode::from(complained(error))
}

/// The same, with the exit code as a number.
fn complained(error: &dyn Display) -> u8 {
    let text = error.to_string();
    terminal::out::note(&text);
    if text.starts_with("E-USAGE") { USAGE } else { 1 }
}

/// Options of a session from this command: the daemon is this very program.
fn options(role: Role, start: bool) -> Options {
    let beside = std::env::current_exe().ok();
    Options { start, beside, ..Options::new(role, "parvum") }
}

/// A session that only looks and gives orders, with a machine that is up.
fn tool() -> Result<Session, SessionError> {
    Session::open(&options(Role::Tool, false))
}

/// Reads a tid as it is shown: `t40001`, or without the `t`.
fn parse_tid(text: &str) -> Result<Tid, String> {
    let digits = text.strip_prefix('t').or_else(|| text.strip_prefix("0x")).unwrap_or(text);
    match i32::from_str_radix(digits, 16) {
        Ok(tid) if tid > 0 => Ok(Tid(tid)),
        _ => Err("a task id looks like t40001; help: `parvum ps` lists the tasks".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tid_parser_accepts_printed_form() {
        assert_eq!(parse_tid("t40001"), Ok(Tid(0x40001)));
        assert_eq!(parse_tid(&Tid(0x40001).to_string()), Ok(Tid(0x40001)));
        assert_eq!(parse_tid("40001"), Ok(Tid(0x40001)));
        assert!(parse_tid("task").is_err());
        assert!(parse_tid("-1").is_err());
    }

    #[test]
    fn command_line_passes_clap_debug_assert() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
