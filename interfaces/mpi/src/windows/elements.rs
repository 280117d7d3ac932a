//! What is done to elements of a window, in whichever process it is done.
//!
//! Accumulates are atomic for each element. The processor changes aligned elements of a word's length in one piece. All others are
//! changed by one operation at a time ([`seats`]). So are several bytes of `MPI_BYTE`: programs exchange structs so, and read them whole.

use crate::errors::{Error, Mpi, class};
use crate::objects::ops::{NO_OP, REPLACE};
use crate::windows::seats::{self, SharedLock};
use crate::windows::{memory, words};
use parvum_datatypes::{Basic, Class};

/// What is done to elements of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementOp {
    Put,
    Get,
    /// An operation on elements, one at a time.
    Combine(i32),
    /// The data is what to compare with, and what it becomes.
    Swap,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) what: ElementOp,
    pub(crate) basic: Basic,
    /// What the elements were is wanted.
    pub(crate) fetches: bool,
}

type Combine<'c> = &'c dyn Fn(&mut [u8], &[u8]);

impl Work {
    /// Whether the processor changes each of the elements in one piece. Of several bytes that are one value to the program it does not.
    pub(crate) fn is_of_words(&self, runs: &[(u64, u64)]) -> bool {
        let size = self.basic.size() as usize;
        let is_one_value =
            self.basic.class() == Class::Byte && runs.iter().map(|(_, length)| length).sum::<u64>() > 1;
        self.basic.class() != Class::Pair
            && !is_one_value
            && words::is_word(size)
            && runs.iter().all(|(start, _)| start % size as u64 == 0)
    }

    /// The runs lie in memory that this process has; `lock` has the turn there, if others change elements in it too.
    pub(crate) fn run(&self, runs: &[(u64, u64)], data: &[u8], lock: Option<&SharedLock>) -> Mpi<Vec<u8>> {
        let total = runs.iter().map(|(_, length)| *length as usize).sum::<usize>();
        let has_data = match self.what {
            ElementOp::Get => true,
            ElementOp::Combine(NO_OP) => true,
            ElementOp::Swap => data.len() == 2 * total,
            _ => data.len() == total,
        };
        if !has_data || total % self.basic.size() as usize != 0 {
            return Err(Error::new(class::RMA_RANGE, "origin and target do not have as many elements"));
        }
        match self.what {
            ElementOp::Put => put(runs, data),
            ElementOp::Get => return Ok(get(runs, total)),
            ElementOp::Swap => {
                let (expected, wanted) = data.split_at(total);
                return self.change(runs, wanted, lock, &|element: &mut [u8], wanted: &[u8]| {
                    if element == expected {
                        element.copy_from_slice(wanted);
                    }
                });
            }
            ElementOp::Combine(NO_OP) => {
                let nothing = vec![0; total];
                return self.change(runs, &nothing, lock, &|_: &mut [u8], _: &[u8]| {});
            }
            ElementOp::Combine(REPLACE) => {
                return self.change(runs, data, lock, &|element: &mut [u8], new: &[u8]| {
                    element.copy_from_slice(new);
                });
            }
            ElementOp::Combine(op) => {
                let operation =
                    crate::objects::ops::operation(op, crate::objects::datatypes::handle_of(self.basic))?;
                return self
                    .change(runs, data, lock, &|first, second| operation.combine.apply(first, second));
            }
        }
        Ok(Vec::new())
    }

    fn change(
        &self,
        runs: &[(u64, u64)],
        data: &[u8],
        lock: Option<&SharedLock>,
        combine: Combine<'_>,
    ) -> Mpi<Vec<u8>> {
        let size = self.basic.size() as usize;
        let _turn = if self.is_of_words(runs) { None } else { Some(seats::turn(lock)?) };
        if self.basic.class() == Class::Pair || !words::is_word(size) {
            // Elements may lie in several runs: pairs have holes.
            let old = get(runs, data.len());
            let mut new = old.clone();
            combine(&mut new, data);
            put(runs, &new);
            return Ok(old);
        }
        let mut old = vec![0; data.len()];
        let mut at = 0;
        for &(start, length) in runs {
            for address in (start..start + length).step_by(size) {
                let (out, operand) = (&mut old[at..at + size], &data[at..at + size]);
                if address % size as u64 == 0 {
                    words::change_by(address, out, |element| combine(element, operand));
                } else {
                    memory::read(address, out);
                    let mut new = out.to_vec();
                    combine(&mut new, operand);
                    memory::write(address, &new);
                }
                at += size;
            }
        }
        Ok(old)
    }
}

fn put(runs: &[(u64, u64)], mut data: &[u8]) {
    for &(start, length) in runs {
        let (now, later) = data.split_at(length as usize);
        memory::write(start, now);
        data = later;
    }
}

fn get(runs: &[(u64, u64)], total: usize) -> Vec<u8> {
    let mut out = vec![0; total];
    let mut rest = &mut out[..];
    for &(start, length) in runs {
        let (now, later) = rest.split_at_mut(length as usize);
        memory::read(start, now);
        rest = later;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_combine_at_any_address() {
        let mut memory = [1_i64, 2, 3, 4];
        let base = memory.as_mut_ptr().expose_provenance() as u64;
        let work = |what, basic| Work { what, basic, fetches: true };
        let bytes = |all: &[i64]| all.iter().flat_map(|one| one.to_ne_bytes()).collect::<Vec<u8>>();
        let sum = ElementOp::Combine(0x5800_0003);
        let old = work(sum, Basic::Int64).run(&[(base, 8), (base + 16, 16)], &bytes(&[10, 20, 30]), None);
        assert_eq!((old, memory), (Ok(bytes(&[1, 3, 4])), [11, 2, 23, 34]));
        let old = work(ElementOp::Swap, Basic::Int64).run(&[(base + 8, 8)], &bytes(&[2, 7]), None);
        assert_eq!((old, memory[1]), (Ok(bytes(&[2])), 7));
        let old = work(ElementOp::Swap, Basic::Int64).run(&[(base + 8, 8)], &bytes(&[2, 9]), None);
        assert_eq!((old, memory[1]), (Ok(bytes(&[7])), 7));
        let old = work(ElementOp::Combine(NO_OP), Basic::Int64).run(&[(base, 8)], &[], None);
        assert_eq!((old, memory[0]), (Ok(bytes(&[11])), 11));
        // Several bytes are one value.
        let bytes_of = work(ElementOp::Combine(REPLACE), Basic::Byte);
        assert!(bytes_of.is_of_words(&[(base, 1)]) && !bytes_of.is_of_words(&[(base, 16)]));
        // Not aligned.
        let odd = work(ElementOp::Combine(REPLACE), Basic::Int64).run(&[(base + 1, 8)], &bytes(&[-1]), None);
        assert_eq!((odd.map(|old| old.len()), memory[0]), (Ok(8), -245));
        assert!(work(sum, Basic::Int64).run(&[(base, 8)], &[0; 7], None).is_err());
    }
}
