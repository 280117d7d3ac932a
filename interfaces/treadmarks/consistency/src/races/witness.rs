//! The recorded accesses of one node, from one barrier to the next.

use super::Site;
use crate::pages::diff::WORD;
use crate::stamp::Stamp;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The knowledge of a node when it released a lock, and the barriers before and after the release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clock {
    pub(crate) epoch: u32,
    pub(crate) stamp: Stamp,
}

/// Words in a row that were touched alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) word: u64,
    pub(crate) count: u32,
    pub(crate) writes: bool,
    pub(crate) site: u32,
}

/// The accesses between two operations that may order them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment {
    pub(crate) stamp: Stamp,
    pub(crate) held: Vec<u32>,
    pub(crate) runs: Vec<Run>,
}

/// The report of a node at a barrier. Sites are numbered from its first report on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) sites: Vec<Site>,
    pub(crate) segments: Vec<Segment>,
}

/// The places of the first read and the first write of a word in the open segment.
#[derive(Clone, Copy, Default)]
struct Touched {
    read: Option<u32>,
    write: Option<u32>,
}

pub(crate) struct Witness {
    own: usize,
    /// How many barriers there were.
    epoch: u32,
    /// The known segments of each node. The node's own number grows at each release.
    stamp: Stamp,
    held: Vec<u32>,
    open: FxHashMap<u64, Touched>,
    closed: Vec<Segment>,
    /// The locks that were released here, and what was known then.
    released: FxHashMap<u32, Clock>,
    numbers: FxHashMap<Site, u32>,
    /// Sites that no report has named yet.
    new: Vec<Site>,
}

impl Witness {
    pub(crate) fn new(nodes: usize, own: usize) -> Witness {
        let mut witness = Witness {
            own,
            epoch: 0,
            stamp: Stamp::new(nodes),
            held: Vec::new(),
            open: FxHashMap::default(),
            closed: Vec::new(),
            released: FxHashMap::default(),
            numbers: FxHashMap::default(),
            new: Vec::new(),
        };
        witness.stamp[own] = 1;
        witness
    }

    /// The program touches these bytes of the memory.
    pub(crate) fn touches(&mut self, byte: u64, length: u64, writes: bool, site: &Site) {
        let number = match self.numbers.get(site) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(site.clone(), number);
                self.new.push(site.clone());
                number
            }
        };
        let (first, last) = (byte / WORD as u64, (byte + length.max(1) - 1) / WORD as u64);
        for word in first..=last {
            let touched = self.open.entry(word).or_default();
            let place = if writes { &mut touched.write } else { &mut touched.read };
            place.get_or_insert(number);
        }
    }

    /// A lock has come with the clock of the node that released it.
    pub(crate) fn acquired(&mut self, lock: u32, clock: Option<Clock>) {
        self.cut();
        // After a barrier all nodes know everything before it.
        if let Some(clock) = clock.filter(|clock| clock.epoch == self.epoch) {
            for (node, known) in clock.stamp.iter() {
                self.stamp[node] = self.stamp[node].max(known);
            }
        }
        self.held.push(lock);
    }

    pub(crate) fn released(&mut self, lock: u32) {
        self.cut();
        self.held.retain(|&held| held != lock);
        self.released.insert(lock, Clock { epoch: self.epoch, stamp: self.stamp.clone() });
        self.stamp[self.own] += 1;
    }

    /// The clock that travels with a lock.
    pub(crate) fn clock_of(&self, lock: u32) -> Option<Clock> {
        self.released.get(&lock).cloned()
    }

    /// The accesses since the last report.
    pub(crate) fn report(&mut self) -> Report {
        self.cut();
        Report { sites: std::mem::take(&mut self.new), segments: std::mem::take(&mut self.closed) }
    }

    /// All have passed a barrier: what comes is behind all that was.
    pub(crate) fn passed(&mut self) {
        self.epoch += 1;
        self.stamp = Stamp::new(self.stamp.len());
        self.stamp[self.own] = 1;
    }

    /// Ends the open segment.
    fn cut(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let mut touched: Vec<(u64, Touched)> = self.open.drain().collect();
        touched.sort_unstable_by_key(|(word, _)| *word);
        let mut runs = Vec::new();
        for writes in [false, true] {
            let site_of = |touched: &Touched| if writes { touched.write } else { touched.read };
            for (word, site) in touched.iter().filter_map(|(word, one)| Some((*word, site_of(one)?))) {
                match runs.last_mut() {
                    Some(Run { word: first, count, writes: same, site: at })
                        if *same == writes && *at == site && *first + u64::from(*count) == word =>
                    {
                        *count += 1;
                    }
                    _ => runs.push(Run { word, count: 1, writes, site }),
                }
            }
        }
        self.closed.push(Segment { stamp: self.stamp.clone(), held: self.held.clone(), runs });
    }
}
