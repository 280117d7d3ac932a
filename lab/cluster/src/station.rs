//! One node: its processor, what it waits for, and its part of the shared memory.

use crate::pages::Pages;
use crate::world::Step;
use parvum_consistency::{Counts, Node};
use std::collections::VecDeque;

/// What a processor takes for the work of sharing and sending, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// To send a message, and to take one in: system calls and protocols.
    pub message: f64,
    /// For each byte of it, copied once.
    pub byte: f64,
    /// A fault: the signal, and the protection of the page.
    pub fault: f64,
    /// A twin of a page.
    pub twin: f64,
    /// A diff made, which compares a page.
    pub diff: f64,
    /// A diff put into a page, for each byte that it has.
    pub apply: f64,
}

/// A Pentium III of 800 MHz with Linux 2.4, by what the literature of the time says of such: a round trip of a small UDP message of
/// about 200 us, 20 us for a signal and its return, memory that copies 200 MB/s.
pub const PENTIUM: Costs =
    Costs { message: 30e-6, byte: 5e-9, fault: 25e-6, twin: 20e-6, diff: 35e-6, apply: 6e-9 };

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// It will go on at a time that is known.
    Runs,
    /// It waits for others to answer; then it takes this step again, if there is one.
    Waits(Option<Step>),
    /// It waits for a message.
    Listens,
    /// Its program is over.
    Ended,
}

pub(crate) struct Station {
    pub(crate) node: Node,
    pub(crate) pages: Pages,
    pub(crate) state: State,
    /// What its program is to do when it goes on.
    pub(crate) next: Option<Step>,
    /// Messages that nobody has received yet: from whom.
    pub(crate) mail: VecDeque<usize>,
    /// Until when it serves others.
    pub(crate) serves: f64,
    /// So long others have kept its program from going on since that was planned.
    pub(crate) stolen: f64,
}

impl Station {
    pub(crate) fn new(node: Node) -> Station {
        let pages = Pages::new(node.untouched());
        Station {
            node,
            pages,
            state: State::Runs,
            next: None,
            mail: VecDeque::new(),
            serves: 0.0,
            stolen: 0.0,
        }
    }
}

impl Costs {
    /// What the protocol's work has taken that lies between these counts.
    pub(crate) fn between(&self, before: Counts, after: Counts) -> f64 {
        let more = |of: fn(&Counts) -> u64| (of(&after) - of(&before)) as f64;
        more(|counts| counts.twins) * self.twin
            + more(|counts| counts.diffs_made) * self.diff
            + more(|counts| counts.diffs_applied) * self.apply * 1024.0
    }
}
