//! How what is asked came out, from this session's rows only.

use super::asked::{ASKED, Bar, Requirement};
use super::{CALLS, ENGINE, PEERS, PVM};
use crate::report::markup::bytes;
use crate::stats::goals::{Goal, Outcome, digits, with_unit};
use crate::stats::paired::compare_rows;
use crate::stats::statistics::Verdict;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;

/// A number of tasks and a size.
pub type TasksAndSize = (u32, u64);

/// One row of what is asked, judged.
#[derive(Debug)]
pub struct Judgement {
    /// What, how much, and how it came out.
    pub goal: Goal,
    /// Where it came out worst, or the first place when nothing is known.
    pub place: TasksAndSize,
}

/// One bar at one place.
struct BarAtPoint {
    /// 1 is the bar; more is better.
    share: f64,
    reached: bool,
    words: String,
}

/// Checks every row.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    ASKED.iter().map(|asked| judge(asked, &rows).goal).collect()
}

/// All places of a row.
pub fn places(asked: &Requirement) -> Vec<TasksAndSize> {
    asked.tasks.iter().flat_map(|tasks| asked.sizes.iter().map(|size| (*tasks, *size))).collect()
}

/// The measured row of a system at a place.
pub fn measured<'a>(
    asked: &Requirement,
    rows: &Rows<'a>,
    system: &System,
    place: TasksAndSize,
) -> Option<&'a Row> {
    rows.find(asked.program, system, asked.metric, place.0, place.1)
}

/// The floor of a place.
pub fn floor<'a>(asked: &Requirement, rows: &Rows<'a>, place: TasksAndSize) -> Option<&'a Row> {
    let (floor, metric) = asked.floor?;
    rows.floor(floor, metric).find(|row| row.size == place.1)
}

/// The best of the peers at a place, by their rows of `program`.
pub fn best_peer<'a>(
    asked: &Requirement,
    program: &str,
    rows: &Rows<'a>,
    place: TasksAndSize,
) -> Option<(System, &'a Row)> {
    let found = PEERS
        .into_iter()
        .filter_map(|peer| Some((peer, rows.find(program, &peer, asked.metric, place.0, place.1)?)));
    let sign = if asked.large_wins { -1.0 } else { 1.0 };
    found.min_by(|a, b| (sign * a.1.median).total_cmp(&(sign * b.1.median)))
}

/// Judges one row: by all of its calls that were measured, at every place.
pub fn judge(asked: &Requirement, rows: &Rows) -> Judgement {
    let mut outcome = Outcome::NoData;
    let mut found = Vec::new();
    let mut worst: Option<(f64, TasksAndSize)> = None;
    for face in asked.faces {
        let name = match *face {
            CALLS => "PVM calls",
            ENGINE => "engine",
            _ => "NX calls",
        };
        let (faced, words, place) = judge_face(asked, rows, face);
        found.push(format!("{name}: {words}"));
        outcome = match (outcome, faced) {
            (Outcome::Missed, _) | (_, Outcome::Missed) => Outcome::Missed,
            (Outcome::NoData, other) | (other, Outcome::NoData) => other,
            _ => Outcome::Reached,
        };
        if let Some(place) = place
            && worst.is_none_or(|known| place.0 < known.0)
        {
            worst = Some(place);
        }
    }
    let place = worst.map_or((asked.tasks[0], asked.sizes[0]), |(_, place)| place);
    let goal = Goal { what: asked.what, bar: asked.goal, outcome, found: found.join("; ") };
    Judgement { goal, place }
}

/// By one interface: the outcome, its words, and the worst share with its place.
fn judge_face(
    asked: &Requirement,
    rows: &Rows,
    face: &System,
) -> (Outcome, String, Option<(f64, TasksAndSize)>) {
    let places = places(asked);
    let mut unknown = Vec::new();
    let mut held: Vec<(BarAtPoint, TasksAndSize)> = Vec::new();
    for place in &places {
        let bars: Option<Vec<BarAtPoint>> = measured(asked, rows, face, *place)
            .and_then(|ours| asked.bars.iter().map(|bar| hold(asked, *bar, rows, ours, *place)).collect());
        match bars {
            Some(bars) => held.extend(bars.into_iter().map(|bar| (bar, *place))),
            None => unknown.push(*place),
        }
    }
    let Some(worst) = held.iter().min_by(|a, b| {
        (a.0.reached, a.0.share).partial_cmp(&(b.0.reached, b.0.share)).unwrap_or(std::cmp::Ordering::Equal)
    }) else {
        return (Outcome::NoData, "not measured in this session".into(), None);
    };
    let missed = held.iter().filter(|(bar, _)| !bar.reached).count();
    let outcome = match (missed, unknown.is_empty()) {
        (0, true) => Outcome::Reached,
        // What is asked of every place is not known to be reached.
        (0, false) => Outcome::NoData,
        _ => Outcome::Missed,
    };
    // One place: each of its bars. Several: the worst.
    let mut words = if places.len() == 1 {
        held.iter().map(|(bar, _)| bar.words.as_str()).collect::<Vec<_>>().join(" and ")
    } else {
        format!("worst at {}: {}", place_words(asked, worst.1), worst.0.words)
    };
    if places.len() > 1 && missed > 0 {
        words.push_str(&format!(" (missed at {missed} of {})", places.len()));
    }
    if let Some(first) = unknown.first() {
        let more = if unknown.len() > 1 { format!(" and {} more", unknown.len() - 1) } else { String::new() };
        words.push_str(&format!("; no data at {}{more}", place_words(asked, *first)));
    }
    (outcome, words, Some((worst.0.share, worst.1)))
}

/// A place as people read it, as far as there are others.
pub fn place_words(asked: &Requirement, place: TasksAndSize) -> String {
    let size = bytes(place.1 as f64);
    match (asked.tasks.len(), asked.sizes.len()) {
        (1, _) => size,
        _ => format!("{size} on {}", place.0),
    }
}

/// `None` when what the bar compares with was not measured.
fn hold(asked: &Requirement, bar: Bar, rows: &Rows, ours: &Row, place: TasksAndSize) -> Option<BarAtPoint> {
    let value = with_unit(ours);
    let share = |limit: f64| if asked.large_wins { ours.median / limit } else { limit / ours.median };
    let against = |limit: f64, whose: String| {
        let share = share(limit);
        let reached = share >= 1.0;
        let off = if reached { String::new() } else { miss(asked, share) };
        Some(BarAtPoint { share, reached, words: format!("{value}, bar {}{whose}{off}", digits(limit)) })
    };
    let times = |times: f64, (peer, row): (System, &Row)| {
        against(times * row.median, format!(" ({times} x {} of {})", digits(row.median), peer.family.name()))
    };
    match bar {
        Bar::AtMost(most) => against(most, String::new()),
        Bar::BestPeer(factor) => times(factor, best_peer(asked, asked.program, rows, place)?),
        Bar::BestPeerIn(program, factor) => times(factor, best_peer(asked, program, rows, place)?),
        Bar::BetterThanPvm(factor) => {
            let theirs = measured(asked, rows, &PVM, place)?;
            against(
                if asked.large_wins { theirs.median * factor } else { theirs.median / factor },
                format!(" ({}'s {}, {factor}x better)", PVM.family.name(), digits(theirs.median)),
            )
        }
        Bar::Floor(factor) => {
            let floor = floor(asked, rows, place)?;
            let words = format!(" ({factor} x {} of the {})", digits(floor.median), floor.system);
            against(factor * floor.median, words)
        }
        Bar::Engine(factor) => {
            let engine = measured(asked, rows, &ENGINE, place)?;
            against(factor * engine.median, format!(" ({factor} x the engine's {})", digits(engine.median)))
        }
        Bar::Ahead => {
            let (peer, theirs) = best_peer(asked, asked.program, rows, place)?;
            let share = share(theirs.median);
            let known = compare_rows(ours, theirs) != Verdict::NoDifferenceShown;
            let doubt = if share > 1.0 && !known { ", no difference shown" } else { "" };
            let off = if share > 1.0 { String::new() } else { miss(asked, share) };
            Some(BarAtPoint {
                share,
                reached: share > 1.0 && known,
                words: format!(
                    "{value} against {} of {}{doubt}{off}",
                    digits(theirs.median),
                    peer.family.name()
                ),
            })
        }
    }
}

/// By how much a bar is missed.
fn miss(asked: &Requirement, share: f64) -> String {
    if asked.large_wins {
        format!(": {} % of it", digits(100.0 * share))
    } else {
        format!(": {}x it", digits(1.0 / share))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NX, UCX};
    use super::*;
    use crate::stats::summary::tests::row;

    fn of(what: &str) -> &'static Requirement {
        ASKED.iter().find(|asked| asked.what == what).unwrap()
    }

    /// A row of what is asked, at a place.
    fn measure(asked: &Requirement, system: &System, place: TasksAndSize, launches: &[f64]) -> Row {
        let mut row = row(system, asked.program, asked.metric, place.1, launches);
        row.tasks = place.0;
        row
    }

    fn floor_row(floor: &str, metric: &str, size: u64, value: f64) -> Row {
        let mut row = row(&UCX, "floors", metric, size, &[value; 6]);
        row.system = floor.into();
        row
    }

    #[test]
    fn goals_without_data_are_not_claimed() {
        assert!(check(&[]).iter().all(|goal| goal.outcome == Outcome::NoData));
        assert_eq!(check(&[]).len(), ASKED.len());
    }

    #[test]
    fn engine_faster_than_peers_must_also_near_the_baseline() {
        let asked = of("8 B, engine, us");
        let mut rows = vec![
            measure(asked, &ENGINE, (2, 8), &[0.19; 6]),
            measure(asked, &UCX, (2, 8), &[0.40; 6]),
            measure(asked, &PVM, (2, 8), &[9.0; 6]),
        ];
        assert_eq!(judge(asked, &Rows(&rows)).goal.outcome, Outcome::NoData, "the flag was not measured");
        rows.push(floor_row("shared flag", "time", 8, 0.15));
        let found = judge(asked, &Rows(&rows)).goal;
        assert_eq!(found.outcome, Outcome::Reached, "{}", found.found);
        rows.last_mut().unwrap().median = 0.1;
        let found = judge(asked, &Rows(&rows)).goal;
        assert_eq!(found.outcome, Outcome::Missed);
        assert!(found.found.contains("1.46x it") && found.found.contains("UCX"), "{}", found.found);
    }

    #[test]
    fn judge_counts_every_size_and_names_worst() {
        let asked = of("4 to 64 KiB, GB/s");
        let mut rows = Vec::new();
        for (place, ours) in places(asked).into_iter().zip([1.5, 3.0, 1.9, 9.0, 9.0]) {
            rows.push(measure(asked, &CALLS, place, &[ours; 6]));
            rows.push(measure(asked, &PEERS[1], place, &[2.0; 6]));
            rows.push(measure(asked, &PEERS[2], place, &[1.0; 6]));
        }
        let found = judge(asked, &Rows(&rows));
        assert_eq!((found.goal.outcome, found.place), (Outcome::Missed, (2, 4096)));
        for words in ["4 KiB", "75.0 %", "missed at 2 of 5", "Open MPI", "engine: not measured"] {
            assert!(found.goal.found.contains(words), "{words}: {}", found.goal.found);
        }
        // Faster at 4 and 16 KiB, it is reached; without the peers at 64 KiB nothing is known of that size.
        for row in rows.iter_mut().filter(|row| row.system == "Parvum") {
            (row.median, row.launches) = (3.0, vec![3.0; 6]);
        }
        assert_eq!(judge(asked, &Rows(&rows)).goal.outcome, Outcome::Reached);
        rows.retain(|row| row.size < 65536 || row.system == "Parvum");
        let found = judge(asked, &Rows(&rows)).goal;
        assert_eq!(found.outcome, Outcome::NoData);
        assert!(found.found.contains("no data at 64 KiB"), "{}", found.found);
    }

    #[test]
    fn measure_without_cma_is_compared_with_equal_peers() {
        let asked = of("the same, refused");
        let mut rows = Vec::new();
        for place in places(asked) {
            rows.push(measure(asked, &CALLS, place, &[9.0; 6]));
            rows.push(measure(asked, &PEERS[1], place, &[1.0; 6]));
            rows.push(measure(of("1 and 4 MiB, GB/s"), &PEERS[1], place, &[10.0; 6]));
        }
        assert_eq!(judge(asked, &Rows(&rows)).goal.outcome, Outcome::Reached);
        for row in rows.iter_mut().filter(|row| row.program == "ring") {
            row.median = 12.0;
        }
        let found = judge(asked, &Rows(&rows)).goal;
        assert_eq!(found.outcome, Outcome::Missed);
        assert!(found.found.contains("93.7 %"), "{}", found.found);
    }

    #[test]
    fn goal_is_missed_if_one_interface_misses() {
        let asked = of("barrier of 8, us");
        let rows = [
            measure(asked, &CALLS, (8, 0), &[30.0; 6]),
            measure(asked, &NX, (8, 0), &[6.0; 6]),
            // What a barrier of two costs is another question.
            measure(asked, &CALLS, (2, 0), &[1.0; 6]),
        ];
        let found = judge(asked, &Rows(&rows)).goal;
        assert_eq!(found.outcome, Outcome::Missed);
        assert!(
            found.found.contains("PVM calls: 30.0 us, bar 12.0: 2.50x it; NX calls: 6.00 us"),
            "{}",
            found.found
        );
    }

    #[test]
    fn pvm_calls_are_judged_against_pvm() {
        let asked = of("8 B, PVM calls, us");
        let rows = |ours: f64| {
            [
                measure(asked, &CALLS, (2, 8), &[ours; 6]),
                measure(asked, &ENGINE, (2, 8), &[0.3; 6]),
                measure(asked, &PVM, (2, 8), &[8.0; 6]),
            ]
        };
        assert_eq!(judge(asked, &Rows(&rows(0.39))).goal.outcome, Outcome::Reached);
        let found = judge(asked, &Rows(&rows(0.48))).goal;
        assert_eq!(found.outcome, Outcome::Missed);
        assert!(found.found.contains("20x better") && found.found.contains("1.20x it"), "{}", found.found);
        assert!(judge(asked, &Rows(&rows(0.49))).goal.found.contains("1.6 x the engine's 0.300"));
    }

    #[test]
    fn lead_requires_significant_difference() {
        let asked = of("reduce, us");
        let judged = |ours: &[f64]| {
            let mut rows = Vec::new();
            for place in places(asked) {
                rows.push(measure(asked, &CALLS, place, if place == (8, 1024) { ours } else { &[1.0; 6] }));
                rows.push(measure(asked, &PEERS[3], place, &[5.0, 6.0, 7.0, 8.0, 9.0]));
            }
            judge(asked, &Rows(&rows))
        };
        assert_eq!(judged(&[1.0, 1.1, 1.2, 1.3, 1.4]).goal.outcome, Outcome::Reached);
        let doubtful = judged(&[4.5, 5.5, 6.5, 7.5, 8.5]);
        assert_eq!((doubtful.goal.outcome, doubtful.place), (Outcome::Missed, (8, 1024)));
        assert!(doubtful.goal.found.contains("1 KiB on 8") && doubtful.goal.found.contains("no difference"));
        let behind = judged(&[20.0, 21.0, 22.0, 23.0, 24.0]).goal;
        assert_eq!(behind.outcome, Outcome::Missed);
        assert!(behind.found.contains("22.0 us against 7.00 of Open MPI 4.1: 3.14x it"), "{}", behind.found);
    }

    #[test]
    fn task_without_cpu_use_while_blocked_reaches_goal() {
        let asked = of("CPU in 3 s wait, s");
        let rows = [measure(asked, &CALLS, (2, 0), &[0.0])];
        assert_eq!(judge(asked, &Rows(&rows)).goal.outcome, Outcome::Reached);
    }
}
