//! A biased lock's bias: the one thread that lately has taken every turn takes the next by plain stores, and whoever else
//! wants one takes the bias away first.
//!
//! A program may have threads of which one alone calls us, and the library starts threads of its own that seldom look. Its
//! calls would pay two exchanges each for them. So owner and revoker play Dekker's game, in which only the revoker pays for
//! a fence, and for the owner's as well: membarrier(2) is one on every processor that runs a thread of this process.
//!
//! ```text
//! owner                              revoker, which holds the lock proper
//!   inside = held                      given = no
//!   (nothing: the revoker's fence)     membarrier
//!   given? the turn is its own         inside: sleep until it is not held
//!   ...
//!   inside = free
//!   given? no: wake the revoker
//! ```
//!
//! Each owner has a place of its own for `inside`, and `given` says whose: one that stood still between its look and its store may
//! have lost the bias to another meanwhile, who is inside. What it stores then says nothing of the other's turn, and it sees that
//! nothing is given to it. Places are few, and a thread keeps its own: who comes too late never has the bias.
//!
//! Checked under loom, with the kernel's fence played by one on each side.

use crate::fences::{heavy_fence, heavy_fence_is_there, light_fence};
use crate::fork;

#[cfg(not(loom))]
use crate::futex::{self, Among};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// So many turns in a row make a thread the owner at first; as many again after each time it was taken away, up to the last.
const STREAKS: (u32, u32) = if cfg!(loom) { (1, 1) } else { (64, 1 << 16) };

/// So many threads may have the bias, one after the other.
const OWNERS: usize = if cfg!(loom) { 2 } else { 4 };

const NO: u32 = 0;
const YES: u32 = 1;

/// `value`, as this process says it: what a parent of it has written counts as [`NO`].
#[inline]
fn own(value: u32) -> u32 {
    fork::generation() << 3 | value
}

/// That it is given to whom this place belongs.
#[inline]
fn to(place: usize) -> u32 {
    own(place as u32 + 1)
}

/// What a thread says that has the bias or had it.
struct Owner {
    /// Its number; 0 until the place is somebody's. Relaxed everywhere: written once, while the lock proper is held, by the thread
    /// itself, and each looks for its own number only.
    thread: AtomicUsize,
    inside: AtomicU32,
}

/// To whom turns are given without an exchange, if to anybody.
pub(crate) struct Bias {
    owners: [Owner; OWNERS],
    given: AtomicU32,
    /// Who had the lock proper last, how often in a row, and how often it must. Relaxed: used while that is held.
    last: AtomicUsize,
    streak: AtomicU32,
    wanted: AtomicU32,
}

#[cfg(not(loom))]
const fn owners() -> [Owner; OWNERS] {
    [const { Owner::new() }; OWNERS]
}

#[cfg(loom)]
fn owners() -> [Owner; OWNERS] {
    std::array::from_fn(|_| Owner::new())
}

macro_rules! bias_new {
    () => {
        Bias {
            owners: owners(),
            given: AtomicU32::new(NO),
            last: AtomicUsize::new(0),
            streak: AtomicU32::new(0),
            wanted: AtomicU32::new(STREAKS.0),
        }
    };
}

/// What came of an attempt to have a turn by bias.
pub(crate) enum Entered {
    /// It is this thread's, by the bias of this place.
    Inside(usize),
    /// This is a handler of signals that has interrupted the owner's turn.
    Already,
    Not,
}

impl Bias {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Bias {
        bias_new!()
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Bias {
        bias_new!()
    }

    /// Lets `thread` have the turn without the lock proper, if it is the owner.
    #[inline]
    pub(crate) fn enter(&self, thread: usize) -> Entered {
        let Some(place) = self.place_of(thread) else { return Entered::Not };
        if self.owners[place].is_inside() {
            return Entered::Already;
        }
        if !self.is_given(place) {
            return Entered::Not;
        }
        self.owners[place].inside.store(own(YES), Ordering::Relaxed);
        // Partner: the revoker's, in `take_away`.
        light_fence();
        if self.is_given(place) {
            return Entered::Inside(place);
        }
        self.leave(place);
        Entered::Not
    }

    /// The turn that was had by the bias of that place is over.
    #[inline]
    pub(crate) fn leave(&self, place: usize) {
        let inside = &self.owners[place].inside;
        // Release: partner of the acquire in `take_away`.
        inside.store(NO, Ordering::Release);
        // Partner: the revoker's, in `take_away`.
        light_fence();
        if !self.is_given(place) {
            wake(inside);
        }
    }

    /// Whether `thread` has the turn, without the lock proper.
    pub(crate) fn is_inside_by(&self, thread: usize) -> bool {
        self.place_of(thread).is_some_and(|place| self.owners[place].is_inside())
    }

    /// Whether somebody waits until an owner is out.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.owners.iter().enumerate().any(|(place, owner)| owner.is_inside() && !self.is_given(place))
    }

    #[inline]
    fn place_of(&self, thread: usize) -> Option<usize> {
        self.owners.iter().position(|owner| owner.thread.load(Ordering::Relaxed) == thread)
    }

    #[inline]
    fn is_given(&self, place: usize) -> bool {
        // Relaxed: ordered by the fences, and whoever gives it gives it to itself.
        self.given.load(Ordering::Relaxed) == to(place)
    }

    /// `thread` has taken the lock proper: nobody has the turn by bias from now on.
    #[inline]
    pub(crate) fn taken(&self, thread: usize) {
        // Relaxed: as in `is_given`.
        let given = self.given.load(Ordering::Relaxed);
        if let Some(place) = (0..OWNERS).find(|place| given == to(*place)) {
            self.take_away(place);
        }
        let again = self.last.swap_relaxed(thread) == thread;
        let streak = if again { self.streak.load(Ordering::Relaxed).saturating_add(1) } else { 0 };
        self.streak.store(streak, Ordering::Relaxed);
    }

    /// `thread` gives the lock proper back, and is done with what it guards.
    #[inline]
    pub(crate) fn released(&self, thread: usize) {
        if self.streak.load(Ordering::Relaxed) >= self.wanted.load(Ordering::Relaxed) {
            self.give(thread);
        }
    }

    #[cold]
    fn give(&self, thread: usize) {
        match heavy_fence_is_there() {
            Some(true) => {}
            Some(false) => return self.wanted.store(u32::MAX, Ordering::Relaxed),
            None => return self.streak.store(0, Ordering::Relaxed),
        }
        match self.place_of(thread).or_else(|| self.place_of(0)) {
            Some(place) => {
                self.owners[place].thread.store(thread, Ordering::Relaxed);
                self.given.store(to(place), Ordering::Relaxed);
            }
            // All places are others'.
            None => self.streak.store(0, Ordering::Relaxed),
        }
    }

    #[cold]
    fn take_away(&self, place: usize) {
        self.given.store(own(NO), Ordering::Relaxed);
        let wanted = self.wanted.load(Ordering::Relaxed).saturating_mul(2).min(STREAKS.1);
        self.wanted.store(wanted, Ordering::Relaxed);
        self.streak.store(0, Ordering::Relaxed);
        // Partner: the light ones in `enter` and `leave`.
        heavy_fence();
        let inside = &self.owners[place].inside;
        // Acquire: partner of the release in `leave`.
        while inside.load(Ordering::Acquire) == own(YES) {
            #[cfg(not(loom))]
            wait(inside, own(YES));
            #[cfg(loom)]
            loom::thread::yield_now();
        }
    }
}

impl Owner {
    #[cfg(not(loom))]
    const fn new() -> Owner {
        Owner { thread: AtomicUsize::new(0), inside: AtomicU32::new(NO) }
    }

    #[cfg(loom)]
    fn new() -> Owner {
        Owner { thread: AtomicUsize::new(0), inside: AtomicU32::new(NO) }
    }

    #[inline]
    fn is_inside(&self) -> bool {
        // Relaxed: a thread looks at its own; another's is a hint.
        self.inside.load(Ordering::Relaxed) == own(YES)
    }
}

/// A swap by whoever holds the lock: no exchange.
trait SwapRelaxed {
    fn swap_relaxed(&self, value: usize) -> usize;
}

impl SwapRelaxed for AtomicUsize {
    #[inline]
    fn swap_relaxed(&self, value: usize) -> usize {
        let before = self.load(Ordering::Relaxed);
        self.store(value, Ordering::Relaxed);
        before
    }
}

// --- Sleep -----------------------------------------------------------------------------------------------------------

#[cfg(not(loom))]
#[cold]
pub(crate) fn wait(word: &AtomicU32, while_it_is: u32) {
    // After a signal, or if the word has changed already, the caller looks again.
    let _ = futex::sleep(word, while_it_is, None, Among::Threads);
}

#[cfg(not(loom))]
#[cold]
pub(crate) fn wake(word: &AtomicU32) {
    futex::wake(word, 1, Among::Threads);
}

#[cfg(loom)]
pub(crate) fn wait(word: &AtomicU32, while_it_is: u32) {
    // The kernel looks at what is there now.
    while word.fetch_or(0, Ordering::Relaxed) == while_it_is {
        loom::thread::yield_now();
    }
}

#[cfg(loom)]
pub(crate) fn wake(_: &AtomicU32) {}
