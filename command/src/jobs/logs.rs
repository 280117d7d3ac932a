//! `parvum logs`.

use super::store;
use crate::complain;
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

/// The time between two looks at the output of a job that runs. Over NFS the system tells of no growth of a file (inotify).
const PAUSE: Duration = Duration::from_millis(100);

#[derive(clap::Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum logs 7", "what job 7 has printed so far"),
    ("parvum logs -f 7", "and what it prints until it ends"),
]))]
pub struct LogsArgs {
    /// Print new output until the job ends
    #[arg(short, long)]
    follow: bool,
    /// The number of the job
    job: u32,
}

pub fn logs(args: &LogsArgs) -> ExitCode {
    match attempt(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => complain(&why),
    }
}

fn attempt(args: &LogsArgs) -> Result<(), String> {
    let job = store::find(args.job)?;
    let path = job.output();
    let failed = |error: io::Error| format!("E-FILE: {}: {error}", path.display());
    let mut file = File::open(&path).map_err(failed)?;
    loop {
        // First whether it runs: what it has printed before its end is there then.
        let goes_on = args.follow && job.is_kept();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        // The bytes of the job, as it has printed them.
        let mut out = io::stdout();
        out.write_all(&bytes)
            .and_then(|()| out.flush())
            .map_err(|error| format!("E-FILE: standard output: {error}"))?;
        if !goes_on {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    match job.read()?.dropped {
        0 => Ok(()),
        dropped => Err(format!(
            "E-JOBOUTPUT: {dropped} bytes at the end of the output were not kept: 256 MiB are kept of a job, if the disk has \
             room; help: let the program write large output to files"
        )),
    }
}
