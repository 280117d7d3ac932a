//! `parvum cancel`.

use super::record::State;
use super::store;
use crate::complain;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

/// Ends a job: its tasks get SIGTERM, and SIGKILL after the time of `--grace`. Waits for its end.
pub fn cancel(number: u32) -> ExitCode {
    match attempt(number) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => complain(&why),
    }
}

fn attempt(number: u32) -> Result<(), String> {
    let job = store::find(number)?;
    let (record, state) = job.look()?;
    if state != State::Running {
        let word = state.word();
        return Err(format!("E-JOBENDED: job {number} is {word}; help: `parvum jobs` shows which jobs run"));
    }
    // Without a reader this fails at once: the keeper ends at this moment, or the job runs on another host of this home.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let pipe = OpenOptions::new().write(true).custom_flags(flags).open(job.control());
    match pipe.and_then(|mut pipe| pipe.write_all(b"c")) {
        Ok(()) => job.wait(),
        Err(_) if !job.is_kept() => Ok(()),
        Err(error) => Err(format!(
            "E-NOJOB: job {number} cannot be cancelled here: {error}; help: run this command on host {}",
            record.host
        )),
    }
}
