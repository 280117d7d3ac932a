//! The `parvum` command. The daemon is inside it.

#![deny(unsafe_code)]

mod arguments;
mod compare;
mod console;
mod environment;
mod hostfile;
mod hosts;
mod ledger;
mod look;
mod power;
mod push;
mod pvmd;
mod run;
#[allow(unsafe_code)]
mod signals;
mod top;
mod trace;
mod why;

use clap::{Parser, Subcommand};
use parvum_machine::Manner;
use parvum_task::{Options, Place, Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{HostSettings, Role};
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

/// Makes one parallel virtual machine of a host's cores, and runs
/// message-passing programs on it.
///
/// The machine lives in a directory: $PARVUM_DIR, else $XDG_RUNTIME_DIR/parvum,
/// else /tmp/parvum-UID. It starts by itself when a program needs it, and stops
/// with `parvum down`.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the machine (does nothing when it is up)
    Up,
    /// Stop the machine and every task on it
    Down,
    /// Run a program: start N tasks of it, show their output, return its exit code
    Run(run::RunArgs),
    /// Run a program as `run` does, and draw what its tasks did: a file for Perfetto, and a picture for a browser
    Trace(trace::TraceArgs),
    /// List the tasks and what each is doing
    Ps,
    /// List the hosts of the machine
    Hosts {
        /// Say how this host reaches each of the others, and which addresses were tried
        #[arg(short)]
        verbose: bool,
    },
    /// Add hosts: start daemons there, all at once, with ssh or another command
    Add(hosts::AddArgs),
    /// Take hosts out of the machine; their tasks end
    Remove {
        /// The hosts, as `parvum hosts` shows them
        #[arg(required = true)]
        hosts: Vec<String>,
    },
    /// Join a machine by what is said on standard input: for `parvum add` to call over there
    #[command(hide = true)]
    Join,
    /// Send a signal to a task (SIGTERM when none is named)
    Kill {
        /// The task, as `parvum ps` shows it (t40001)
        #[arg(value_parser = parse_tid)]
        tid: Tid,
        /// The signal's number
        #[arg(short, long, default_value_t = 15)]
        signal: i32,
    },
    /// Show versions, the directory, limits and counts of the daemon; or one task: its state, where its time goes, and
    /// what it exchanged with whom, over which route and why
    Info {
        /// A task, as `parvum ps` shows it
        #[arg(value_parser = parse_tid)]
        tid: Option<Tid>,
    },
    /// Show the machine live: tasks, rates, waits, queues, memory, hosts' load; plain text in a pipe
    Top(top::TopArgs),
    /// Say why a program hangs: who waits for whom, what is certain, which messages are nearly right
    Why(why::WhyArgs),
    /// Give orders line by line, as `pvm` does: [-dmask] [-nname] [hostfile]
    Console {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Print what a shell needs to use this Parvum: eval "$(parvum env)"
    Env(environment::EnvArgs),
    /// Compare message-passing systems on this machine, and write a report
    Compare(parvum_lab::CompareOptions),
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
    },
}

fn main() -> ExitCode {
    // By PVM's names the command is PVM's console and daemon.
    let mut arguments = std::env::args_os();
    let called = arguments.next().map(PathBuf::from);
    match called.as_ref().and_then(|path| path.file_name()?.to_str()) {
        Some("pvm") => return console::run(arguments),
        Some("pvmd" | "pvmd3") => return pvmd::run(arguments),
        _ => {}
    }
    let result = match Cli::parse().command {
        Command::Compare(options) => {
            return match compare::run(&options) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => complain(&error),
            };
        }
        Command::Env(args) => {
            return match environment::print(&args) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => complain(&error),
            };
        }
        Command::Up => power::up(),
        Command::Down => power::down(),
        Command::Run(args) => return run::run(&args),
        Command::Trace(args) => return trace::trace(&args),
        Command::Why(args) => {
            return why::why(&args).unwrap_or_else(|error| complain(&error));
        }
        Command::Ps => look::ps(),
        Command::Top(args) => top::top(&args),
        Command::Hosts { verbose } => look::hosts(verbose),
        Command::Add(args) => return hosts::add(&args),
        Command::Remove { hosts } => return hosts::remove(hosts),
        Command::Join => return hosts::join(),
        Command::Kill { tid, signal } => look::kill(tid, signal),
        Command::Info { tid: None } => look::info(),
        Command::Info { tid: Some(tid) } => ledger::task(tid),
        Command::Console { arguments } => return console::run(arguments.into_iter()),
        Command::Daemon { dir, keep: true, .. } => {
            parvum_machine::keep(&place(dir));
            Ok(())
        }
        Command::Daemon { dir, join: true, .. } => return hosts::become_host(place(dir)),
        Command::Daemon { dir, launch, foreground, .. } => return daemon(place(dir), launch, foreground),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

/// Standard output is a pipe to the starter here, and errors go there too.
fn daemon(place: Place, launch: bool, foreground: bool) -> ExitCode {
    let manner = if foreground { Manner::Attached } else { Manner::Detached };
    let result = match launch {
        true => parvum_machine::launch(&place),
        false => parvum_machine::serve(place, manner, HostSettings::default(), Vec::new()),
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
fn place(dir: Option<PathBuf>) -> Place {
    let usual = Place::from_env();
    match dir {
        Some(dir) if dir != usual.dir() => Place::at(dir),
        _ => usual,
    }
}

/// One error, one line.
fn complain(error: &dyn Display) -> ExitCode {
    eprintln!("parvum: {error}");
    ExitCode::FAILURE
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
        _ => Err("a task id looks like t40001; `parvum ps` lists them".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tids_are_read_as_they_are_shown() {
        assert_eq!(parse_tid("t40001"), Ok(Tid(0x40001)));
        assert_eq!(parse_tid(&Tid(0x40001).to_string()), Ok(Tid(0x40001)));
        assert_eq!(parse_tid("40001"), Ok(Tid(0x40001)));
        assert!(parse_tid("task").is_err());
        assert!(parse_tid("-1").is_err());
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
