//! The `parvum` command. The daemon is inside it.

#![deny(unsafe_code)]

mod compare;
mod completion;
mod console;
mod docs;
mod hosts;
mod look;
mod mpiexec;
mod predict;
mod run;
mod settings;
mod shown;
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

/// Makes one parallel virtual machine of a host's cores, and runs
/// message-passing programs on it.
///
/// The machine lives in a directory: $PARVUM_DIR, else $XDG_RUNTIME_DIR/parvum,
/// else /tmp/parvum-UID. It starts by itself when a program needs it, and stops
/// with `parvum down`.
///
/// Options that you always want may stand in a file: ~/.config/parvum/config, or the one that $PARVUM_CONFIG names
/// (`run.label = yes`). The command line goes before the environment, that before the file.
#[derive(Parser)]
#[command(version = env!("COMMAND_VERSION"), arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the machine (does nothing when it is up), with the hosts of a hostfile if one is named
    Up {
        /// A hostfile of PVM: hosts and their options
        hostfile: Option<PathBuf>,
        /// Say nothing but errors
        #[arg(short, long)]
        quiet: bool,
    },
    /// Stop the machine and every task on it
    Down {
        /// Say nothing but errors
        #[arg(short, long)]
        quiet: bool,
    },
    /// Run a program: start N tasks of it, show their output, return its exit code
    Run(run::RunArgs),
    /// Run a program as `run` does, and draw what its tasks did: a file for Perfetto, and a picture for a browser
    Trace(trace::TraceArgs),
    /// Say how long tasks would take on other hosts, from a trace (`trace --replay`) and what messages cost there
    Predict(predict::PredictArgs),
    /// List the tasks and what each is doing
    Ps {
        /// For programs: as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the hosts of the machine
    Hosts {
        /// Say how this host reaches each of the others, and which addresses were tried
        #[arg(short, long)]
        verbose: bool,
        /// For programs: as JSON
        #[arg(long)]
        json: bool,
    },
    /// Add hosts: start daemons there, all at once, with ssh or another command
    Add(hosts::membership::AddArgs),
    /// Take hosts out of the machine; their tasks end
    Remove {
        /// The hosts, as `parvum hosts` shows them
        #[arg(required = true)]
        hosts: Vec<String>,
    },
    /// Join a machine by what is said on standard input: for `parvum add` to call over there
    #[command(hide = true)]
    Join {
        /// What a hoster has passed on: one line is answered then
        #[arg(long, hide = true)]
        hosted: Option<String>,
    },
    /// Send a signal to a task (SIGTERM when none is named)
    Kill {
        /// The task, as `parvum ps` shows it (t40001)
        #[arg(value_parser = parse_tid)]
        tid: Tid,
        /// The signal, by name or number: KILL, SIGKILL, 9
        #[arg(short, long, default_value = "TERM", value_parser = terminal::signal_names::parse)]
        signal: i32,
    },
    /// Show versions, the directory, limits and counts of the daemon; or one task: its state, where its time goes, and
    /// what it exchanged with whom, over which route and why
    Info {
        /// A task, as `parvum ps` shows it
        #[arg(value_parser = parse_tid)]
        tid: Option<Tid>,
        /// For programs: as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which algorithm a collective uses: parvum algorithms MPI_Bcast 64K -n 8
    Algorithms(look::algorithms::AlgorithmsArgs),
    /// Show the machine live: tasks, rates, waits, queues, memory, hosts' load; plain text in a pipe
    Top(top::TopArgs),
    /// Say why a program hangs: who waits for whom, what is certain, which messages are nearly right
    Why(why::WhyArgs),
    /// Give orders line by line, as `pvm` does: [-dmask] [-nname] [hostfile]
    Console {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Print where the documentation is on this host, or the page about a topic
    Docs(docs::DocsArgs),
    /// Print what a shell needs to use this Parvum: eval "$(parvum env)"
    Env(settings::environment::EnvArgs),
    /// Print what makes a shell complete this command's words: parvum completion bash > ~/.local/share/bash-completion/completions/parvum
    Completion {
        /// For which shell
        #[arg(value_enum)]
        shell: completion::Shell,
    },
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
        Command::Env(args) => settings::environment::print(&args),
        Command::Completion { shell } => completion::print(shell, &mut Cli::command()),
        Command::Up { hostfile: Some(file), quiet } => return hosts::power::up_with(quiet, file),
        Command::Up { hostfile: None, quiet } => hosts::power::up(quiet),
        Command::Down { quiet } => hosts::power::down(quiet),
        Command::Run(args) => return run::run(&args),
        Command::Trace(args) => return trace::trace(&args),
        Command::Predict(args) => {
            return predict::predict(&args).map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS);
        }
        Command::Why(args) => {
            return why::why(&args).unwrap_or_else(|error| complain(&error));
        }
        Command::Ps { json } => look::views::ps(json),
        Command::Top(args) => top::top(&args),
        Command::Hosts { verbose, json } => look::views::hosts(verbose, json),
        Command::Add(args) => return hosts::membership::add(&args),
        Command::Remove { hosts } => return hosts::membership::remove(hosts),
        Command::Join { hosted } => return hosts::membership::join(hosted.as_deref()),
        Command::Kill { tid, signal } => look::views::kill(tid, signal),
        Command::Algorithms(asked) => look::algorithms::algorithms(&asked),
        Command::Info { tid: None, json } => look::views::info(json),
        Command::Info { tid: Some(tid), json } => look::task::task(tid, json),
        Command::Console { arguments } => return console::run(arguments.into_iter()),
        Command::Daemon { dir, keep: true, .. } => {
            parvum_machine::keep(&place(dir));
            Ok(())
        }
        Command::Daemon { dir, join: true, hosted, .. } => {
            return hosts::membership::become_host(place(dir), hosted.as_deref());
        }
        Command::Daemon { dir, launch, foreground, .. } => return daemon(place(dir), launch, foreground),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

impl Command {
    /// Whether it prints what there is, and nothing of what it does hangs on who reads that.
    fn only_looks(&self) -> bool {
        use Command::{Algorithms, Completion, Docs, Env, Hosts, Info, Predict, Ps, Top, Why};
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
                | Completion { .. }
        )
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
    let parsed = file.applied(cli, line).try_get_matches_from(line);
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok(cli.command),
        // Help that was asked for is no error.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        Err(error) => Err(format!("E-USAGE: {}", usage(&error))),
    }
}

/// The same of a line of `parvum run`.
fn run_args(line: &[OsString]) -> Result<run::RunArgs, String> {
    match parsed(line)? {
        Command::Run(args) => Ok(args),
        _ => Err("E-USAGE: that is no line of `parvum run`".into()),
    }
}

/// The code of a command line that makes no sense.
const USAGE: u8 = 2;

/// What clap has to say, without its own beginning.
fn usage(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()
}

/// Standard output is a pipe to the starter here, and errors go there too.
fn daemon(place: MachineDirectory, launch: bool, foreground: bool) -> ExitCode {
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
fn place(dir: Option<PathBuf>) -> MachineDirectory {
    let usual = MachineDirectory::from_env();
    match dir {
        Some(dir) if dir != usual.dir() => MachineDirectory::at(dir),
        _ => usual,
    }
}

/// One error, one line.
fn complain(error: &dyn Display) -> ExitCode {
    let text = error.to_string();
    terminal::out::note(&text);
    if text.starts_with("E-USAGE") { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
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
