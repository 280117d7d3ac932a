//! Vector timestamps: for each node the number of the latest of its intervals that is known.

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// A vector timestamp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp(Vec<u32>);

impl Stamp {
    /// A stamp for this number of nodes, without known intervals.
    pub(crate) fn new(nodes: usize) -> Stamp {
        Stamp(vec![0; nodes])
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.0.iter().copied().enumerate()
    }

    /// Grows with happening before: of two intervals in that order the later one's sum is larger.
    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().map(|&number| u64::from(number)).sum()
    }
}

impl Index<usize> for Stamp {
    type Output = u32;

    fn index(&self, node: usize) -> &u32 {
        &self.0[node]
    }
}

impl IndexMut<usize> for Stamp {
    fn index_mut(&mut self, node: usize) -> &mut u32 {
        &mut self.0[node]
    }
}
