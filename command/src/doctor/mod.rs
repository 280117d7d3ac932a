//! `parvum doctor`: what could stop programs, on this host and on others, and what to do about it.

mod finding;
mod hosts;
mod probe;
mod session;
mod software;
mod system;

use crate::terminal::out;
use clap::Args;
use finding::{Finding, State};
use parvum_errors::Style;
use parvum_task::SessionError;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

pub use system::{YAMA, ptrace_scope};

#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum doctor", "check this host"),
    ("parvum doctor beta gamma", "and whether two hosts could be added"),
    ("parvum doctor --json beta", "for a program"),
]))]
pub struct DoctorArgs {
    /// Check these hosts too: ssh, release, ports, clock
    hosts: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Wait at most SECONDS for each answer of a host
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    /// Reach hosts by COMMAND; {host} stands for the name of the host [default: ssh]
    #[arg(long, value_name = "COMMAND")]
    start_by: Option<String>,
    /// Run the `parvum` at PATH on those hosts [default: from PATH]
    #[arg(long, value_name = "PATH")]
    remote: Option<String>,
    /// Answer the doctor of another host
    #[arg(long, hide = true, conflicts_with_all = ["hosts", "json", "victim"])]
    probe: bool,
    /// Show memory to the doctor that has started this
    #[arg(long, hide = true, conflicts_with_all = ["hosts", "json"])]
    victim: bool,
}

/// Checks, and prints what was found. The exit code is 1 if something does not work.
pub fn doctor(args: &DoctorArgs) -> Result<ExitCode, SessionError> {
    if args.victim {
        system::victim();
        return Ok(ExitCode::SUCCESS);
    }
    if args.probe {
        probe::answer();
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = here();
    let way = hosts::Way {
        start_by: args.start_by.as_deref(),
        remote: args.remote.as_deref(),
        patience: Duration::from_secs(args.timeout),
    };
    all.extend(hosts::all(&args.hosts, &way));
    let worst = all.iter().map(|finding| finding.state).max().unwrap_or(State::Ok);
    match args.json {
        true => out::json(&as_json(&all))?,
        false => print(&all, worst)?,
    }
    Ok(if worst == State::Error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Checks this host.
fn here() -> Vec<Finding> {
    let mut all = software::all();
    all.extend(system::all());
    all
}

/// The value of `--json`.
fn as_json(all: &[Finding]) -> serde_json::Value {
    let ok = all.iter().all(|finding| finding.state != State::Error);
    json!({
        "release": env!("CARGO_PKG_VERSION"),
        "ok": ok,
        "findings": all.iter().map(Finding::json).collect::<Vec<_>>(),
    })
}

/// Checks this host for a report.
pub fn for_report() -> serde_json::Value {
    as_json(&here())
}

fn print(all: &[Finding], worst: State) -> Result<(), SessionError> {
    let style = Style::of_stdout();
    let mut host = None;
    for finding in all {
        if finding.host != host {
            host.clone_from(&finding.host);
            out::line(format!("\n{}:", host.as_deref().unwrap_or("this host")))?;
        }
        let word = format!("{:<7}", finding.state.word());
        let word = match finding.state {
            State::Ok => style.good(&word),
            State::Warning => style.warned(&word),
            State::Error => style.bad(&word),
        };
        // `line` takes escapes out: this has none but ours.
        out::painted(format!("{word}  {}: ", finding.check), &finding.text)?;
        for help in &finding.help {
            out::painted(format!("         {}: ", style.mild("help")), help)?;
        }
    }
    let count = |state| all.iter().filter(|finding| finding.state == state).count();
    let (errors, warnings) = (count(State::Error), count(State::Warning));
    out::line(match worst {
        State::Ok => "\nNothing is wrong.".to_owned(),
        _ => format!("\n{}, {}.", out::counted(errors, "error"), out::counted(warnings, "warning")),
    })
}
