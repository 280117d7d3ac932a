//! Suites: what can be compared. A suite is its systems, its jobs, its bars, its table and its part of the report; all
//! else is the same for each.

pub mod arrival;
pub mod buffering;
pub mod choose;
pub mod counts;
pub mod exchange;
pub mod growth;
pub mod guidelines;
pub mod loggp;
pub mod main;
pub mod mpi;
pub mod npb;
pub mod overhead;
pub mod overlap;
pub mod pvmtime;
pub mod python;
pub mod rates;
pub mod shared;
pub mod sockets;
pub mod speed;
pub mod tail;

use crate::error::LabError;
use crate::lessons;
use crate::report::headline::Question;
use crate::run::experiment::Job;
use crate::run::record::Manifest;
use crate::stats::goals::Goal;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Extent, Family, System};

/// One suite.
#[derive(Debug)]
pub struct Suite {
    /// What `--suite` takes.
    pub name: &'static str,
    /// What it compares, in a line.
    pub about: &'static str,
    /// What stands for it when hosts are named (`--host`); nothing where it is of one host alone.
    pub over_hosts: Option<&'static Suite>,
    /// Whose systems, ours first.
    pub families: &'static [Family],
    /// Seconds for all launches of the quick and of the full run.
    pub seconds: [u64; 2],
    /// Every system it can compare.
    pub systems: fn() -> Vec<System>,
    /// What it measures.
    pub jobs: fn(Extent) -> Vec<Job>,
    /// Its bars, checked.
    pub goals: fn(&[Row]) -> Vec<Goal>,
    /// Its part of the table for a terminal.
    pub table: fn(&Rows, &Manifest) -> String,
    /// Its part of the report.
    pub pages: Pages,
}

/// A section of the report.
pub type Section = fn(&mut String, &[Row]);

/// What a suite puts into the report.
#[derive(Debug)]
pub struct Pages {
    /// What was run, in a sentence of HTML.
    pub introduction: &'static str,
    /// What the cards show, in a sentence.
    pub cards: &'static str,
    /// What it does not measure.
    pub omitted: &'static str,
    /// What a newcomer should see first.
    pub questions: &'static [Question],
    /// Anchors of its sections, and what the contents call them.
    pub contents: &'static [(&'static str, &'static str)],
    /// Its sections before the bars.
    pub sections: &'static [Section],
    /// All its numbers, after the bars.
    pub details: Section,
}

/// All suites.
pub static ALL: [&Suite; 20] = [
    &choose::SUITE,
    &main::SUITE,
    &speed::SUITE,
    &mpi::SUITE,
    &counts::SUITE,
    &buffering::SUITE,
    &overhead::SUITE,
    &shared::SUITE,
    &pvmtime::SUITE,
    &sockets::SUITE,
    &exchange::SUITE,
    &npb::SUITE,
    &loggp::SUITE,
    &rates::SUITE,
    &tail::SUITE,
    &overlap::SUITE,
    &growth::SUITE,
    &guidelines::SUITE,
    &arrival::SUITE,
    &python::SUITE,
];

/// A line for each suite: its name, and what it compares.
pub fn listed() -> String {
    ALL.iter().map(|suite| format!("{:<10} {}\n", suite.name, suite.about)).collect()
}

/// The suite of this name.
pub fn find(name: &str) -> Result<&'static Suite, LabError> {
    let lessons = lessons::ALL.into_iter().map(|lesson| &lesson.suite);
    ALL.into_iter().chain(lessons).find(|suite| suite.name == name).ok_or_else(|| LabError::UnknownSuite {
        name: name.to_owned(),
        known: ALL.map(|suite| suite.name).join(", "),
    })
}

impl Suite {
    /// Seconds for all launches together.
    pub fn budget(&self, extent: Extent) -> u64 {
        self.seconds[usize::from(extent == Extent::Full)]
    }

    /// Keeps the systems a list names: families (`parvum,pvm346`) or whole ids (`pvm346-direct-raw`).
    pub fn select(&self, list: &str) -> Result<impl Fn(&System) -> bool + use<>, LabError> {
        let wanted: Vec<String> =
            list.split(',').map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty()).collect();
        let bears = |system: &System, name: &str| system.id() == name || system.family.ending() == name;
        let systems = (self.systems)();
        if let Some(name) = wanted.iter().find(|name| !systems.iter().any(|s| bears(s, name))) {
            let mut names: Vec<String> = self.families.iter().map(|f| f.ending().to_owned()).collect();
            names.extend(systems.iter().map(System::id));
            names.sort();
            names.dedup();
            return Err(LabError::UnknownSystem { name: name.clone(), known: names.join(", ") });
        }
        Ok(move |system: &System| wanted.is_empty() || wanted.iter().any(|name| bears(system, name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_accepts_families_and_ids_and_refuses_others() {
        let keep = main::SUITE.select("mpich, pvm346-direct-raw").unwrap();
        let kept: Vec<String> = (main::SUITE.systems)().iter().filter(|s| keep(s)).map(System::id).collect();
        assert_eq!(kept, ["pvm346-direct-raw", "mpich"]);
        let refused = main::SUITE.select("lam").err().unwrap().to_string();
        assert!(refused.contains("\"lam\"") && refused.contains("openmpi"), "{refused}");
    }

    #[test]
    fn suite_selects_only_its_own_systems() {
        assert!(main::SUITE.select("ucx").is_err());
        let keep = speed::SUITE.select("engine,ucx").unwrap();
        assert_eq!((speed::SUITE.systems)().iter().filter(|s| keep(s)).count(), 2);
    }

    #[test]
    fn unknown_suite_is_refused_with_known_names() {
        let refused = find("slow").err().unwrap().to_string();
        assert!(
            refused.contains("\"slow\"") && refused.contains("choose, main, speed, mpi, counts"),
            "{refused}"
        );
    }

    #[test]
    fn planned_systems_of_suite_can_be_selected() {
        for suite in ALL {
            let systems = (suite.systems)();
            for job in (suite.jobs)(Extent::Full) {
                if let Some(system) = job.system {
                    assert!(systems.contains(&system), "{}: {}", suite.name, job.name());
                    assert!(suite.families.contains(&system.family), "{}: {}", suite.name, job.name());
                }
            }
        }
    }
}
