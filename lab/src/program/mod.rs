//! `parvum compare -- PROGRAM`: the user's own program under every system that can run it.

mod advice;
mod blocks;
mod kind;
mod page;
mod peer;
mod profile;
mod table;
mod ways;

use crate::error::LabError;
use crate::host::factors::Factors;
use crate::run::comparison::{Report, Scratch, fresh_seed, own_files, until_interrupted};
use crate::run::options::CompareOptions;
use crate::run::record::{FORMAT, array, dated};
use blocks::Measured;
use parvum_seed::Random;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Seconds for all runs, unless the user says otherwise.
const BUDGET: u64 = 120;

/// What to run, as the user has typed it.
#[derive(Debug, Clone)]
struct Asked {
    /// The program and its arguments.
    words: Vec<OsString>,
    /// Numbers of processes, in ascending order.
    processes: Vec<u32>,
    /// A build of the same program for Open MPI.
    open_mpi: Option<PathBuf>,
    /// A shell command that gets the output and says whether the output is right.
    check: Option<String>,
    /// A file for standard input.
    input: Option<PathBuf>,
    /// One run may take so long.
    patience: Duration,
    /// All runs may take so long.
    budget: Duration,
    /// Files that describe further systems.
    peers: Vec<PathBuf>,
    /// Runs stop when the interval of each ratio is narrower, in percent.
    precision: f64,
}

impl Asked {
    fn of(options: &CompareOptions) -> Result<Asked, LabError> {
        let mut processes = options.processes.clone();
        processes.sort_unstable();
        processes.dedup();
        if processes.is_empty() {
            let cores = crate::host::cores::allowed().len() as u32;
            processes =
                std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n <= cores.max(2)).collect();
        }
        for file in options.openmpi.iter().chain(&options.input) {
            if !file.is_file() {
                return Err(LabError::Program(format!("{} is no file", file.display())));
            }
        }
        Ok(Asked {
            words: options.program.clone(),
            processes,
            open_mpi: options.openmpi.clone(),
            check: options.check.clone(),
            input: options.input.clone(),
            patience: Duration::from_secs(options.patience),
            budget: Duration::from_secs(options.budget.unwrap_or(BUDGET)),
            precision: options.precision,
            peers: options.peer.clone(),
        })
    }
}

/// Runs the program under each system, and writes the page. Ctrl-C ends the run that is under way, and all daemons.
pub fn compare(options: &CompareOptions) -> Result<Report, LabError> {
    until_interrupted(|interrupted| compare_until(options, interrupted))
}

fn compare_until(options: &CompareOptions, interrupted: &AtomicBool) -> Result<Report, LabError> {
    let asked = Asked::of(options)?;
    let kind = kind::of(&asked.words[0])?;
    let (factors, own) = (Factors::record(), own_files(options));
    let scratch = Scratch::create()?;
    let (mut ways, absent) = ways::find(&kind, &asked, &own, scratch.path())?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let measured = blocks::run(&asked, &mut ways, scratch.path(), &mut Random::new(seed), interrupted);
    let profiles = profile::of_each(&asked, &ways, &measured, &own, scratch.path(), interrupted);
    // Relaxed: a signal's handler sets it, and hands over nothing.
    if interrupted.load(Ordering::Relaxed) {
        return Err(LabError::Interrupted);
    }
    let names: Vec<ways::Named> = ways.iter().map(ways::Way::named).collect();
    // Daemons end before their folder goes.
    drop(ways);
    if !measured.has_any() {
        return Err(LabError::NothingMeasured(measured.first_failure().unwrap_or_default()));
    }
    let judged = Judged { asked, kind, names, absent, measured, profiles, factors, seed };
    let folder = dated(&options.out, &judged.factors.date)?;
    let lines = table::summary(&judged);
    write_all(&folder, &judged, &lines).inspect_err(|_| {
        let _ = fs::remove_dir_all(&folder);
    })?;
    let table = if options.json { array(&lines) } else { table::text(&judged, &lines) };
    Ok(Report { folder, rows: Vec::new(), goals: Vec::new(), table })
}

/// The files of a comparison.
fn write_all(folder: &Path, judged: &Judged, lines: &[table::Line]) -> Result<(), LabError> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(LabError::file("write", path))
    };
    write("runs.jsonl", judged.measured.lines(&judged.names))?;
    write("summary.json", array(lines) + "\n")?;
    write("summary.csv", table::csv(lines))?;
    write("manifest.json", manifest(judged))?;
    write("report.html", page::page(judged, lines))
}

/// The command, the systems and the computer.
fn manifest(judged: &Judged) -> String {
    let shown = |words: Vec<OsString>| -> Vec<String> {
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    let manifest = serde_json::json!({
        "format": FORMAT,
        "command": shown(std::env::args_os().collect()),
        "program": shown(judged.asked.words.clone()),
        "library": format!("{:?}", judged.kind.library),
        "processes": judged.asked.processes,
        "systems": judged.names.iter().map(|name| name.name.as_str()).collect::<Vec<_>>(),
        "absent": judged.absent,
        "seed": judged.seed,
        "disturbed_blocks": judged.measured.disturbed,
        "factors": judged.factors,
    });
    format!("{manifest:#}\n")
}

/// Everything that the page and the table are made of.
struct Judged {
    asked: Asked,
    kind: kind::Kind,
    names: Vec<ways::Named>,
    absent: Vec<String>,
    measured: Measured,
    /// One for each system, of the largest number of processes; nothing if the profiled run failed.
    profiles: Vec<Option<profile::Profile>>,
    factors: Factors,
    seed: u64,
}
