//! Finished runs below a folder.

use super::commits::{self, Commits};
use crate::against::finished::{self, Manifest};
use crate::error::LabError;
use crate::stats::summary::Row;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs of all papers lie two folders deep; nothing lies deeper.
const DEPTH: usize = 3;

/// A finished run.
#[derive(Debug)]
pub struct Run {
    /// Its folder.
    pub folder: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its figures.
    pub rows: Vec<Row>,
    /// The commit that it measured, as far as the run tells.
    pub commit: Option<String>,
}

/// The runs below a folder, and folders with a run that cannot be read.
#[derive(Debug, Default)]
pub struct Store {
    /// By commit, then by date.
    pub runs: Vec<Run>,
    /// The folder, and why.
    pub skipped: Vec<(PathBuf, String)>,
}

/// Reads all finished runs below a folder; of one suite, if it is named.
pub fn read(folder: &Path, suite: Option<&str>, known: &Commits) -> Result<Store, LabError> {
    if !folder.is_dir() {
        return Err(LabError::NoHistory { folder: folder.to_owned(), why: "there is no such folder".into() });
    }
    let (mut store, mut seen) = (Store::default(), HashSet::new());
    walk(folder, DEPTH, &mut |folder| {
        // A run that was published lies in two folders.
        let manifest = fs::read(folder.join("manifest.json")).unwrap_or_default();
        if !seen.insert(manifest) {
            return;
        }
        match run(folder) {
            Ok(run) if suite.is_none_or(|suite| run.manifest.suite == suite) => store.runs.push(run),
            Ok(_) => {}
            Err(why) => store.skipped.push((folder.to_owned(), why.to_string())),
        }
    })?;
    if store.runs.is_empty() {
        let of = suite.map_or_else(String::new, |suite| format!(" of the suite {suite}"));
        let why = match &store.skipped[..] {
            [] => format!("no folder below has a finished run{of}"),
            [(_, why), ..] => format!("no folder below has a finished run{of} that can be read; note: {why}"),
        };
        return Err(LabError::NoHistory { folder: folder.to_owned(), why });
    }
    store.runs.sort_by_cached_key(|run| {
        let date = run.manifest.factor("date");
        match run.commit.as_deref().and_then(|commit| known.find(commit)) {
            Some(known) => (known.date.clone(), known.place, date),
            None => (date.clone(), 0, date),
        }
    });
    Ok(store)
}

/// Visits every folder with a manifest.
fn walk(folder: &Path, depth: usize, visit: &mut impl FnMut(&Path)) -> Result<(), LabError> {
    if folder.join("manifest.json").is_file() {
        visit(folder);
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(LabError::file("read", folder))?.flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort_unstable();
    folders.iter().try_for_each(|folder| walk(folder, depth - 1, visit))
}

fn run(folder: &Path) -> Result<Run, LabError> {
    let manifest = finished::manifest(folder)?;
    let file = folder.join("summary.json");
    let text = fs::read(&file).map_err(LabError::file("read", &file))?;
    let rows = serde_json::from_slice(&text).map_err(|why| LabError::NoRun {
        folder: folder.to_owned(),
        why: format!("its summary.json is damaged: {why}"),
    })?;
    let commit = manifest.commit.clone().or_else(|| {
        // Runs of before have no commit; releases name theirs in the version.
        let versions = manifest.systems.iter().map(|system| system.version.as_str());
        versions
            .filter(|version| version.starts_with("parvum "))
            .find_map(commits::of_version)
            .map(str::to_owned)
    });
    Ok(Run { folder: folder.to_owned(), manifest, rows, commit })
}
