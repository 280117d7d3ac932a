//! Every table and figure of the five papers that can be run again, in one run: suite after suite, each suite's jobs once. What it
//! has measured lies in its folder at any moment, so that a run that was interrupted goes on where it stopped.

pub mod findings;
pub mod page;
pub mod printed;
pub mod settings;

use crate::catalogue::{PAPERS, Rerun};
use crate::error::LabError;
use crate::run::comparison::{self, Within, until_interrupted};
use crate::run::interrupted;
use crate::run::options::CompareOptions;
use crate::run::progress::Whole;
use crate::run::record;
use crate::stats::summary::Row;
use crate::suites;
use crate::systems::system::Extent;
use settings::Settings;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The seconds of each suite's launches in the quick and in the full run. What one leaves, those after it get.
const SHARES: [(&str, [u64; 2]); 9] = [
    ("main", [160, 1200]),
    ("speed", [130, 600]),
    ("buffering", [60, 900]),
    ("overhead", [90, 900]),
    ("shared", [80, 1200]),
    ("pvmtime", [150, 2700]),
    ("sockets", [40, 300]),
    ("exchange", [60, 900]),
    ("npb", [310, 3000]),
];

/// What the run leaves behind.
#[derive(Debug)]
pub struct Papers {
    /// Its folder, with one of each suite in it.
    pub folder: PathBuf,
    /// What a terminal shows: a line for each table and figure.
    pub text: String,
}

/// What came of one suite.
#[derive(Debug)]
pub struct Outcome {
    /// Its name, and that of its folder.
    pub suite: &'static str,
    /// What it measured, or why there is nothing.
    pub rows: Result<Vec<Row>, String>,
    /// What it could not compare and why, and what found no time.
    pub notes: Vec<String>,
}

impl Outcome {
    fn pending(suite: &'static str) -> Outcome {
        Outcome { suite, rows: Err(PENDING.to_owned()), notes: Vec::new() }
    }
}

/// Runs it, or goes on with it.
pub fn run(options: &CompareOptions) -> Result<Papers, LabError> {
    until_interrupted(|interrupted| run_until(options, interrupted))
}

fn run_until(options: &CompareOptions, interrupted: &AtomicBool) -> Result<Papers, LabError> {
    let (folder, settings) = begin(options)?;
    // Two that write into one folder would lose each other's launches.
    let file = folder.join(settings::FILE);
    let held = File::open(&file).map_err(LabError::file("open", &file))?;
    if held.try_lock().is_err() {
        return Err(LabError::GoesOnAlready { folder });
    }
    let extent = if settings.extent == "full" { Extent::Full } else { Extent::Quick };
    let planned = planned(extent, &settings.systems);
    let mut outcomes: Vec<Outcome> = planned.iter().map(|plan| Outcome::pending(plan.suite)).collect();
    for (at, plan) in planned.iter().enumerate() {
        let own = folder.join(plan.suite);
        if let Some(rows) = finished(&own)? {
            outcomes[at].rows = Ok(rows);
            outcomes[at].notes = notes(&own)?;
            continue;
        }
        let spent = spent(&folder, &planned)?;
        let seconds = dealt(&planned, at, settings.budget_s.saturating_sub(spent));
        let options = CompareOptions {
            suite: plan.suite.to_owned(),
            full: extent == Extent::Full,
            systems: plan.systems.clone(),
            seed: Some(settings.seed),
            budget: Some(seconds),
            ..options.clone()
        };
        let name = format!("{} ({} of {})", plan.suite, at + 1, planned.len());
        eprintln!("Suite {name}");
        let after = settings.budget_s.saturating_sub(spent + seconds);
        let whole = Whole {
            name,
            before: Duration::from_secs(spent),
            after: Duration::from_secs(after),
            is_quiet: false,
        };
        let within = Within { parts: &plan.parts, folder: Some(&own), whole };
        outcomes[at].rows = match comparison::session(&options, &within, Instant::now(), interrupted) {
            Ok(report) => Ok(report.rows),
            Err(why @ (LabError::NothingToCompare | LabError::NothingMeasured(_))) => Err(why.to_string()),
            Err(LabError::Interrupted) => return Err(LabError::CanGoOn { folder }),
            Err(other) => return Err(other),
        };
        if outcomes[at].rows.is_ok() {
            outcomes[at].notes = notes(&own)?;
        }
        page::write(&folder, &settings, &outcomes)?;
    }
    if outcomes.iter().all(|outcome| outcome.rows.is_err()) {
        return Err(LabError::NothingToCompare);
    }
    page::write(&folder, &settings, &outcomes)?;
    Ok(Papers { text: page::text(&outcomes), folder })
}

/// Of a suite whose turn has not come.
const PENDING: &str = "not run yet";

/// The folder to go on with, or a new one; and what it was begun with.
fn begin(options: &CompareOptions) -> Result<(PathBuf, Settings), LabError> {
    let own = comparison::own_files(options);
    if let Some(folder) = &options.resume {
        let settings = Settings::read(folder)?;
        settings.holds(options, &own, folder)?;
        return Ok((folder.clone(), settings));
    }
    known(&options.systems)?;
    let of_all: u64 = SHARES.iter().map(|(_, seconds)| seconds[usize::from(options.full)]).sum();
    let seed = options.seed.unwrap_or_else(comparison::fresh_seed);
    let settings = Settings::new(options, seed, options.budget.unwrap_or(of_all), &own);
    let folder = record::dated(&options.out, &format!("papers {}", settings.begun))?;
    settings.write(&folder)?;
    Ok((folder, settings))
}

/// A suite's part in the run.
struct Plan {
    suite: &'static str,
    share: u64,
    /// Those of the systems asked for that it knows.
    systems: String,
    parts: Vec<&'static Rerun>,
}

/// The suites that run something of the papers again, for these systems.
fn planned(extent: Extent, systems: &str) -> Vec<Plan> {
    let reruns =
        || PAPERS.iter().flat_map(|paper| &paper.exhibits).filter_map(|exhibit| exhibit.again.as_ref());
    let plan = |(suite, shares): (&'static str, [u64; 2])| {
        let own = suites::find(suite).ok()?;
        let names: Vec<&str> = words(systems).filter(|name| own.select(name).is_ok()).collect();
        let parts: Vec<&Rerun> =
            reruns().filter(|again| again.suite == suite && again.is_of(extent)).collect();
        if names.is_empty() && words(systems).next().is_some() {
            return None;
        }
        let systems = names.join(",");
        let chosen = own.select(&systems).ok()?;
        // A system that a suite knows need have no part in what the papers want of it.
        let takes_part = (own.jobs)(extent).iter().any(|job| {
            job.system.is_some_and(|system| chosen(&system)) && parts.iter().any(|part| part.wants(job))
        });
        let share = shares[usize::from(extent == Extent::Full)];
        takes_part.then_some(Plan { suite, share, systems, parts })
    };
    SHARES.into_iter().filter_map(plan).collect()
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Refuses a system that no suite of the papers knows.
fn known(systems: &str) -> Result<(), LabError> {
    for name in words(systems) {
        let suites = || SHARES.into_iter().filter_map(|(suite, _)| suites::find(suite).ok());
        if suites().all(|suite| suite.select(name).is_err()) {
            let mut known: Vec<&str> =
                suites().flat_map(|suite| suite.families).map(|family| family.ending()).collect();
            known.sort_unstable();
            known.dedup();
            return Err(LabError::UnknownSystem { name: name.to_owned(), known: known.join(", ") });
        }
    }
    Ok(())
}

/// What a suite may take of the seconds that are left, by its share among those whose turn has not been.
fn dealt(planned: &[Plan], at: usize, left: u64) -> u64 {
    let to_come: u64 = planned[at..].iter().map(|plan| plan.share).sum();
    (left * planned[at].share / to_come.max(1)).max(1)
}

/// The rows of a suite that was measured to its end.
fn finished(folder: &Path) -> Result<Option<Vec<Row>>, LabError> {
    if !folder.join("manifest.json").is_file() {
        return Ok(None);
    }
    read(&folder.join("summary.json")).map(Some)
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, LabError> {
    let text = std::fs::read_to_string(file).map_err(LabError::file("read", file))?;
    serde_json::from_str(&text).map_err(|why| LabError::Samples {
        path: file.to_owned(),
        line: why.line(),
        why: why.to_string(),
    })
}

/// What a suite's manifest says is missing.
fn notes(folder: &Path) -> Result<Vec<String>, LabError> {
    /// Of a manifest, what is asked of it here.
    #[derive(serde::Deserialize)]
    struct Missing {
        absent: Vec<Absent>,
        left_out: Vec<String>,
    }
    #[derive(serde::Deserialize)]
    struct Absent {
        name: String,
        remedy: String,
    }
    let Missing { absent, left_out } = read(&folder.join("manifest.json"))?;
    let mut notes: Vec<String> =
        absent.into_iter().map(|one| format!("not compared: {}: {}", one.name, one.remedy)).collect();
    if !left_out.is_empty() {
        notes.push(format!("planned, but the time was over: {}", left_out.join("; ")));
    }
    Ok(notes)
}

/// Seconds that all launches took so far.
fn spent(folder: &Path, planned: &[Plan]) -> Result<u64, LabError> {
    /// Of a manifest, what is asked of it here.
    #[derive(serde::Deserialize)]
    struct Launches {
        launches: Vec<record::LaunchRecord>,
    }
    let mut seconds = 0.0;
    for plan in planned {
        let (own, manifest) = (folder.join(plan.suite), folder.join(plan.suite).join("manifest.json"));
        seconds += if manifest.is_file() {
            read::<Launches>(&manifest)?.launches.iter().map(|launch| launch.elapsed_s).sum()
        } else {
            interrupted::read(&own)?.spent()
        };
    }
    Ok(seconds as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn plan_includes_every_repeatable_exhibit() {
        for extent in [Extent::Quick, Extent::Full] {
            let planned = planned(extent, "");
            for exhibit in PAPERS.iter().flat_map(|paper| &paper.exhibits) {
                let Some(again) = exhibit.again.as_ref().filter(|again| again.is_of(extent)) else {
                    continue;
                };
                let plan = planned.iter().find(|plan| plan.suite == again.suite).expect("its suite is run");
                assert!(plan.parts.iter().any(|part| std::ptr::eq(*part, again)), "{}", exhibit.name());
            }
            let names: HashSet<&str> = planned.iter().map(|plan| plan.suite).collect();
            assert_eq!(names.len(), planned.len(), "each suite once");
        }
    }

    #[test]
    fn quick_shares_sum_to_18_minutes() {
        let quick: u64 = SHARES.iter().map(|(_, seconds)| seconds[0]).sum();
        assert_eq!(quick, 18 * 60);
    }

    #[test]
    fn unused_time_of_suite_goes_to_others() {
        let planned = planned(Extent::Quick, "");
        let (mut left, mut total) = (1080, 0);
        for at in 0..planned.len() {
            let seconds = dealt(&planned, at, left);
            assert_eq!(seconds, planned[at].share, "{}", planned[at].suite);
            left -= seconds;
            total += seconds;
        }
        assert_eq!((left, total), (0, 1080));
        assert!(dealt(&planned, 1, 1080) > planned[1].share);
        assert_eq!(dealt(&planned, 7, 0), 1, "a suite whose time is over says so itself");
    }

    #[test]
    fn systems_select_suites_and_unknown_ones_are_refused() {
        let names = |list| planned(Extent::Quick, list).iter().map(|plan| plan.suite).collect::<Vec<_>>();
        assert_eq!(names("sockets"), ["sockets"]);
        let both = planned(Extent::Quick, "sockets, tmk");
        assert_eq!(both.iter().map(|plan| plan.systems.as_str()).collect::<Vec<_>>(), ["tmk", "sockets"]);
        assert_eq!(names("").len(), SHARES.len());
        // The suite speed knows it, and has it measured in nothing that the papers ask for.
        assert!(!names("ucx").contains(&"speed"), "{:?}", names("ucx"));
        let why = known("sockets,lam").expect_err("refused").to_string();
        assert!(why.contains("\"lam\"") && why.contains("openmpi"), "{why}");
    }

    /// How a run that goes on tells jobs apart.
    #[test]
    fn job_names_are_unique_within_suite() {
        for suite in suites::ALL {
            for extent in [Extent::Quick, Extent::Full] {
                let mut seen = HashSet::new();
                for job in (suite.jobs)(extent) {
                    let system = job.system.map(|system| system.id());
                    let key = (job.name(), system, job.measure.program, job.measure.tasks);
                    assert!(seen.insert(key), "{}: {}", suite.name, job.name());
                }
            }
        }
    }
}
