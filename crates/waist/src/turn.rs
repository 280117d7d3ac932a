//! The lock by which the threads of a program take turns: one that costs nothing while there is one thread.
//!
//! An atomic exchange makes the processor wait until all it has stored is seen by the other cores, and what was stored last
//! is a message: two exchanges for each call are a third of a short message's time. The C library says whether the process
//! has one thread (`__libc_single_threaded`). Then plain loads and stores do, and leave the very state that an exchange
//! would have left, so that a thread that is started while the lock is held finds it held.

use crate::fork;
use rustix::thread::futex;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};

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
pub struct Turn<T> {
    state: AtomicU32,
    /// Which thread has it, while there are several; 0 for nobody. Relaxed: a thread only looks for its own number, which
    /// nobody else writes.
    owner: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the value is handed from thread to thread by the lock, one at a time.
unsafe impl<T: Send> Sync for Turn<T> {}

/// The turn, until it is dropped.
pub struct TurnGuard<'a, T>(&'a Turn<T>);

impl<T> Turn<T> {
    /// A free one.
    pub const fn new(value: T) -> Turn<T> {
        Turn { state: AtomicU32::new(FREE), owner: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Waits for its turn. A thread that has it already waits for ever.
    #[inline]
    pub fn take(&self) -> TurnGuard<'_, T> {
        if !self.try_state() {
            self.wait();
        }
        TurnGuard(self)
    }

    /// Waits for its turn. Nothing when this very thread has it: this is a signal handler that has interrupted the turn, and
    /// would wait for itself.
    #[inline]
    pub fn take_unless_own(&self) -> Option<TurnGuard<'_, T>> {
        if !self.try_state() {
            if self.is_own() {
                return None;
            }
            self.wait();
        }
        Some(TurnGuard(self))
    }

    /// Whether the turn that somebody has is this thread's.
    #[cold]
    fn is_own(&self) -> bool {
        is_alone() || self.owner.load(Ordering::Relaxed) == this_thread()
    }

    /// Whether another thread sleeps until the turn is over.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        // Relaxed: a hint, and whoever has the turn gives it back at last.
        self.state.load(Ordering::Relaxed) & 3 == WANTED
    }

    /// Takes it if nobody has it.
    #[inline]
    pub fn try_take(&self) -> Option<TurnGuard<'_, T>> {
        self.try_state().then(|| TurnGuard(self))
    }

    #[inline]
    fn try_state(&self) -> bool {
        if is_alone() {
            // Relaxed: whatever thread had it before has ended, or was this one.
            let free = is_free(self.state.load(Ordering::Relaxed));
            if free {
                self.state.store(own(HELD), Ordering::Relaxed);
            }
            return free;
        }
        // Relaxed: only a guess, which the exchange checks.
        let seen = self.state.load(Ordering::Relaxed);
        // Acquire: partner of the release in `drop`.
        let taken = is_free(seen)
            && self.state.compare_exchange(seen, own(HELD), Ordering::Acquire, Ordering::Relaxed).is_ok();
        if taken {
            self.owner.store(this_thread(), Ordering::Relaxed);
        }
        taken
    }

    #[cold]
    fn wait(&self) {
        // Acquire: partner of the release in `drop`.
        while !is_free(self.state.swap(own(WANTED), Ordering::Acquire)) {
            // A signal, or a state that has changed already: look again.
            let _ = futex::wait(&self.state, futex::Flags::PRIVATE, own(WANTED), None);
        }
        self.owner.store(this_thread(), Ordering::Relaxed);
    }

    #[cold]
    fn wake(&self) {
        // The address is our own: it cannot fail.
        let _ = futex::wake(&self.state, futex::Flags::PRIVATE, 1);
    }
}

impl<T> Drop for TurnGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if is_alone() {
            // Nobody else is there to wait. Release: partner of the acquire in `try_state`, for a thread not yet born.
            self.0.state.store(FREE, Ordering::Release);
            return;
        }
        self.0.owner.store(0, Ordering::Relaxed);
        // Release: partner of the acquires in `try_state` and `wait`.
        if self.0.state.swap(FREE, Ordering::Release) & 3 == WANTED {
            self.0.wake();
        }
    }
}

impl<T> Deref for TurnGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the one user of the value.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for TurnGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and this borrows the guard.
        unsafe { &mut *self.0.value.get() }
    }
}

/// A number that no other living thread of this process has.
#[inline]
fn this_thread() -> usize {
    // SAFETY: it only reads a register.
    unsafe { libc::pthread_self() as usize }
}

/// Whether this process has one thread. False where the C library does not say.
#[inline]
fn is_alone() -> bool {
    static MANY: AtomicU8 = AtomicU8::new(0);
    struct Flag(NonNull<AtomicU8>);
    // SAFETY: it points to one byte that lives as long as the process and is read atomically.
    unsafe impl Send for Flag {}
    // SAFETY: as above.
    unsafe impl Sync for Flag {}
    static FLAG: OnceLock<Flag> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        // SAFETY: the name is terminated; the answer is null or the address of a `char` of the C library's.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
        Flag(NonNull::new(found.cast()).unwrap_or(NonNull::from(&MANY)))
    });
    // SAFETY: see above. Relaxed: only this very thread could change it from "one" to "many".
    unsafe { flag.0.as_ref() }.load(Ordering::Relaxed) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns() {
        static COUNT: Turn<u64> = Turn::new(0);
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
    fn a_thread_that_starts_while_it_is_held_waits() {
        let turn = Turn::new(1);
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
    fn a_child_finds_free_what_a_thread_of_its_parent_held() {
        fork::watch();
        static TURN: Turn<u32> = Turn::new(7);
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
    fn who_has_it_already_is_told_and_others_wait() {
        let turn = Turn::new(0);
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
    fn the_c_library_says_whether_there_is_one_thread() {
        // The test's own runner has started this thread.
        assert!(!is_alone());
    }
}
