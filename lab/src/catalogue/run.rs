//! Runs tables and figures again: those of one suite in one session.

use super::{Exhibit, Kind, Paper, Rerun, find, results};
use crate::error::LabError;
use crate::run::comparison::{self, Report};
use crate::run::options::CompareOptions;
use crate::stats::summary::Row;
use std::path::PathBuf;

/// What running exhibits again leaves behind.
#[derive(Debug)]
pub struct Again {
    /// What a terminal shows: of each exhibit the paper's values, today's, and what still holds.
    pub text: String,
    /// A folder with report and raw samples for each suite that took part.
    pub folders: Vec<PathBuf>,
}

/// Runs what the options ask for.
pub fn again(options: &CompareOptions, paper: &str) -> Result<Again, LabError> {
    let figures = options.figure.iter().map(|number| (Kind::Figure, *number));
    let some: Vec<(Kind, u32)> =
        options.table.iter().map(|number| (Kind::Table, *number)).chain(figures).collect();
    let (paper, exhibits) = find(paper, &some)?;
    let reruns: Vec<&Rerun> = exhibits.iter().filter_map(|one| one.again.as_ref()).collect();
    if !reruns.is_empty() && !reruns.iter().any(|one| one.is_of(options.extent())) {
        let names = exhibits.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
        return Err(LabError::OnlyFull { paper: paper.number.clone(), name: names });
    }
    let over_hosts = !options.host.is_empty();
    if let Some(one) = reruns.first().filter(|_| over_hosts)
        && !reruns.iter().any(|one| one.is_of_hosts(options.extent()))
    {
        return Err(LabError::OneHost { suite: one.suite.clone() });
    }
    let mut sessions: Vec<(&str, Report)> = Vec::new();
    for suite in reruns.iter().map(|one| one.suite.as_str()) {
        let parts: Vec<&Rerun> = reruns.iter().copied().filter(|one| one.suite == suite).collect();
        let is_done = sessions.iter().any(|(done, _)| *done == suite);
        let is_of = if over_hosts { Rerun::is_of_hosts } else { Rerun::is_of };
        if is_done || !parts.iter().any(|one| is_of(one, options.extent())) {
            continue;
        }
        let options = CompareOptions { suite: suite.to_owned(), ..options.clone() };
        sessions.push((suite, comparison::compare_parts(&options, &parts)?));
    }
    let text = exhibits.iter().map(|one| match &one.again {
        Some(again) if over_hosts && !again.is_of_hosts(options.extent()) => {
            format!("Paper {}, {}: runs on one host alone\n\n", paper.number, one.name())
        }
        _ => shown(paper, one, &sessions, over_hosts),
    });
    let text = text.collect();
    Ok(Again { text, folders: sessions.into_iter().map(|(_, report)| report.folder).collect() })
}

fn shown(paper: &Paper, exhibit: &Exhibit, sessions: &[(&str, Report)], over_hosts: bool) -> String {
    let of =
        |suite: &str| sessions.iter().find(|(known, _)| *known == suite).map(|(_, report)| &report.rows[..]);
    let rows: &[Row] = exhibit.again.as_ref().and_then(|again| of(&again.suite)).unwrap_or(&[]);
    results(paper, exhibit, rows, over_hosts)
}
