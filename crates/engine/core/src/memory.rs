//! Memory that belongs to the program: the one place where the engine must trust a caller.

use crate::sending::copies::{Kept, KeptMemory};
use parvum_transport::{Gather, Loan, RemoteMemory};
use std::alloc::{Layout, alloc_zeroed};
use std::io::IoSliceMut;
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

    /// Its bytes.
    pub fn length(&self) -> usize {
        self.length
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

/// Room in several pieces of the program's memory: a message fills one behind the other.
#[derive(Debug)]
pub struct UserPieces {
    pieces: Vec<UserBuffer>,
    /// The end of each piece in the message.
    ends: Vec<usize>,
}

impl UserPieces {
    /// Room in these pieces: each has a start and a length. They must not overlap.
    ///
    /// # Safety
    /// As for [`UserBuffer::new`], for each piece.
    pub unsafe fn new(pieces: impl IntoIterator<Item = (*mut u8, usize)>) -> UserPieces {
        // SAFETY: the caller's promise.
        let all = pieces.into_iter().map(|(start, length)| unsafe { UserBuffer::new(start, length) });
        let pieces: Vec<_> = all.filter(|piece| piece.length > 0).collect();
        let mut end = 0;
        let ends = pieces.iter().map(|piece| {
            end += piece.length;
            end
        });
        let ends = ends.collect();
        UserPieces { pieces, ends }
    }

    /// Bytes in all of them.
    pub fn length(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The piece in which byte `from` lies, and which of its bytes it is.
    fn find(&self, from: usize) -> (usize, usize) {
        let at = self.ends.partition_point(|end| *end <= from);
        (at, from - at.checked_sub(1).map_or(0, |before| self.ends[before]))
    }

    /// The memory from byte `from` on, at most `length` bytes, up to the end of its piece.
    pub(crate) fn run(&mut self, from: usize, length: usize) -> &mut [u8] {
        let (at, within) = self.find(from);
        let Some(piece) = self.pieces.get_mut(at) else { return &mut [] };
        let rest = &mut piece.bytes_mut()[within..];
        let length = length.min(rest.len());
        &mut rest[..length]
    }

    /// The memory from byte `from` on, at most `length` bytes.
    pub(crate) fn runs(&mut self, from: usize, mut length: usize) -> Vec<IoSliceMut<'_>> {
        let (at, within) = self.find(from);
        let mut skip = within;
        let mut runs = Vec::new();
        for piece in self.pieces.iter_mut().skip(at) {
            if length == 0 {
                break;
            }
            let rest = &mut piece.bytes_mut()[skip..];
            let take = length.min(rest.len());
            runs.push(IoSliceMut::new(&mut rest[..take]));
            (skip, length) = (0, length - take);
        }
        runs
    }
}

/// A vector of this number of zero bytes, at least one; `None` when the system has no such memory.
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
    /// The position of the pieces in the message: the data before was sent from other memory.
    begin: usize,
    pub(crate) length: usize,
    /// The link's memory that the data is being copied to; there are no pieces then.
    loan: Option<Arc<dyn Loan>>,
    /// The addresses and lengths of the pieces, for a peer that copies them itself.
    list: Option<Box<[u64]>>,
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
        Source { pieces: remembered, begin: 0, length, loan: None, list: None, _keep: keep }
    }

    /// No data.
    pub(crate) fn nothing() -> Source {
        Source { pieces: Vec::new(), begin: 0, length: 0, loan: None, list: None, _keep: None }
    }

    /// Data that was copied for the source.
    pub(crate) fn copied(data: Kept) -> Source {
        let keep: Arc<Kept> = Arc::new(data);
        // SAFETY: the only piece is owned by the keeper, which moves into the
        // source; a copy behind an `Arc` is never changed, and its memory not moved.
        unsafe { Source::new(&[&keep], Some(keep.clone())) }
    }

    /// Copies the data from byte `from` on: the source does not need the program's memory any more.
    pub(crate) fn own_from(&mut self, from: usize, memory: &KeptMemory) {
        let mut rest = memory.take(self.length - from);
        self.part(from, usize::MAX, |part| part.copy_to(&mut rest));
        *self = Source { begin: from, length: self.length, ..Source::copied(rest) };
    }

    /// Data that is about to be copied to memory of the link.
    pub(crate) fn lent(loan: Arc<dyn Loan>, length: usize) -> Source {
        Source { pieces: Vec::new(), begin: 0, length, loan: Some(loan), list: None, _keep: None }
    }

    /// Shows the data from byte `from` on, at most `limit` bytes of it.
    pub(crate) fn part<R>(&self, from: usize, limit: usize, use_it: impl FnOnce(Gather<'_>) -> R) -> R {
        match &self.loan {
            Some(loan) => use_it(Gather::new(&[loan.filled()]).part(from, limit)),
            None => use_it(Gather::new(&self.pieces).part(from - self.begin, limit)),
        }
    }

    /// The address of the data in the link's memory, if it is there.
    pub(crate) fn loan_address(&self) -> Option<u64> {
        self.loan.as_ref().map(|loan| loan.address())
    }

    /// The address of the data, if it is one piece.
    pub(crate) fn address(&self) -> Option<u64> {
        match self.pieces[..] {
            [only] => Some(only.as_ptr() as u64),
            _ => None,
        }
    }

    /// The place of the data for a peer that copies it itself: the address of the only piece and 0, or the address of a
    /// list of all pieces and their number. Pieces that are many and short are copied by the processor faster than the
    /// kernel finds them.
    pub(crate) fn places(&mut self) -> Option<(u64, usize)> {
        const SHORT: usize = 2 << 10;
        let count = self.pieces.len();
        if let Some(address) = self.address() {
            return Some((address, 0));
        }
        if self.loan.is_some() || !(2..=MOST_PLACES).contains(&count) || self.length / count < SHORT {
            return None;
        }
        let all = self.pieces.iter().flat_map(|piece| [piece.as_ptr() as u64, piece.len() as u64]);
        let list = self.list.insert(all.collect());
        Some((list.as_ptr() as u64, count))
    }
}

/// The maximum number of places in an offer.
pub(crate) const MOST_PLACES: usize = 1024;

/// Decodes the bytes of a list of places.
pub(crate) fn places_in(list: &[u8]) -> Vec<RemoteMemory> {
    let (pairs, _) = list.as_chunks::<16>();
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    pairs
        .iter()
        .map(|pair| RemoteMemory { address: number(&pair[..8]), length: number(&pair[8..]) as usize })
        .collect()
}
