//! Which blocks of a session count: those in which the machine stayed in one state and nobody else used it.

use crate::host::state::{self, State};
use crate::run::record::LaunchRecord;
use crate::stats::summary::Recorded;
use std::collections::{BTreeMap, BTreeSet};

/// The slow state is about twice as slow as the session's quick launches. The limit lies between the two.
const SLOW: f64 = 1.6;
/// With fewer comparable launches a session is worthless: what is left of it need not be like the rest.
const LEAST: f64 = 0.5;

/// The launches of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparable {
    /// How many worked.
    pub all: usize,
    /// Launches that have others of their block in the same state of the machine.
    pub comparable: usize,
}

impl Comparable {
    /// Counts them.
    pub fn count(launches: &[LaunchRecord]) -> Comparable {
        let all = launches.iter().filter(|launch| launch.failure.is_none()).count();
        Comparable { all, comparable: comparable(launches).len() }
    }

    /// Why nobody should rank systems by the session, if that is so.
    pub fn doubt(self) -> Option<String> {
        let Comparable { all, comparable } = self;
        ((comparable as f64) < LEAST * all as f64).then(|| {
            format!(
                "The machine changed its speed or was used by others in {} of {all} runs of programs.",
                all - comparable
            )
        })
    }
}

/// The launches that may be compared with others of their block: the largest part of each block in which the machine was in one state.
pub fn comparable(launches: &[LaunchRecord]) -> BTreeSet<usize> {
    let looks = looks(launches);
    let is_alike = |one: &LaunchRecord, other: &LaunchRecord| {
        let [before, after] = looks(one);
        let [other_before, other_after] = looks(other);
        state::is_steady(&[before, after, other_before, other_after], one.stolen.max(other.stolen))
    };
    let largest = |block: &[&LaunchRecord]| -> Vec<usize> {
        let alike = |seed: &&LaunchRecord| -> Vec<usize> {
            block.iter().filter(|other| is_alike(seed, other)).map(|other| other.launch).collect()
        };
        // The first of equal parts: `max_by_key` returns the last.
        block.iter().rev().map(alike).max_by_key(Vec::len).unwrap_or_default()
    };
    by_number(launches).values().flat_map(|block| largest(block)).collect()
}

/// A larger share of launches with two unlike looks: the core-to-core time changes faster than launches end.
const FLICKERS: f64 = 0.2;

/// The looks at the machine before and after a launch. If the core-to-core time changes faster than launches end, a look tells nothing about
/// its launch. The change is then noise, which hits all systems by chance and which the tests allow for.
fn looks(launches: &[LaunchRecord]) -> impl Fn(&LaunchRecord) -> [State; 2] + use<> {
    let line = |state: &State| State { line_ns: state.line_ns, ..State::default() };
    let worked = || launches.iter().filter(|launch| launch.failure.is_none());
    let changed = worked().filter(|launch| !line(&launch.before).is_like(&line(&launch.after))).count();
    let flickers = changed as f64 > FLICKERS * worked().count() as f64;
    move |launch| {
        let seen = |state: State| if flickers { State { line_ns: None, ..state } } else { state };
        [seen(launch.before), seen(launch.after)]
    }
}

/// The launches that count, by the number of their block.
fn by_number(launches: &[LaunchRecord]) -> BTreeMap<usize, Vec<&LaunchRecord>> {
    let mut blocks: BTreeMap<usize, Vec<&LaunchRecord>> = BTreeMap::new();
    for launch in launches.iter().filter(|launch| launch.failure.is_none()) {
        blocks.entry(launch.block).or_default().push(launch);
    }
    blocks
}

/// The blocks whose launches cannot be compared.
pub fn disturbed(launches: &[LaunchRecord]) -> BTreeSet<usize> {
    let looks = looks(launches);
    let is_disturbed = |launches: &[&LaunchRecord]| {
        let looks: Vec<State> = launches.iter().flat_map(|launch| looks(launch)).collect();
        let stolen = launches.iter().map(|launch| launch.stolen).fold(0.0, f64::max);
        !state::is_steady(&looks, stolen)
    };
    by_number(launches).into_iter().filter(|block| is_disturbed(&block.1)).map(|block| block.0).collect()
}

/// The blocks in which the host was slow throughout: their ratios count, but they raise the medians of all systems.
pub fn slow(launches: &[LaunchRecord]) -> BTreeSet<usize> {
    let Some(quick) = quick(launches) else { return BTreeSet::new() };
    let is_slow = |launch: &&LaunchRecord| {
        launch.failure.is_none() && launch.line_ns().is_some_and(|line| line > SLOW * quick)
    };
    launches.iter().filter(is_slow).map(|launch| launch.block).collect()
}

/// The time of a cache line on a quick host: one in ten launches reached it. The quickest launch alone may have had both threads of one
/// core, for a moment: 17 ns, and 130 ns in all other launches of the session.
fn quick(launches: &[LaunchRecord]) -> Option<f64> {
    let mut lines: Vec<f64> = launches.iter().filter_map(LaunchRecord::line_ns).collect();
    lines.sort_by(f64::total_cmp);
    lines.get(lines.len() / 10).copied()
}

/// Gives each line the number of its block if its launch may be compared. Other lines stay only if their job has no such launch.
pub fn settle(lines: &mut Vec<Recorded>, launches: &[LaunchRecord]) {
    let comparable = comparable(launches);
    let calm = |launch: usize| launches.get(launch).filter(|launch| comparable.contains(&launch.launch));
    for line in lines.iter_mut() {
        line.block = calm(line.launch).map(|launch| launch.block);
    }
    let has_calm: BTreeSet<_> =
        lines.iter().filter_map(|line| calm(line.launch)).map(LaunchRecord::job_and_system).collect();
    lines.retain(|line| {
        let job = launches.get(line.launch).map(LaunchRecord::job_and_system);
        line.block.is_some() || job.is_none_or(|job| !has_calm.contains(&job))
    });
}

/// The note of a launch that does not count because its whole block was repeated.
pub fn repeated_in(block: usize) -> String {
    format!("{REPEATED} {block}")
}

const REPEATED: &str = "the machine was disturbed; repeated in block";

/// Whether a launch was repeated only because the machine was disturbed.
pub fn is_repeated(launch: &LaunchRecord) -> bool {
    launch.failure.as_ref().is_some_and(|why| why.starts_with(REPEATED))
}

/// A warning for readers of a session; none if the machine was quick and alone throughout.
pub fn warning(launches: &[LaunchRecord]) -> Option<String> {
    let count = Comparable::count(launches);
    let repeated: BTreeSet<usize> =
        launches.iter().filter(|one| is_repeated(one)).map(|one| one.block).collect();
    let (slow, apart) = (slow(launches).len(), count.all - count.comparable);
    let counted = |count: usize| format!("{count} block{} of runs", if count == 1 { "" } else { "s" });
    let mut said = Vec::new();
    if apart > 0 {
        said.push(format!(
            "{apart} of {} runs are not compared: the machine changed its speed, or other programs used it.",
            count.all
        ));
    }
    if !repeated.is_empty() {
        said.push(format!("{} ran again, because the machine was disturbed.", counted(repeated.len())));
    }
    if slow > 0 {
        said.push(format!(
            "During {} the whole machine was slow. Only runs of one state are compared.",
            counted(slow)
        ));
    }
    (!said.is_empty()).then(|| said.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::samples::Line;

    const QUIET: State =
        State { line_ns: Some(60.0), step_ns: Some(1.0), copy_gb_s: Some(8.0), others: Some(0) };

    fn launch(number: usize, block: usize, after: State) -> LaunchRecord {
        let before = State { others: Some(0), ..after };
        LaunchRecord {
            launch: number,
            block,
            system: format!("{}", number % 2),
            before,
            after,
            ..LaunchRecord::default()
        }
    }

    fn session() -> Vec<LaunchRecord> {
        let slow = State { line_ns: Some(130.0), ..QUIET };
        vec![
            launch(0, 0, QUIET),
            launch(1, 0, QUIET),
            launch(2, 1, QUIET),
            launch(3, 1, slow),
            launch(4, 2, slow),
            launch(5, 2, slow),
            launch(6, 3, State { others: Some(1), ..QUIET }),
            LaunchRecord { stolen: 0.3, ..launch(7, 4, QUIET) },
        ]
    }

    #[test]
    fn block_is_disturbed_by_change_of_state_others_or_stolen_time() {
        let session = session();
        assert_eq!(disturbed(&session), BTreeSet::from([1, 3, 4]));
        assert_eq!(slow(&session), BTreeSet::from([1, 2]));
        // A launch that is alone in its state may be compared with nobody, but stays in its block.
        assert_eq!(comparable(&session), BTreeSet::from([0, 1, 2, 4, 5]));
        assert_eq!(Comparable::count(&session).doubt(), None);
        assert!(Comparable::count(&session[5..]).doubt().is_some_and(|why| why.contains("2 of 3 runs")));
        assert_eq!(warning(&session[..2]), None);
    }

    #[test]
    fn core_to_core_time_that_flickers_does_not_set_launches_apart() {
        let slow = State { line_ns: Some(270.0), ..QUIET };
        let flickering = |number: usize| {
            let (before, after) = if number.is_multiple_of(2) { (QUIET, slow) } else { (slow, QUIET) };
            LaunchRecord { before, after, ..launch(number, number / 4, QUIET) }
        };
        let session: Vec<LaunchRecord> = (0..8).map(flickering).collect();
        assert_eq!((comparable(&session).len(), disturbed(&session).len()), (8, 0));
        let mut once: Vec<LaunchRecord> = (0..8).map(|number| launch(number, number / 4, QUIET)).collect();
        once[5].after = slow;
        assert!(!comparable(&once).contains(&5), "a single change is a change of state");
    }

    #[test]
    fn repeated_launches_count_no_more() {
        let mut session = session();
        for number in [2, 3, 6, 7] {
            session[number].failure = Some(repeated_in(9));
        }
        assert!(is_repeated(&session[2]) && !session[2].has_failed());
        assert_eq!(disturbed(&session), BTreeSet::new());
        let said = warning(&session).expect("three were");
        assert_eq!(
            said,
            "3 blocks of runs ran again, because the machine was disturbed. During 1 block of runs the whole machine was slow. Only runs of one state are compared."
        );
    }

    #[test]
    fn failure_of_a_launch_does_not_disturb_its_block() {
        let mut session = session();
        session[3].failure = Some("the program died".into());
        assert!(session[3].has_failed());
        assert!(!disturbed(&session).contains(&1));
    }

    #[test]
    fn lines_of_disturbed_blocks_stay_if_there_are_no_others() {
        let line = |launch| Recorded::new(launch, "ring", None, Line::default());
        let mut session = session();
        session[7].system = "third".into();
        let mut lines: Vec<Recorded> = (0..8).map(line).collect();
        settle(&mut lines, &session);
        let kept: Vec<_> = lines.iter().map(|line| (line.launch, line.block)).collect();
        assert_eq!(kept, [(0, Some(0)), (1, Some(0)), (2, Some(1)), (4, Some(2)), (5, Some(2)), (7, None)]);
    }
}
