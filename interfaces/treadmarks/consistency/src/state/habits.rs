//! Habits: a node counts nodes that ask for the same pages again and again.

use crate::message::{Interval, Pushed};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Requests that are rarer than once in this number of barriers or grants of a lock are not a habit.
pub(crate) const SELDOM: u32 = 4;

/// The regularity of a node's requests for a page.
#[derive(Default)]
pub(crate) struct Habit {
    /// When it was last asked for, and how long after the time before.
    pub(crate) last: u32,
    pub(crate) every: u32,
    pub(crate) in_a_row: u32,
    /// When it was last pushed.
    pub(crate) pushed: Option<u32>,
    /// How often it was pushed for nothing: each time it takes four times as long to become a habit again.
    pub(crate) stops: u32,
    /// The last interval of this node whose changes the requesting node has.
    pub(crate) given: u32,
}

impl Habit {
    /// It is asked for, between these two barriers, or after getting the lock so often; `fits`: had it been pushed, that would have
    /// been all.
    pub(crate) fn asked(&mut self, now: u32, fits: bool) {
        if self.pushed == Some(now) || !fits {
            self.stop();
        } else if self.last != now {
            let after = now.saturating_sub(self.last);
            (self.in_a_row, self.every) = match self.last {
                0 => (1, 1),
                _ if after == self.every && self.in_a_row > 1 => (self.in_a_row + 1, after),
                _ if (1..=SELDOM).contains(&after) => (2, after),
                _ => (1, 1),
            };
            self.last = now;
        }
    }

    /// It was of no use.
    pub(crate) fn stop(&mut self) {
        self.stops += u32::from(self.pushed.take().is_some());
        self.in_a_row = 0;
        self.last = 0;
    }

    pub(crate) fn is_settled(&self, after: u32) -> bool {
        self.in_a_row >= after << (2 * self.stops).min(16)
    }

    /// It is settled, and what is changed by now will be asked for.
    pub(crate) fn is_due(&self, now: u32, after: u32) -> bool {
        self.is_settled(after) && now == self.last.saturating_add(self.every)
    }
}

/// The habits that a node has noticed, and the pushes that it got.
#[derive(Default)]
pub(crate) struct Habits {
    /// How many barriers there were.
    pub(crate) epoch: u32,
    /// By page and reader.
    pub(crate) readers: BTreeMap<(u32, usize), Habit>,
    /// The number of barriers of this node, and for the last ones: which barrier, and its last announced interval.
    pub(crate) arrivals: u32,
    pub(crate) told: VecDeque<(u32, u32)>,
    /// Pushes that did not fit the page.
    pub(crate) misfits: Vec<(usize, u32)>,
    /// The pushes that have come, with their barrier and their sender.
    pub(crate) come: Vec<(u32, usize, Vec<Pushed>)>,
    /// Up to date by pushing, and not touched since: who pushed it.
    pub(crate) unused: BTreeMap<u32, Vec<usize>>,
    /// The manager's answer, while letters are still to come.
    pub(crate) leave: Option<Leave>,
}

/// The answer of the manager of barriers.
pub(crate) struct Leave {
    pub(crate) from: usize,
    pub(crate) intervals: Vec<Arc<Interval>>,
    pub(crate) collect: bool,
    pub(crate) pushes: u32,
    pub(crate) moves: Vec<(u32, u32, u32)>,
    pub(crate) carried: Option<Vec<u8>>,
}
