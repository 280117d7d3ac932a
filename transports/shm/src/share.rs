//! A copy by both ends. The receiver reads pieces of the sender's memory from the front. A sender that waits for the
//! end of the copy writes pieces into the receiver's memory from the back, until the two meet. Each byte is copied
//! once, by one of two processors.
//!
//! ```text
//! receiver                              sender
//!   what and where, state = open          state = open?   else nothing to do
//!   takes pieces from the front           takes the last piece that nobody has taken, writes it, done += 1
//!   none is left: waits for `done` to be as many as the sender has taken
//!   state = closed
//! ```
//!
//! The receiver does not wait for a sender that has not begun: it copies all pieces that the sender does not take. It
//! waits for the one piece that the sender is writing. All pieces are taken in one word with the number of the copy, so
//! no piece is taken twice or for another copy.

use crate::sync::{AtomicU64, Ordering};

/// The receiver's state, in memory of the pair.
#[repr(C)]
pub(crate) struct Share {
    /// Which offer.
    cookie: AtomicU64,
    /// From which byte of its data on.
    from: AtomicU64,
    /// The destination in the receiver's memory.
    into: AtomicU64,
    length: AtomicU64,
    /// The number of the copy, how many pieces are taken from the front, and how many from the back; 0: none is open.
    state: AtomicU64,
    /// The number of the copy, and how many pieces the sender has written, or that the last that it took is not.
    done: AtomicU64,
}

/// A copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedCopy {
    pub(crate) cookie: u64,
    pub(crate) from: u64,
    pub(crate) into: u64,
    pub(crate) length: u64,
}

/// A piece that the sender has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    number: u64,
    /// How many it has taken with this one.
    count: u64,
    pub(crate) what: SharedCopy,
    /// The start and the end of the piece in the copy.
    pub(crate) piece: (u64, u64),
}

/// The peer has written into the memory of the copy what no sender writes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

/// The part that the sender has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Not yet all that it has taken.
    NotYet,
    /// All that it has taken.
    All,
    /// All but this piece, which it could not write.
    AllBut((u64, u64)),
}

const NUMBER: u32 = 32;
const FRONT: u32 = 16;
const COUNT: u64 = 0xffff;
const FAILED: u64 = 1 << 31;
/// No memory is longer.
const MOST: u64 = 1 << 47;

/// The bytes of a piece: few enough that the wait for the last piece is short, and enough that one system call for each
/// piece costs little. 1 MiB in pieces of 32, 64, 128 and 256 KiB took 81, 71, 63 and 62 us, measured in turns.
fn piece(length: u64) -> u64 {
    #[cfg(loom)]
    const LEAST: u64 = 1;
    #[cfg(not(loom))]
    const LEAST: u64 = 128 << 10;
    let most = length.div_ceil(COUNT).max(LEAST * 8);
    (length / 16).clamp(LEAST, most).next_multiple_of(LEAST.min(4096))
}

/// The piece of that number.
fn bounds(length: u64, at: u64) -> (u64, u64) {
    let piece = piece(length);
    let begin = at.saturating_mul(piece);
    (begin, begin.saturating_add(piece).min(length))
}

fn pieces(length: u64) -> u64 {
    length.div_ceil(piece(length))
}

/// How many are taken from the front, and from the back.
fn taken(state: u64) -> (u64, u64) {
    (state >> FRONT & COUNT, state & COUNT)
}

impl Share {
    /// The receiver begins a copy, of another number than the last. It is the only one of its end.
    pub(crate) fn open(&self, number: u32, what: SharedCopy) {
        // Release, and the acquires in `take_last`: who reads one of these numbers finds the copy before it closed.
        self.cookie.store(what.cookie, Ordering::Release);
        self.from.store(what.from, Ordering::Release);
        self.into.store(what.into, Ordering::Release);
        self.length.store(what.length, Ordering::Release);
        self.done.store(u64::from(number) << NUMBER, Ordering::Release);
        self.state.store(u64::from(number) << NUMBER, Ordering::Release);
    }

    /// The receiver takes the next piece from the front of the copy with this number. `mine` is the number of bytes
    /// that it has taken.
    pub(crate) fn take_first(
        &self,
        number: u32,
        length: u64,
        mine: u64,
    ) -> Result<Option<(u64, u64)>, Broken> {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let back = self.back_of(state, number, length, mine)?;
            if mine.saturating_add(back) == pieces(length) {
                return Ok(None);
            }
            // Relaxed: what is read of the sender's memory was ordered by the frame that told of it.
            match self.state.compare_exchange_weak(
                state,
                state.wrapping_add(1 << FRONT),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(Some(bounds(length, mine))),
                Err(now) => state = now,
            }
        }
    }

    /// How many pieces the sender has taken. The receiver alone counts those from the front, and a piece is taken once.
    fn back_of(&self, state: u64, number: u32, length: u64, mine: u64) -> Result<u64, Broken> {
        let (front, back) = taken(state);
        let is_sound = state >> NUMBER == u64::from(number)
            && front == mine
            && mine.saturating_add(back) <= pieces(length);
        if is_sound { Ok(back) } else { Err(Broken) }
    }

    /// The sender takes the last free piece of a copy of that offer.
    pub(crate) fn take_last(&self, cookie: u64) -> Option<Taken> {
        let state = self.state.load(Ordering::Acquire);
        if state == 0 || self.cookie.load(Ordering::Acquire) != cookie {
            return None;
        }
        let from = self.from.load(Ordering::Acquire);
        let into = self.into.load(Ordering::Acquire);
        let length = self.length.load(Ordering::Acquire);
        let (front, back) = taken(state);
        // A peer may write anything here.
        let all = if length == 0 || length > MOST { 0 } else { pieces(length) };
        if all > COUNT || front.saturating_add(back) >= all {
            return None;
        }
        // Acquire: only if that copy is still open are these numbers its own.
        self.state
            .compare_exchange(state, state.wrapping_add(1), Ordering::AcqRel, Ordering::Relaxed)
            .ok()?;
        let count = back.saturating_add(1);
        let piece = bounds(length, all.saturating_sub(count));
        Some(Taken { number: state >> NUMBER, count, what: SharedCopy { cookie, from, into, length }, piece })
    }

    /// The sender has written the piece. If it could not, it takes no other piece.
    pub(crate) fn written(&self, taken: &Taken, is_written: bool) {
        let failed = if is_written { 0 } else { FAILED };
        // Release: partner of the acquire in `what_is_written`.
        self.done.store(taken.number << NUMBER | failed | taken.count, Ordering::Release);
    }

    /// The progress of the sender with its pieces, after no piece is left of the copy with this number. `mine` is the
    /// number of bytes that the receiver has taken.
    pub(crate) fn what_is_written(&self, number: u32, length: u64, mine: u64) -> Result<Written, Broken> {
        let back = self.back_of(self.state.load(Ordering::Relaxed), number, length, mine)?;
        // Acquire: partner of the release in `written`.
        let done = self.done.load(Ordering::Acquire);
        let (of, is_failed, count) = (done >> NUMBER, done & FAILED != 0, done & COUNT);
        if of != u64::from(number) || count > back {
            return Err(Broken);
        }
        Ok(match count == back {
            false => Written::NotYet,
            true if is_failed && back > 0 => {
                Written::AllBut(bounds(length, pieces(length).saturating_sub(back)))
            }
            true => Written::All,
        })
    }

    /// The receiver has all.
    pub(crate) fn close(&self) {
        // Relaxed: see `open`.
        self.state.store(0, Ordering::Relaxed);
    }
}

/// A receiver of a copy whose peer writes invalid words in between, until there are no more words. Each piece that the
/// receiver takes must be inside its data and after the previous piece. Returns whether the receiver noticed an invalid
/// word. For the test here and the fuzz target.
#[cfg(not(loom))]
#[doc(hidden)]
pub fn receive_beside_nonsense(number: u32, mut words: impl FnMut() -> Option<u64>) -> bool {
    const LENGTH: u64 = 3 << 20;
    let zero = || AtomicU64::new(0);
    let share =
        Share { cookie: zero(), from: zero(), into: zero(), length: zero(), state: zero(), done: zero() };
    share.open(number, SharedCopy { cookie: 7, from: 0, into: 0, length: LENGTH });
    let (mut mine, mut end) = (0u64, 0);
    let outcome = loop {
        if let (Some(what), Some(nonsense)) = (words(), words()) {
            match what % 80 {
                0 => share.state.store(nonsense, Ordering::Relaxed),
                1 => _ = share.state.fetch_xor(1 << (nonsense % 64), Ordering::Relaxed),
                2 => share.done.store(nonsense, Ordering::Relaxed),
                3 => _ = share.take_last(7).map(|taken| share.written(&taken, nonsense.is_multiple_of(2))),
                4 => share.length.store(nonsense, Ordering::Relaxed),
                _ => {}
            }
        }
        match share.take_first(number, LENGTH, mine) {
            Ok(Some((from, to))) => {
                assert!(from == end && from < to && to <= LENGTH);
                (mine, end) = (mine.saturating_add(1), to);
            }
            Ok(None) => break share.what_is_written(number, LENGTH, mine).map(|_| ()),
            Err(why) => break Err(why),
        }
    };
    if let Ok(Written::AllBut((from, to))) = share.what_is_written(number, LENGTH, mine) {
        assert!(from < to && to <= LENGTH);
    }
    outcome.is_err()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn receiver_takes_no_piece_outside_its_data() {
        let mut seed = 88172645463325252u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        // A change of a few bits is as likely as nonsense.
        let mut words = || Some(random() >> (random() % 64));
        let copies = if cfg!(miri) { 40 } else { 20_000 };
        let broken = (1..copies).filter(|number| receive_beside_nonsense(*number, &mut words)).count();
        let some = copies as usize / 20;
        assert!((some..19 * some).contains(&broken), "{broken} of {copies} were broken");
    }

    #[test]
    fn pieces_are_few_and_cover_all_data() {
        for length in [1, 4096, 64 << 10, (64 << 10) + 1, 1 << 20, (64 << 20) + 7, 1 << 40] {
            let all = pieces(length);
            assert!(all <= COUNT, "{length}: {all}");
            let mut end = 0;
            for at in 0..all {
                let (from, to) = bounds(length, at);
                assert!(from == end && to > from);
                end = to;
            }
            assert_eq!(end, length);
        }
    }
}

#[cfg(all(test, loom))]
#[allow(unsafe_code)]
mod model {
    use super::*;
    use crate::sync::UnsafeCell;
    use loom::sync::Arc;

    struct Pair {
        share: Share,
        /// How often each piece was copied, by the number of its copy.
        copied: [UnsafeCell<u32>; 3],
    }

    /// Two copies one after the other, and a sender that looks a few times and fails once. Each piece is copied once,
    /// and only as a part of its own copy.
    #[test]
    fn shared_copy_copies_each_piece_once() {
        loom::model(|| {
            let zero = || AtomicU64::new(0);
            let share = Share {
                cookie: zero(),
                from: zero(),
                into: zero(),
                length: zero(),
                state: zero(),
                done: zero(),
            };
            let pair = Arc::new(Pair { share, copied: [(); 3].map(|()| UnsafeCell::new(0)) });
            let sender = {
                let pair = pair.clone();
                loom::thread::spawn(move || {
                    for look in 0..2 {
                        if let Some(taken) = pair.share.take_last(7) {
                            let writes = look == 0;
                            if writes {
                                // `into` is the start of the destination.
                                let at = (taken.what.into + taken.piece.0) as usize;
                                // SAFETY: loom reports any other access.
                                pair.copied[at].with_mut(|count| unsafe { *count += 1 });
                            }
                            pair.share.written(&taken, writes);
                        }
                    }
                })
            };
            for (number, into, length) in [(1, 0, 1), (2, 1, 2)] {
                pair.share.open(number, SharedCopy { cookie: 7, from: 0, into, length });
                let copy = |piece: (u64, u64)| {
                    // SAFETY: as above.
                    pair.copied[(into + piece.0) as usize].with_mut(|count| unsafe { *count += 1 });
                };
                let mut mine = 0;
                while let Some(piece) = pair.share.take_first(number, length, mine).expect("sound") {
                    copy(piece);
                    mine += 1;
                }
                loop {
                    match pair.share.what_is_written(number, length, mine).expect("sound") {
                        Written::NotYet => loom::thread::yield_now(),
                        Written::All => break,
                        Written::AllBut(piece) => {
                            copy(piece);
                            break;
                        }
                    }
                }
                pair.share.close();
            }
            sender.join().expect("it ends");
            for count in &pair.copied {
                // SAFETY: nobody else is there.
                assert_eq!(count.with(|count| unsafe { *count }), 1);
            }
        });
    }
}
