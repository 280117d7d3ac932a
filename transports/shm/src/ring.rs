//! One direction of a segment: a ring of cells with one producer and one consumer.
//!
//! ```text
//! front: consumed   one line, written by the consumer: cells taken, bulk bytes freed
//!        starving   one line, written by the producer: it found no room and will sleep
//!        cells      FRONT x 64 bytes: publish word, frame header, 32 bytes of payload
//! back:  cells      BACK x 64 bytes, the rest of the ring
//!        bulk       LINES x 64 bytes for payloads that do not fit into their cell; begins a page
//! ```
//!
//! Memory is taken where it is touched, so a pair that talks seldom should not walk through all of its ring. The fronts
//! of both directions share a page. If everything is consumed when a producer comes to the end of its front, it
//! publishes the last cell with [`JUMP`]. Both sides then continue at the beginning of the ring. Only a producer that
//! is ahead of its consumer needs the back. The bulk restarts after its first page in the same way.
//!
//! The consumer polls the publish word of the next cell. A short frame therefore costs one cache line from core to
//! core, without a shared index. A cell's publish word is the lap in which it was written, counted from 1. The producer
//! reads `consumed` only when the ring looks full to it.
//!
//! Bulk memory is given out in order and in one piece; where the end is too
//! near, the rest of the lap is skipped. When all of it is consumed, and was for a while, its producer gives
//! its pages back to the system.

use crate::sync::{AtomicU32, AtomicU64, Ordering, UnsafeCell};
use parvum_transport::{Gather, Refused, Sink};
use parvum_wire::Header;
use std::num::{NonZeroU64, NonZeroUsize};

const LINE: usize = 64;
/// Payload bytes that fit into a cell.
pub const INLINE: usize = LINE - Header::SIZE;
/// The inline count that means "the payload is in bulk memory".
const IN_BULK: u8 = 0xff;

/// In the body of a cell: where its bulk memory is named, its start in eight bytes and its length in four.
const NAMED: usize = Header::SIZE - 4;

/// A cell: the publish word and the rest of a line.
#[repr(C, align(64))]
pub struct Cell {
    publish: AtomicU32,
    body: UnsafeCell<[u8; LINE - 4]>,
}

/// In a publish word: the next cell is the ring's first, not the one behind this.
const JUMP: u32 = 1 << 31;

/// The consumer's message to the producer. Alone in its line.
#[repr(C, align(64))]
pub struct Consumed {
    cells: AtomicU64,
    bulk: AtomicU64,
}

/// The producer's message to the consumer. Alone in its line.
#[repr(C, align(64))]
pub struct Starving(AtomicU32);

/// The bulk memory. On separate pages, because the system adds and removes them. (Loom has small stacks and no pages.)
#[repr(C)]
#[cfg_attr(not(loom), repr(align(4096)))]
struct Bulk<const LINES: usize>([UnsafeCell<[u8; LINE]>; LINES]);

/// The part of a direction's shared memory that every pair uses; all zero when new.
#[repr(C)]
pub struct Front<const FRONT: usize> {
    consumed: Consumed,
    starving: Starving,
    cells: [Cell; FRONT],
}

/// The part of a direction's shared memory that only pairs with many messages use; all zero when new.
#[repr(C)]
pub struct Back<const BACK: usize, const LINES: usize> {
    cells: [Cell; BACK],
    bulk: Bulk<LINES>,
}

/// One direction.
///
/// Invariant: a cell's body and the bulk it names belong to the producer until
/// it publishes the cell, then to the consumer until it counts the cell as consumed.
pub struct Ring<'a, const FRONT: usize, const BACK: usize, const LINES: usize> {
    front: &'a Front<FRONT>,
    back: &'a Back<BACK, LINES>,
}

impl<const FRONT: usize, const BACK: usize, const LINES: usize> Clone for Ring<'_, FRONT, BACK, LINES> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const FRONT: usize, const BACK: usize, const LINES: usize> Copy for Ring<'_, FRONT, BACK, LINES> {}

/// A direction's memory in one piece, for tests, and for measuring the ring alone.
pub struct RingMemory<const FRONT: usize, const BACK: usize, const LINES: usize> {
    front: Front<FRONT>,
    back: Back<BACK, LINES>,
}

// SAFETY: bodies change hands by the ring's invariant, through the release
// and acquire orderings named below; everything else is atomic.
unsafe impl<const FRONT: usize> Sync for Front<FRONT> {}
// SAFETY: plain memory; it belongs to no thread.
unsafe impl<const FRONT: usize> Send for Front<FRONT> {}
// SAFETY: as for the front; bulk changes hands with the cell that names it.
unsafe impl<const BACK: usize, const LINES: usize> Sync for Back<BACK, LINES> {}
// SAFETY: plain memory; it belongs to no thread.
unsafe impl<const BACK: usize, const LINES: usize> Send for Back<BACK, LINES> {}

impl<const FRONT: usize, const BACK: usize, const LINES: usize> RingMemory<FRONT, BACK, LINES> {
    /// A fresh one.
    pub fn fresh() -> Self {
        let cell = || Cell { publish: AtomicU32::new(0), body: UnsafeCell::new([0; LINE - 4]) };
        let front = Front {
            consumed: Consumed { cells: AtomicU64::new(0), bulk: AtomicU64::new(0) },
            starving: Starving(AtomicU32::new(0)),
            cells: std::array::from_fn(|_| cell()),
        };
        let bulk = Bulk(std::array::from_fn(|_| UnsafeCell::new([0; LINE])));
        RingMemory { front, back: Back { cells: std::array::from_fn(|_| cell()), bulk } }
    }

    /// The direction that this is.
    pub fn ring(&self) -> Ring<'_, FRONT, BACK, LINES> {
        Ring::new(&self.front, &self.back)
    }
}

impl<'a, const FRONT: usize, const BACK: usize, const LINES: usize> Ring<'a, FRONT, BACK, LINES> {
    /// The direction of these two parts, which belong together.
    #[inline]
    pub fn new(front: &'a Front<FRONT>, back: &'a Back<BACK, LINES>) -> Self {
        Ring { front, back }
    }

    const CELLS: NonZeroU64 = NonZeroU64::new((FRONT + BACK) as u64).expect("a ring has cells");
    const BULK: NonZeroUsize = NonZeroUsize::new(LINES * LINE).expect("a ring has bulk memory");
    const BULK_LENGTH: NonZeroU64 = NonZeroU64::new((LINES * LINE) as u64).expect("as above");
    /// The longest payload of one frame: a quarter of the bulk, so that both ends work at once.
    pub const FRAME: usize = Self::BULK.get() / 4;
    /// The part of the bulk that may stay for good: a page.
    const KEPT: usize = Self::BULK.get() / 16;

    /// Publishes arbitrary content at a position, as a hostile producer might.
    #[cfg(fuzzing)]
    pub fn publish_anything(&self, position: u64, content: &[u8; LINE - 4]) {
        let cell = self.cell(position);
        // SAFETY: the fuzz target is the only user of the ring, on one thread.
        cell.body.with_mut(|shared| unsafe { (*shared).copy_from_slice(content) });
        cell.publish.store(Self::lap(position), Ordering::Release);
    }

    /// Whether the producer found no room; asks once for each time it did.
    ///
    /// No fence orders this after the room that was just made, so the answer may come too early. A sleeping producer
    /// must therefore look again after a while.
    #[inline]
    pub fn relieve(&self) -> bool {
        // Relaxed: a hint, see above.
        let starving = &self.front.starving.0;
        starving.load(Ordering::Relaxed) != 0 && starving.swap(0, Ordering::Relaxed) != 0
    }

    /// The address of the bulk memory, and its length.
    #[cfg(not(loom))]
    pub(crate) fn bulk(&self) -> (*mut u8, usize) {
        (self.bulk_at(0), Self::BULK.get())
    }

    /// The byte of the bulk memory at `start`. The pointer may be used for all lines behind it, not for one alone.
    #[cfg(not(loom))]
    fn bulk_at(&self, start: usize) -> *mut u8 {
        self.back.bulk.0.as_ptr().cast::<u8>().cast_mut().wrapping_add(start)
    }

    /// Simulates the release of the pages of the bulk memory.
    #[cfg(all(test, loom))]
    fn clear_bulk(&self) {
        for line in &self.back.bulk.0 {
            // SAFETY: `Producer::rest` said that nobody reads it.
            line.with_mut(|line| unsafe { *line = [0; LINE] });
        }
    }

    #[inline]
    fn lap(position: u64) -> u32 {
        (position / Self::CELLS).wrapping_add(1) as u32 & !JUMP
    }

    #[inline]
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "the remainder is below the sum of both lengths"
    )]
    fn cell(&self, position: u64) -> &'a Cell {
        let index = (position % Self::CELLS) as usize;
        if index < FRONT { &self.front.cells[index] } else { &self.back.cells[index - FRONT] }
    }

    /// The position behind this one.
    #[inline]
    fn behind(position: u64, jumps: bool) -> u64 {
        match jumps {
            true => (position / Self::CELLS).wrapping_add(1).wrapping_mul(Self::CELLS.get()),
            false => position.wrapping_add(1),
        }
    }

    /// Copies the payload to bulk memory from `start` on.
    ///
    /// # Safety
    /// Producer only; the bytes must be reserved: inside the bulk, and consumed since their last use.
    #[cfg(not(loom))]
    unsafe fn write_bulk(&self, start: usize, payload: Gather<'_>) {
        let first = self.bulk_at(start);
        // SAFETY: the lines are adjacent in one array, and the range ends inside it. The consumer has released the
        // range, and only this producer writes.
        payload.copy_to(unsafe { std::slice::from_raw_parts_mut(first, payload.len()) });
    }

    /// Lends out bulk memory from `start` on.
    ///
    /// # Safety
    /// Consumer only; the range must be named by a published cell that is not yet consumed.
    #[cfg(not(loom))]
    unsafe fn read_bulk<R>(&self, start: usize, length: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        let first = self.bulk_at(start);
        // SAFETY: the range was checked to lie inside the bulk; its producer
        // does not touch it before it is consumed.
        read(unsafe { std::slice::from_raw_parts(first, length) })
    }

    /// As above, line by line, for loom's cells do not lie side by side.
    ///
    /// # Safety
    /// As above.
    #[cfg(loom)]
    unsafe fn write_bulk(&self, start: usize, payload: Gather<'_>) {
        let mut bytes = vec![0; payload.len()];
        payload.copy_to(&mut bytes);
        for (at, part) in bytes.chunks(LINE).enumerate() {
            // SAFETY: as above.
            self.back.bulk.0[start / LINE + at]
                .with_mut(|line| unsafe { (&mut *line)[..part.len()].copy_from_slice(part) });
        }
    }

    /// As above, line by line.
    ///
    /// # Safety
    /// As above.
    #[cfg(loom)]
    unsafe fn read_bulk<R>(&self, start: usize, length: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        let mut bytes = vec![0; length];
        for (at, part) in bytes.chunks_mut(LINE).enumerate() {
            // SAFETY: as above.
            self.back.bulk.0[start / LINE + at]
                .with(|line| unsafe { part.copy_from_slice(&(&*line)[..part.len()]) });
        }
        read(&bytes)
    }
}

/// Writes a header to a cell, without the publish word, in whole words. If small values were first combined elsewhere,
/// the copy would wait until the processor has stored them.
#[inline]
fn write_header(body: &mut [u8; LINE - 4], header: &Header, inline: u8) {
    let [first, second, third, fourth] = header.words(inline);
    body[..4].copy_from_slice(&((first >> 32) as u32).to_le_bytes());
    body[4..12].copy_from_slice(&second.to_le_bytes());
    body[12..20].copy_from_slice(&third.to_le_bytes());
    body[20..28].copy_from_slice(&fourth.to_le_bytes());
}

/// The number of cells that a producer prefetches before it writes them. The very next one its consumer is looking at.
const AHEAD: u64 = 6;
/// The number of cells that a consumer prefetches before it reads them, if its producer runs ahead. On an Intel guest (Granite
/// Rapids) a stream of short messages took 0.085 us a message without, 0.081 with 1, 0.054 with 2, 0.056 with 3, 0.07 with 4.
const BEHIND: u64 = 2;

/// Fetches the line for writing, without waiting for it.
#[inline]
fn expect_to_write(cell: &Cell) {
    #[cfg(not(loom))]
    parvum_sync::fetch_for_writing(cell);
    #[cfg(loom)]
    let _ = cell;
}

/// Fetches the line for reading, without waiting for it.
#[inline]
fn expect_to_read(cell: &Cell) {
    #[cfg(not(loom))]
    parvum_sync::fetch_for_reading(cell);
    #[cfg(loom)]
    let _ = cell;
}

/// The sending end's own state.
#[derive(Default)]
pub struct Producer {
    /// Cells published so far.
    next: u64,
    /// Bulk bytes given out so far, skipped ones included.
    bulk: u64,
    /// `Consumed` as last read.
    seen_cells: u64,
    seen_bulk: u64,
    /// `bulk` at the last rest, and when the memory was last given back.
    rested: u64,
    given_back: u64,
}

impl Producer {
    /// Publishes one frame, or reports that there is no room.
    ///
    /// # Panics
    /// When the payload is longer than a frame may be.
    #[inline]
    pub fn send<const F: usize, const B: usize, const L: usize>(
        &mut self,
        ring: Ring<'_, F, B, L>,
        header: &Header,
        payload: Gather<'_>,
    ) -> Result<(), Refused> {
        assert!(payload.len() <= Ring::<F, B, L>::FRAME, "a frame over the limit");
        let cells = Ring::<F, B, L>::CELLS.get();
        if self.next.wrapping_sub(self.seen_cells) >= cells
            && self.next.wrapping_sub(self.consumed_cells(ring)?) >= cells
        {
            ring.front.starving.0.store(1, Ordering::Relaxed);
            return Err(Refused::Full);
        }
        let cell = ring.cell(self.next);
        if payload.len() <= INLINE {
            // SAFETY: the cell was consumed (checked above) and is not published
            // again before the end; only the producer writes bodies.
            cell.body.with_mut(|shared| unsafe {
                write_header(&mut *shared, header, payload.len() as u8);
                payload.copy_to(&mut (&mut *shared)[Header::SIZE - 4..]);
            });
        } else {
            let start = self.reserve(ring, payload.len())?;
            // SAFETY: this is the producer (`&mut self`), and `reserve` checked the range.
            unsafe { ring.write_bulk(start as usize % Ring::<F, B, L>::BULK, payload) };
            // SAFETY: as above.
            cell.body.with_mut(|shared| unsafe {
                write_header(&mut *shared, header, IN_BULK);
                let body = &mut *shared;
                body[NAMED..NAMED + 8].copy_from_slice(&start.to_le_bytes());
                body[NAMED + 8..NAMED + 12].copy_from_slice(&(payload.len() as u32).to_le_bytes());
            });
        }
        // Its consumer has looked at this cell a lap ago and not yet again: by the time that it is written it is here.
        expect_to_write(ring.cell(self.next.wrapping_add(AHEAD)));
        let jumps = self.jumps(ring);
        let word = Ring::<F, B, L>::lap(self.next) | if jumps { JUMP } else { 0 };
        // Release: partner of the acquire in `Consumer::receive`.
        cell.publish.store(word, Ordering::Release);
        self.next = Ring::<F, B, L>::behind(self.next, jumps);
        Ok(())
    }

    /// Whether the ring restarts after the next cell: this cell is the last of the front, and all cells before it are
    /// consumed.
    #[inline]
    fn jumps<const F: usize, const B: usize, const L: usize>(&mut self, ring: Ring<'_, F, B, L>) -> bool {
        if (self.next % Ring::<F, B, L>::CELLS).wrapping_add(1) != F as u64 {
            return false;
        }
        self.consumed_cells(ring) == Ok(self.next)
    }

    /// How many cells are no longer read. `Closed` when that is a number that no consumer of ours writes: fewer than before, or
    /// more than there are.
    fn consumed_cells<const F: usize, const B: usize, const L: usize>(
        &mut self,
        ring: Ring<'_, F, B, L>,
    ) -> Result<u64, Refused> {
        // Acquire: partner of the release in `Consumer::receive`.
        let cells = ring.front.consumed.cells.load(Ordering::Acquire);
        if !(self.seen_cells..=self.next).contains(&cells) {
            return Err(Refused::Closed);
        }
        self.seen_cells = cells;
        Ok(cells)
    }

    /// How far the bulk memory is no longer read, likewise.
    fn consumed_bulk<const F: usize, const B: usize, const L: usize>(
        &mut self,
        ring: Ring<'_, F, B, L>,
    ) -> Result<u64, Refused> {
        // Acquire: as above.
        let bulk = ring.front.consumed.bulk.load(Ordering::Acquire);
        if !(self.seen_bulk..=self.bulk).contains(&bulk) {
            return Err(Refused::Closed);
        }
        self.seen_bulk = bulk;
        Ok(bulk)
    }

    /// Finds bulk memory for a payload; gives its position.
    fn reserve<const F: usize, const B: usize, const L: usize>(
        &mut self,
        ring: Ring<'_, F, B, L>,
        length: usize,
    ) -> Result<u64, Refused> {
        let bulk = Ring::<F, B, L>::BULK_LENGTH.get();
        let length = (length as u64).next_multiple_of(LINE as u64);
        let offset = self.bulk % Ring::<F, B, L>::BULK_LENGTH;
        // Below the bulk's length, and a payload is a quarter of it at most: neither sum wraps.
        let is_beyond = offset.wrapping_add(length) > bulk;
        let skip =
            if is_beyond || self.begins_anew(ring, offset, length) { bulk.wrapping_sub(offset) } else { 0 };
        let start = self.bulk.wrapping_add(skip);
        let end = start.wrapping_add(length);
        if end.wrapping_sub(self.seen_bulk) > bulk && end.wrapping_sub(self.consumed_bulk(ring)?) > bulk {
            ring.front.starving.0.store(1, Ordering::Relaxed);
            return Err(Refused::Full);
        }
        self.bulk = end;
        Ok(start)
    }

    /// Whether the bulk restarts instead of continuing after its first page: all of it is consumed, and there is enough
    /// room after the skip.
    fn begins_anew<const F: usize, const B: usize, const L: usize>(
        &mut self,
        ring: Ring<'_, F, B, L>,
        offset: u64,
        length: u64,
    ) -> bool {
        let kept = Ring::<F, B, L>::KEPT as u64;
        if offset < length || offset > kept || offset.wrapping_add(length) <= kept {
            return false;
        }
        self.consumed_bulk(ring) == Ok(self.bulk)
    }

    /// Whether the bulk memory may be released to the system: it was used, but not since the last call, and it is
    /// empty. The caller does so before the next frame, if at all.
    pub fn rest<const F: usize, const B: usize, const L: usize>(&mut self, ring: Ring<'_, F, B, L>) -> bool {
        let was_used = std::mem::replace(&mut self.rested, self.bulk) != self.bulk;
        if was_used || self.bulk.wrapping_sub(self.given_back) <= Ring::<F, B, L>::KEPT as u64 {
            return false;
        }
        let is_empty = self.consumed_bulk(ring) == Ok(self.bulk);
        if is_empty {
            self.given_back = self.bulk;
        }
        is_empty
    }
}

/// The receiving end's own state.
#[derive(Default)]
pub struct Consumer {
    /// Cells taken so far.
    next: u64,
    /// The last cell was there when the consumer looked first: the producer runs ahead.
    is_behind: bool,
}

impl Consumer {
    /// Gives at most `most` published frames to `sink`; returns how many.
    /// `Closed` when the producer wrote what no producer of ours writes.
    #[inline]
    pub fn receive<const F: usize, const B: usize, const L: usize>(
        &mut self,
        ring: Ring<'_, F, B, L>,
        most: usize,
        sink: &mut dyn Sink,
    ) -> Result<usize, Refused> {
        for taken in 0..most {
            let cell = ring.cell(self.next);
            // Acquire: partner of the release in `Producer::send`.
            let published = cell.publish.load(Ordering::Acquire);
            let jumps = published == Ring::<F, B, L>::lap(self.next) | JUMP;
            if published != Ring::<F, B, L>::lap(self.next) && !jumps {
                self.is_behind = false;
                return Ok(taken);
            }
            if std::mem::replace(&mut self.is_behind, true) {
                expect_to_read(ring.cell(self.next.wrapping_add(BEHIND)));
            }
            let mut body = [0; LINE];
            // SAFETY: published and not consumed, so the producer leaves it alone.
            cell.body.with(|shared| unsafe { body[4..].copy_from_slice(&*shared) });
            let freed = Self::open(ring, &body, sink)?;
            self.next = Ring::<F, B, L>::behind(self.next, jumps);
            if let Some(end) = freed {
                // Release: partner of the acquire in `Producer::reserve`.
                ring.front.consumed.bulk.store(end, Ordering::Release);
            }
            // Release: partner of the acquire in `Producer::send`.
            ring.front.consumed.cells.store(self.next, Ordering::Release);
        }
        Ok(most)
    }

    /// Gives one frame to `sink`; returns up to where bulk memory is free now, if it used any.
    #[inline]
    fn open<const F: usize, const B: usize, const L: usize>(
        ring: Ring<'_, F, B, L>,
        body: &[u8; LINE],
        sink: &mut dyn Sink,
    ) -> Result<Option<u64>, Refused> {
        let (head, inline) = body.split_at(Header::SIZE);
        let head: &[u8; Header::SIZE] = head.try_into().map_err(|_| Refused::Closed)?;
        let (header, _, count) = Header::decode(head).map_err(|_| Refused::Closed)?;
        if count != IN_BULK {
            sink.frame(&header, inline.get(..count as usize).ok_or(Refused::Closed)?);
            return Ok(None);
        }
        let (start, rest) = inline.split_first_chunk().ok_or(Refused::Closed)?;
        let length = rest.first_chunk().ok_or(Refused::Closed)?;
        let (start, length) = (u64::from_le_bytes(*start), u32::from_le_bytes(*length) as usize);
        let offset = start as usize % Ring::<F, B, L>::BULK;
        if length > Ring::<F, B, L>::FRAME
            || !offset.is_multiple_of(LINE)
            || offset.saturating_add(length) > Ring::<F, B, L>::BULK.get()
        {
            return Err(Refused::Closed);
        }
        // No producer of ours ever comes there.
        let end = start.checked_add((length as u64).next_multiple_of(LINE as u64)).ok_or(Refused::Closed)?;
        // SAFETY: this is the consumer, and the range was checked to lie in the bulk;
        // the cell that names it is published and not consumed.
        unsafe { ring.read_bulk(offset, length, |payload| sink.frame(&header, payload)) };
        Ok(Some(end))
    }
}

#[cfg(all(test, not(loom)))]
mod memory;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;
