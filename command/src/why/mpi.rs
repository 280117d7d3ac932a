//! The words of MPI: functions, ranks and communicators; and what the members of a communicator do that can never fit together.
//!
//! Nothing is said but what pages said: two ranks are called at odds only when both wait in the same place among the collective
//! operations of one communicator, in different functions or with arguments that must be the same.

use super::graph::Picture;
use crate::look::algorithms;
use parvum_collectives::table::{self, Case, Operation};
use parvum_wire::Tid;
use parvum_wire::control::{OperationRow, TaskRow, Waits};
use std::collections::{BTreeMap, BTreeSet};

/// Contexts: of `MPI_COMM_WORLD` and `MPI_COMM_SELF`, and the bit of those that the machine numbers.
const WORLD: u32 = 0x7d69_0000;
const SELF: u32 = 0x7d69_0002;
const MADE: u32 = 1 << 31;
/// There is no number of bytes.
const NO_BYTES: u64 = u64::MAX;

/// The function of MPI that a task waits in.
fn function(waits: &Waits) -> Option<&str> {
    waits.function().filter(|_| waits.interface == "MPI")
}

/// A task: by its rank, if it is of a run of MPI.
pub fn who(picture: &Picture, tid: Tid) -> String {
    let row = picture.task(tid);
    let is_mpi = row.and_then(|row| row.waits.as_ref()).is_some_and(|waits| waits.interface == "MPI");
    match row.and_then(|row| row.rank).filter(|_| is_mpi) {
        Some(rank) => format!("rank {rank} ({tid})"),
        None => tid.to_string(),
    }
}

/// A communicator: by its name, or by its number among those that were made.
fn communicator(context: u32, name: &str) -> String {
    // Its collective operations have the next context.
    match context & !1 {
        _ if !name.is_empty() => name.to_owned(),
        WORLD => "MPI_COMM_WORLD".to_owned(),
        SELF => "MPI_COMM_SELF".to_owned(),
        made if made & MADE != 0 => format!("communicator {}", (made & !MADE) >> 1),
        other => format!("context {other:#x}"),
    }
}

/// What is in brackets behind a function: root and bytes, where there are any.
fn arguments(does: &OperationRow) -> String {
    let mut all = Vec::new();
    if does.root >= 0 {
        all.push(format!("root {}", does.root));
    }
    if does.bytes != NO_BYTES {
        all.push(format!("{} bytes", does.bytes));
    }
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}

/// The algorithm of a blocking collective, by the table that MPI's library uses. The choice depends on the length and on all members: the
/// answer is `None` if tasks publish no length, or if the members are a part of the run.
fn algorithm(picture: &Picture, function: &str, does: &OperationRow) -> Option<&'static str> {
    let operation = algorithms::operation(function).ok()?;
    let bytes = match operation {
        Operation::Barrier => 0,
        _ => usize::try_from(does.bytes).ok().filter(|_| does.bytes != NO_BYTES)?,
    };
    let members: Vec<Tid> = picture.tasks().filter(|row| row.rank.is_some()).map(|row| row.tid).collect();
    let hosts: BTreeSet<u32> = members.iter().map(|tid| tid.host()).collect();
    if members.len() != does.size as usize || hosts.len() != 1 {
        return None;
    }
    let case = match does.turn >= table::OPERATIONS_BEFORE_SEGMENT as i32 {
        true => Case::in_segment(members.len(), bytes),
        false => Case::new(members.len(), bytes),
    };
    Some(table::choose(operation, &case).name())
}

/// What a task does in a function of MPI.
pub fn doing(picture: &Picture, waits: &Waits) -> Option<String> {
    let function = function(waits)?;
    let peer = match Tid(waits.peer).is_task() {
        true => who(picture, Tid(waits.peer)),
        false => "anyone".to_owned(),
    };
    let tag = if waits.tag < 0 { "any tag".to_owned() } else { format!("tag {}", waits.tag) };
    let on = |name: &str| match waits.context {
        -1 => String::new(),
        context => format!(" on {}", communicator(context as u32, name)),
    };
    Some(match (&waits.operation, waits.kind_name()) {
        (Some(does), _) if does.turn >= 0 => {
            let algorithm =
                algorithm(picture, function, does).map_or_else(String::new, |name| format!(" by {name}"));
            format!(
                "is in {function}{}{}{algorithm}, waits there for {peer}",
                on(&does.name),
                arguments(does)
            )
        }
        (Some(does), "send") => format!(
            "is in {function}{}{}: {peer} has not received it, {tag}",
            on(&does.name),
            arguments(does)
        ),
        (_, "receive" | "probe") => {
            format!("is in {function}{}, waits for a message from {peer}, {tag}", on(""))
        }
        (_, "send") => format!("is in {function}{}: {peer} has much that it has not received", on("")),
        (_, "machine") => format!("is in {function}"),
        _ => format!("is in {function}{}, waits for {peer}", on("")),
    })
}

/// Why a circle of sends is one, and what helps.
pub fn about_circle(picture: &Picture, circle: &[Tid]) -> Option<String> {
    let sends = |tid: &Tid| {
        let waits = picture.task(*tid).and_then(|row| row.waits.as_ref());
        waits.is_some_and(|waits| {
            function(waits).is_some()
                && waits.kind_name() == "send"
                && waits.operation.as_ref().is_some_and(|it| it.turn < 0)
        })
    };
    (circle.len() > 1 && circle.iter().all(sends)).then(|| {
        "  Each of them sends, and waits until that is received: one must receive first, or all use MPI_Sendrecv or MPI_Isend."
            .to_owned()
    })
}

/// A place among the operations of a communicator: its context, whose run it is of, and which operation.
type CollectivePlace = (u32, Option<Tid>, i32);

/// A rank in one place of a communicator's operations.
struct Member<'p> {
    tid: Tid,
    function: &'p str,
    does: &'p OperationRow,
}

/// What tasks that do not move do on one communicator that can never fit together: who they are, and a sentence.
pub fn at_odds(picture: &Picture, stuck: &BTreeSet<Tid>) -> Vec<(BTreeSet<Tid>, String)> {
    let mut places: BTreeMap<CollectivePlace, Vec<Member>> = BTreeMap::new();
    for row in picture.tasks().filter(|row| stuck.contains(&row.tid)) {
        if let Some((place, member)) = place_of(row) {
            places.entry(place).or_default().push(member);
        }
    }
    let begun = begun_against_blocking(picture, stuck);
    begun
        .into_iter()
        .chain(places.into_iter().filter_map(|((context, ..), members)| odds(context, members)))
        .collect()
}

/// Communicators of which some ranks wait for an operation that they have begun, and all others are in a blocking one. The two never
/// meet, whatever they are called; who had begun the same would move it on from within the blocking one.
fn begun_against_blocking(picture: &Picture, stuck: &BTreeSet<Tid>) -> Vec<(BTreeSet<Tid>, String)> {
    type Sides<'p> = (Vec<&'p TaskRow>, Vec<(&'p TaskRow, Member<'p>)>);
    let mut comms: BTreeMap<(u32, Option<Tid>), Sides> = BTreeMap::new();
    for row in picture.tasks().filter(|row| stuck.contains(&row.tid)) {
        let Some(waits) = row.waits.as_ref().filter(|waits| !waits.ends) else { continue };
        let context = waits.context as u32;
        let of = if context & MADE == 0 { row.parent } else { None };
        let sides = comms.entry((context, of)).or_default();
        match place_of(row) {
            Some((_, member)) => sides.1.push((row, member)),
            // The context of operations of a group is the one after that of messages.
            None if context & 1 == 1 && function(waits).is_some_and(|name| name.starts_with("MPI_Wait")) => {
                sides.0.push(row);
            }
            None => {}
        }
    }
    comms.into_iter().filter_map(|((context, _), sides)| said_of_begun(context, sides.0, sides.1)).collect()
}

fn said_of_begun(
    context: u32,
    begun: Vec<&TaskRow>,
    blocking: Vec<(&TaskRow, Member)>,
) -> Option<(BTreeSet<Tid>, String)> {
    let (_, first) = blocking.first()?;
    if begun.is_empty() || begun.len() + blocking.len() != first.does.size as usize {
        return None;
    }
    let ranks = |rows: &mut dyn Iterator<Item = &TaskRow>| -> Option<Vec<u32>> {
        let mut ranks = rows.map(|row| row.rank).collect::<Option<Vec<u32>>>()?;
        ranks.sort_unstable();
        Some(ranks)
    };
    let waiting = ranks(&mut begun.iter().copied())?;
    let names: BTreeSet<&str> = blocking.iter().map(|(_, member)| member.function).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let others = ranks(&mut blocking.iter().map(|(row, _)| *row))?;
    let verb = if waiting.len() == 1 { "waits" } else { "wait" };
    let said = format!(
        "on {} {} {verb} for an operation of the group that was begun, {} in {names}: the two can never meet. All ranks must begin it, \
         or all must call the blocking one.",
        communicator(context, &first.does.name),
        listed(&waiting),
        are(&others),
    );
    let tids = begun.iter().map(|row| row.tid).chain(blocking.iter().map(|(row, _)| row.tid)).collect();
    Some((tids, said))
}

fn place_of(row: &TaskRow) -> Option<(CollectivePlace, Member<'_>)> {
    let waits = row.waits.as_ref().filter(|waits| !waits.ends)?;
    let does = waits.operation.as_ref().filter(|does| does.turn >= 0)?;
    let context = waits.context as u32;
    // Contexts that were made are the machine's only ones; each run has a world of its own.
    let of = if context & MADE == 0 { row.parent } else { None };
    Some(((context, of, does.turn), Member { tid: row.tid, function: function(waits)?, does }))
}

/// What is wrong in one place; nothing where all may yet meet.
fn odds(context: u32, members: Vec<Member>) -> Option<(BTreeSet<Tid>, String)> {
    let ranks: BTreeSet<u32> = members.iter().map(|member| member.does.rank).collect();
    let sizes: BTreeSet<u32> = members.iter().map(|member| member.does.size).collect();
    // Two of one rank, or of different sizes, are of two communicators.
    if ranks.len() != members.len() || sizes.len() != 1 {
        return None;
    }
    let name = members.iter().map(|member| member.does.name.as_str()).find(|name| !name.is_empty());
    let on = communicator(context, name.unwrap_or_default());
    let by_function = grouped(&members, |member| member.function.to_owned());
    let said = if by_function.len() > 1 {
        let sides = grouped(&members, |member| format!("{}{}", member.function, arguments(member.does)));
        let sides: Vec<String> =
            sides.iter().map(|(what, ranks)| format!("{} in {what}", are(ranks))).collect();
        format!("on {on} {}: these can never meet", sides.join(", "))
    } else {
        let function = members.first()?.function;
        let differ = |what: &str, say: &dyn Fn(&Member) -> String| {
            let sides = grouped(&members, say);
            let named: Vec<String> =
                sides.iter().map(|(value, ranks)| format!("{} {value}", have(ranks))).collect();
            (sides.len() > 1).then(|| {
                format!(
                    "in {function} on {on} {}: the {what} must be the same on all ranks",
                    named.join(", ")
                )
            })
        };
        let counted = members.iter().all(|member| member.does.bytes != NO_BYTES);
        differ("root", &|member| format!("root {}", member.does.root)).or_else(|| {
            counted.then(|| differ("length", &|member| format!("{} bytes", member.does.bytes))).flatten()
        })?
    };
    let turn = members.first()?.does.turn + 1;
    let tids = members.iter().map(|member| member.tid).collect();
    Some((tids, format!("{said} (operation {turn} of the communicator).")))
}

/// The ranks that say the same, the fewest first.
fn grouped(members: &[Member], say: impl Fn(&Member) -> String) -> Vec<(String, Vec<u32>)> {
    let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for member in members {
        groups.entry(say(member)).or_default().push(member.does.rank);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.iter_mut().for_each(|(_, ranks)| ranks.sort_unstable());
    groups.sort_by_key(|(_, ranks)| (ranks.len(), ranks[0]));
    groups
}

fn are(ranks: &[u32]) -> String {
    let verb = if ranks.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", listed(ranks))
}

fn have(ranks: &[u32]) -> String {
    let verb = if ranks.len() == 1 { "has" } else { "have" };
    format!("{} {verb}", listed(ranks))
}

/// Ranks in words; those in a row as one.
fn listed(ranks: &[u32]) -> String {
    let mut rows: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match rows.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => rows.push((rank, rank)),
        }
    }
    let rows: Vec<String> = rows
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, rows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::graph::tests::{self, tid};
    use parvum_wire::calls::Sort;

    const WAIT: u32 = 4;

    /// A rank of a world of four in a function, at the root's call in one place of its operations.
    fn rank(rank: u32, name: &str, turn: i32, root: i32, bytes: u64) -> TaskRow {
        let mut row = tests::row(rank + 1, Some((WAIT, tid((rank + 1) % 4 + 1).0, 7)));
        (row.rank, row.parent) = (Some(rank), Some(tid(9)));
        let waits = row.waits.as_mut().expect("it waits");
        (waits.interface, waits.context) = ("MPI".into(), WORLD as i32 + 1);
        waits.word = Some(tests::word(Sort::Function, "", name));
        let name = "MPI_COMM_WORLD".into();
        waits.operation = Some(OperationRow { name, rank, size: 4, root, turn, bytes });
        row
    }

    fn told(rows: Vec<TaskRow>) -> Vec<String> {
        let all = rows.iter().map(|row| row.tid).collect();
        at_odds(&Picture::of(rows), &all).into_iter().map(|(_, said)| said).collect()
    }

    #[test]
    fn collective_mismatch_is_reported_with_ranks() {
        let barrier = |number| rank(number, "MPI_Barrier", 4, -1, NO_BYTES);
        let rows = vec![barrier(0), barrier(1), barrier(2), rank(3, "MPI_Bcast", 4, 0, 400)];
        let said = "on MPI_COMM_WORLD rank 3 is in MPI_Bcast (root 0, 400 bytes), ranks 0-2 are in MPI_Barrier: these can never \
                    meet (operation 5 of the communicator).";
        assert_eq!(told(rows), [said]);
    }

    #[test]
    fn nonblocking_collective_never_matches_blocking_one() {
        let begun = |number| {
            let mut row = rank(number, "MPI_Wait", -1, -1, NO_BYTES);
            row.waits.as_mut().expect("it waits").operation = None;
            row
        };
        let barrier = |number| rank(number, "MPI_Barrier", 4, -1, NO_BYTES);
        let said = "on MPI_COMM_WORLD rank 3 waits for an operation of the group that was begun, ranks 0-2 are in MPI_Barrier: the two \
                    can never meet. All ranks must begin it, or all must call the blocking one.";
        assert_eq!(told(vec![barrier(0), barrier(1), barrier(2), begun(3)]), [said]);
        assert!(told(vec![barrier(0), barrier(1), begun(3)]).is_empty(), "rank 2 may yet come");
        let mut message = begun(3);
        message.waits.as_mut().expect("it waits").context = WORLD as i32;
        assert!(told(vec![barrier(0), barrier(1), barrier(2), message]).is_empty(), "it waits for a message");
    }

    #[test]
    fn rank_that_is_behind_is_not_a_mismatch() {
        assert!(
            told(vec![rank(0, "MPI_Barrier", 5, -1, NO_BYTES), rank(1, "MPI_Bcast", 4, 0, 8)]).is_empty()
        );
        let (one, mut other) = (rank(0, "MPI_Barrier", 4, -1, NO_BYTES), rank(1, "MPI_Bcast", 4, 0, 8));
        other.parent = Some(tid(8));
        assert!(told(vec![one.clone(), other]).is_empty(), "of another run");
        let mut twice = rank(1, "MPI_Bcast", 4, 0, 8);
        twice.waits.as_mut().and_then(|it| it.operation.as_mut()).expect("it says").rank = 0;
        assert!(told(vec![one.clone(), twice]).is_empty(), "two worlds");
        let mut ends = rank(1, "MPI_Bcast", 4, 0, 8);
        ends.waits.as_mut().expect("it waits").ends = true;
        assert!(told(vec![one, ends]).is_empty(), "it gives up");
    }

    #[test]
    fn mismatched_roots_or_lengths_are_reported() {
        let said = told(vec![rank(0, "MPI_Reduce", 0, 0, 8), rank(1, "MPI_Reduce", 0, 1, 8)]);
        assert!(said[0].contains("rank 0 has root 0, rank 1 has root 1: the root must be"), "{said:?}");
        let said = told(vec![rank(0, "MPI_Allreduce", 0, -1, 8), rank(1, "MPI_Allreduce", 0, -1, 16)]);
        assert!(said[0].contains("rank 0 has 8 bytes, rank 1 has 16 bytes: the length must be"), "{said:?}");
        let unlike = vec![rank(0, "MPI_Gather", 0, 1, NO_BYTES), rank(2, "MPI_Gather", 0, 1, NO_BYTES)];
        assert!(told(unlike).is_empty());
    }

    #[test]
    fn collective_prints_with_its_algorithm() {
        let said = |turn, bytes| {
            let rows: Vec<TaskRow> = (0..4).map(|number| rank(number, "MPI_Bcast", turn, 0, bytes)).collect();
            doing(&Picture::of(rows.clone()), rows[1].waits.as_ref().expect("it waits")).expect("MPI")
        };
        assert!(
            said(8, 65_536).contains("(root 0, 65536 bytes) by shared segment, waits there"),
            "{}",
            said(8, 65_536)
        );
        assert!(
            said(7, 65_536).contains(" by binomial tree,"),
            "the segment is not open yet: {}",
            said(7, 65_536)
        );
        assert!(said(8, 8).contains(" by broadcast ring,"), "{}", said(8, 8));
        let three: Vec<TaskRow> = (0..3).map(|number| rank(number, "MPI_Bcast", 9, 0, 8)).collect();
        let text =
            doing(&Picture::of(three.clone()), three[1].waits.as_ref().expect("it waits")).expect("MPI");
        assert!(!text.contains(" by "), "one of four members is not known: {text}");
    }

    #[test]
    fn mutual_sends_print_remedy() {
        let mut rows = [rank(0, "MPI_Ssend", -1, -1, 8), rank(1, "MPI_Ssend", -1, -1, 8)];
        for row in &mut rows {
            let waits = row.waits.as_mut().expect("it waits");
            (waits.kind, waits.context) = (2, WORLD as i32);
        }
        let doing = doing(&Picture::of(rows.to_vec()), rows[0].waits.as_ref().expect("it waits"));
        assert_eq!(
            doing.as_deref(),
            Some("is in MPI_Ssend on MPI_COMM_WORLD (8 bytes): rank 1 (t40002) has not received it, tag 7")
        );
        let picture = Picture::of(rows.to_vec());
        assert!(about_circle(&picture, &[tid(1), tid(2)]).is_some());
        rows[1].waits.as_mut().expect("it waits").kind = 1;
        assert!(about_circle(&Picture::of(rows.to_vec()), &[tid(1), tid(2)]).is_none());
    }

    #[test]
    fn communicator_prints_name_or_number() {
        assert_eq!(communicator(WORLD + 1, ""), "MPI_COMM_WORLD");
        assert_eq!(communicator(MADE | 6 << 1 | 1, ""), "communicator 6");
        assert_eq!(communicator(MADE | 6 << 1, "rows"), "rows");
        assert_eq!(listed(&[0, 1, 2, 5, 7]), "ranks 0-2, 5, 7");
    }
}
