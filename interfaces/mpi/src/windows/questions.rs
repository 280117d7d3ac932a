//! What is asked of a target's service, and what it answers.

use crate::errors::{Error, Mpi, class};
use crate::files::shared_pointer::{self, Deed};
use crate::windows::elements::{What, Work};
use crate::windows::serving::Exposed;
use parvum_datatypes::Basic;

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

const NUMBERS: usize = 7;

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
                    What::Put => (3, 0),
                    What::Get => (4, 0),
                    What::Combine(op) => (5, op),
                    What::Swap => (6, 0),
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

/// What is answered: 0 and what was wanted, or an error's class.
pub(crate) fn answer(question: &[u8]) -> Vec<u8> {
    let malformed = || Error::new(class::INTERN, "no question");
    let said = attend(question).unwrap_or_else(|| Err(malformed()));
    match said {
        Ok(bytes) => [&0_u32.to_le_bytes()[..], &bytes].concat(),
        Err(error) => error.class().to_le_bytes().to_vec(),
    }
}

fn attend(question: &[u8]) -> Option<Mpi<Vec<u8>>> {
    let (head, rest) = question.split_at_checked(4 * NUMBERS)?;
    let number = |place: usize| u32::from_le_bytes(head[4 * place..][..4].try_into().expect("four"));
    if let 7 | 8 = number(1) {
        let place = i64::from_le_bytes(rest.try_into().ok()?);
        let deed = if number(1) == 7 { Deed::Advance(place) } else { Deed::Set(place) };
        let closed = || Error::new(class::FILE, "the file was closed");
        let before = shared_pointer::attend(number(0), deed).unwrap_or_else(|| Err(closed()));
        return Some(before.map(|before| before.to_le_bytes().to_vec()));
    }
    let Some(exposed) = Exposed::of(number(0)) else {
        return Some(Err(Error::new(class::WIN, "no such window")));
    };
    let what = match number(1) {
        1 => return Some(Ok(vec![exposed.lock(number(2) != 0, number(3) as usize).into()])),
        2 => {
            exposed.unlock(number(2) != 0);
            return Some(Ok(Vec::new()));
        }
        3 => What::Put,
        4 => What::Get,
        5 => What::Combine(number(3) as i32),
        6 => What::Swap,
        _ => return None,
    };
    let basic = *Basic::ALL.get(number(4) as usize)?;
    let work = Work { what, basic, fetches: number(2) != 0 };
    let (runs, data) = rest.split_at_checked(number(5) as usize * 16)?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight"));
    let runs: Vec<_> = runs.chunks_exact(16).map(|run| (word(&run[..8]), word(&run[8..]))).collect();
    let mut said = exposed.work(&work, &runs, data);
    if let Ok(old) = &mut said
        && !work.fetches
    {
        old.clear();
    }
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_are_none_are_answered_all_the_same() {
        for question in [&[][..], &[0; 27], &[0xff; 28]] {
            assert_ne!(answer(question)[..4], [0; 4]);
        }
    }
}
