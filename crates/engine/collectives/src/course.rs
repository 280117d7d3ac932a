//! One run of a plan, without I/O, to its end or in spite of one.

use crate::memory::Memory;
use crate::plans::{Piece, Plan, Step};
use std::borrow::Borrow;

/// Combines the second operand into the first.
pub type Combine<'c> = &'c mut dyn FnMut(&mut [u8], &[u8]);

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This member is gone. It may be that others are as well.
    Gone(usize),
    /// The members do not agree on what they do, or how long it is.
    Disagreed,
}

/// A bit in the word of a message: the message has no data, and the word has the reason.
const FAILED: u32 = 1 << 31;

impl Fault {
    fn word(self) -> u32 {
        match self {
            Fault::Gone(member) => FAILED | (member as u32 + 1),
            Fault::Disagreed => FAILED,
        }
    }

    /// The fault in a message's word, in a group of this size.
    pub(crate) fn told(word: u32, size: usize) -> Option<Fault> {
        match (word & FAILED != 0, (word & !FAILED) as usize) {
            (false, _) => None,
            (true, member) if (1..=size).contains(&member) => Some(Fault::Gone(member - 1)),
            (true, _) => Some(Fault::Disagreed),
        }
    }
}

/// The next need of a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A message is to be sent: this piece, and this word with it.
    Send {
        /// To whom.
        to: usize,
        /// The data; of no length when the course has failed.
        piece: Piece,
        /// The word for the receiver's course.
        word: u32,
    },
    /// A message is to be received.
    Receive {
        /// From whom.
        from: usize,
        /// The destination and the length.
        piece: Piece,
    },
    /// Nothing: it is over.
    Over,
}

/// One run of a plan.
///
/// Call [`next`](Course::next), do the step, and report the outcome ([`sent`](Course::sent),
/// [`received`](Course::received) or [`gone`](Course::gone)). Repeat this until the course is complete. The course
/// needs nothing else, and never waits.
///
/// *Death.* A course that misses a message still continues to its last step. Instead of data it sends the fault, and it
/// drops received data. Every living member therefore gets all messages of its plan. Members do not wait for a member
/// that has given up, and the next operation finds no old messages. A member that depends on missing data learns which
/// member is missing. A member that does not depend on missing data succeeds. A member that could not send gets the
/// fault, but its data is good.
///
/// The plan may be borrowed, shared or the course's own.
#[derive(Debug)]
pub struct Course<P> {
    plan: P,
    size: usize,
    at: usize,
    /// Why something is missing here.
    missing: Option<Fault>,
    /// The member to which a send failed.
    unsent: Option<Fault>,
}

impl<P: Borrow<Plan>> Course<P> {
    /// Begins a plan of a group of `size` members.
    #[inline]
    pub fn new(plan: P, size: usize) -> Course<P> {
        Course { plan, size, at: 0, missing: None, unsent: None }
    }

    /// Begins a plan that does not fit into this member's memory, because the members disagree about the length. The
    /// member takes part without data, so that others do not wait for it, and needs other memory for this.
    #[cold]
    pub fn unfit(plan: P, size: usize) -> Course<P> {
        Course { missing: Some(Fault::Disagreed), ..Course::new(plan, size) }
    }

    #[inline]
    fn steps(&self) -> &[Step] {
        self.plan.borrow().steps()
    }

    /// Does the local steps, and returns the next message. Another call before the outcome is reported returns the
    /// same.
    #[inline]
    pub fn next(&mut self, memory: &mut Memory<'_>, combine: Combine<'_>) -> Next {
        while let Some(&step) = self.steps().get(self.at) {
            match (step, self.missing) {
                (Step::Send { to, piece }, None) => return Next::Send { to, piece, word: 0 },
                (Step::Send { to, piece }, Some(fault)) => {
                    return Next::Send { to, piece: Piece { length: 0, ..piece }, word: fault.word() };
                }
                (Step::Receive { from, piece }, _) => return Next::Receive { from, piece },
                (Step::Combine { into, with }, None) => {
                    let (into, with) = memory.pair(into, with);
                    combine(into, with);
                }
                (Step::Copy { into, from }, None) => memory.copy(into, from),
                (Step::Combine { .. } | Step::Copy { .. }, Some(_)) => {}
            }
            self.at += 1;
        }
        Next::Over
    }

    /// The message was sent.
    #[inline]
    pub fn sent(&mut self) {
        self.at += 1;
    }

    /// A message has come, with this word and this number of bytes. The bytes that fit are at their destination.
    #[inline]
    pub fn received(&mut self, word: u32, length: u64) {
        let wanted = match self.steps().get(self.at) {
            Some(Step::Receive { piece, .. }) => piece.length as u64,
            _ => length,
        };
        self.at += 1;
        if word != 0 || length != wanted {
            self.fail(Fault::told(word, self.size).unwrap_or(Fault::Disagreed));
        }
    }

    /// The receiver or the sender of the message is gone.
    pub fn gone(&mut self) {
        match self.steps().get(self.at) {
            Some(Step::Send { to, .. }) => self.unsent = self.unsent.or(Some(Fault::Gone(*to))),
            Some(Step::Receive { from, .. }) => self.fail(Fault::Gone(*from)),
            _ => {}
        }
        self.at += 1;
    }

    #[cold]
    fn fail(&mut self, fault: Fault) {
        // The death of a member is more informative than its consequences.
        self.missing = match (self.missing, fault) {
            (None | Some(Fault::Disagreed), fault) => Some(fault),
            (first, _) => first,
        };
    }

    /// How it has gone so far.
    #[inline]
    pub fn outcome(&self) -> Result<(), Fault> {
        self.missing.or(self.unsent).map_or(Ok(()), Err)
    }
}
