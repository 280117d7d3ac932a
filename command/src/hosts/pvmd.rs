//! `pvmd`: the machine's daemon in the foreground, called as PVM's is.

use crate::settings::arguments::Arguments;
use parvum_machine::{Manner, StartError, serve};
use parvum_task::{MachineDirectory, Session, SessionError};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: pvmd [-dmask] [-nname] [hostfile]
Runs the machine's daemon here, until `halt` in the console, `parvum down`, or a signal. Once it serves, it prints
where its socket is. The machine is that of PARVUM_DIR, as for every program.";

/// What a shell was told about its own messages is not for every task to come.
const NOT_FOR_TASKS: [&str; 7] = [
    "PARVUM_ROUTE",
    "PARVUM_FABRIC",
    "PARVUM_CREDIT",
    "PARVUM_MEMORY",
    "PARVUM_SINGLE_COPY",
    "PARVUM_TID",
    "PARVUM_TICKET",
];

pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = arguments.collect();
    match attempt(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(lines) => {
            lines.iter().for_each(|line| eprintln!("pvmd: {line}"));
            ExitCode::FAILURE
        }
    }
}

fn attempt(words: &[OsString]) -> Result<(), Vec<String>> {
    let one = |line: String| vec![line];
    let arguments = Arguments::read(words.iter().cloned()).map_err(|why| vec![why, USAGE.into()])?;
    if arguments.help {
        println!("{USAGE}");
        return Ok(());
    }
    if NOT_FOR_TASKS.iter().any(|name| std::env::var_os(name).is_some()) {
        return Err(one(format!("cannot start anew: {}", without_options(words))));
    }
    let (settings, remarks, others) = arguments.settings()?;
    let place = MachineDirectory::from_env();
    let running = || one(format!("pvmd already running. Its directory is {}", place.dir().display()));
    match Session::open(&crate::options(parvum_wire::control::Role::Tool, false)) {
        Err(SessionError::NoDaemon(_)) => {}
        Ok(_) => return Err(running()),
        Err(error) => return Err(one(error.to_string())),
    }
    remarks.iter().for_each(|remark| eprintln!("pvmd: {remark}"));
    serve(place.clone(), Manner::Announced, settings, others).map_err(|error| match error {
        StartError::Running(_) => running(),
        other => one(other.to_string()),
    })
}

/// Becomes the same program without them; comes back only when that fails.
fn without_options(words: &[OsString]) -> std::io::Error {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let mut command = Command::new(program);
    command.arg0("pvmd").args(words);
    for name in NOT_FOR_TASKS {
        command.env_remove(name);
    }
    command.exec()
}
