//! `parvum stack TASK`: where the threads of a task are, by a debugger if one is installed, else as the kernel sees them.

mod kernel;
mod tools;

use crate::look::views::{host_rows, odd};
use crate::terminal::out;
use crate::{complain, tool};
use parvum_task::SessionError;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Reply, Request};
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum stack t40002", "the call stack of each thread of a task"),
    ("parvum why", "first: which task waits for which"),
]))]
pub struct StackArgs {
    /// The task, such as t40002; `parvum ps` lists them
    #[arg(value_parser = crate::parse_tid, required_unless_present = "pid")]
    tid: Option<Tid>,
    /// The process on this host
    #[arg(long, hide = true, conflicts_with = "tid")]
    pid: Option<u32>,
}

pub fn stack(args: &StackArgs) -> ExitCode {
    let done = match (args.tid, args.pid) {
        (Some(tid), _) => of_task(tid),
        (None, Some(pid)) => print(pid).map(|()| ExitCode::SUCCESS),
        (None, None) => return ExitCode::FAILURE,
    };
    done.unwrap_or_else(|error| complain(&error))
}

fn of_task(tid: Tid) -> Result<ExitCode, SessionError> {
    let mut session = tool()?;
    let none = || Failure::new(ErrorKind::NoSuchTask, tid.to_string());
    if !tid.is_task() {
        return Err(none().into());
    }
    let Reply::Tasks(rows) = session.request(Request::Tasks { of: Some(tid), deep: false })? else {
        return Err(odd());
    };
    let row = rows.into_iter().find(|row| row.tid == tid).ok_or_else(none)?;
    if row.host == session.me.tid.daemon() {
        out::line(format!("{tid} {}", row.name))?;
        return print(row.pid).map(|()| ExitCode::SUCCESS);
    }
    let hosts = host_rows(&mut session)?;
    let host =
        hosts.iter().find(|host| host.tid == row.host).map_or_else(String::new, |host| host.name.clone());
    out::line(format!("{tid} {} on {host}", row.name))?;
    // The same command there: only processes of that host can look at the task.
    let pid = row.pid.to_string();
    let line = ["parvum", "run", "-q", "-n", "1", "-H", &host, "--", "parvum", "stack", "--pid", &pid]
        .map(OsString::from);
    let run = crate::run_args(&line).map_err(SessionError::Start)?;
    Ok(crate::run::run(&run))
}

/// Prints the threads of a process of this host.
fn print(pid: u32) -> Result<(), SessionError> {
    match tools::stacks(pid) {
        Ok(text) => out::line(text.trim_end()),
        Err(why) => {
            out::note(why);
            let threads = kernel::threads(pid);
            if threads.is_empty() {
                return Err(Failure::new(ErrorKind::NoSuchTask, format!("process {pid} has ended")).into());
            }
            out::table(&kernel::table(&threads))
        }
    }
}
