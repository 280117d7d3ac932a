//! Compares what all nodes have noted between two barriers.

use super::Site;
use super::witness::{Report, Run, Segment};
use crate::stamp::Stamp;
use rustc_hash::FxHashMap;

/// One of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Whose it is.
    pub node: usize,
    /// Whether it writes.
    pub writes: bool,
    /// Where in the program.
    pub site: Site,
    /// The locks that the node held.
    pub held: Vec<u32>,
}

/// Two accesses to one word that nothing orders, one of them a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// Which word of the memory.
    pub word: u64,
    /// The two accesses, in the order of nodes.
    pub sides: [Side; 2],
    /// The barrier before both accesses; `None` before the first barrier.
    pub after: Option<u32>,
    /// The one behind both; none at the end of the run.
    pub before: Option<u32>,
    /// How many barriers there had been.
    pub turn: u64,
}

/// A race by its two places, whichever node was at which.
type Kind = [(Site, bool); 2];

/// The manager's part.
#[derive(Default)]
pub(crate) struct Finder {
    /// For each node, the sites that it has named.
    sites: Vec<Vec<Site>>,
    /// How often each race was seen: with each word and each pair of nodes once between two barriers.
    kinds: FxHashMap<Kind, u64>,
    found: Vec<Race>,
    last: Option<u32>,
    turn: u64,
    /// The reports for the end of the run.
    pub(crate) ending: Vec<Option<Report>>,
}

/// An access as it is compared.
#[derive(Clone, Copy)]
struct Event {
    word: u64,
    node: u32,
    segment: u32,
    writes: bool,
    site: u32,
}

impl Finder {
    /// Compares the reports of all nodes, in order; `false`: a report is invalid. The reports end at a barrier, or with
    /// the run. The last argument is the number of words of the memory.
    pub(crate) fn compare(&mut self, reports: Vec<Report>, barrier: Option<u32>, words: u64) -> bool {
        let nodes = reports.len();
        self.sites.resize_with(nodes, Vec::new);
        let mut segments: Vec<Vec<Segment>> = Vec::new();
        for (node, report) in reports.into_iter().enumerate() {
            self.sites[node].extend(report.sites);
            segments.push(report.segments);
        }
        let sound = |(node, list): (usize, &Vec<Segment>)| {
            let known = self.sites[node].len();
            list.iter().all(|segment| {
                let in_memory =
                    |run: &Run| run.word.checked_add(run.count.into()).is_some_and(|end| end <= words);
                let sound = |run: &Run| (run.site as usize) < known && in_memory(run);
                segment.stamp.len() == nodes && segment.runs.iter().all(sound)
            })
        };
        if !segments.iter().enumerate().all(sound) {
            return false;
        }
        let events = shared_events(&segments);
        for of_word in events.chunk_by(|one, other| one.word == other.word) {
            if of_word.iter().any(|event| event.writes) {
                self.look_at(of_word, &segments, barrier);
            }
        }
        self.last = barrier;
        self.turn += 1;
        true
    }

    /// Compares the accesses to one word, which are in the order of nodes, and of each in its own.
    fn look_at(&mut self, events: &[Event], segments: &[Vec<Segment>], barrier: Option<u32>) {
        let lists: Vec<&[Event]> = events.chunk_by(|one, other| one.node == other.node).collect();
        let stamp = |event: &Event| &segments[event.node as usize][event.segment as usize].stamp;
        for (at, ones) in lists.iter().enumerate() {
            for others in &lists[at + 1..] {
                let (one_node, other_node) = (ones[0].node as usize, others[0].node as usize);
                let mut seen: Vec<(u32, bool, u32, bool)> = Vec::new();
                for other in *others {
                    let its: &Stamp = stamp(other);
                    // This access knows the first accesses of the other node, and the last accesses know this one. The
                    // accesses in between are concurrent with it.
                    let first = ones.partition_point(|one| stamp(one)[one_node] <= its[one_node]);
                    let end = ones.partition_point(|one| stamp(one)[other_node] < its[other_node]);
                    for one in ones.get(first..end).unwrap_or_default() {
                        let key = (one.site, one.writes, other.site, other.writes);
                        if !(one.writes || other.writes) || seen.contains(&key) {
                            continue;
                        }
                        seen.push(key);
                        let sides = [one, other].map(|event| self.side(event, segments));
                        self.note(events[0].word, sides, barrier);
                    }
                }
            }
        }
    }

    fn side(&self, event: &Event, segments: &[Vec<Segment>]) -> Side {
        let node = event.node as usize;
        Side {
            node,
            writes: event.writes,
            site: self.sites[node][event.site as usize].clone(),
            held: segments[node][event.segment as usize].held.clone(),
        }
    }

    fn note(&mut self, word: u64, sides: [Side; 2], before: Option<u32>) {
        let place = |side: &Side| (side.site.clone(), side.writes);
        let order =
            |(site, writes): &(Site, bool)| (site.file.clone(), site.offset, site.caller.clone(), *writes);
        let mut kind = [place(&sides[0]), place(&sides[1])];
        kind.sort_by_key(order);
        let times = self.kinds.entry(kind).or_default();
        *times += 1;
        if *times == 1 {
            self.found.push(Race { word, sides, after: self.last, before, turn: self.turn });
        }
    }

    /// The races found since the last call; each pair of places is reported once.
    pub(crate) fn take(&mut self) -> Vec<Race> {
        std::mem::take(&mut self.found)
    }

    /// How many pairs of places there are, and how often they were seen.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.kinds.len() as u64, self.kinds.values().sum())
    }
}

/// The accesses to words that several nodes have touched, by word, node and segment.
fn shared_events(segments: &[Vec<Segment>]) -> Vec<Event> {
    let mut events = Vec::new();
    for (node, list) in segments.iter().enumerate() {
        for (number, segment) in list.iter().enumerate() {
            for run in &segment.runs {
                for word in run.word..run.word + u64::from(run.count) {
                    events.push(Event {
                        word,
                        node: node as u32,
                        segment: number as u32,
                        writes: run.writes,
                        site: run.site,
                    });
                }
            }
        }
    }
    events.sort_by_key(|event| (event.word, event.node, event.segment));
    let mut shared = Vec::new();
    for of_word in events.chunk_by(|one, other| one.word == other.word) {
        if of_word[0].node != of_word[of_word.len() - 1].node {
            shared.extend_from_slice(of_word);
        }
    }
    shared
}
