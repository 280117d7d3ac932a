//! `parvum submit` and `parvum wait`.

use super::keeper::KEPT;
use super::record::{Record, State, now};
use super::store::{self, Job};
use crate::complain;
use crate::terminal::out;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, ExitCode, Stdio};

#[derive(clap::Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum submit -n 4 ./app input.dat", "the job's number is printed"),
    ("parvum submit --name trial -n 4 -H alpha,beta ./app", "with the options of `parvum run`"),
    ("parvum logs -f 7", "its output, until it ends"),
    ("parvum wait 7", "its exit code"),
]))]
pub struct SubmitArgs {
    /// A name for people [default: the program]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The options of `parvum run`, the program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    line: Vec<OsString>,
}

pub fn submit(args: &SubmitArgs) -> ExitCode {
    match attempt(args).and_then(|number| out::line(number).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => complain(&why),
    }
}

fn attempt(args: &SubmitArgs) -> Result<u32, String> {
    // A wrong line is an error here, before the job begins.
    let words = ["parvum", "run"].map(OsString::from).into_iter().chain(args.line.iter().cloned());
    let run = crate::run_args(&words.collect::<Vec<_>>())?;
    let shown = |text: &OsString| crate::shown::shown(text.as_bytes()).into_owned();
    let program = run.program.first().map(shown).unwrap_or_default();
    let record = Record {
        name: args.name.clone().unwrap_or_else(|| program.rsplit('/').next().unwrap_or_default().to_owned()),
        command: args.line.iter().map(shown).collect::<Vec<_>>().join(" "),
        host: crate::shown::host_name(),
        folder: std::env::current_dir().map(|dir| dir.display().to_string()).unwrap_or_default(),
        submitted: now(),
        started: None,
        ended: None,
        code: None,
        cancelled: false,
        dropped: 0,
    };
    store::tidy()?;
    let job = store::make(&record)?;
    start(&job, &args.line).inspect_err(|_| job.remove())?;
    Ok(job.number)
}

/// Starts the keeper, and waits until it holds the job.
fn start(job: &Job, line: &[OsString]) -> Result<(), String> {
    let system = |error: std::io::Error| format!("E-SYSTEM: the job cannot be started: {error}");
    let program = std::env::current_exe().map_err(system)?;
    let mut command = Command::new(program);
    command.args(["keep-job", &job.number.to_string(), "--"]).args(line);
    let mut keeper =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(system)?;
    let mut said = String::new();
    if let Some(output) = keeper.stdout.take() {
        BufReader::new(output).read_line(&mut said).map_err(system)?;
    }
    match said.trim() {
        KEPT => Ok(()),
        "" => Err("E-SYSTEM: the keeper of the job has ended without a reason".into()),
        why => Err(why.to_owned()),
    }
}

/// Waits for the end of a job, and ends with its exit code.
pub fn wait(number: u32) -> ExitCode {
    let ended = store::find(number).and_then(|job| {
        job.wait()?;
        job.look()
    });
    match ended {
        Ok((record, State::Done | State::Failed | State::Cancelled)) => {
            ExitCode::from(record.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
        }
        Ok(_) => complain(&format!(
            "E-JOBLOST: job {number} has no exit code: its keeper was killed, or its host was stopped; help: `parvum logs \
             {number}` shows its output"
        )),
        Err(why) => complain(&why),
    }
}
