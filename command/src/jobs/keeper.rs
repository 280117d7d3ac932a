//! The keeper of a job: it is the `parvum run` of the job, keeps what the job prints, and writes how the job ended. If the keeper
//! is killed, the daemon ends the tasks of the job.

use super::record::now;
use super::store;
use crate::options;
use crate::terminal::signals;
use parvum_task::Session;
use parvum_wire::control::Role;
use rustix::process::{Signal, getpid, kill_process};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// No more bytes of a job's output are kept.
const MOST: u64 = 256 << 20;
/// The last output must be written within this time after the end of the job.
const TO_WRITE: Duration = Duration::from_secs(30);

/// Is the keeper of a job, and says on standard output whether it could begin.
pub fn keep(number: u32, line: &[OsString]) -> ExitCode {
    match attempt(number, line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // `parvum submit` reads the reason, if the job has not begun.
            let _ = writeln!(io::stdout(), "{why}");
            ExitCode::FAILURE
        }
    }
}

fn attempt(number: u32, line: &[OsString]) -> Result<(), String> {
    let job = store::find(number)?;
    // The end of the terminal is not the end of the job. Fails only for the first process of a group.
    let _ = rustix::process::setsid();
    let _held = job.hold()?;
    let mut record = job.read()?;
    let words = ["parvum", "run"].map(OsString::from).into_iter().chain(line.iter().cloned());
    let mut args = crate::run_args(&words.collect::<Vec<_>>())?;
    args.write_json_to(job.tasks());
    let output =
        OpenOptions::new().append(true).open(job.output()).map_err(|error| system("output", error))?;
    // For reading and writing: so it has a writer, and a read waits for the next word.
    let control = OpenOptions::new().read(true).write(true).open(job.control());
    let control = control.map_err(|error| system("control", error))?;
    // The machine first: a daemon that is started later would inherit the blocked signals. Then the signals: threads that begin
    // later have them blocked too, and a signal waits for the runner.
    Session::open(&options(Role::Tool, true)).map_err(|error| error.to_string())?;
    let _caught = signals::catch(&crate::run::SIGNALS).map_err(|error| system("signals", error))?;
    let (reader, writer) = io::pipe().map_err(|error| system("pipe", error))?;
    record.started = Some(now());
    job.write(&record)?;
    let told = writeln!(io::stdout(), "{KEPT}").and_then(|()| io::stdout().flush());
    told.map_err(|error| system("standard output", error))?;
    // From here on all that this process prints is the output of the job.
    let moved = rustix::stdio::dup2_stdout(&writer).and_then(|()| rustix::stdio::dup2_stderr(&writer));
    moved.map_err(|error| system("standard output", error.into()))?;
    drop(writer);
    let (sender, copied) = channel();
    std::thread::spawn(move || sender.send(copy(reader, output)));
    let cancelled = Arc::new(AtomicBool::new(false));
    let told = cancelled.clone();
    std::thread::spawn(move || obey(control, &told));
    let code = crate::run::code(&args);
    // Relaxed: the thread stored it before the signal that has ended the job.
    record.cancelled = cancelled.load(Ordering::Relaxed);
    let_go();
    record.dropped = copied.recv_timeout(TO_WRITE).unwrap_or(0);
    record.ended = Some(now());
    record.code = Some(code.into());
    job.write(&record)
}

/// The line of a keeper that holds the job.
pub(super) const KEPT: &str = "kept";

fn system(what: &str, error: io::Error) -> String {
    format!("E-SYSTEM: the keeper of the job: {what}: {error}")
}

/// Ends the job as soon as somebody writes to the pipe, as SIGTERM ends a `parvum run`.
fn obey(mut control: File, cancelled: &AtomicBool) {
    let mut word = [0];
    while control.read(&mut word).is_ok_and(|read| read > 0) {
        // A second SIGTERM would end the job without the time of --grace. Relaxed: see the load.
        if !cancelled.swap(true, Ordering::Relaxed) {
            let _ = kill_process(getpid(), Signal::TERM);
        }
    }
}

/// Copies what the job prints, as far as there is room. Returns how many bytes were not kept.
fn copy(mut pipe: PipeReader, mut output: File) -> u64 {
    let mut buffer = vec![0; 64 * 1024];
    let (mut kept, mut dropped) = (0_u64, 0_u64);
    loop {
        let read = match pipe.read(&mut buffer) {
            Ok(0) => return dropped,
            Ok(read) => read as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return dropped,
        };
        let room = if dropped > 0 { 0 } else { read.min(MOST - kept) };
        // A disk that is full must not stop the job.
        match output.write_all(&buffer[..room as usize]) {
            Ok(()) => {
                kept += room;
                dropped += read - room;
            }
            Err(_) => dropped += read,
        }
    }
}

/// Closes the pipe of the job's output: its reader then comes to the end.
fn let_go() {
    if let Ok(null) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = io::stdout().flush();
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}
