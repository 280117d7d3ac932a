//! The dated folder of one session: manifest, raw lines, summary.

use crate::artifacts::csv::csv;
use crate::error::LabError;
use crate::host::factors::Factors;
use crate::host::state::State;
use crate::run::disturbed;
use crate::run::interrupted::{self, PartialRun};
use crate::stats::summary::{Recorded, Row};
use crate::systems::peers::Absent;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Of the files of a folder; counted up when those of before cannot be read any more.
pub const FORMAT: u32 = 1;

/// What was compared, how and on what; enough to run it again.
#[derive(Debug, Clone, Serialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// The command line.
    pub command: String,
    /// The suite.
    pub suite: String,
    /// quick or full.
    pub extent: &'static str,
    /// Decides the order of launches.
    pub seed: u64,
    /// Seconds dealt out over launches.
    pub budget_s: u64,
    /// Seconds the whole session took.
    pub elapsed_s: f64,
    /// Systems, as they report themselves.
    pub systems: Vec<Installed>,
    /// Systems that are not installed.
    pub absent: Vec<Absent>,
    /// The hosts, where it was over several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The commit of Parvum that was measured, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The machine.
    pub factors: Factors,
    /// Load average at the end.
    pub load_after: String,
    /// Every launch, in the order run.
    pub launches: Vec<LaunchRecord>,
    /// What was planned and found no time.
    pub left_out: Vec<String>,
}

impl Manifest {
    /// What a verdict is worth where the time was over before everything was measured: the best peer of those that
    /// were measured need not be the best.
    pub fn cut_short(&self) -> Option<String> {
        let names = self.left_out.join("; ");
        (!self.left_out.is_empty()).then(|| {
            format!(
                "The time was over before everything was measured. A goal against the best peer is one against those that \
                 were measured here. Without a value: {names}."
            )
        })
    }
}

/// An installed system.
#[derive(Debug, Clone, Serialize)]
pub struct Installed {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: String,
}

/// One launch as it went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Its number; raw lines refer to it.
    pub launch: usize,
    /// What it measured.
    pub job: String,
    /// The program of its rows.
    pub program: String,
    /// Of which system, as `--systems` takes it; empty for the floors.
    pub system: String,
    /// Tasks.
    pub tasks: u32,
    /// The command.
    pub command: String,
    /// Seconds from start to end.
    pub elapsed_s: f64,
    /// Load average just before it.
    pub load: String,
    /// The number of its block. The launches of a block ran one right after the other.
    #[serde(default)]
    pub block: usize,
    /// The machine just before it.
    #[serde(default)]
    pub before: State,
    /// The machine just after it.
    #[serde(default)]
    pub after: State,
    /// The share of the cores' time that the host gave to others while it ran.
    #[serde(default)]
    pub stolen: f64,
    /// Why it does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl LaunchRecord {
    /// Nanoseconds of a cache line from core to core, before and after it: the larger of the two.
    pub fn line_ns(&self) -> Option<f64> {
        self.before.line_ns.into_iter().chain(self.after.line_ns).reduce(f64::max)
    }

    /// Whether a launch failed by itself: it was not merely repeated because the machine was disturbed.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some() && !disturbed::is_repeated(self)
    }

    /// The measurement and its system.
    pub fn job_and_system(&self) -> (&str, &str, u32, &str) {
        (&self.job, &self.program, self.tasks, &self.system)
    }
}

/// Makes `OUT/DATE-TIME`; a second one in the same second gets a number.
pub fn dated(out: &Path, date: &str) -> Result<PathBuf, LabError> {
    let name = date.replace(' ', "-").replace(':', "");
    fs::create_dir_all(out).map_err(LabError::file("create", out))?;
    let mut path = out.join(&name);
    let mut number = 2;
    while let Err(cause) = fs::create_dir(&path) {
        if cause.kind() != std::io::ErrorKind::AlreadyExists {
            return Err(LabError::File { action: "create", path, source: cause });
        }
        path = out.join(format!("{name}-{number}"));
        number += 1;
    }
    Ok(path)
}

/// A session's folder, being filled. What a launch measured is in its files before the next begins: who interrupts it loses nothing.
#[derive(Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    raw: File,
    launches: File,
}

impl Folder {
    /// Makes one, with the date and time as its name.
    pub fn create(out: &Path, date: &str) -> Result<Folder, LabError> {
        Ok(Folder::go_on(&dated(out, date)?)?.0)
    }

    /// Goes on with the folder of a session that was interrupted, or begins it; with what it holds of whole launches.
    pub fn go_on(path: &Path) -> Result<(Folder, PartialRun), LabError> {
        fs::create_dir_all(path).map_err(LabError::file("create", path))?;
        let kept = interrupted::read(path)?;
        let raw = written(&path.join(interrupted::RAW), &kept.lines)?;
        let launches = written(&path.join(interrupted::LAUNCHES), &kept.launches)?;
        Ok((Folder { path: path.to_owned(), raw, launches }, kept))
    }

    /// Keeps a launch for ever: its lines first, for a launch without all of its lines is none.
    pub fn keep(&mut self, launch: &LaunchRecord, lines: &[Recorded]) -> Result<(), LabError> {
        let raw = self.raw.write_all(text(lines).as_bytes());
        raw.map_err(LabError::file("write", self.path.join(interrupted::RAW)))?;
        let launches = self.launches.write_all(text(std::slice::from_ref(launch)).as_bytes());
        launches.map_err(LabError::file("write", self.path.join(interrupted::LAUNCHES)))
    }

    /// Removes what an interrupted session began.
    pub fn discard(self) {
        let _ = fs::remove_dir_all(&self.path);
    }

    /// Writes what is known at the end.
    pub fn finish(self, manifest: &Manifest, rows: &[Row], report: &str) -> Result<PathBuf, LabError> {
        let write = |name: &str, text: String| {
            let path = self.path.join(name);
            fs::write(&path, text).map_err(LabError::file("write", path))
        };
        write("summary.json", array(rows) + "\n")?;
        write("summary.csv", table(rows))?;
        write("report.html", report.to_owned())?;
        // Last, for a folder that has it is done; and it has all launches.
        write("manifest.json", json(manifest))?;
        let _ = fs::remove_file(self.path.join(interrupted::LAUNCHES));
        Ok(self.path)
    }
}

/// The rows for a spreadsheet.
fn table(rows: &[Row]) -> String {
    const NAMES: [&str; 14] = [
        "program", "system", "route", "encoding", "tasks", "size", "metric", "unit", "task", "median", "low",
        "high", "samples", "launches",
    ];
    let cells = |row: &Row| {
        let launches: Vec<String> = row.launches.iter().map(f64::to_string).collect();
        vec![
            row.program.clone(),
            row.system.clone(),
            row.route.clone(),
            row.encoding.clone(),
            row.tasks.to_string(),
            row.size.to_string(),
            row.metric.clone(),
            row.unit.clone(),
            row.task.map(|task| task.to_string()).unwrap_or_default(),
            row.median.to_string(),
            row.low.to_string(),
            row.high.to_string(),
            row.samples.to_string(),
            launches.join(" "),
        ]
    };
    csv(&NAMES, rows.iter().map(cells))
}

/// A file of these lines, open at its end. It takes the place of the one before when it is whole.
fn written<T: Serialize>(path: &Path, lines: &[T]) -> Result<File, LabError> {
    let new = path.with_extension("new");
    let mut file = File::create(&new).map_err(LabError::file("create", &new))?;
    file.write_all(text(lines).as_bytes()).map_err(LabError::file("write", &new))?;
    fs::rename(&new, path).map_err(LabError::file("write", path))?;
    Ok(file)
}

/// A line of JSON for each.
fn text<T: Serialize>(lines: &[T]) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap_or_default() + "\n").collect()
}

/// An array of JSON with an item a line, so that two runs can be told apart by the eye.
pub(crate) fn array<T: Serialize>(items: &[T]) -> String {
    let lines: Vec<String> =
        items.iter().map(|item| serde_json::to_string(item).unwrap_or_default()).collect();
    format!("[\n{}\n]", lines.join(",\n"))
}

/// Pretty JSON; our own types always serialise.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// A short stable name for a manifest, printed in every figure.
pub fn fingerprint(manifest: &Manifest) -> String {
    short_name(&json(manifest))
}

/// A short stable name for a text: FNV-1a over it.
pub fn short_name(text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    format!("{:010x}", hash >> 24)
}
