//! The segment of a pair: a memfd with a header, two rings and two arenas.

use crate::arena::{ARENA_BYTES, Lender, Reader};
use crate::ring::{Back, Front, Producer, Ring};
use crate::share::Share;
use crate::single_copy;
use parvum_transport::RemoteMemory;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io::{self, IoSliceMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Cells of a direction in the first page, and behind it: 256 in all. 64 KiB of bulk memory.
const FRONT: usize = 27;
const BACK: usize = 229;
const LINES: usize = 1024;
pub(crate) type Direction<'a> = Ring<'a, FRONT, BACK, LINES>;

const MAGIC: u64 = u64::from_le_bytes(*b"ParvumSg");
const VERSION: u32 = 8;

/// Whether one end may read the other's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SingleCopy {
    /// Not tried yet.
    Untried = 0,
    /// Tried, and it works.
    Works = 1,
    /// Tried, and refused by the system; or switched off.
    Refused = 2,
}

/// The two ends of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The end that made the segment.
    Maker,
    /// The end that was handed the segment.
    Opener,
}

impl Side {
    #[inline]
    fn other(self) -> Side {
        match self {
            Side::Maker => Side::Opener,
            Side::Opener => Side::Maker,
        }
    }
}

/// The parts of both ends; the maker's part is first.
#[repr(transparent)]
struct Both<T>([T; 2]);

impl<T> Both<T> {
    #[inline]
    fn of(&self, side: Side) -> &T {
        match side {
            Side::Maker => &self.0[0],
            Side::Opener => &self.0[1],
        }
    }
}

#[repr(C, align(64))]
struct End {
    pid: AtomicU32,
    single_copy: AtomicU32,
    /// The address of a word in this end's process, and the word. The other end reads it to try a single copy. The word
    /// is random: by number and address alone a process of another PID namespace would be taken for this one.
    probe: AtomicU64,
    word: AtomicU64,
    /// The other end's place in this end's inbox; 0 until it is known.
    place: AtomicU32,
}

/// The hints of one end to the other while it waits. They have a separate cache line, because they change often.
#[repr(C, align(64))]
struct WaitHint {
    /// Which message it awaits.
    awaited: AtomicU64,
    /// For which long one it waits just now.
    wanted: AtomicU64,
    /// The state of its reads of the other end's memory, with which the other end may help.
    share: Share,
}

/// One page: all that a pair touches that talks seldom.
#[repr(C, align(4096))]
struct Head {
    magic: AtomicU64,
    version: AtomicU32,
    ends: Both<End>,
    wishes: Both<WaitHint>,
    fronts: Both<Front<FRONT>>,
}

#[repr(C)]
struct Layout {
    head: Head,
    backs: Both<Back<BACK, LINES>>,
}

/// Bytes of header and rings; memory is only taken where it is touched.
pub const SEGMENT_BYTES: usize = size_of::<Layout>();

/// Bytes of the file, the arenas included.
const FILE_BYTES: usize = Segment::RINGS_BYTES + 2 * ARENA_BYTES;

/// Why a descriptor is not a segment.
#[derive(Debug, thiserror::Error)]
pub enum BadSegment {
    /// Its size is wrong, or it could be shrunk under its users.
    #[error("not a segment of this version: wrong size, or not sealed")]
    Shape,
    /// Magic number or version are wrong.
    #[error("not a segment of this version")]
    Version,
    /// The system refused.
    #[error("no memory for a segment: {0}")]
    System(#[from] io::Error),
}

impl From<rustix::io::Errno> for BadSegment {
    fn from(errno: rustix::io::Errno) -> BadSegment {
        BadSegment::System(errno.into())
    }
}

/// One end's mapping of a pair's segment. Clones share the mapping; each knows by itself where that is, for every message asks.
///
/// Invariant: `at` points to a shared mapping of `SEGMENT_BYTES` for as long as the value lives.
#[derive(Clone)]
pub struct Segment {
    at: NonNull<Layout>,
    /// Which end this is.
    side: Side,
    own: Arc<Own>,
}

/// The private part of this end. The mapping goes with it.
struct Own {
    at: NonNull<Layout>,
    /// The word that the other end tries a single copy on.
    probe: u64,
    /// The file from which the arenas are mapped at their first use; closed if the process has no descriptor to spare.
    file: Mutex<Option<OwnedFd>>,
}

// SAFETY: the mapping belongs to the process and not to a thread. Its contents are atomics, or rings with their own
// rules.
unsafe impl Send for Segment {}
// SAFETY: as above. The contents of the segment are atomic. A ring has one producer and one consumer, which the link
// owns and lends to one thread at a time.
unsafe impl Sync for Segment {}
// SAFETY: as for `Segment`, which alone uses it.
unsafe impl Send for Own {}
// SAFETY: likewise.
unsafe impl Sync for Own {}

impl Segment {
    /// The start of the arenas in the file.
    pub(crate) const RINGS_BYTES: usize = SEGMENT_BYTES.next_multiple_of(4096);

    /// Makes a segment; the descriptor is for the other end.
    pub fn create() -> Result<(Segment, OwnedFd), BadSegment> {
        let file = memfd_create("parvum-segment", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, FILE_BYTES as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let segment = Segment::over(map(&file)?, Side::Maker, file.try_clone()?)?;
        let head = &segment.layout().head;
        head.version.store(VERSION, Ordering::Relaxed);
        segment.enter();
        // Release: partner of the acquire in `open`.
        head.magic.store(MAGIC, Ordering::Release);
        Ok((segment, file))
    }

    /// Maps the segment that the other end made.
    pub fn open(file: impl AsFd) -> Result<Segment, BadSegment> {
        let file = file.as_fd();
        let sealed = fcntl_get_seals(file)?.contains(SealFlags::SHRINK);
        if fstat(file)?.st_size as u64 != FILE_BYTES as u64 || !sealed {
            return Err(BadSegment::Shape);
        }
        let segment = Segment::over(map(file)?, Side::Opener, file.try_clone_to_owned()?)?;
        let head = &segment.layout().head;
        // Acquire: partner of the release in `create`.
        if head.magic.load(Ordering::Acquire) != MAGIC || head.version.load(Ordering::Relaxed) != VERSION {
            return Err(BadSegment::Version);
        }
        segment.enter();
        Ok(segment)
    }

    /// That end's, over a new mapping of the file.
    fn over(at: NonNull<Layout>, side: Side, file: OwnedFd) -> Result<Segment, BadSegment> {
        // From here on the mapping is given back if something fails.
        let mut own = Own { at, probe: 0, file: Mutex::new(Some(file)) };
        own.probe = random_word()?;
        Ok(Segment { at, side, own: Arc::new(own) })
    }

    #[inline]
    fn layout(&self) -> &Layout {
        // SAFETY: by the invariant the memory is there; all-zero memory is a
        // fresh `Layout`, and every later change goes through its atomics and rings.
        unsafe { self.at.as_ref() }
    }

    /// Writes what the other end needs for a single copy out of this process.
    fn enter(&self) {
        let me = &self.layout().head.ends.of(self.side);
        me.probe.store(&raw const self.own.probe as u64, Ordering::Relaxed);
        me.word.store(self.own.probe, Ordering::Relaxed);
        // Release: partner of the acquire in `peer_pid`.
        me.pid.store(std::process::id(), Ordering::Release);
    }

    /// The arena that this end fills.
    pub(crate) fn lender(&self) -> io::Result<Lender> {
        Lender::new(self.file().as_ref().ok_or(io::ErrorKind::NotFound)?, self.side)
    }

    /// The arena that the other end fills, once it is there.
    pub(crate) fn reader(&self) -> io::Result<Reader> {
        Reader::new(self.file().as_ref().ok_or(io::ErrorKind::NotFound)?, self.side.other())
    }

    fn file(&self) -> MutexGuard<'_, Option<OwnedFd>> {
        self.own.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the file: no arena is mapped from now on.
    pub(crate) fn close_file(&self) {
        *self.file() = None;
    }

    /// The ring that this end writes.
    #[inline]
    pub(crate) fn outgoing(&self) -> Direction<'_> {
        self.direction(self.side)
    }

    /// The ring that this end reads.
    #[inline]
    pub(crate) fn incoming(&self) -> Direction<'_> {
        self.direction(self.side.other())
    }

    #[inline]
    fn direction(&self, from: Side) -> Direction<'_> {
        let Layout { head, backs } = self.layout();
        Ring::new(head.fronts.of(from), backs.of(from))
    }

    /// Releases the pages of the outgoing ring's bulk memory to the system, if this end's producer has not used them
    /// since the last call.
    pub(crate) fn rest(&self, producer: &mut Producer) {
        if producer.rest(self.outgoing()) {
            let (from, length) = self.outgoing().bulk();
            // SAFETY: whole pages of this mapping, by the ring's layout. They read as zero from now on, but they are
            // written again before any read. If the system refuses, they stay.
            let _ = unsafe { madvise(from.cast(), length, Advice::LinuxRemove) };
        }
    }

    /// The share for this end's reads of the other end's memory.
    pub(crate) fn share(&self) -> &Share {
        &self.layout().head.wishes.of(self.side).share
    }

    /// The share for the other end's reads of this end's memory.
    pub(crate) fn peer_share(&self) -> &Share {
        &self.layout().head.wishes.of(self.side.other()).share
    }

    /// Publishes which message this end awaits.
    #[inline]
    pub(crate) fn set_awaited(&self, word: u64) {
        // Release: partner of the acquire in `peer_awaits`. A reader of this word may rely on the receive that it
        // describes.
        self.layout().head.wishes.of(self.side).awaited.store(word, Ordering::Release);
    }

    /// Which message the other end awaits.
    #[inline]
    pub(crate) fn peer_awaits(&self) -> u64 {
        // Acquire: partner of the release in `set_awaited`.
        self.layout().head.wishes.of(self.side.other()).awaited.load(Ordering::Acquire)
    }

    /// Publishes which long message this end waits for just now.
    pub(crate) fn set_wanted(&self, word: u64) {
        // Relaxed: a hint, and the ring orders all that follows from it.
        self.layout().head.wishes.of(self.side).wanted.store(word, Ordering::Relaxed);
    }

    /// Which one the other end waits for.
    pub(crate) fn peer_wants(&self) -> u64 {
        // Relaxed: see `set_wanted`.
        self.layout().head.wishes.of(self.side.other()).wanted.load(Ordering::Relaxed)
    }

    /// Tells the other end its place in this end's inbox.
    pub(crate) fn set_place(&self, place: u32) {
        // Relaxed: a sender that does not see the place yet uses the place for all peers.
        self.layout().head.ends.of(self.side).place.store(place, Ordering::Relaxed);
    }

    /// This end's place in the other's inbox.
    pub(crate) fn peer_place(&self) -> u32 {
        self.layout().head.ends.of(self.side.other()).place.load(Ordering::Relaxed)
    }

    /// The other end's process, once it has mapped the segment.
    pub fn peer_pid(&self) -> Option<u32> {
        // Acquire: partner of the release in `enter`; `probe` and `word` are set when the pid is.
        let pid = self.layout().head.ends.of(self.side.other()).pid.load(Ordering::Acquire);
        (pid != 0).then_some(pid)
    }

    /// Tries a single copy from the other end, once; later calls give the same answer.
    /// `Untried` while the other end has not mapped the segment.
    pub fn try_single_copy(&self, allowed: bool) -> SingleCopy {
        let mine = &self.layout().head.ends.of(self.side).single_copy;
        let known = verdict(mine.load(Ordering::Relaxed));
        if known != SingleCopy::Untried {
            return known;
        }
        let Some(pid) = self.peer_pid() else { return SingleCopy::Untried };
        let peer = &self.layout().head.ends.of(self.side.other());
        let (address, word) = (peer.probe.load(Ordering::Relaxed), peer.word.load(Ordering::Relaxed));
        let mut seen = [0; 8];
        let works = allowed
            && single_copy::read(
                pid,
                &[RemoteMemory { address, length: 8 }],
                &mut [IoSliceMut::new(&mut seen)],
            )
            .is_ok()
            && u64::from_ne_bytes(seen) == word;
        let found = if works { SingleCopy::Works } else { SingleCopy::Refused };
        mine.store(found as u32, Ordering::Relaxed);
        found
    }

    /// Whether the other end can read this one's memory, as far as it has found out.
    pub fn peer_single_copy(&self) -> SingleCopy {
        verdict(self.layout().head.ends.of(self.side.other()).single_copy.load(Ordering::Relaxed))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: `at` came from mmap with this length, and every reference into the mapping borrows from a `Segment`, the last of
        // which is gone.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), SEGMENT_BYTES) };
    }
}

/// A word that is unique to this segment: other processes, other segments of this process, and forked children have
/// other words.
fn random_word() -> io::Result<u64> {
    let mut word = [0; 8];
    let mut done = 0usize;
    while let Some(rest) = word.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match getrandom(rest, GetRandomFlags::empty()) {
            Ok(got) => done = done.saturating_add(got),
            Err(Errno::INTR) => {}
            Err(why) => return Err(why.into()),
        }
    }
    // All memory that is not a word of a segment is likely to be 0.
    Ok(u64::from_ne_bytes(word) | 1)
}

fn verdict(number: u32) -> SingleCopy {
    match number {
        1 => SingleCopy::Works,
        2 => SingleCopy::Refused,
        _ => SingleCopy::Untried,
    }
}

fn map(file: impl AsFd) -> Result<NonNull<Layout>, BadSegment> {
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a fresh mapping at an address of the kernel's choosing overlaps nothing.
    let at = unsafe { mmap(std::ptr::null_mut(), SEGMENT_BYTES, access, flags, file, 0)? };
    NonNull::new(at.cast::<Layout>()).ok_or(BadSegment::Shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_stays_within_stated_memory() {
        const { assert!(SEGMENT_BYTES <= 256 * 1024, "a segment is too large") };
        assert_eq!(std::mem::offset_of!(Layout, backs), 4096);
        let (from, length) = Segment::create().expect("memory").0.outgoing().bulk();
        assert!(from.addr().is_multiple_of(4096) && length.is_multiple_of(4096), "not whole pages");
        assert!(SEGMENT_BYTES - 2 * length + 4 * 4096 <= 64 * 1024, "an idle pair has too much");
    }

    #[test]
    fn rarely_used_pair_touches_one_page() {
        use crate::ring::Consumer;
        use parvum_transport::Gather;
        use parvum_wire::{Header, Kind};

        let (maker, file) = Segment::create().expect("memory");
        let other = Segment::open(&file).expect("a segment");
        let mut producers = [Producer::default(), Producer::default()];
        let mut consumers = [Consumer::default(), Consumer::default()];
        let ends = [&maker, &other];
        for round in 0..1000 {
            let (from, to) = (round % 2, 1 - round % 2);
            let header = Header::answer(Kind::Credit, 1, 2);
            producers[from].send(ends[from].outgoing(), &header, Gather::new(&[&[9; 32]])).expect("room");
            let taken = consumers[to].receive(ends[to].incoming(), 9, &mut |_: &Header, _: &[u8]| {});
            assert_eq!(taken, Ok(1));
        }
        // Counted in units of 512 bytes.
        assert_eq!(fstat(&file).expect("a file").st_blocks, 4096 / 512);
    }

    #[test]
    fn segment_ends_meet_and_try_single_copy_once() {
        let (maker, file) = Segment::create().expect("memory");
        assert_eq!(maker.try_single_copy(true), SingleCopy::Untried, "nobody is there yet");
        let other = Segment::open(&file).expect("a segment");
        assert_eq!(maker.peer_pid(), Some(std::process::id()));
        assert_eq!(other.try_single_copy(true), SingleCopy::Works);
        assert_eq!(maker.peer_single_copy(), SingleCopy::Works);
        assert_eq!(maker.try_single_copy(false), SingleCopy::Refused);
        assert_eq!(maker.try_single_copy(true), SingleCopy::Refused, "tried once");
    }

    /// Processes of several PID namespaces may have the same number, and the same addresses.
    #[test]
    fn process_without_secret_word_is_not_the_peer() {
        let (maker, file) = Segment::create().expect("memory");
        let other = Segment::open(&file).expect("a segment");
        let (one, two) =
            (other.layout().head.ends.of(Side::Maker), other.layout().head.ends.of(Side::Opener));
        assert_ne!(one.word.load(Ordering::Relaxed), two.word.load(Ordering::Relaxed), "a word for each end");
        // As if the number of the process led to another process, in which other data lies at that address.
        two.word.fetch_add(2, Ordering::Relaxed);
        assert_eq!(maker.try_single_copy(true), SingleCopy::Refused);
    }

    #[test]
    fn file_that_is_no_segment_is_refused() {
        let file = memfd_create("other", MemfdFlags::ALLOW_SEALING).expect("a file");
        assert!(matches!(Segment::open(&file), Err(BadSegment::Shape)));
        ftruncate(&file, FILE_BYTES as u64).expect("longer");
        assert!(matches!(Segment::open(&file), Err(BadSegment::Shape)), "not sealed");
        fcntl_add_seals(&file, SealFlags::SHRINK).expect("sealed");
        assert!(matches!(Segment::open(&file), Err(BadSegment::Version)), "no magic");
    }
}
