//! The messages from the tasks of a host to the task that has their node, and its answers.

use parvum_consistency::{Access, Fault};

/// A call of a task's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Acquire(u32),
    Release(u32),
    AcquireView(u32, bool),
    ReleaseView(u32, bool),
    Barrier(u32),
    Page(u32, Access),
    /// Pages: the first, and how many.
    Overwrite(u32, u32),
}

impl Call {
    pub(crate) fn encode(self) -> [u8; 10] {
        let (kind, number, how, count) = match self {
            Call::Acquire(lock) => (0, lock, 0, 0),
            Call::Release(lock) => (1, lock, 0, 0),
            Call::AcquireView(view, writes) => (2, view, u8::from(writes), 0),
            Call::ReleaseView(view, writes) => (3, view, u8::from(writes), 0),
            Call::Barrier(barrier) => (4, barrier, 0, 0),
            Call::Page(page, access) => (5, page, u8::from(access == Access::Write), 0),
            Call::Overwrite(first, count) => (6, first, 0, count),
        };
        let ([a, b, c, d], [e, f, g, h]) = (number.to_le_bytes(), count.to_le_bytes());
        [kind, how, a, b, c, d, e, f, g, h]
    }

    /// `None`: the bytes are invalid.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Call> {
        let &[kind, how, a, b, c, d, e, f, g, h] = bytes else { return None };
        let (number, is, count) =
            (u32::from_le_bytes([a, b, c, d]), how == 1, u32::from_le_bytes([e, f, g, h]));
        if kind != 6 && count != 0 {
            return None;
        }
        Some(match (kind, how) {
            (0, 0) => Call::Acquire(number),
            (1, 0) => Call::Release(number),
            (2, 0 | 1) => Call::AcquireView(number, is),
            (3, 0 | 1) => Call::ReleaseView(number, is),
            (4, 0) => Call::Barrier(number),
            (5, 0 | 1) => Call::Page(number, if is { Access::Write } else { Access::Read }),
            (6, 0) => Call::Overwrite(number, count),
            _ => return None,
        })
    }
}

/// How a call has ended: whether it was over at once, or why it cannot be.
pub(crate) type Outcome = Result<bool, Fault>;

pub(crate) fn encode(outcome: &Outcome) -> Vec<u8> {
    match outcome {
        Ok(at_once) => vec![u8::from(*at_once)],
        Err(fault) => [&[2][..], &fault.encode()].concat(),
    }
}

/// `None`: the bytes are invalid.
pub(crate) fn decode(bytes: &[u8]) -> Option<Outcome> {
    match bytes {
        [at_once @ (0 | 1)] => Some(Ok(*at_once == 1)),
        [2, fault @ ..] => Fault::decode(fault).map(Err),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_round_trip_and_others_are_refused() {
        let calls = [
            Call::Acquire(7),
            Call::Release(u32::MAX),
            Call::AcquireView(3, true),
            Call::ReleaseView(3, false),
            Call::Barrier(0),
            Call::Page(1 << 20, Access::Write),
            Call::Page(1 << 20, Access::Read),
            Call::Overwrite(5, 1 << 30),
        ];
        for call in calls {
            let mut bytes = call.encode().to_vec();
            assert_eq!(Call::decode(&bytes), Some(call));
            bytes[1] = 9;
            assert_eq!((Call::decode(&bytes), Call::decode(&bytes[1..])), (None, None));
        }
        let nodes = Fault::DifferentBarriers { nodes: (0, 3), at: (1, 2) };
        for outcome in [Ok(true), Ok(false), Err(Fault::NotHeld(9)), Err(nodes)] {
            assert_eq!(decode(&encode(&outcome)), Some(outcome));
        }
        assert_eq!((decode(&[]), decode(&[1, 0]), decode(&[2, 250])), (None, None, None));
    }
}
