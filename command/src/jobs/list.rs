//! `parvum jobs`.

use super::record::{Record, State};
use super::store;
use crate::complain;
use crate::terminal::out;
use parvum_task::SessionError;
use serde_json::{Value, json};
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum jobs", "a line for each job"),
    ("parvum jobs --json | jq '.[] | select(.state == \"failed\")'", "for a program"),
    ("parvum jobs --forget 7", "remove what is kept of a job that has ended"),
]))]
pub struct JobsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Remove what is kept of a job that has ended
    #[arg(long, value_name = "JOB", conflicts_with = "json")]
    forget: Option<u32>,
}

pub fn list(args: &JobsArgs) -> ExitCode {
    let done = match args.forget {
        Some(number) => forget(number),
        None => print(args.json),
    };
    done.map_or_else(|why| complain(&why), |()| ExitCode::SUCCESS)
}

fn forget(number: u32) -> Result<(), String> {
    let job = store::find(number)?;
    if job.is_kept() {
        return Err(format!("E-JOBRUNS: job {number} runs; help: `parvum cancel {number}` ends it"));
    }
    job.remove();
    Ok(())
}

fn print(as_json: bool) -> Result<(), String> {
    let text = |error: SessionError| error.to_string();
    let mut rows = Vec::new();
    for job in store::all()? {
        // The folder of a job that is being submitted, or removed, has no record.
        if let Ok((record, state)) = job.look() {
            rows.push((job.number, record, state));
        }
    }
    if as_json {
        let all: Vec<Value> =
            rows.iter().map(|(number, record, state)| value(*number, record, *state)).collect();
        return out::json(&Value::Array(all)).map_err(text);
    }
    let mut table =
        vec![["JOB", "STATE", "CODE", "SECONDS", "HOST", "NAME", "COMMAND"].map(str::to_owned).to_vec()];
    for (number, record, state) in rows {
        table.push(vec![
            number.to_string(),
            state.word().into(),
            record.code.map_or_else(|| "-".into(), |code| code.to_string()),
            record.seconds().map_or_else(|| "-".into(), |seconds| format!("{seconds:.1}")),
            record.host,
            record.name,
            record.command,
        ]);
    }
    out::table(&table).map_err(text)
}

fn value(number: u32, record: &Record, state: State) -> Value {
    json!({
        "job": number,
        "name": record.name,
        "state": state.word(),
        "code": record.code,
        "seconds": record.seconds(),
        "host": record.host,
        "folder": record.folder,
        "command": record.command,
        "submitted_unix_s": record.submitted,
        "started_unix_s": record.started,
        "ended_unix_s": record.ended,
        "dropped_bytes": record.dropped,
    })
}
