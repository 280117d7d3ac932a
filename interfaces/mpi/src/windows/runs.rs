//! Data of a window as runs of bytes, and how much of it one operation handles.

use crate::errors::Mpi;
use crate::objects::ops::NO_OP;
use crate::windows::elements::{ElementOp, Work};
use parvum_service::PART;
use std::ops::Deref;

/// One operation handles at most so many runs.
const MOST_RUNS: usize = 16 << 10;

/// Addresses and lengths. Most data is one run, for which nobody is asked for memory.
pub(crate) enum Runs {
    One([(u64, u64); 1]),
    Many(Vec<(u64, u64)>),
}

impl Deref for Runs {
    type Target = [(u64, u64)];

    #[inline]
    fn deref(&self) -> &[(u64, u64)] {
        match self {
            Runs::One(one) => one,
            Runs::Many(many) => many,
        }
    }
}

impl Runs {
    /// The same data at other addresses.
    pub(crate) fn moved(&self, place: impl Fn(u64) -> u64) -> Runs {
        let moved = |&(start, length): &(u64, u64)| (place(start), length);
        match self {
            Runs::One([one]) => Runs::One([moved(one)]),
            Runs::Many(many) => Runs::Many(many.iter().map(moved).collect()),
        }
    }
}

/// Does something so much at a time: requests have an end, and nobody holds the turn at a target for long.
pub(crate) fn in_parts(
    runs: &[(u64, u64)],
    work: &Work,
    mut bytes: &[u8],
    mut act: impl FnMut(&[(u64, u64)], &[u8]) -> Mpi<Vec<u8>>,
) -> Mpi<Vec<u8>> {
    let length = |runs: &[(u64, u64)]| runs.iter().map(|(_, length)| *length as usize).sum::<usize>();
    if runs.len() <= MOST_RUNS && length(runs) <= PART {
        return act(runs, bytes);
    }
    let mut old = Vec::new();
    for runs in parts(runs, work.basic.size() as usize) {
        let data = match work.what {
            ElementOp::Get | ElementOp::Combine(NO_OP) => &[],
            ElementOp::Swap => bytes,
            _ => {
                let (now, later) = bytes.split_at(length(&runs));
                bytes = later;
                now
            }
        };
        old.extend_from_slice(&act(&runs, data)?);
    }
    Ok(old)
}

/// Runs as requests speak of them: none too long, and each with whole elements.
fn parts(runs: &[(u64, u64)], size: usize) -> Vec<Vec<(u64, u64)>> {
    let most = (PART / size.max(1)).max(1) * size;
    let (mut all, mut part, mut length) = (Vec::new(), Vec::new(), 0);
    for &(mut start, mut rest) in runs {
        while rest > 0 {
            let now = rest.min((most - length) as u64);
            part.push((start, now));
            length += now as usize;
            (start, rest) = (start + now, rest - now);
            if length == most || part.len() >= MOST_RUNS && length % size == 0 {
                all.push(std::mem::take(&mut part));
                length = 0;
            }
        }
    }
    if !part.is_empty() {
        all.push(part);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_parts_contain_whole_elements() {
        let long = (PART + 20) as u64;
        let parts = parts(&[(0, 8), (100, 4), (200, long)], 12);
        let lengths: Vec<u64> =
            parts.iter().map(|part| part.iter().map(|(_, length)| length).sum()).collect();
        assert_eq!(lengths.iter().sum::<u64>(), long + 12);
        assert_eq!((lengths.len(), lengths[0] % 12), (2, 0));
        assert_eq!(parts[1][0].0, 200 + lengths[0] - 12);
    }
}
