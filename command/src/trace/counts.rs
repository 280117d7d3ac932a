//! What a recording adds up to: who talks to whom, how long messages are and take, the longest waits, and who waits for ever.

use super::story::{Story, Wait};
use parvum_wire::{Tid, calls};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A task that ended so long before another had given up is no help to it.
const LEFT_BEHIND: i64 = 1_000_000_000;
/// So many waits are told of.
const LONGEST: usize = 20;

/// All messages from one task to another.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pair {
    pub messages: u64,
    pub bytes: u64,
    /// Sent, and not received as far as is recorded.
    pub unreceived: u64,
}

/// Who talks to whom.
pub fn pairs(story: &Story) -> BTreeMap<(Tid, Tid), Pair> {
    let forgetful: BTreeSet<Tid> = story.tasks.iter().filter(|t| t.dropped > 0).map(|t| t.tid).collect();
    let mut pairs: BTreeMap<(Tid, Tid), Pair> = BTreeMap::new();
    for message in &story.messages {
        let pair = pairs.entry((message.from, message.to)).or_default();
        pair.messages += 1;
        pair.bytes += message.length;
        // What a full recording forgot may have been received.
        pair.unreceived += u64::from(message.received.is_none() && !forgetful.contains(&message.to));
    }
    pairs
}

/// How many values lie from each power of two up to the next; 0 stands for 0 alone, and the lists have no gaps.
pub fn by_powers(values: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut bins: BTreeMap<u32, u64> = BTreeMap::new();
    values.for_each(|value| *bins.entry(u64::BITS - value.leading_zeros()).or_default() += 1);
    let (Some(first), Some(last)) = (bins.keys().next().copied(), bins.keys().last().copied()) else {
        return Vec::new();
    };
    let least = |bin: u32| if bin == 0 { 0 } else { 1 << (bin - 1) };
    (first..=last).map(|bin| (least(bin), bins.get(&bin).copied().unwrap_or(0))).collect()
}

/// The lengths of all messages.
pub fn lengths(story: &Story) -> Vec<(u64, u64)> {
    by_powers(story.messages.iter().map(|message| message.length))
}

/// From sending to receiving, in nanoseconds; what clocks show the wrong way round counts as 0.
pub fn latencies(story: &Story) -> Vec<(u64, u64)> {
    let took = story.messages.iter().filter_map(|m| Some(m.received?.at - m.sent?.at));
    by_powers(took.map(|ns| ns.max(0) as u64))
}

/// The longest waits, the longest first, with the places of their tasks.
pub fn longest_waits(story: &Story) -> Vec<(usize, &Wait)> {
    let mut waits: Vec<(usize, &Wait)> = Vec::new();
    for (place, task) in story.tasks.iter().enumerate() {
        waits.extend(task.waits.iter().map(|wait| (place, wait)));
    }
    waits.sort_by_key(|(place, wait)| (wait.from - wait.to, *place, wait.from));
    waits.truncate(LONGEST);
    waits
}

/// Tags that are the numbers of a task's containers: receivers, and those who called them, waited for them by a call of containers.
pub fn containers(story: &Story) -> BTreeSet<(Tid, i32)> {
    let mut found = BTreeSet::new();
    for task in &story.tasks {
        for wait in &task.waits {
            match story.mark(wait) {
                "own-container" if wait.tag >= 0 => found.insert((task.tid, wait.tag)),
                "container-of-peer" if wait.peer > 0 => found.insert((Tid(wait.peer), wait.tag)),
                _ => false,
            };
        }
    }
    found
}

/// The tasks that waited to their end for what nobody was left to send. A task that lived on and did not wait might have sent it, so
/// might one that is not recorded; then nothing is said.
pub fn stuck(story: &Story) -> Vec<usize> {
    let place: HashMap<Tid, usize> = story.tasks.iter().enumerate().map(|(at, t)| (t.tid, at)).collect();
    let last: Vec<Option<&Wait>> =
        story.tasks.iter().map(|task| task.waits.last().filter(|w| w.is_cut)).collect();
    let waits_for_a_message =
        |wait: &&Wait| matches!(calls::kind(wait.kind.into()), "receive" | "wait" | "barrier");
    let mut stuck: BTreeSet<usize> =
        (0..story.tasks.len()).filter(|at| last[*at].filter(waits_for_a_message).is_some()).collect();
    loop {
        let helps = |at: usize, other: usize| {
            other != at
                && !stuck.contains(&other)
                && story.tasks[other].ended > story.tasks[at].ended - LEFT_BEHIND
        };
        let rescued: Vec<usize> = stuck
            .iter()
            .copied()
            .filter(|at| {
                let wait = last[*at].expect("the stuck wait");
                match place.get(&Tid(wait.peer)) {
                    Some(peer) => helps(*at, *peer),
                    // From somebody who is not recorded.
                    None if wait.peer > 0 => true,
                    None => (0..story.tasks.len()).any(|other| helps(*at, other)),
                }
            })
            .collect();
        if rescued.is_empty() {
            return stuck.into_iter().collect();
        }
        rescued.iter().for_each(|at| _ = stuck.remove(at));
    }
}

/// What is to be said of those.
pub fn deadlock(story: &Story) -> Option<String> {
    let stuck = stuck(story);
    let who = |at: &usize| {
        let task = &story.tasks[*at];
        let wait = task.waits.last().expect("it waits");
        let whom = if wait.peer > 0 { format!(" for {}", Tid(wait.peer)) } else { String::new() };
        format!("{} waits{whom} in {}", task.tid, story.call(wait))
    };
    let named: Vec<String> = stuck.iter().take(4).map(who).collect();
    let more = if stuck.len() > named.len() {
        format!(", and {} more", stuck.len() - named.len())
    } else {
        String::new()
    };
    let all = if stuck.len() == story.tasks.len() { "every task" } else { "these tasks" };
    (!stuck.is_empty()).then(|| {
        format!(
            "Deadlock: at the end {all} waited for a message that nobody was left to send: {}{more}.",
            named.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::story::tests::example;
    use super::*;
    use parvum_wire::calls::{Sort, Word};

    #[test]
    fn pairs_count_messages_bytes_and_unreceived() {
        let found: Vec<_> = pairs(&example()).into_iter().map(|((a, b), pair)| (a.0, b.0, pair)).collect();
        let pair = |messages, bytes, unreceived| Pair { messages, bytes, unreceived };
        assert_eq!(
            found,
            [
                (0x40001, 0x80001, pair(2, 200, 1)),
                (0x40001, 0x80002, pair(1, 100, 0)),
                (0x80001, 0x40001, pair(1, 100, 0)),
            ]
        );
    }

    #[test]
    fn histogram_counts_by_powers_of_two() {
        assert_eq!(by_powers([0, 1, 2, 3, 9].into_iter()), [(0, 1), (1, 1), (2, 2), (4, 0), (8, 1)]);
        assert_eq!(by_powers([u64::MAX].into_iter()), [(1 << 63, 1)]);
        assert_eq!(by_powers([].into_iter()), []);
        assert_eq!(lengths(&example()), [(64, 4)]);
        // 30 ns and 10 ns; of two messages one end is missing.
        assert_eq!(latencies(&example()), [(8, 1), (16, 1)]);
    }

    #[test]
    fn longest_waits_are_sorted_by_length() {
        let story = example();
        let found: Vec<_> = longest_waits(&story).iter().map(|(task, w)| (*task, w.to - w.from)).collect();
        assert_eq!(found, [(0, 31), (1, 26), (1, 20)]);
    }

    #[test]
    fn deadlock_is_reported_only_when_no_task_can_help() {
        let mut story = example();
        // The first task ended well and the third still lives: they might have sent.
        assert_eq!(deadlock(&story), None);
        story.tasks[1].ended = 5_000_000_000;
        let said = deadlock(&story).expect("all others are gone for long");
        assert!(
            said.starts_with("Deadlock: at the end these tasks") && said.contains("t80001 waits in receive"),
            "{said}"
        );
        // A circle of two, though a third task computes.
        let wait = |peer| Wait { from: 95, to: 100, kind: 1, word: None, peer, tag: 7, is_cut: true };
        story.tasks[0].waits.push(wait(0x80001));
        story.tasks[1].waits.push(wait(0x40001));
        story.tasks[0].ended = 5_000_000_000;
        story.tasks[2].ended = 5_000_000_000;
        assert_eq!(stuck(&story), [0, 1]);
        // Somebody who is not recorded may send.
        story.tasks[1].waits.last_mut().expect("one").peer = 0x40077;
        assert!(stuck(&story).is_empty());
    }

    #[test]
    fn containers_are_found_by_waits_for_them() {
        let mut story = example();
        assert!(containers(&story).is_empty());
        let mark = "container-of-peer".to_owned();
        story.words.push(Word { sort: Sort::Call, mark, name: "rpc call".to_owned() });
        story.tasks[0].waits.push(Wait {
            from: 95,
            to: 100,
            kind: 1,
            word: Some(story.words.len() - 1),
            peer: 0x80001,
            tag: 3,
            is_cut: false,
        });
        assert_eq!(containers(&story).into_iter().collect::<Vec<_>>(), [(Tid(0x80001), 3)]);
    }
}
