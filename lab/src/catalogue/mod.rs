//! The catalogue: every table and figure of the five papers behind Parvum, what each says, and what runs it again.
//!
//! The data are files in `lab/papers`: what a paper prints as numbers stands there as numbers; of what it only draws, the claims that
//! its text makes of the drawing. `docs/project/papers.md` is made from them.

mod claim;
mod curves;
mod measured;
mod run;
mod words;

pub use claim::{Claim, Claimed, Judged, Verdict, judge};
pub use curves::{Against, Curves, Law};
pub use measured::Measured;
pub use run::{Again, again};
pub use words::{bounds, list, markdown, results, today};

use crate::error::LabError;
use crate::run::experiment::Job;
use crate::suites;
use crate::systems::system::Extent;
use serde::Deserialize;
use std::sync::LazyLock;

/// The papers' files, in their order.
const FILES: [&str; 5] = [
    include_str!("../../papers/000.json"),
    include_str!("../../papers/001.json"),
    include_str!("../../papers/002.json"),
    include_str!("../../papers/003.json"),
    include_str!("../../papers/004.json"),
];

/// All papers. The files are part of this program, and a test reads them all.
pub static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
    FILES.iter().map(|file| serde_json::from_str(file).expect("a paper's file is well made")).collect()
});

/// One paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its number among the five, such as `001`.
    pub number: String,
    /// Who wrote it.
    pub authors: String,
    /// Its title.
    pub title: String,
    /// Where and when it appeared.
    pub published: String,
    /// Its tables and figures, in the order of the paper.
    pub exhibits: Vec<Exhibit>,
}

/// A table or a figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exhibit {
    /// Which of the two.
    pub kind: Kind,
    /// Its number.
    pub number: u32,
    /// What it shows, in our words.
    pub caption: String,
    /// What runs it again.
    #[serde(default)]
    pub again: Option<Rerun>,
    /// Why nothing does.
    #[serde(default, rename = "not")]
    pub why_not: Option<String>,
    /// What of it is drawn.
    #[serde(default)]
    pub curves: Option<Curves>,
    /// The numbers that it prints.
    #[serde(default)]
    pub printed: Option<Printed>,
    /// What the paper says of it.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

/// A table or a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A table.
    Table,
    /// A figure.
    Figure,
}

impl Kind {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::Figure => "figure",
        }
    }
}

/// The part of a suite that runs an exhibit again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rerun {
    /// The suite.
    pub suite: String,
    /// The programs of its rows.
    pub programs: Vec<String>,
    /// What the names of its jobs begin with, where they are not all that have such programs.
    #[serde(default)]
    pub jobs: String,
    /// Numbers of tasks; all when empty.
    #[serde(default)]
    pub tasks: Vec<u32>,
    /// Jobs that have one of these sizes; all when empty.
    #[serde(default)]
    pub sizes: Vec<u64>,
    /// In what it differs from the paper.
    #[serde(default)]
    pub differs: String,
}

impl Rerun {
    /// Whether a run of this extent has any of it.
    pub fn is_of(&self, extent: Extent) -> bool {
        suites::find(&self.suite).is_ok_and(|suite| (suite.jobs)(extent).iter().any(|job| self.wants(job)))
    }

    /// The same of a run over hosts that are named.
    pub fn is_of_hosts(&self, extent: Extent) -> bool {
        let over = suites::find(&self.suite).ok().and_then(|suite| suite.over_hosts);
        over.is_some_and(|suite| (suite.jobs)(extent).iter().any(|job| self.wants(job)))
    }

    /// Whether this job is part of it.
    pub fn wants(&self, job: &Job) -> bool {
        let measure = &job.measure;
        let among = |sizes: &[u64]| sizes.is_empty() || sizes.iter().any(|size| self.sizes.contains(size));
        self.programs.iter().any(|program| program == measure.program)
            && measure.name.starts_with(&self.jobs)
            && (self.tasks.is_empty() || self.tasks.contains(&measure.tasks))
            && (self.sizes.is_empty() || among(measure.sizes))
    }
}

/// Numbers as a paper prints them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// Headings, with units.
    pub columns: Vec<String>,
    /// A cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// What stands in one place of a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
    /// Nothing.
    Empty(()),
}

impl Exhibit {
    /// Such as `figure 7`.
    pub fn name(&self) -> String {
        format!("{} {}", self.kind.name(), self.number)
    }
}

/// What is asked for: a paper, or some exhibits of it.
pub fn find(paper: &str, some: &[(Kind, u32)]) -> Result<(&'static Paper, Vec<&'static Exhibit>), LabError> {
    let number = format!("{:0>3}", paper.trim());
    let Some(found) = PAPERS.iter().find(|paper| paper.number == number) else {
        let known = PAPERS.iter().map(|paper| format!("{} ({})", paper.number, paper.authors));
        return Err(LabError::UnknownPaper {
            name: paper.to_owned(),
            known: known.collect::<Vec<_>>().join("; "),
        });
    };
    let is_there =
        |wanted: &&(Kind, u32)| found.exhibits.iter().any(|one| (one.kind, one.number) == **wanted);
    if let Some((kind, number)) = some.iter().find(|wanted| !is_there(wanted)) {
        return Err(LabError::UnknownExhibit {
            paper: found.number.clone(),
            name: format!("{} {number}", kind.name()),
            known: found.contents(),
        });
    }
    let is_wanted = |one: &&Exhibit| some.is_empty() || some.contains(&(one.kind, one.number));
    Ok((found, found.exhibits.iter().filter(is_wanted).collect()))
}

/// The exhibits that a suite runs again, with their papers.
pub fn of_suite(suite: &str) -> Vec<(&'static Paper, &'static Exhibit)> {
    let all = PAPERS.iter().flat_map(|paper| paper.exhibits.iter().map(move |exhibit| (paper, exhibit)));
    all.filter(|(_, exhibit)| exhibit.again.as_ref().is_some_and(|again| again.suite == suite)).collect()
}

impl Paper {
    /// What it has: `tables 1 to 9 and figures 1 to 3`.
    fn contents(&self) -> String {
        let count = |kind| self.exhibits.iter().filter(|exhibit| exhibit.kind == kind).count();
        let some = |kind: Kind| match count(kind) {
            0 => format!("no {}s", kind.name()),
            1 => format!("{} 1", kind.name()),
            many => format!("{}s 1 to {many}", kind.name()),
        };
        format!("{} and {}", some(Kind::Table), some(Kind::Figure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn catalogue_lists_each_table_and_figure_once() {
        let found: Vec<(&str, String)> =
            PAPERS.iter().map(|paper| (paper.number.as_str(), paper.contents())).collect();
        let wanted = [
            ("000", "tables 1 to 9 and figures 1 to 3"),
            ("001", "no tables and figures 1 to 16"),
            ("002", "no tables and figures 1 to 12"),
            ("003", "table 1 and figures 1 to 7"),
            ("004", "tables 1 to 3 and figures 1 to 9"),
        ];
        assert_eq!(found, wanted.map(|(number, contents)| (number, contents.to_owned())));
        for paper in PAPERS.iter() {
            let names: HashSet<String> = paper.exhibits.iter().map(Exhibit::name).collect();
            assert_eq!(names.len(), paper.exhibits.len(), "{}", paper.number);
            for kind in [Kind::Table, Kind::Figure] {
                let numbers = paper.exhibits.iter().filter(|one| one.kind == kind).map(|one| one.number);
                assert!(numbers.zip(1..).all(|(number, place)| number == place), "{}", paper.number);
            }
        }
    }

    #[test]
    fn exhibit_is_repeated_or_explains_why_not() {
        for (paper, exhibit) in PAPERS.iter().flat_map(|p| p.exhibits.iter().map(move |e| (p, e))) {
            let name = format!("{}, {}", paper.number, exhibit.name());
            assert!(exhibit.again.is_some() != exhibit.why_not.is_some(), "{name}");
            let measured = exhibit.claims.iter().any(|claim| !claim.today.is_empty());
            assert!(exhibit.again.is_some() || !measured, "{name}: what is not run has no value of today");
            for row in exhibit.printed.iter().flat_map(|printed| &printed.rows) {
                assert_eq!(Some(row.len()), exhibit.printed.as_ref().map(|p| p.columns.len()), "{name}");
            }
            let Some(again) = &exhibit.again else { continue };
            let suite = suites::find(&again.suite).expect("a suite of ours");
            assert!(again.is_of(Extent::Full), "{name}: nothing to run");
            for program in &again.programs {
                let known = (suite.jobs)(Extent::Full).iter().any(|job| job.measure.program == program);
                assert!(known, "{name}: {} has no program {program}", again.suite);
            }
        }
    }

    #[test]
    fn value_of_claim_comes_from_planned_job() {
        for (paper, exhibit) in PAPERS.iter().flat_map(|p| p.exhibits.iter().map(move |e| (p, e))) {
            let Some(again) = &exhibit.again else { continue };
            let suite = suites::find(&again.suite).expect("a suite of ours");
            let jobs: Vec<Job> = [Extent::Quick, Extent::Full].into_iter().flat_map(suite.jobs).collect();
            let jobs: Vec<&Job> = jobs.iter().filter(|job| again.wants(job)).collect();
            for (claim, today) in exhibit.claims.iter().flat_map(|c| c.today.iter().map(move |t| (c, t))) {
                for asked in today.over.iter().chain(&today.under) {
                    let gives = jobs.iter().any(|job| asked.is_given_by(job));
                    assert!(gives, "{}, {}: {}: {asked:?}", paper.number, exhibit.name(), claim.says);
                }
            }
        }
    }

    #[test]
    fn unknown_paper_or_exhibit_is_refused_with_known_ones() {
        let why = |paper, some: &[(Kind, u32)]| find(paper, some).expect_err("refused").to_string();
        let refused = why("007", &[]);
        assert!(refused.contains("\"007\"") && refused.contains("003 (Saphir)"), "{refused}");
        let refused = why("001", &[(Kind::Figure, 7), (Kind::Figure, 17)]);
        assert!(
            refused.contains("figure 17") && refused.contains("no tables and figures 1 to 16"),
            "{refused}"
        );
        assert!(why("3", &[(Kind::Table, 2)]).contains("table 1 and figures 1 to 7"));
        let (paper, exhibits) = find("1", &[(Kind::Figure, 8), (Kind::Figure, 7)]).expect("they exist");
        let numbers: Vec<u32> = exhibits.iter().map(|one| one.number).collect();
        assert_eq!((paper.number.as_str(), numbers), ("001", vec![7, 8]));
        assert_eq!(find("004", &[]).expect("it exists").1.len(), 12);
    }

    fn printed(paper: &str, number: u32) -> &'static [Vec<Cell>] {
        let (_, exhibits) = find(paper, &[(Kind::Table, number)]).expect("it exists");
        &exhibits[0].printed.as_ref().expect("a table of numbers").rows
    }

    fn numbers(row: &[Cell]) -> Vec<f64> {
        let number = |cell: &Cell| if let Cell::Number(number) = cell { Some(*number) } else { None };
        row.iter().filter_map(number).collect()
    }

    #[test]
    fn transform_messages_have_lengths_of_table_3() {
        for (row, tasks) in printed("000", 3).iter().zip([2.0, 4.0, 8.0]) {
            let lengths = suites::main::PAPER_POINTS.map(|points| 8.0 * points as f64 / tasks);
            assert_eq!(numbers(row)[1..], lengths);
        }
    }
}
