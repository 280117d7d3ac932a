//! The windows of a task, and what is done to them: no messages, and the memory is whatever [`Reach`] reaches.

use crate::question::{Change, PART, Question, Trouble, Window};
use parvum_collectives::operators::{Kind, combine};
use std::collections::HashMap;

/// Memory that may be protected or gone.
pub(crate) trait Reach {
    /// Copies what lies at an address. `false`: it cannot be read.
    fn read(&mut self, address: u64, out: &mut [u8]) -> bool;
    /// Copies to an address. `false`: it cannot be written, or not all of it.
    fn write(&mut self, address: u64, data: &[u8]) -> bool;
}

/// The memory that a task exposes to others.
#[derive(Default)]
pub(crate) struct Windows {
    list: HashMap<Window, Range>,
    numbers: u32,
}

/// Where a window lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) length: u64,
}

impl Range {
    /// The address of some bytes in it.
    pub(crate) fn address(&self, offset: u64, length: u64) -> Result<u64, Trouble> {
        let end = offset.checked_add(length).filter(|end| *end <= self.length);
        end.and(self.start.checked_add(offset)).ok_or(Trouble::OutOfRange)
    }
}

impl Windows {
    /// Lets others use this memory. `None`: all numbers were used.
    pub(crate) fn expose(&mut self, start: u64, length: u64) -> Option<Window> {
        self.numbers = self.numbers.checked_add(1)?;
        let window = Window(self.numbers);
        self.list.insert(window, Range { start, length });
        Some(window)
    }

    /// Whether there was such a window.
    pub(crate) fn withdraw(&mut self, window: Window) -> bool {
        self.list.remove(&window).is_some()
    }

    pub(crate) fn range(&self, window: Window) -> Result<Range, Trouble> {
        self.list.get(&window).copied().ok_or(Trouble::NoWindow)
    }

    /// Does what is asked of memory, and writes what shall be answered behind what `answer` has. Half of it may be done when
    /// there is trouble with the memory: a put writes up to the first byte that it cannot.
    pub(crate) fn serve(
        &self,
        question: &Question,
        data: &[u8],
        memory: &mut impl Reach,
        answer: &mut Vec<u8>,
    ) -> Result<(), Trouble> {
        match *question {
            Question::Put { window, offset } => {
                let address = self.range(window)?.address(offset, data.len() as u64)?;
                if memory.write(address, data) { Ok(()) } else { Err(Trouble::Protected) }
            }
            Question::Get { window, offset, length } => {
                self.read(window, offset, length, memory, answer).map(drop)
            }
            Question::Atomic { window, offset, length, change, kind } => {
                let work = Work { change, kind, data };
                let length = if change == Change::Nothing { length } else { work.length()? };
                let address = self.read(window, offset, length, memory, answer)?;
                let old = answer.len() - length as usize;
                let Some(new) = work.apply(&answer[old..])? else { return Ok(()) };
                if memory.write(address, &new) {
                    return Ok(());
                }
                answer.truncate(old);
                Err(Trouble::Protected)
            }
            Question::Request | Question::Describe { .. } | Question::Stop => Err(Trouble::Malformed),
        }
    }

    /// Appends what lies in a window; its address.
    fn read(
        &self,
        window: Window,
        offset: u64,
        length: u64,
        memory: &mut impl Reach,
        answer: &mut Vec<u8>,
    ) -> Result<u64, Trouble> {
        let address = self.range(window)?.address(offset, length)?;
        if length > PART as u64 {
            return Err(Trouble::TooLong);
        }
        let before = answer.len();
        answer.resize(before + length as usize, 0);
        if memory.read(address, &mut answer[before..]) {
            return Ok(address);
        }
        answer.truncate(before);
        Err(Trouble::Protected)
    }
}

/// One atomic operation.
struct Work<'a> {
    change: Change,
    kind: Kind,
    data: &'a [u8],
}

impl Work<'_> {
    /// How many bytes of the window it changes.
    fn length(&self) -> Result<u64, Trouble> {
        let operands = if self.change == Change::CompareAndSwap { 2 } else { 1 };
        match self.data.len() % (operands * self.kind.size()) {
            0 => Ok((self.data.len() / operands) as u64),
            _ => Err(Trouble::NoSuchOperation),
        }
    }

    /// The new contents of memory that is `old` now, if it changes.
    fn apply(&self, old: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
        match self.change {
            Change::Nothing => Ok(None),
            Change::Replace => Ok(Some(self.data.to_vec())),
            Change::Combine(operator) => {
                let combine = combine(operator, self.kind).ok_or(Trouble::NoSuchOperation)?;
                let mut new = old.to_vec();
                combine(&mut new, self.data);
                Ok(Some(new))
            }
            Change::CompareAndSwap => {
                let (expected, wanted) = self.data.split_at(old.len());
                let mut new = old.to_vec();
                let elements = |of| <[u8]>::chunks_exact(of, self.kind.size());
                let pairs = elements(expected).zip(elements(wanted));
                for (element, (expected, wanted)) in new.chunks_exact_mut(self.kind.size()).zip(pairs) {
                    if element == expected {
                        element.copy_from_slice(wanted);
                    }
                }
                Ok((new != old).then_some(new))
            }
        }
    }
}
