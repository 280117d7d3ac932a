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

/// In the word that travels with a message: it has no data, and says why.
const FAILED: u32 = 1 << 31;

impl Fault {
    fn word(self) -> u32 {
        match self {
            Fault::Gone(member) => FAILED | (member as u32 + 1),
            Fault::Disagreed => FAILED,
        }
    }

    /// The fault that a message's word tells of, in a group of so many.
    pub(crate) fn told(word: u32, size: usize) -> Option<Fault> {
        match (word & FAILED != 0, (word & !FAILED) as usize) {
            (false, _) => None,
            (true, member) if (1..=size).contains(&member) => Some(Fault::Gone(member - 1)),
            (true, _) => Some(Fault::Disagreed),
        }
    }
}

/// What a course needs to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A message is to be sent: this piece, and this word with it.
    Send {
        /// To whom.
        to: usize,
        /// The data; of no length when the course has failed.
        piece: Piece,
        /// What the receiver's course shall be told.
        word: u32,
    },
    /// A message is to be received.
    Receive {
        /// From whom.
        from: usize,
        /// Where it shall lie, and how long it is.
        piece: Piece,
    },
    /// Nothing: it is over.
    Over,
}

/// One run of a plan.
///
/// Call [`next`](Course::next); do what it says; tell the outcome ([`sent`](Course::sent), [`received`](Course::received)
/// or [`gone`](Course::gone)); and again, until it is over. Nothing else is needed, and nothing here waits.
///
/// *Death.* A course that misses something goes on to its last step all the same: instead of data it sends the fault, and
/// what it receives it drops. So every member that lives gets as many messages as its plan awaits; nobody waits for one who
/// has given up, no message is left over for the next operation, and whoever depends on what is missing learns who is to
/// blame. A member that depends on none of it ends well, but for one who could not send: it is told, and what it has is good.
///
/// The plan may be borrowed, shared or the course's own.
#[derive(Debug)]
pub struct Course<P> {
    plan: P,
    size: usize,
    at: usize,
    /// Why something is missing here.
    missing: Option<Fault>,
    /// To whom something could not be sent.
    unsent: Option<Fault>,
}

impl<P: Borrow<Plan>> Course<P> {
    /// Begins a plan of a group of `size` members.
    #[inline]
    pub fn new(plan: P, size: usize) -> Course<P> {
        Course { plan, size, at: 0, missing: None, unsent: None }
    }

    /// Begins a plan that this member's memory does not hold: the members do not agree how long it is. It takes part without data, so
    /// that nobody waits for it, and needs other memory for that.
    #[cold]
    pub fn unfit(plan: P, size: usize) -> Course<P> {
        Course { missing: Some(Fault::Disagreed), ..Course::new(plan, size) }
    }

    #[inline]
    fn steps(&self) -> &[Step] {
        self.plan.borrow().steps()
    }

    /// Does what needs no message, and says which message is next. Called again before the outcome is told, it says the same.
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

    /// A message has come, with that word, and so many bytes; those that fit lie where they shall.
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

    /// Whom the message was to, or from, is gone.
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
        // Somebody's death says more than what follows from it.
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
