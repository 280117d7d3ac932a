//! A task's recording: what `parvum trace` shows of it.
//!
//! A file of its own beside the control block, which the daemon makes when the task's job is recorded: a head, then a ring of records.
//! The task writes, the daemon reads; so what a task did is there after its death, however it died.

use crate::block::{ControlError, check_shape};
use crate::map::RecordingMap;
use crate::ring::{RECORD_BYTES, RecordCells, Ring};
use crate::routes::RouteNames;
use crate::ticks::{Clock, Moment};
use crate::words::WordCells;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The first eight bytes of every recording: "ParvumRc".
const MAGIC: u64 = u64::from_le_bytes(*b"ParvumRc");
/// Room for the head, before the records.
pub(crate) const HEAD_BYTES: usize = 12288;
/// The memory of the smallest and of the largest recording.
pub const RECORDING_BYTES: std::ops::RangeInclusive<u64> = 4096..=1 << 30;

/// Memory is taken for so many records at once, which costs a tenth of taking it page by page as it is touched.
const PORTION: usize = 2048;

/// The head of a recording.
#[repr(C, align(4096))]
pub(crate) struct Head {
    /// Written last (release) by the maker, read first (acquire) by openers.
    magic: AtomicU64,
    /// What the records' time is: 1 the processor's counter, 2 processor time of the task's process, else the monotonic clock.
    clock: AtomicU64,
    /// The recording was made at this time: ticks, and nanoseconds.
    began: [AtomicU64; 2],
    /// A line of its own: how many records were ever written.
    written: Written,
    /// The names of routes, by number.
    pub(crate) routes: RouteNames,
    /// The words of the interfaces that the task uses.
    words: WordCells,
}

#[repr(C, align(64))]
struct Written(AtomicU64);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A message was sent to `peer`, with this number among those from this task to that one.
    Sent {
        /// The receiver.
        peer: i32,
        /// Over which route, by the engine's number.
        route: u8,
        /// The tag.
        tag: i32,
        /// The number.
        order: u32,
        /// Bytes of data.
        length: u64,
    },
    /// A message was received.
    Received {
        /// The sender.
        peer: i32,
        /// The tag.
        tag: i32,
        /// Its number among those from that task to this one.
        order: u32,
        /// Bytes of data.
        length: u64,
    },
    /// The task began to wait.
    Waits {
        /// Which kind of wait: a number of `parvum_wire::calls::KINDS`.
        kind: u8,
        /// In which call: the number of the interface's word; 0 none.
        word: u32,
        /// For whom; -1 anyone.
        peer: i32,
        /// For which tag; -1 any.
        tag: i32,
    },
    /// It goes on.
    GoesOn,
}

const SENT: u64 = 1;
const RECEIVED: u64 = 2;
const WAITS: u64 = 3;
const GOES_ON: u64 = 4;

impl Happening {
    /// In the words of a record, at that time.
    #[inline]
    pub fn words(self, ticks: u64) -> [u64; 4] {
        let pair = |low: u32, high: i32| u64::from(low) | u64::from(high as u32) << 32;
        match self {
            Happening::Sent { peer, route, tag, order, length } => {
                [ticks, SENT | u64::from(route) << 8 | pair(0, peer), pair(order, tag), length]
            }
            Happening::Received { peer, tag, order, length } => {
                [ticks, RECEIVED | pair(0, peer), pair(order, tag), length]
            }
            Happening::Waits { kind, word, peer, tag } => {
                [ticks, WAITS | u64::from(kind) << 8 | pair(0, peer), pair(word, tag), 0]
            }
            Happening::GoesOn => [ticks, GOES_ON, 0, 0],
        }
    }

    /// What a record says, and when it was; nothing when it makes no sense.
    #[inline]
    pub fn read([ticks, what, which, length]: [u64; 4]) -> Option<(u64, Happening)> {
        let (peer, small) = ((what >> 32) as u32 as i32, (what >> 8) as u8);
        let (tag, order) = ((which >> 32) as u32 as i32, which as u32);
        let happening = match what & 0xff {
            SENT => Happening::Sent { peer, route: small, tag, order, length },
            RECEIVED => Happening::Received { peer, tag, order, length },
            WAITS => Happening::Waits { kind: small, word: order, peer, tag },
            GOES_ON => Happening::GoesOn,
            _ => return None,
        };
        Some((ticks, happening))
    }
}

/// As [`Head::clock`] has it.
fn number(clock: Clock) -> u64 {
    match clock {
        Clock::Monotonic => 0,
        Clock::Counter => 1,
        Clock::ProcessorTime => 2,
    }
}

/// A mapped recording.
pub struct Recording {
    map: RecordingMap,
    clock: Clock,
}

impl Recording {
    /// Makes a recording of at most so many bytes, sealed so that nobody can shrink it under the others; memory is taken as it is
    /// written. Its times are the best clock's, or `processor_time`. Returns it with the descriptor to hand on (close-on-exec).
    pub fn create(bytes: u64, processor_time: bool) -> io::Result<(Recording, OwnedFd)> {
        let bytes = bytes.clamp(*RECORDING_BYTES.start(), *RECORDING_BYTES.end());
        let places = 1 << (bytes / RECORD_BYTES as u64).ilog2();
        let file = memfd_create("parvum-recording", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, (HEAD_BYTES + places * RECORD_BYTES) as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let clock = if processor_time { Clock::ProcessorTime } else { Clock::of_this_host() };
        let recording = Recording { map: RecordingMap::new(&file, places)?, clock };
        let Moment { ticks, monotonic } = recording.clock.moment();
        let head = recording.map.head();
        head.clock.store(number(clock), Ordering::Relaxed);
        head.began[0].store(ticks, Ordering::Relaxed);
        head.began[1].store(monotonic, Ordering::Relaxed);
        // Release: partner of the acquire in `open`.
        head.magic.store(MAGIC, Ordering::Release);
        Ok((recording, file))
    }

    /// Maps the recording behind `file`, which may be closed afterwards. Refuses whatever is not one.
    pub fn open(file: impl AsFd) -> Result<Recording, ControlError> {
        let file = file.as_fd();
        let bytes = fstat(file).map_err(io::Error::from)?.st_size as usize;
        check_shape(file, bytes)?;
        let places = bytes.saturating_sub(HEAD_BYTES) / RECORD_BYTES;
        if !places.is_power_of_two() || HEAD_BYTES + places * RECORD_BYTES != bytes {
            return Err(ControlError::Shape);
        }
        let map = RecordingMap::new(file, places)?;
        // Acquire: partner of the release in `create`.
        if map.head().magic.load(Ordering::Acquire) != MAGIC {
            return Err(ControlError::Magic);
        }
        let told = map.head().clock.load(Ordering::Relaxed);
        let clock = [Clock::Counter, Clock::ProcessorTime].into_iter().find(|clock| number(*clock) == told);
        Ok(Recording { map, clock: clock.unwrap_or(Clock::Monotonic) })
    }

    /// Writes down what happens now. For the task alone, one thread at a time.
    #[inline]
    pub fn record(&self, happening: Happening) {
        self.put(happening.words(self.clock.now()));
    }

    #[inline]
    fn put(&self, words: [u64; 4]) {
        let ring = self.ring();
        let next = ring.written() as usize;
        if next.is_multiple_of(PORTION) && next < ring.places.len() {
            self.map.take_memory(next, PORTION);
        }
        ring.put(words);
    }

    /// As [`Recording::note`], for what happened together with what was noted last, if that `is_one` with it. The clock, which costs
    /// more than all the rest, is not looked at then.
    #[inline]
    pub fn note_with_last(&self, happening: Happening, is_one: impl FnOnce(Happening) -> bool) {
        let ring = self.ring();
        let last = ring.written().wrapping_sub(1) as usize & (ring.places.len() - 1);
        // Relaxed: only the task itself writes it.
        let words = ring.places[last].each_ref().map(|cell| cell.load(Ordering::Relaxed));
        match Happening::read(words) {
            Some((ticks, last)) if is_one(last) => self.put(happening.words(ticks)),
            _ => self.record(happening),
        }
    }

    /// Names the routes with these numbers, as the task's control block does: the recording outlives it.
    pub fn name_routes(&self, names: &[(u8, &str)]) {
        self.map.head().routes.write(names);
    }

    /// The names of routes, by number; an empty one is of a number not in use.
    pub fn routes(&self) -> Vec<String> {
        self.map.head().routes.read()
    }

    /// Writes down the words of interfaces, as the task's control block has them: the recording outlives it.
    pub fn write_words(&self, text: &str) {
        self.map.head().words.write(text);
    }

    /// Those words: see `parvum_wire::calls`.
    pub fn words(&self) -> String {
        self.map.head().words.read()
    }

    /// The records.
    #[inline]
    pub fn ring(&self) -> Ring<'_> {
        Ring { written: &self.map.head().written.0, places: self.map.places() }
    }

    /// How many records it holds at most.
    pub fn capacity(&self) -> u64 {
        // The place to be written next does not count.
        self.map.places().len() as u64 - 1
    }

    /// When it was made.
    pub fn began(&self) -> Moment {
        let [ticks, monotonic] = self.map.head().began.each_ref().map(|cell| cell.load(Ordering::Relaxed));
        Moment { ticks, monotonic }
    }

    /// Its clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }
}

const _: () = {
    assert!(size_of::<Head>() == HEAD_BYTES);
    assert!(size_of::<RecordCells>() == RECORD_BYTES);
    assert!(std::mem::offset_of!(Head, written) == 64);
    assert!(std::mem::offset_of!(Head, routes) == 128);
    assert!(std::mem::offset_of!(Head, words) == 256);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemon_reads_records_that_task_writes() {
        let (daemon, file) = Recording::create(5000, false).expect("a recording");
        let task = Recording::open(&file).expect("the same");
        assert_eq!(daemon.capacity(), 127);
        let sent = Happening::Sent { peer: 0x80001, route: 2, tag: -7, order: u32::MAX, length: 1 << 40 };
        let received = Happening::Received { peer: 0x40001, tag: i32::MAX, order: 3, length: 8 };
        let waits = Happening::Waits { kind: 1, word: 5, peer: -1, tag: -1 };
        for happening in [waits, received] {
            task.record(happening);
        }
        task.note_with_last(Happening::GoesOn, |last| last == received);
        task.record(sent);
        let (first, records) = daemon.ring().read(0, 10);
        let read: Vec<_> = records.into_iter().filter_map(Happening::read).collect();
        assert_eq!(first, 0);
        assert_eq!(
            read.iter().map(|(_, it)| *it).collect::<Vec<_>>(),
            [waits, received, Happening::GoesOn, sent]
        );
        assert_eq!(read[1].0, read[2].0, "they happened together");
        assert!(read[0].0 >= daemon.began().ticks && read[3].0 >= read[2].0);
        assert!(daemon.clock().moment().ticks >= read[3].0);
    }

    #[test]
    fn recording_open_refuses_other_files() {
        let file = memfd_create("x", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("memfd");
        ftruncate(&file, (HEAD_BYTES + 128 * RECORD_BYTES) as u64).expect("grows");
        assert!(matches!(Recording::open(&file), Err(ControlError::Shape)), "not sealed");
        fcntl_add_seals(&file, SealFlags::SHRINK).expect("seals");
        assert!(matches!(Recording::open(&file), Err(ControlError::Magic)));
        ftruncate(&file, (HEAD_BYTES + 129 * RECORD_BYTES) as u64).expect("grows");
        assert!(matches!(Recording::open(&file), Err(ControlError::Shape)), "no power of two");
        assert_eq!(Happening::read([1, 77, 0, 0]), None);
    }
}
