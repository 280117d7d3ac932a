//! A finished run, read from its folder.

use crate::error::LabError;
use crate::papers::settings;
use crate::run::disturbed;
use crate::run::interrupted;
use crate::run::record::{self, LaunchRecord};
use crate::stats::summary::{Recorded, Row, summarise};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was run, on what, and what came of it.
#[derive(Debug)]
pub struct Finished {
    /// Its folder.
    pub folder: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Every row, with its launches.
    pub rows: Vec<Row>,
}

/// Of a manifest, what is asked of it here.
#[derive(Debug, Clone, Deserialize)]
pub struct Manifest {
    /// The suite.
    pub suite: String,
    /// quick or full.
    pub extent: String,
    /// Systems and their versions.
    pub systems: Vec<System>,
    /// Hosts, where it was over several.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The commit that was measured, if it is known.
    #[serde(default)]
    pub commit: Option<String>,
    /// The machine, whatever was recorded of it.
    pub factors: BTreeMap<String, serde_json::Value>,
    /// Every launch, in the order run.
    #[serde(default)]
    pub launches: Vec<LaunchRecord>,
}

/// An installed system.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct System {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Manifest {
    /// One factor in words; empty where it was not recorded.
    pub fn factor(&self, name: &str) -> String {
        match self.factors.get(name) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }
}

/// Reads the manifest alone, which says whether there is a run at all and of what.
pub fn manifest(folder: &Path) -> Result<Manifest, LabError> {
    /// Enough to tell whether the rest can be read.
    #[derive(Deserialize)]
    struct Format {
        format: Option<u32>,
    }
    let refused = |why: String| LabError::NoRun { folder: folder.to_owned(), why };
    if !folder.is_dir() {
        return Err(refused("there is no such folder".into()));
    }
    let file = folder.join("manifest.json");
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            let why = if folder.join(settings::FILE).exists() {
                "it is one of all papers, with a folder for each suite: name one of these"
            } else if folder.join(interrupted::LAUNCHES).exists() {
                "one was begun and has not come to its end"
            } else {
                "there is no manifest.json in it"
            };
            return Err(refused(why.into()));
        }
        Err(cause) => return Err(LabError::file("read", file)(cause)),
    };
    let damaged = |why: serde_json::Error| refused(format!("its manifest.json is damaged: {why}"));
    let format = serde_json::from_str::<Format>(&text).map_err(damaged)?.format;
    if format != Some(record::FORMAT) {
        let theirs = format.map_or_else(|| "none".to_owned(), |format| format.to_string());
        return Err(LabError::OtherFormat { folder: folder.to_owned(), theirs, ours: record::FORMAT });
    }
    serde_json::from_str(&text).map_err(damaged)
}

/// Reads all of it.
pub fn read(folder: &Path) -> Result<Finished, LabError> {
    let manifest = manifest(folder)?;
    let raw = folder.join(interrupted::RAW);
    let text = std::fs::read(&raw).map_err(LabError::file("read", &raw))?;
    let mut lines: Vec<Recorded> = interrupted::lines_of(&raw)?;
    // A finished run has no line that was under way.
    if text.last().is_some_and(|last| *last != b'\n') {
        let why = "the line has no end".to_owned();
        return Err(LabError::Samples { path: raw, line: lines.len() + 1, why });
    }
    let counts =
        |line: &Recorded| manifest.launches.get(line.launch).is_none_or(|launch| launch.failure.is_none());
    lines.retain(counts);
    disturbed::settle(&mut lines, &manifest.launches);
    Ok(Finished { folder: folder.to_owned(), manifest, rows: summarise(&lines) })
}
