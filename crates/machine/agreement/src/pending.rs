//! What this member has proposed and not seen agreed.

use crate::types::{ChangeKind, Proposal};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Pending {
    by: u64,
    last: u64,
    open: BTreeMap<u64, ChangeKind>,
}

impl Pending {
    pub fn new(by: u64) -> Pending {
        Pending { by, last: 0, open: BTreeMap::new() }
    }

    pub fn add(&mut self, what: ChangeKind) -> Proposal {
        self.last += 1;
        self.open.insert(self.last, what.clone());
        self.proposal(self.last, what)
    }

    fn proposal(&self, number: u64, what: ChangeKind) -> Proposal {
        Proposal { by: self.by, number, oldest: self.oldest(), what }
    }

    fn oldest(&self) -> u64 {
        self.open.keys().next().copied().unwrap_or(self.last + 1)
    }

    /// All of them, in their order.
    pub fn all(&self) -> Vec<Proposal> {
        self.open.iter().map(|(number, what)| self.proposal(*number, what.clone())).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn agreed(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// The daemon is told that they are not agreed. One that waits in a leader's log may be, later, until a
    /// newer one says that it was given up.
    pub fn give_up(&mut self) {
        // What others are to begin with cannot be given up.
        self.open.retain(|_, what| matches!(what, ChangeKind::Beginning(_)));
    }

    /// From a snapshot: proposals of this life that were agreed, as far as it knows.
    pub fn forget_all(&mut self, is_done: impl Fn(u64) -> bool) {
        self.open.retain(|number, _| !is_done(*number));
    }
}

/// Which numbers of one life were agreed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// All below this are settled.
    below: u64,
    others: BTreeSet<u64>,
}

impl Done {
    pub fn has(&self, number: u64) -> bool {
        number < self.below || self.others.contains(&number)
    }

    /// Whether this proposal has its effect: it has not had it before, and was not given up.
    pub fn takes(&mut self, proposal: &Proposal) -> bool {
        if proposal.oldest > self.below {
            self.below = proposal.oldest;
            self.others = self.others.split_off(&self.below);
        }
        proposal.number >= self.below && self.others.insert(proposal.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn change(text: &'static str) -> ChangeKind {
        ChangeKind::Change(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn change_proposed_twice_takes_effect_once() {
        let (mut pending, mut done) = (Pending::new(7), Done::default());
        let (a, b) = (pending.add(change("a")), pending.add(change("b")));
        assert!(done.takes(&b) && done.takes(&a));
        assert!(!done.takes(&a) && !done.takes(&b));
        for again in pending.all() {
            assert!(!done.takes(&again));
        }
        pending.agreed(1);
        pending.agreed(2);
        let c = pending.add(change("c"));
        assert_eq!((c.number, c.oldest), (3, 3));
        assert!(done.takes(&c) && !done.takes(&a), "those below the oldest are over");
        assert_eq!(done.others.len(), 1, "and need no memory");
    }

    #[test]
    fn abandoned_change_has_no_effect_after_newer() {
        let (mut pending, mut done) = (Pending::new(7), Done::default());
        let late = pending.add(change("late"));
        pending.give_up();
        let newer = pending.add(change("newer"));
        assert!(done.takes(&newer));
        assert!(!done.takes(&late));
    }
}
