//! What is asked of a target's service, and how it lies in a request.

use crate::files::places::Deed;
use crate::windows::elements::{ElementOp, Work};

/// What is asked of a target, and how it lies in a request: numbers of four bytes, then the runs, then the data.
pub(crate) enum Question<'q> {
    Lock {
        exclusive: bool,
        rank: usize,
    },
    Unlock {
        exclusive: bool,
    },
    Work {
        work: Work,
        runs: &'q [(u64, u64)],
        data: &'q [u8],
    },
    /// Of the pointer of a file, not of a window.
    Pointer(Deed),
}

pub(super) const NUMBERS: usize = 7;

impl Question<'_> {
    pub(crate) fn encode(&self, id: u32) -> Vec<u8> {
        let place;
        let (numbers, runs, data): ([u32; NUMBERS - 1], &[(u64, u64)], &[u8]) = match *self {
            Question::Pointer(deed) => {
                let (what, number) = match deed {
                    Deed::Advance(steps) => (7, steps),
                    Deed::Set(to) => (8, to),
                };
                place = number.to_le_bytes();
                ([what, 0, 0, 0, 0, 0], &[], &place)
            }
            Question::Lock { exclusive, rank } => ([1, exclusive.into(), rank as u32, 0, 0, 0], &[], &[]),
            Question::Unlock { exclusive } => ([2, exclusive.into(), 0, 0, 0, 0], &[], &[]),
            Question::Work { work, runs, data } => {
                let (what, op) = match work.what {
                    ElementOp::Put => (3, 0),
                    ElementOp::Get => (4, 0),
                    ElementOp::Combine(op) => (5, op),
                    ElementOp::Swap => (6, 0),
                };
                let numbers = [what, work.fetches.into(), op as u32, work.basic as u32, runs.len() as u32, 0];
                (numbers, runs, data)
            }
        };
        let mut bytes = Vec::with_capacity(4 * NUMBERS + 16 * runs.len() + data.len());
        bytes.extend_from_slice(&id.to_le_bytes());
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        for (start, length) in runs {
            bytes.extend_from_slice(&start.to_le_bytes());
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        bytes.extend_from_slice(data);
        bytes
    }
}
