//! Memory that belongs to the program: the one place where the engine must trust a caller.

#![allow(unsafe_code)]

use parvum_transport::{Gather, Loan};
use std::alloc::{Layout, alloc_zeroed};
use std::sync::Arc;

/// Keeps the memory of a message alive until the engine is done with it.
///
/// Implementors own the memory that the pieces of an
/// [`Outgoing`](crate::Outgoing) point into; the engine drops the keeper when the data has left.
pub trait Keep: Send + Sync {}

impl Keep for Vec<u8> {}

/// Room in the program's memory for the data of a message.
#[derive(Debug)]
pub struct UserBuffer {
    start: *mut u8,
    length: usize,
}

// SAFETY: the memory is only touched through `&mut self`, and `UserBuffer::new`
// demands that nobody else touches it meanwhile, whichever thread they are on.
unsafe impl Send for UserBuffer {}

impl UserBuffer {
    /// Room at `start` for `length` bytes.
    ///
    /// # Safety
    /// The memory must be valid for writes, and must not be touched by anyone
    /// else, until the receive that was given this buffer is done, cancelled or dropped.
    pub unsafe fn new(start: *mut u8, length: usize) -> UserBuffer {
        UserBuffer { start, length }
    }

    /// The memory.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if self.length == 0 {
            return &mut [];
        }
        // SAFETY: `new` was promised exactly this: valid, and ours alone.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

/// So many bytes, more than none; `None` when the system has no such memory.
pub(crate) fn zeroed(length: usize) -> Option<Vec<u8>> {
    let layout = Layout::array::<u8>(length).ok().filter(|_| length > 0)?;
    // Zeroed by the allocator: for long blocks that is the kernel's fresh pages, which cost nothing until they are used.
    // SAFETY: the layout is of more than no bytes.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        return None;
    }
    // SAFETY: so many initialised bytes, from the allocator that `Vec` uses, with the layout that it frees them by.
    Some(unsafe { Vec::from_raw_parts(start, length, length) })
}

/// The data of a send that could not be handed over at once.
pub(crate) struct Source {
    pieces: Vec<&'static [u8]>,
    /// Where in the message the pieces begin: what lies before was sent from elsewhere.
    begin: usize,
    pub(crate) length: usize,
    /// The link's memory that the data is being copied to; there are no pieces then.
    loan: Option<Arc<dyn Loan>>,
    /// Dropped with the source, after the last use of the pieces.
    _keep: Option<Arc<dyn Keep>>,
}

impl Source {
    /// Remembers `pieces` beyond their lifetime.
    ///
    /// # Safety
    /// The pieces must stay valid and unchanged until the source is dropped,
    /// or be owned by `keep`.
    pub(crate) unsafe fn new(pieces: &[&[u8]], keep: Option<Arc<dyn Keep>>) -> Source {
        let remembered = pieces
            .iter()
            .map(|piece| {
                // SAFETY: the caller promises that the memory outlives the source,
                // which is the only user of this longer lifetime.
                unsafe { std::slice::from_raw_parts(piece.as_ptr(), piece.len()) }
            })
            .collect::<Vec<&'static [u8]>>();
        let length = remembered.iter().map(|piece| piece.len()).sum();
        Source { pieces: remembered, begin: 0, length, loan: None, _keep: keep }
    }

    /// No data.
    pub(crate) fn nothing() -> Source {
        Source { pieces: Vec::new(), begin: 0, length: 0, loan: None, _keep: None }
    }

    /// Data that was copied for the source.
    pub(crate) fn copied(data: Vec<u8>) -> Source {
        let keep: Arc<Vec<u8>> = Arc::new(data);
        // SAFETY: the only piece is owned by the keeper, which moves into the
        // source; a `Vec` behind an `Arc` is never changed or moved.
        unsafe { Source::new(&[&keep], Some(keep.clone())) }
    }

    /// Copies the data from byte `from` on: the source does not need the program's memory any more.
    pub(crate) fn own_from(&mut self, from: usize) {
        let mut rest = vec![0; self.length - from];
        self.part(from, usize::MAX, |part| part.copy_to(&mut rest));
        *self = Source { begin: from, length: self.length, ..Source::copied(rest) };
    }

    /// Data that is about to be copied to memory of the link.
    pub(crate) fn lent(loan: Arc<dyn Loan>, length: usize) -> Source {
        Source { pieces: Vec::new(), begin: 0, length, loan: Some(loan), _keep: None }
    }

    /// Shows the data from byte `from` on, at most `limit` bytes of it.
    pub(crate) fn part<R>(&self, from: usize, limit: usize, use_it: impl FnOnce(Gather<'_>) -> R) -> R {
        match &self.loan {
            Some(loan) => use_it(Gather::new(&[loan.filled()]).part(from, limit)),
            None => use_it(Gather::new(&self.pieces).part(from - self.begin, limit)),
        }
    }

    /// Where the peer finds the data in the link's memory, if it is there.
    pub(crate) fn loan_address(&self) -> Option<u64> {
        self.loan.as_ref().map(|loan| loan.address())
    }

    /// Where the data lies, when it lies in one piece.
    pub(crate) fn address(&self) -> Option<u64> {
        match self.pieces[..] {
            [only] => Some(only.as_ptr() as u64),
            _ => None,
        }
    }
}
