//! `parvum compare -- PROGRAM`: the user's own program under every system that can run it.

mod advice;
mod blocks;
mod kind;
mod page;
mod profile;
mod table;
mod ways;

use crate::error::LabError;
use crate::host::factors::Factors;
use crate::run::comparison::{Report, fresh_seed, own_files, scratch};
use crate::run::options::CompareOptions;
use crate::run::record::{array, dated};
use blocks::Measured;
use parvum_seed::Random;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
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
        })
    }
}

/// Runs the program under each system, and writes the page.
pub fn compare(options: &CompareOptions) -> Result<Report, LabError> {
    let asked = Asked::of(options)?;
    let kind = kind::of(&asked.words[0])?;
    let factors = Factors::record();
    let scratch = scratch()?;
    let (mut ways, absent) = ways::find(&kind, &asked, &own_files(options), scratch.path())?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let folder = dated(&options.out, &factors.date)?;
    let measured = blocks::run(&asked, &mut ways, scratch.path(), &mut Random::new(seed));
    let profiles = profile::of_each(&asked, &ways, &measured, &own_files(options), scratch.path());
    // Daemons end before their folder goes.
    let names: Vec<ways::Named> = ways.iter().map(ways::Way::named).collect();
    drop(ways);
    if !measured.has_any() {
        let why = measured.first_failure().unwrap_or_default();
        let _ = fs::remove_dir_all(&folder);
        return Err(LabError::NothingMeasured(why));
    }
    let judged = Judged { asked, kind, names, absent, measured, profiles, factors, seed };
    write(&folder, "runs.jsonl", judged.measured.lines(&judged.names))?;
    write(&folder, "summary.json", array(&table::summary(&judged)) + "\n")?;
    write(&folder, "report.html", page::page(&judged))?;
    let mut text = table::text(&judged);
    if options.json {
        text = array(&table::summary(&judged));
    }
    Ok(Report { folder, rows: Vec::new(), goals: Vec::new(), table: text })
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

fn write(folder: &std::path::Path, name: &str, text: String) -> Result<(), LabError> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(LabError::file("write", path))
}
