//! The words of shared memory: locks with their holders and queues, barriers and who is missing there, circles of locks.
//!
//! A task shows which locks it holds, at which barrier it is, and the first task of its run; who waits for a lock shows its number.

use super::graph::{For, Picture};
use parvum_control::{HELD, MEMORY_WAY};
use parvum_wire::Tid;
use parvum_wire::control::{TaskRow, Waits};
use std::collections::BTreeSet;

/// So many of a queue, or of those that are missing, are named.
const NAMED: usize = 8;

/// Views are shown as locks, numbered behind the locks.
const VIEWS_FROM: u32 = 4096;

fn called(lock: u32) -> String {
    match lock.checked_sub(VIEWS_FROM) {
        Some(view) => format!("view {view}"),
        None => format!("lock {lock}"),
    }
}

/// What is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AwaitedObject {
    Lock(u32),
    Barrier(u32),
    Page(u32),
    Exit,
    /// An answer of others, which their processes give whatever their programs do.
    Answer,
}

fn what(waits: &Waits) -> Option<AwaitedObject> {
    let word = waits.word.as_ref().filter(|_| waits.is_of_shared_memory())?;
    let which = u32::try_from(waits.tag).ok();
    Some(match (word.mark.as_str(), which) {
        ("lock", Some(lock)) => AwaitedObject::Lock(lock),
        ("barrier", Some(barrier)) => AwaitedObject::Barrier(barrier),
        ("page", Some(page)) => AwaitedObject::Page(page),
        ("exit", _) => AwaitedObject::Exit,
        _ => AwaitedObject::Answer,
    })
}

/// Whether a task shares memory with others.
pub fn shares(row: &TaskRow) -> bool {
    row.counters.get(MEMORY_WAY).is_some_and(|way| *way != 0)
}

/// At which barrier a task is.
fn barrier_of(row: &TaskRow) -> Option<u32> {
    u32::from((row.counters.get(MEMORY_WAY)? >> 8) as u16).checked_sub(1)
}

/// The locks that a task holds.
fn held(row: &TaskRow) -> impl Iterator<Item = u32> {
    let halves = row.counters.iter().skip(HELD).flat_map(|cell| [*cell as u32, (cell >> 32) as u32]);
    halves.filter_map(|lock| lock.checked_sub(1))
}

/// A task, by its rank.
pub fn who(picture: &Picture, tid: Tid) -> String {
    match picture.task(tid).and_then(|row| row.rank) {
        Some(rank) => format!("rank {rank} ({tid})"),
        None => tid.to_string(),
    }
}

/// The tasks of a task's run, by rank.
fn run_of<'p>(picture: &'p Picture, row: &TaskRow) -> Vec<&'p TaskRow> {
    let first = |row: &TaskRow| row.counters.get(MEMORY_WAY).map(|way| way >> 32);
    let mut run: Vec<&TaskRow> =
        picture.tasks().filter(|other| shares(other) && first(other) == first(row)).collect();
    run.sort_by_key(|row| row.rank);
    run
}

fn holder<'p>(picture: &'p Picture, row: &TaskRow, lock: u32) -> Option<&'p TaskRow> {
    run_of(picture, row).into_iter().find(|other| held(other).any(|one| one == lock))
}

/// The tasks that wait for a lock, the longest first.
fn queue<'p>(picture: &'p Picture, row: &TaskRow, lock: u32) -> Vec<&'p TaskRow> {
    let waits = |row: &&TaskRow| row.waits.as_ref().and_then(what) == Some(AwaitedObject::Lock(lock));
    let mut queue: Vec<&TaskRow> = run_of(picture, row).into_iter().filter(waits).collect();
    queue.sort_by_key(|row| std::cmp::Reverse(row.waits.as_ref().map_or(0, |waits| waits.for_ms)));
    queue
}

/// Who has not come to where this task waits for all.
fn missing<'p>(picture: &'p Picture, row: &TaskRow, meeting: AwaitedObject) -> Vec<&'p TaskRow> {
    let has_come = |other: &&TaskRow| match meeting {
        AwaitedObject::Barrier(barrier) => barrier_of(other) == Some(barrier),
        _ => other.waits.as_ref().and_then(what) == Some(AwaitedObject::Exit),
    };
    run_of(picture, row).into_iter().filter(|other| other.tid != row.tid && !has_come(other)).collect()
}

/// Whom a task waits for: the holder of its lock, or one of those that have not come to its barrier.
pub fn awaited(picture: &Picture, tid: Tid, waits: &Waits) -> For {
    let (Some(row), Some(what)) = (picture.task(tid), what(waits)) else { return For::Nobody };
    let one = match what {
        // A lock that nobody holds is on its way.
        AwaitedObject::Lock(lock) => holder(picture, row, lock),
        AwaitedObject::Barrier(_) | AwaitedObject::Exit => {
            let missing = missing(picture, row, what);
            // One that waits elsewhere, if there is one: all must come.
            missing.iter().find(|other| picture.waits(other.tid).is_some()).or(missing.first()).copied()
        }
        AwaitedObject::Page(_) | AwaitedObject::Answer => None,
    };
    one.filter(|one| one.tid != tid).map_or(For::Nobody, |one| For::One(one.tid))
}

/// What a task does that waits at shared memory.
pub fn doing(picture: &Picture, row: &TaskRow, waits: &Waits) -> Option<String> {
    let doing = match what(waits)? {
        AwaitedObject::Lock(lock) => {
            let holder = holder(picture, row, lock).map_or_else(
                || "which is on its way".to_owned(),
                |holder| format!("which {} holds", who(picture, holder.tid)),
            );
            let queue = queue(picture, row, lock);
            let place = queue.iter().position(|other| other.tid == row.tid).map_or(0, |place| place + 1);
            let before = named(picture, &queue[..place.saturating_sub(1)]);
            let behind = if before.is_empty() { String::new() } else { format!(", behind {before}") };
            let call = if lock < VIEWS_FROM { "Tmk_lock_acquire" } else { "Tmk_acquire_view" };
            format!("waits in {call} for {}, {holder}{behind}", called(lock))
        }
        AwaitedObject::Barrier(barrier) => {
            format!("waits in Tmk_barrier {barrier}: {}", come(picture, row, AwaitedObject::Barrier(barrier)))
        }
        AwaitedObject::Exit => {
            format!("waits in Tmk_exit for the others: {}", come(picture, row, AwaitedObject::Exit))
        }
        AwaitedObject::Page(page) => format!("fetches page {page} of the shared heap"),
        AwaitedObject::Answer => format!("waits in {} for the others", waits.name()),
    };
    Some(doing + &holds(picture, row))
}

/// How many have come to where all must, and who has not.
fn come(picture: &Picture, row: &TaskRow, meeting: AwaitedObject) -> String {
    let all = run_of(picture, row).len();
    let missing = missing(picture, row, meeting);
    let said = format!("{} of {all} have come", all - missing.len());
    if missing.is_empty() { said } else { format!("{said}, missing: {}", named(picture, &missing)) }
}

fn named(picture: &Picture, rows: &[&TaskRow]) -> String {
    let names: Vec<String> = rows.iter().take(NAMED).map(|row| who(picture, row.tid)).collect();
    let more = rows.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}

/// Which locks a task holds, and who waits for them, behind what else is said of it.
pub fn holds(picture: &Picture, row: &TaskRow) -> String {
    let held: BTreeSet<u32> = held(row).collect();
    let each = held.iter().map(|&lock| {
        let queue = queue(picture, row, lock);
        let verb = if queue.len() == 1 { "waits" } else { "wait" };
        let queue = if queue.is_empty() {
            String::new()
        } else {
            format!(", for which {} {verb}", named(picture, &queue))
        };
        format!("; holds {}{queue}", called(lock))
    });
    each.collect()
}

/// Why a circle of locks is one, and what helps.
pub fn about_circle(picture: &Picture, circle: &[Tid]) -> Option<String> {
    let lock_of = |tid: &Tid| match picture.waits(*tid).and_then(what) {
        Some(AwaitedObject::Lock(lock)) => Some(lock),
        _ => None,
    };
    let locks: Vec<Option<u32>> = circle.iter().map(lock_of).collect();
    if circle.len() < 2 || locks.iter().all(Option::is_none) {
        return None;
    }
    if locks.iter().any(Option::is_none) {
        return Some(
            "  One of them holds a lock where it waits for all: release it before a barrier or Tmk_exit."
                .into(),
        );
    }
    // Each holds what the one before it waits for.
    let each = (0..circle.len()).map(|at| {
        let before = (at + circle.len() - 1) % circle.len();
        let (has, wants) = (locks[before].unwrap_or_default(), locks[at].unwrap_or_default());
        format!("{} holds {} and wants {}", who(picture, circle[at]), called(has), called(wants))
    });
    let each: Vec<String> = each.collect();
    Some(format!("  Of locks: {}. All must take them in one order.", each.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::super::graph::Finding;
    use super::super::graph::tests::{self, tid};
    use super::*;
    use parvum_wire::calls::Sort;

    /// Marks of calls, as the interface of shared memory has them.
    const LOCK: &str = "lock";
    const BARRIER: &str = "barrier";
    /// The first task of the run.
    const FIRST: u64 = 0x40001;

    /// A rank of a run: what it waits for, and what it holds.
    fn rank(rank: u32, waits: Option<(&str, i32)>, locks: &[u32]) -> TaskRow {
        let mut row = tests::row(rank + 1, waits.map(|(_, which)| (4, -1, which)));
        let word = waits.map(|(mark, _)| tests::word(Sort::Memory, mark, "call"));
        row.waits.iter_mut().for_each(|waits| waits.word = word.clone());
        row.rank = Some(rank);
        row.counters = vec![0; 64];
        let barrier = waits.filter(|(mark, _)| *mark == BARRIER).map_or(0, |(_, which)| which as u64 + 1);
        row.counters[MEMORY_WAY] = 1 | barrier << 8 | FIRST << 32;
        for (place, lock) in locks.iter().enumerate() {
            row.counters[HELD + place / 2] |= u64::from(lock + 1) << (32 * (place % 2));
        }
        row
    }

    fn told(rows: Vec<TaskRow>) -> Vec<Finding> {
        let picture = Picture::of(rows);
        picture.findings(&picture.stuck())
    }

    fn said(rows: &[TaskRow], at: usize) -> String {
        let picture = Picture::of(rows.to_vec());
        let row = picture.task(rows[at].tid).expect("it is there");
        let waits = row.waits.as_ref().expect("it waits");
        doing(&picture, row, waits).expect("at shared memory")
    }

    #[test]
    fn locks_taken_in_two_orders_are_a_deadlock() {
        let rows = vec![
            rank(0, Some((LOCK, 2)), &[1]),
            rank(1, Some((LOCK, 1)), &[2]),
            rank(2, Some((LOCK, 1)), &[]),
        ];
        let circle = Finding::Circle(vec![tid(1), tid(2)]);
        assert_eq!(told(rows.clone()), [circle, Finding::Behind(tid(3), tid(1))]);
        let more = about_circle(&Picture::of(rows), &[tid(1), tid(2)]).expect("of locks");
        assert_eq!(
            more,
            "  Of locks: rank 0 (t40001) holds lock 1 and wants lock 2; rank 1 (t40002) holds lock 2 and wants lock 1. All must take \
             them in one order."
        );
    }

    #[test]
    fn lock_report_names_holder_and_queue() {
        let mut rows =
            vec![rank(0, None, &[7]), rank(1, Some((LOCK, 7)), &[3, 4, 5]), rank(2, Some((LOCK, 7)), &[])];
        rows[2].waits.as_mut().expect("it waits").for_ms = 9000;
        assert_eq!(
            said(&rows, 1),
            "waits in Tmk_lock_acquire for lock 7, which rank 0 (t40001) holds, behind rank 2 (t40003); holds lock 3; holds lock 4; \
             holds lock 5"
        );
        assert_eq!(told(rows.clone()), [], "the holder computes");
        let picture = Picture::of(rows.clone());
        let holds = holds(&picture, &rows[0]);
        assert_eq!(holds, "; holds lock 7, for which rank 2 (t40003), rank 1 (t40002) wait");
        rows[0].counters[HELD] = 0;
        assert!(said(&rows, 1).contains("lock 7, which is on its way"));
        assert_eq!(told(rows), []);
    }

    #[test]
    fn barrier_report_names_missing_ranks() {
        let mut rows = vec![
            rank(0, Some((BARRIER, 5)), &[1]),
            rank(1, Some((BARRIER, 5)), &[]),
            rank(2, None, &[]),
            rank(3, Some((LOCK, 1)), &[]),
        ];
        let missing = "waits in Tmk_barrier 5: 2 of 4 have come, missing: rank 2 (t40003), rank 3 (t40004); holds lock 1, \
             for which rank 3 (t40004) waits";
        assert_eq!(said(&rows, 0), missing);
        let circle = Finding::Circle(vec![tid(1), tid(4)]);
        assert_eq!(told(rows.clone()), [circle, Finding::Behind(tid(2), tid(4))]);
        let more = about_circle(&Picture::of(rows.clone()), &[tid(1), tid(4)]).expect("a lock is in it");
        assert!(more.contains("release it before a barrier"), "{more}");
        // Another run's rank is none of this one's.
        rows[2].counters[MEMORY_WAY] ^= 1 << 32;
        assert!(said(&rows, 1).starts_with("waits in Tmk_barrier 5: 2 of 3 have come, missing: rank 3"));
        rows[3].waits = None;
        assert_eq!(told(rows), [], "who is missing computes");
    }

    #[test]
    fn locks_of_two_runs_are_separate() {
        let mut rows = vec![rank(0, Some((LOCK, 2)), &[1]), rank(1, Some((LOCK, 1)), &[2])];
        rows[1].counters[MEMORY_WAY] ^= 1 << 32;
        assert_eq!(told(rows.clone()), []);
        rows[0].counters[MEMORY_WAY] ^= 1 << 32;
        assert_eq!(told(rows), [Finding::Circle(vec![tid(1), tid(2)])]);
    }

    #[test]
    fn exit_with_held_lock_is_reported() {
        const EXIT: &str = "exit";
        let rows = vec![rank(0, Some((EXIT, -1)), &[3]), rank(1, Some((LOCK, 3)), &[])];
        assert_eq!(told(rows.clone()), [Finding::Circle(vec![tid(1), tid(2)])]);
        assert!(said(&rows, 0).starts_with("waits in Tmk_exit for the others: 1 of 2 have come, missing: "));
        let mut page = rank(0, Some(("page", 17)), &[]);
        page.waits.as_mut().expect("it waits").tag = 17;
        assert_eq!(said(&[page.clone()], 0), "fetches page 17 of the shared heap");
        assert_eq!(told(vec![page]), [], "others answer whatever they do");
    }
}
