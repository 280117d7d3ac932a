//! A medium that all hosts share: one message at a time, and hosts that have some take turns, as stations of a token ring do.

use super::What;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

/// A message that wants the medium.
#[derive(Clone, Copy)]
pub(super) struct OnMedium {
    /// How long it has it, in nanoseconds.
    pub time: f64,
    /// How much later it comes.
    pub latency: f64,
    /// What happens then.
    pub arrives: What,
}

#[derive(Default)]
pub(super) struct Medium {
    /// By host, its own in the order in which they were sent; hosts without any are not in it.
    waiting: BTreeMap<usize, VecDeque<OnMedium>>,
    /// Which host had it last.
    last: usize,
    busy: bool,
}

impl Medium {
    /// A host has another message.
    pub fn wait(&mut self, host: usize, message: OnMedium) {
        self.waiting.entry(host).or_default().push_back(message);
    }

    /// What has it from now on, if it is free and somebody waits: the first of the next host after that which had it last.
    pub fn begin(&mut self) -> Option<OnMedium> {
        if self.busy {
            return None;
        }
        let after = self.waiting.range((Excluded(self.last), Unbounded)).next();
        let host = *after.or_else(|| self.waiting.iter().next())?.0;
        let own = self.waiting.get_mut(&host)?;
        let next = own.pop_front();
        if own.is_empty() {
            self.waiting.remove(&host);
        }
        self.last = host;
        self.busy = next.is_some();
        next
    }

    /// It is free.
    pub fn end(&mut self) {
        self.busy = false;
    }
}
