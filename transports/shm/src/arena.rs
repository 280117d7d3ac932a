//! Memory for long messages: the sender copies them in while the receiver copies them out.
//!
//! Each end of a pair has a separate arena in the pair's file, after the rings. The end lends blocks of its arena to
//! messages, always the lowest free block. Messages therefore use the same memory again and again, and this memory is
//! in the caches. A block begins with a line that has the number of filled bytes.
//!
//! ```text
//! sender                           receiver
//!   copy a part                      filled >= what it wants?   else it comes again
//!   filled += part                   copy it out
//! ```

use crate::fill::Fill;
use crate::segment::{Segment, Side};
use parvum_transport::{Kept, Loan, PullRefused};
use rustix::fd::AsFd;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::io::{self, IoSliceMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The address space of one end; memory is taken where it is touched.
pub(crate) const ARENA_BYTES: usize = 32 << 20;
/// Blocks begin at multiples of this.
const GRAIN: usize = 4096;
/// The bytes that are copied at once: few enough for the other side to follow closely, and enough to justify the update
/// of a cache line.
const PART: usize = 8 << 10;
/// The bytes that stay in memory when no block is lent, until no block was lent for a while. Memory that was needed
/// twice recently also stays.
const KEPT: usize = 4 << 20;
/// The number of times without lent blocks that count as recent.
const LATELY: usize = 8;
/// The line before the data.
const LINE: usize = size_of::<Fill>();

/// An address of this kind is `[flag][grain of the block][byte in the block]`. Addresses in the peer's own memory do
/// not have this flag, because programs have lower addresses.
const FLAG: u64 = 1 << 63;
const WITHIN_BITS: u32 = 32;

/// Whether an address is in an arena.
pub(crate) fn is_here(address: u64) -> bool {
    address & FLAG != 0
}

/// One end's mapping of an arena.
///
/// Invariant: `at` points to a shared mapping of `ARENA_BYTES` for as long as the value lives.
struct Mapping {
    at: NonNull<u8>,
}

// SAFETY: the mapping belongs to the process and not to a thread. The lent blocks and their fills determine which side
// may access which part.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(file: impl AsFd, of: Side) -> io::Result<Mapping> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        let from = match of {
            Side::Maker => Segment::RINGS_BYTES,
            Side::Opener => Segment::RINGS_BYTES + ARENA_BYTES,
        } as u64;
        // SAFETY: a fresh mapping at an address of the kernel's choosing overlaps nothing; the file
        // is sealed at a size that holds it.
        let at = unsafe { mmap(std::ptr::null_mut(), ARENA_BYTES, access, flags, file, from)? };
        NonNull::new(at.cast()).map(|at| Mapping { at }).ok_or(io::ErrorKind::Other.into())
    }

    /// The line of the block that begins at `start`.
    fn fill(&self, start: usize) -> &Fill {
        assert!(start.is_multiple_of(GRAIN) && start.saturating_add(LINE) <= ARENA_BYTES);
        // SAFETY: within the mapping and aligned, by the assertion; it is an atomic, for which every
        // bit pattern is valid.
        unsafe { self.at.add(start).cast::<Fill>().as_ref() }
    }

    /// The data of the block that begins at `start`, from its byte `within` on, of which `length` bytes are wanted.
    fn data(&self, start: usize, within: usize, length: usize) -> NonNull<u8> {
        let from = start.saturating_add(LINE).saturating_add(within);
        assert!(from.saturating_add(length) <= ARENA_BYTES, "outside the arena");
        // SAFETY: within the mapping, by the assertion.
        unsafe { self.at.add(from) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `at` came from mmap with this length; references into it borrow from self.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), ARENA_BYTES) };
    }
}

/// This end's arena: lends its memory to messages.
#[derive(Clone)]
pub(crate) struct Lender(Arc<Lending>);

struct Lending {
    mapping: Mapping,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    /// Start and end of what is lent, by start.
    lent: Vec<(usize, usize)>,
    bytes: usize,
    /// The end of the memory that was used since it was last released.
    touched: usize,
    /// How far memory was lent since nothing was, and how far the times before.
    needed: usize,
    needed_before: [usize; LATELY],
    /// Blocks lent so far, and how many they were at the last rest.
    count: u64,
    rested: u64,
}

impl Blocks {
    fn take(&mut self, bytes: usize) -> Option<usize> {
        let (mut start, mut at) = (0usize, 0usize);
        for &(begins, ends) in &self.lent {
            if begins.saturating_sub(start) >= bytes {
                break;
            }
            (start, at) = (ends, at.saturating_add(1));
        }
        let end = start.checked_add(bytes).filter(|end| *end <= ARENA_BYTES)?;
        self.lent.insert(at, (start, end));
        self.bytes = self.bytes.saturating_add(bytes);
        self.touched = self.touched.max(end);
        self.needed = self.needed.max(end);
        self.count = self.count.wrapping_add(1);
        Some(start)
    }

    fn give_back(&mut self, start: usize) {
        if let Ok(at) = self.lent.binary_search_by_key(&start, |(start, _)| *start) {
            let (begins, ends) = self.lent.remove(at);
            self.bytes = self.bytes.saturating_sub(ends.saturating_sub(begins));
        }
    }
}

impl Blocks {
    /// The bytes that should stay in memory while no block is lent: the likely need of the next messages. To give it
    /// back and touch it again costs more than a copy.
    fn likely_to_need(&mut self) -> usize {
        self.needed_before.rotate_right(1);
        self.needed_before[0] = std::mem::take(&mut self.needed);
        let mut sorted = self.needed_before;
        sorted.sort_unstable();
        sorted[LATELY - 2].max(KEPT)
    }
}

impl Lender {
    pub(crate) fn new(file: impl AsFd, of: Side) -> io::Result<Lender> {
        Ok(Lender(Arc::new(Lending { mapping: Mapping::new(file, of)?, blocks: Mutex::default() })))
    }

    /// Room for a message of this length, if there is some.
    pub(crate) fn lend(&self, length: usize) -> Option<Arc<dyn Loan>> {
        let bytes = length.checked_add(LINE)?.checked_next_multiple_of(GRAIN)?;
        let start = self.0.blocks().take(bytes)?;
        self.0.mapping.fill(start).begin();
        Some(Arc::new(Block { lender: self.clone(), start, length, filled: AtomicUsize::new(0) }))
    }

    /// How many bytes are lent.
    pub(crate) fn lent(&self) -> usize {
        self.0.blocks().bytes
    }

    /// Releases the memory after the last lent block, if no block was lent since the last call.
    pub(crate) fn rest(&self) {
        let mut blocks = self.0.blocks();
        if blocks.rested == blocks.count {
            let needed = blocks.lent.last().map_or(0, |&(_, end)| end);
            self.0.keep(&mut blocks, needed);
        }
        blocks.rested = blocks.count;
    }
}

impl Lending {
    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the memory behind the first `kept` bytes back to the system. Nothing there may be lent.
    fn keep(&self, blocks: &mut Blocks, kept: usize) {
        let Some(unused) = blocks.touched.checked_sub(kept).filter(|unused| *unused > 0) else { return };
        assert!(blocks.lent.last().is_none_or(|&(_, end)| end <= kept), "given back while lent");
        // SAFETY: within the mapping. No part of this memory is lent, so the peer does not read it. No part can be lent
        // before the lock is free again. If the system refuses, it stays.
        let _ = unsafe { madvise(self.mapping.at.add(kept).as_ptr().cast(), unused, Advice::LinuxRemove) };
        blocks.touched = kept;
    }
}

/// Memory lent to one message.
///
/// Invariant: while it lives, these bytes are lent only once; the peer reads only filled bytes.
struct Block {
    lender: Lender,
    start: usize,
    length: usize,
    /// How much is filled. The shared line is only for the peer, because the peer might write there.
    filled: AtomicUsize,
}

impl Block {
    fn data(&self, from: usize, length: usize) -> NonNull<u8> {
        self.lender.0.mapping.data(self.start, from, length)
    }
}

impl Loan for Block {
    fn address(&self) -> u64 {
        FLAG | ((self.start / GRAIN) as u64) << WITHIN_BITS
    }

    fn fill_by(&self, length: usize, write: &mut dyn FnMut(&mut [u8])) {
        let line = self.lender.0.mapping.fill(self.start);
        // Relaxed: only the thread that sends the message fills it.
        let mut from = self.filled.load(Ordering::Relaxed);
        let end = from.saturating_add(length);
        assert!(end <= self.length, "more than was asked for");
        while from < end {
            let part = PART.min(end.saturating_sub(from));
            // SAFETY: within the block, by the assertion; nobody else has it before it is filled.
            write(unsafe { std::slice::from_raw_parts_mut(self.data(from, part).as_ptr(), part) });
            from = from.saturating_add(part);
            self.filled.store(from, Ordering::Relaxed);
            line.advance(from);
        }
    }

    fn filled(&self) -> &[u8] {
        let filled = self.filled.load(Ordering::Relaxed);
        // SAFETY: within the block, and what is filled is not written any more.
        unsafe { std::slice::from_raw_parts(self.data(0, filled).as_ptr(), filled) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut blocks = self.lender.0.blocks();
        blocks.give_back(self.start);
        if blocks.lent.is_empty() {
            let kept = blocks.likely_to_need();
            self.lender.0.keep(&mut blocks, kept);
        }
    }
}

/// The other end's arena.
#[derive(Clone)]
pub(crate) struct Reader(Arc<Mapping>);

impl Reader {
    pub(crate) fn new(file: impl AsFd, of: Side) -> io::Result<Reader> {
        Mapping::new(file, of).map(|mapping| Reader(Arc::new(mapping)))
    }

    /// The start of the block of an address, and the position of the data in the block; `None` if this range of bytes
    /// is in no block.
    fn place(address: u64, length: usize) -> Option<(usize, usize)> {
        let start = (((address & !FLAG) >> WITHIN_BITS) as usize).checked_mul(GRAIN)?;
        let within = (address & ((1 << WITHIN_BITS) - 1)) as usize;
        let end = start.checked_add(LINE)?.checked_add(within)?.checked_add(length)?;
        (end <= ARENA_BYTES).then_some((start, within))
    }

    /// Copies what begins at `address`, as far as the peer has filled it in: it is given a moment for each part.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<usize, PullRefused> {
        let length = into.len();
        let mut rest = into;
        self.each_part(address, length, |start, within, part| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(part);
            self.copy(start, within, now);
            rest = later;
        })
    }

    /// As [`read`](Reader::read), but `take` is shown each part where it lies.
    pub(crate) fn show(
        &self,
        address: u64,
        length: usize,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<usize, PullRefused> {
        self.each_part(address, length, |start, within, part| {
            let from = self.0.data(start, within, part);
            // SAFETY: so many bytes lie there; filled, so the peer does not write them while the message is not released.
            take(unsafe { std::slice::from_raw_parts(from.as_ptr(), part) });
        })
    }

    /// Calls `use_it` for each filled part of the data at `address`, with the block's start, the position of the part
    /// in the block, and its length. How many bytes they have together.
    #[inline]
    fn each_part(
        &self,
        address: u64,
        length: usize,
        mut use_it: impl FnMut(usize, usize, usize),
    ) -> Result<usize, PullRefused> {
        // A correct peer never sends an address outside of a block.
        let (start, within) = Self::place(address, length).ok_or(PullRefused::Gone)?;
        let fill = self.0.fill(start);
        let mut done = 0usize;
        while done < length {
            let part = PART.min(length.saturating_sub(done));
            let from = within.saturating_add(done);
            let wanted = from.saturating_add(part);
            if fill.filled() < wanted && !is_soon_filled(fill, wanted) {
                break;
            }
            use_it(start, from, part);
            done = done.saturating_add(part);
        }
        Ok(done)
    }

    /// As [`read`](Reader::read), `length` bytes at the most, to one room behind the other.
    pub(crate) fn scatter(
        &self,
        address: u64,
        length: usize,
        into: &mut [IoSliceMut<'_>],
    ) -> Result<usize, PullRefused> {
        let mut done = 0usize;
        for room in into {
            let wanted = room.len().min(length.saturating_sub(done));
            let room = room.get_mut(..wanted).unwrap_or_default();
            let got = self.read(address.saturating_add(done as u64), room)?;
            done = done.saturating_add(got);
            if got < wanted {
                break;
            }
        }
        Ok(done)
    }

    /// The data at `address`, if the peer has filled all of it. While the peer continues to fill, the call waits a
    /// moment for each part.
    pub(crate) fn kept(&self, address: u64, length: usize) -> Option<Arc<dyn Kept>> {
        let (start, within) = Self::place(address, length)?;
        let (fill, wanted) = (self.0.fill(start), within.saturating_add(length));
        let mut filled = fill.filled();
        while filled < wanted {
            if !is_soon_filled(fill, wanted.min(filled.saturating_add(PART))) {
                return None;
            }
            filled = fill.filled();
        }
        Some(Arc::new(Whole { arena: self.clone(), start, within, length }))
    }

    /// Copies bytes of the block that begins at `start`. They must be filled, and in the arena.
    fn copy(&self, start: usize, within: usize, into: &mut [u8]) {
        let from = self.0.data(start, within, into.len());
        // SAFETY: so many bytes lie there; filled, so the peer does not write them while the message is not released.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), into.as_mut_ptr(), into.len()) };
    }
}

/// The peer is in the middle of copying: it goes on at once, unless it is gone or has lost its core.
fn is_soon_filled(fill: &Fill, wanted: usize) -> bool {
    const SPINS: u32 = 4096;
    const YIELDS: u32 = 64;
    (0..SPINS + YIELDS).any(|turn| {
        if turn < SPINS {
            std::hint::spin_loop()
        } else {
            std::thread::yield_now()
        }
        fill.filled() >= wanted
    })
}

/// A message that its sender has filled in.
struct Whole {
    arena: Reader,
    start: usize,
    within: usize,
    length: usize,
}

impl Kept for Whole {
    fn read(&self, from: usize, into: &mut [u8]) {
        assert!(from.saturating_add(into.len()) <= self.length, "more than there is");
        self.arena.copy(self.start, self.within.saturating_add(from), into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> (Lender, Reader) {
        let (_segment, file) = Segment::create().expect("memory");
        let reader = Reader::new(&file, Side::Maker).expect("memory");
        (Lender::new(&file, Side::Maker).expect("memory"), reader)
    }

    #[test]
    fn reader_reads_while_lender_fills() {
        let (lender, reader) = ends();
        let data: Vec<u8> = (0..3_000_000u32).map(|i| (i / 7) as u8).collect();
        let loan = lender.lend(data.len()).expect("room");
        let address = loan.address();
        assert!(is_here(address));
        let mut out = vec![0; data.len()];
        std::thread::scope(|scope| {
            scope.spawn(|| data.chunks(100_000).for_each(|piece| loan.fill(piece)));
            let (head, tail) = out.split_at_mut(1_000_001);
            read_all(&reader, address, head);
            read_all(&reader, address + 1_000_001, tail);
        });
        assert_eq!(out, data);
        assert_eq!(loan.filled(), data);
    }

    /// Repeated long messages use the same memory. A single long message does not keep memory.
    #[test]
    fn memory_lent_twice_lately_is_kept_for_a_while() {
        let (lender, _reader) = ends();
        let long = 8 << 20;
        let lent = |length: usize| {
            drop(lender.lend(length).expect("room"));
            lender.0.blocks().touched
        };
        assert_eq!(lent(long), KEPT);
        assert_eq!(lent(1000), KEPT);
        assert!(lent(long) > long, "the second one");
        assert!(lent(1000) > long && lent(long) > long);
        for _ in 0..LATELY - 1 {
            lent(1000);
        }
        assert_eq!(lent(1000), KEPT);
        lent(long);
        assert!(lent(long) > long);
        lender.rest();
        lender.rest();
        assert_eq!(lender.0.blocks().touched, 0);
    }

    #[test]
    fn peer_writes_parts_without_copying_and_other_sees_them() {
        let (lender, reader) = ends();
        let length = 20 * PART + 77;
        let loan = lender.lend(length).expect("room");
        let address = loan.address();
        let mut seen = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (length, value) in [(3 * PART + 5, 1), (17 * PART + 72, 2)] {
                    loan.fill_by(length, &mut |part| part.fill(value));
                }
            });
            while seen.len() < length {
                let (from, left) = (address + seen.len() as u64, length - seen.len());
                reader
                    .show(from, left, &mut |part| seen.extend_from_slice(part))
                    .expect("an address of ours");
            }
        });
        let (first, second) = seen.split_at(3 * PART + 5);
        assert!(first.iter().all(|byte| *byte == 1) && second.iter().all(|byte| *byte == 2));
        let beyond = reader.show(address, ARENA_BYTES, &mut |_| panic!("nothing lies there"));
        assert_eq!(beyond, Err(PullRefused::Gone));
    }

    #[test]
    fn memory_is_lent_once_and_lowest_first() {
        let (lender, _reader) = ends();
        let loans: Vec<_> = (0..4).map(|_| lender.lend(10_000).expect("room")).collect();
        let mut addresses: Vec<_> = loans.iter().map(|loan| loan.address()).collect();
        addresses.dedup();
        assert_eq!(addresses.len(), 4);
        assert_eq!(lender.lent(), 4 * 12288);
        let second = loans[1].address();
        drop(loans);
        assert_eq!(lender.lent(), 0);
        let _first = lender.lend(10_000);
        assert_eq!(lender.lend(10_000).expect("room").address(), second);
    }

    #[test]
    fn arena_returns_memory_after_two_rests() {
        let (_segment, file) = Segment::create().expect("memory");
        let taken = || rustix::fs::fstat(&file).expect("a file").st_blocks as usize * 512;
        let reader = Reader::new(&file, Side::Maker).expect("memory");
        let lender = Lender::new(&file, Side::Maker).expect("memory");
        let fresh = taken();
        let data = vec![7; 1_000_000];
        let use_it = || {
            let loan = lender.lend(data.len()).expect("room");
            loan.fill(&data);
            let mut out = vec![0; data.len()];
            assert_eq!(reader.read(loan.address(), &mut out), Ok(out.len()));
            assert_eq!(out, data);
            loan
        };
        drop(use_it());
        lender.rest();
        assert!(taken() >= fresh + data.len(), "used since the last rest");
        lender.rest();
        assert_eq!(taken(), fresh);
        let (first, second) = (use_it(), use_it());
        drop(second);
        lender.rest();
        lender.rest();
        assert_eq!(first.filled(), data, "what is lent stays");
        assert!(taken() < fresh + data.len() + 2 * GRAIN, "and no more than that");
        drop((first, use_it()));
    }

    #[test]
    fn lend_beyond_arena_is_refused() {
        let (lender, _reader) = ends();
        assert!(lender.lend(ARENA_BYTES).is_none(), "no room for the line");
        let all = lender.lend(ARENA_BYTES - LINE).expect("all of it");
        assert!(lender.lend(1).is_none());
        drop(all);
        assert!(lender.lend(1).is_some());
        assert!(lender.lend(usize::MAX).is_none());
    }

    #[test]
    fn address_of_no_block_is_refused() {
        let (_lender, reader) = ends();
        let mut out = [0; 100];
        assert_eq!(reader.read(u64::MAX, &mut out), Err(PullRefused::Gone));
        let last = FLAG | ((ARENA_BYTES / GRAIN - 1) as u64) << WITHIN_BITS;
        assert_eq!(reader.read(last + GRAIN as u64, &mut out), Err(PullRefused::Gone));
    }

    #[test]
    fn reader_does_not_wait_for_unfilled_part() {
        let (lender, reader) = ends();
        let loan = lender.lend(100_000).expect("room");
        loan.fill(&[1; 50_000]);
        let mut out = vec![0; 100_000];
        assert_eq!(reader.read(loan.address(), &mut out), Ok(50_000 / PART * PART));
        assert!(reader.kept(loan.address(), 100_000).is_none());
        loan.fill(&[2; 50_000]);
        let kept = reader.kept(loan.address(), 100_000).expect("all of it");
        drop((lender, reader));
        kept.read(0, &mut out);
        assert!(out[..50_000].iter().all(|byte| *byte == 1) && out[50_000..].iter().all(|byte| *byte == 2));
    }

    #[test]
    fn invalid_fill_line_from_peer_harms_no_sender() {
        let (lender, reader) = ends();
        let loan = lender.lend(100_000).expect("room");
        for nonsense in [usize::MAX, 0, 99_999] {
            reader.0.fill(loan_start(&*loan)).advance(nonsense);
            loan.fill(&[7; 20_000]);
        }
        assert_eq!(loan.filled(), [7; 60_000]);
    }

    fn loan_start(loan: &dyn Loan) -> usize {
        ((loan.address() & !FLAG) >> WITHIN_BITS) as usize * GRAIN
    }

    fn read_all(reader: &Reader, address: u64, into: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            done += reader.read(address + done as u64, &mut into[done..]).expect("an address of ours");
        }
    }
}
