//! The lock by which the threads of a program take turns: one that costs nothing while there is one thread.
//!
//! An atomic exchange makes the processor wait until all it has stored is seen by the other cores, and what was stored last
//! is a message: two exchanges for each call are a third of a short message's time. The C library says whether the process
//! has one thread (`__libc_single_threaded`). Then plain loads and stores do, and leave the very state that an exchange
//! would have left, so that a thread that is started while the lock is held finds it held. Among several threads the one that
//! takes turn after turn pays for none either ([`crate::bias`]).

use crate::bias::{self, Bias, Entered};
use crate::fork;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};

// The two lowest bits of the state; those above are the generation of the process that wrote it. What a thread of its
// parent held a forked child finds free: that thread is not there.
const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep until it is free.
const WANTED: u32 = 2;

#[inline]
fn own(state: u32) -> u32 {
    fork::generation() << 2 | state
}

#[inline]
fn is_free(state: u32) -> bool {
    state & 3 == FREE || state >> 2 != own(FREE) >> 2
}

/// Lets one thread at a time use the value. A panic in a turn does not poison it: in libraries for C a panic ends the process.
pub struct BiasedLock<T> {
    state: AtomicU32,
    /// Which thread has it, while there are several; 0 for nobody. Relaxed: a thread only looks for its own number, which
    /// nobody else writes.
    owner: AtomicUsize,
    bias: Bias,
    /// How often a thread that had slept for the lock has got it. Relaxed: a hint to the thread that passes the lock on.
    served: AtomicU32,
    /// Since when threads that take the lock turn by turn have kept it from a thread that sleeps for it: microseconds of the clock,
    /// 0 for never. Relaxed: written by whoever gives the lock back, and a hint.
    kept_since: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is handed from thread to thread by the lock, one at a time.
unsafe impl<T: Send> Sync for BiasedLock<T> {}

/// The turn, until it is dropped.
pub struct BiasedGuard<'a, T> {
    turn: &'a BiasedLock<T>,
    by: By,
}

/// How a turn was taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    State,
    /// By the bias of this place.
    Bias(usize),
}

macro_rules! biased_lock_new {
    ($value:expr) => {
        BiasedLock {
            state: AtomicU32::new(FREE),
            owner: AtomicUsize::new(0),
            bias: Bias::new(),
            served: AtomicU32::new(0),
            kept_since: AtomicU32::new(0),
            value: UnsafeCell::new($value),
        }
    };
}

impl<T> BiasedLock<T> {
    /// A free one.
    #[cfg(not(loom))]
    pub const fn new(value: T) -> BiasedLock<T> {
        biased_lock_new!(value)
    }

    /// A free one.
    #[cfg(loom)]
    pub fn new(value: T) -> BiasedLock<T> {
        biased_lock_new!(value)
    }

    /// Waits for its turn. A thread that has it already waits for ever.
    #[inline]
    pub fn take(&self) -> BiasedGuard<'_, T> {
        self.try_take().unwrap_or_else(|| self.wait())
    }

    /// Waits for its turn. Nothing when this very thread has it: this is a signal handler that has interrupted the turn, and
    /// would wait for itself.
    #[inline]
    pub fn take_unless_own(&self) -> Option<BiasedGuard<'_, T>> {
        match self.try_take() {
            None if self.is_own() => None,
            None => Some(self.wait()),
            taken => taken,
        }
    }

    /// Whether the turn that somebody has is this thread's.
    #[cold]
    fn is_own(&self) -> bool {
        is_alone()
            || self.owner.load(Ordering::Relaxed) == this_thread()
            || self.bias.is_inside_by(this_thread())
    }

    /// Whether another thread sleeps until the turn is over.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        // Relaxed: a hint, and whoever has the turn gives it back at last.
        self.state.load(Ordering::Relaxed) & 3 == WANTED || self.bias.is_wanted()
    }

    /// Takes it if nobody has it.
    #[inline]
    pub fn try_take(&self) -> Option<BiasedGuard<'_, T>> {
        if !is_alone() {
            return self.try_take_among_others();
        }
        // Relaxed: whatever thread had it before has ended, or was this one.
        let free = is_free(self.state.load(Ordering::Relaxed));
        if free {
            self.state.store(own(HELD), Ordering::Relaxed);
        }
        free.then_some(BiasedGuard { turn: self, by: By::State })
    }

    // Not inlined: the way above is in every call, and stays short.
    #[inline(never)]
    fn try_take_among_others(&self) -> Option<BiasedGuard<'_, T>> {
        match self.bias.enter(this_thread()) {
            Entered::Inside(place) => return Some(BiasedGuard { turn: self, by: By::Bias(place) }),
            Entered::Already => return None,
            Entered::Not => {}
        }
        // Relaxed: only a guess, which the exchange checks.
        let seen = self.state.load(Ordering::Relaxed);
        // Acquire: partner of the release in `give_back`.
        let taken = is_free(seen)
            && self.state.compare_exchange(seen, own(HELD), Ordering::Acquire, Ordering::Relaxed).is_ok();
        taken.then(|| self.taken())
    }

    #[inline(never)]
    fn give_back(&self, by: By) {
        if let By::Bias(place) = by {
            return self.bias.leave(place);
        }
        self.bias.released(this_thread());
        self.owner.store(0, Ordering::Relaxed);
        // Release: partner of the acquires in `try_take_among_others` and `wait`.
        if self.state.swap(FREE, Ordering::Release) & 3 == WANTED {
            bias::wake(&self.state);
            self.pass_on();
        }
    }

    /// A thread that sleeps for the lock was woken. If threads that are awake took the lock before it could for a while, this thread
    /// waits until the other has it: else a thread that takes turn after turn would keep the lock for itself.
    #[cfg(not(loom))]
    #[cold]
    fn pass_on(&self) {
        /// A wake-up takes some 50 us, so a shorter time says nothing.
        const KEPT: u32 = 300;
        /// The other may have got what it wanted otherwise, or have no core.
        const PATIENCE: u32 = 200;
        let (now, served) = (microseconds(), self.served.load(Ordering::Relaxed));
        let since = self.kept_since.load(Ordering::Relaxed);
        if since == 0 {
            return self.kept_since.store(now.max(1), Ordering::Relaxed);
        }
        if now.wrapping_sub(since) < KEPT {
            return;
        }
        while self.served.load(Ordering::Relaxed) == served && microseconds().wrapping_sub(now) < PATIENCE {
            std::thread::yield_now();
        }
        self.kept_since.store(0, Ordering::Relaxed);
    }

    /// Loom has no clock: whoever is passed over waits on.
    #[cfg(loom)]
    fn pass_on(&self) {}

    /// This thread has the state now; the turn is its own when nobody has it by bias.
    #[inline]
    fn taken(&self) -> BiasedGuard<'_, T> {
        self.owner.store(this_thread(), Ordering::Relaxed);
        self.bias.taken(this_thread());
        BiasedGuard { turn: self, by: By::State }
    }

    #[cold]
    fn wait(&self) -> BiasedGuard<'_, T> {
        // Acquire: partner of the release in `give_back`.
        while !is_free(self.state.swap(own(WANTED), Ordering::Acquire)) {
            bias::wait(&self.state, own(WANTED));
        }
        self.served.fetch_add(1, Ordering::Relaxed);
        self.kept_since.store(0, Ordering::Relaxed);
        self.taken()
    }
}

impl<T> Drop for BiasedGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.by == By::State && is_alone() {
            // Nobody else is there to wait. Release: partner of the acquire in `try_take_among_others`, for a thread not yet
            // born.
            return self.turn.state.store(FREE, Ordering::Release);
        }
        self.turn.give_back(self.by);
    }
}

impl<T> Deref for BiasedGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the one user of the value.
        unsafe { &*self.turn.value.get() }
    }
}

impl<T> DerefMut for BiasedGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and this borrows the guard.
        unsafe { &mut *self.turn.value.get() }
    }
}

// --- Threads ---------------------------------------------------------------------------------------------------------

/// The clock in microseconds, which come round after an hour.
#[cfg(not(loom))]
fn microseconds() -> u32 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    (now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000) as u32
}

/// A number that no other living thread of this process has.
#[cfg(not(loom))]
#[inline]
fn this_thread() -> usize {
    // SAFETY: it only reads a register.
    unsafe { libc::pthread_self() as usize }
}

/// Whether this process has one thread. False where the C library does not say.
#[cfg(not(loom))]
#[inline]
fn is_alone() -> bool {
    let mut flag = ALONE.load(Ordering::Relaxed);
    if flag.is_null() {
        flag = find_flag();
    }
    // SAFETY: it points to one byte that lives as long as the process, of the C library's or of this module. The library
    // writes it when the first thread is started, which happens before anything that thread does.
    unsafe { &*flag }.load(Ordering::Relaxed) != 0
}

/// Where the C library says it; null before the first look. Relaxed: every thread finds the same.
#[cfg(not(loom))]
static ALONE: AtomicPtr<AtomicU8> = AtomicPtr::new(std::ptr::null_mut());

#[cfg(not(loom))]
#[cold]
fn find_flag() -> *mut AtomicU8 {
    static MANY: AtomicU8 = AtomicU8::new(0);
    // SAFETY: the name ends with a zero byte.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
    let flag = if found.is_null() { (&raw const MANY).cast_mut() } else { found.cast() };
    ALONE.store(flag, Ordering::Relaxed);
    flag
}

#[cfg(loom)]
loom::thread_local! {
    static NUMBER: std::cell::Cell<usize> = std::cell::Cell::new(1);
}

#[cfg(loom)]
fn this_thread() -> usize {
    NUMBER.with(|number| number.get())
}

#[cfg(loom)]
fn is_alone() -> bool {
    false
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell as Watched;
    use loom::sync::Arc;

    /// Loom ends the test when two threads are at the value at once, or one does not see what the other has written.
    fn one_at_a_time(first: usize, then: usize, others: usize, each: usize) {
        loom::model(move || {
            let turn = Arc::new(BiasedLock::new(Watched::new(0)));
            let count = |turn: &BiasedLock<Watched<usize>>| {
                let value = turn.take();
                // SAFETY: the turn is this thread's, which loom checks.
                value.with_mut(|value| unsafe { *value += 1 });
            };
            // As many in a row as make this thread the owner.
            (0..first).for_each(|_| count(&turn));
            let threads: Vec<_> = (0..others)
                .map(|other| {
                    let turn = turn.clone();
                    loom::thread::spawn(move || {
                        NUMBER.with(|number| number.set(2 + other));
                        (0..each).for_each(|_| count(&turn));
                    })
                })
                .collect();
            (0..then).for_each(|_| count(&turn));
            threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
            // SAFETY: as above.
            let counted = turn.take().with(|value| unsafe { *value });
            assert_eq!(counted, first + then + others * each);
        });
    }

    #[test]
    fn bias_is_revoked_while_owner_comes_and_goes() {
        one_at_a_time(2, 2, 1, 1);
    }

    /// The second takes it away, earns it, and has a turn by it, while the first may stand between its look and its store.
    #[test]
    fn bias_moves_from_thread_to_thread() {
        one_at_a_time(2, 1, 1, 3);
    }

    #[test]
    fn bias_is_revoked_by_two_threads() {
        one_at_a_time(2, 0, 2, 1);
    }

    #[test]
    fn lock_without_bias_excludes() {
        one_at_a_time(0, 0, 2, 1);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_take_lock_in_turns() {
        static COUNT: BiasedLock<u64> = BiasedLock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut count = COUNT.take();
                        let seen = *count;
                        std::hint::spin_loop();
                        *count = seen + 1;
                    }
                });
            }
        });
        assert_eq!(*COUNT.take(), 80_000);
    }

    #[test]
    fn thread_started_while_lock_is_held_waits() {
        let turn = BiasedLock::new(1);
        let mut mine = turn.take();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| std::mem::replace(&mut *turn.take(), 3));
            assert!(turn.try_take().is_none());
            // Until the other sleeps for it.
            while turn.state.load(Ordering::Relaxed) & 3 != WANTED {
                std::thread::yield_now();
            }
            *mine = 2;
            drop(mine);
            assert_eq!(other.join().expect("it ends"), 2);
        });
        assert_eq!(*turn.take(), 3);
    }

    #[test]
    fn child_finds_lock_of_parent_thread_free() {
        fork::watch();
        static TURN: BiasedLock<u32> = BiasedLock::new(7);
        let held = TURN.take();
        // SAFETY: the child takes a lock that no other thread has there, and ends by `_exit`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let mut again = TURN.take();
            *again += 1;
            let held_again = TURN.try_take().is_none();
            drop(again);
            let ok = held_again && TURN.try_take().is_some_and(|value| *value == 8);
            // SAFETY: ends the process.
            unsafe { libc::_exit(i32::from(!ok)) };
        }
        let mut status = -1;
        // SAFETY: `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        assert!(TURN.try_take().is_none(), "the parent's is what it was");
        drop(held);
    }

    #[test]
    fn lock_holder_is_refused_and_others_wait() {
        let turn = BiasedLock::new(0);
        let mine = turn.take_unless_own().expect("it is free");
        assert!(turn.take_unless_own().is_none(), "a handler that has interrupted the turn");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| turn.take_unless_own().is_some());
            while !turn.is_wanted() {
                std::thread::yield_now();
            }
            drop(mine);
            assert!(other.join().expect("it ends"));
        });
    }

    #[test]
    fn biased_lock_keeps_bias_until_contended() {
        // Else the kernel may be asked during the turns, which takes it milliseconds.
        crate::fences::ask_for_fences();
        let turn = BiasedLock::new(0);
        let count = || {
            let mut value = turn.take();
            let by = value.by;
            *value += 1;
            by
        };
        (0..100).for_each(|_| _ = count());
        assert!(matches!(count(), By::Bias(_)), "it has the bias");
        {
            let _mine = turn.take();
            assert!(
                turn.try_take().is_none() && turn.take_unless_own().is_none(),
                "a handler that has interrupted it"
            );
        }
        std::thread::scope(|scope| {
            let mine = turn.take();
            let other = scope.spawn(count);
            while !turn.is_wanted() {
                std::thread::yield_now();
            }
            drop(mine);
            assert!(other.join().expect("it ends") == By::State);
            assert!(count() == By::State, "it has been taken away");
        });
        (0..200).for_each(|_| _ = count());
        assert!(matches!(count(), By::Bias(_)), "and comes back");
    }

    #[test]
    fn biased_lock_counts_correctly_with_owners_and_others() {
        static COUNT: BiasedLock<u64> = BiasedLock::new(0);
        std::thread::scope(|scope| {
            for pause in [0, 0, 200] {
                scope.spawn(move || {
                    for _ in 0..if pause == 0 { 300_000 } else { 300 } {
                        let mut count = COUNT.take();
                        let seen = *count;
                        std::hint::spin_loop();
                        *count = seen + 1;
                        drop(count);
                        if pause > 0 {
                            std::thread::sleep(std::time::Duration::from_micros(pause));
                        }
                    }
                });
            }
        });
        assert_eq!(*COUNT.take(), 600_300);
    }

    #[test]
    fn c_library_reports_more_than_one_thread() {
        // The test's own runner has started this thread.
        assert!(!is_alone());
    }
}
