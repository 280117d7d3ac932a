//! A history of figures: all finished runs below a folder as one series for each figure, and where a figure changed.

pub mod bisect;
pub mod change;
pub mod commits;
pub mod figures;
mod page;
pub mod past;
pub mod store;
mod words;

use crate::error::LabError;
use crate::suites;
use commits::Commits;
use figures::Group;
use std::fs;
use std::path::{Path, PathBuf};

/// The value of `--suite` beside `--history` and `--bisect`, unless the user names a suite.
pub const ALL: &str = "all";

/// All runs below a folder.
#[derive(Debug)]
pub struct History {
    /// The folder.
    pub folder: PathBuf,
    /// Runs that can be compared with each other.
    pub groups: Vec<Group>,
    /// Folders that hold a run which cannot be read, and why.
    pub skipped: Vec<(PathBuf, String)>,
}

impl History {
    /// Reads the runs of a suite, or of all. The repository tells the order and the subjects of commits.
    pub fn read(folder: &Path, suite: &str, repository: Option<&Path>) -> Result<History, LabError> {
        let suite = if suite == ALL { None } else { Some(suites::find(suite)?.name) };
        let known = repository.map(Commits::of).unwrap_or_default();
        let store = store::read(folder, suite, &known)?;
        let groups = figures::groups(store.runs, &known);
        Ok(History { folder: folder.to_owned(), groups, skipped: store.skipped })
    }

    /// Writes the page into the folder, and returns its name.
    pub fn write(&self) -> Result<PathBuf, LabError> {
        let file = self.folder.join("history.html");
        fs::write(&file, self.page()).map_err(LabError::file("write", &file))?;
        Ok(file)
    }
}

#[cfg(test)]
pub(crate) mod tests;
