//! A member's locks, where all members see them: one of epochs, and one of the elements of its memory.
//!
//! The processor changes most elements in one piece. The others are pairs, complex and long numbers, elements that are not aligned, and
//! several bytes that are one value. A process that changes those holds the second lock. The system frees that
//! lock if a process ends that holds it: no member waits for a dead one.

use crate::errors::{Error, Mpi, class};
use crate::windows::memory::Mapping;
use parvum_sync::LockWord;
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Both locks, in a line of memory of their own.
#[repr(C, align(64))]
struct Seat {
    word: LockWord,
    turn: UnsafeCell<libc::pthread_mutex_t>,
}

/// A member's locks, in memory that is 0 at first.
#[derive(Clone)]
pub(crate) struct SharedLock {
    at: usize,
    mapping: Arc<Mapping>,
}

impl SharedLock {
    /// Bytes of memory that a member's locks take.
    pub(crate) const LENGTH: u64 = size_of::<Seat>() as u64;

    /// The locks at this place of a mapping, which nobody uses for anything else.
    pub(crate) fn new(mapping: &Arc<Mapping>, at: u64) -> SharedLock {
        assert!(at.is_multiple_of(SharedLock::LENGTH) && at + SharedLock::LENGTH <= mapping.length() as u64);
        SharedLock { at: at as usize, mapping: mapping.clone() }
    }

    /// Makes the lock of elements, before any other process has the memory. `None`: the system refuses.
    pub(crate) fn prepare(&self) -> Option<()> {
        let mut kind = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        // SAFETY: the attributes are made before they are used. The lock lies in memory that lasts as long as this, and nobody has it yet.
        let done = unsafe {
            let kind = kind.as_mut_ptr();
            libc::pthread_mutexattr_init(kind) == 0
                && libc::pthread_mutexattr_setpshared(kind, libc::PTHREAD_PROCESS_SHARED) == 0
                && libc::pthread_mutexattr_setrobust(kind, libc::PTHREAD_MUTEX_ROBUST) == 0
                && libc::pthread_mutex_init(self.seat().turn.get(), kind) == 0
        };
        done.then_some(())
    }

    #[inline]
    fn seat(&self) -> &Seat {
        // SAFETY: the mapping has it, aligned, and lasts as long as this; all who see it use it as locks alone.
        unsafe { &*self.mapping.start().add(self.at).cast::<Seat>() }
    }
}

impl Deref for SharedLock {
    type Target = LockWord;

    #[inline]
    fn deref(&self) -> &LockWord {
        &self.seat().word
    }
}

/// The right to change elements that the processor cannot change in one piece, until this is dropped.
pub(crate) struct Turn<'l>(#[allow(dead_code, reason = "held, not looked at")] ElementGuard<'l>);

enum ElementGuard<'l> {
    Shared(#[allow(dead_code, reason = "likewise")] HeldSeat<'l>),
    Own(#[allow(dead_code, reason = "likewise")] MutexGuard<'static, ()>),
}

/// The thread that has taken the lock gives it back: this goes to no other.
struct HeldSeat<'l>(&'l SharedLock, PhantomData<*mut ()>);

impl Drop for HeldSeat<'_> {
    fn drop(&mut self) {
        // SAFETY: this thread holds the lock.
        unsafe { libc::pthread_mutex_unlock(self.0.seat().turn.get()) };
    }
}

/// Waits for the turn at a member's elements. Without a lock that others see, this process alone changes them.
pub(crate) fn turn(lock: Option<&SharedLock>) -> Mpi<Turn<'_>> {
    static CHANGING: Mutex<()> = Mutex::new(());
    let Some(lock) = lock else {
        return Ok(Turn(ElementGuard::Own(CHANGING.lock().unwrap_or_else(PoisonError::into_inner))));
    };
    let mutex = lock.seat().turn.get();
    // SAFETY: `prepare` has made the lock before this process had the memory.
    let said = unsafe { libc::pthread_mutex_lock(mutex) };
    if said == libc::EOWNERDEAD {
        // The element that the dead process was changing may be half old and half new.
        // SAFETY: this thread holds the lock, whose last owner has died.
        unsafe { libc::pthread_mutex_consistent(mutex) };
    }
    match said {
        0 | libc::EOWNERDEAD => Ok(Turn(ElementGuard::Shared(HeldSeat(lock, PhantomData)))),
        why => Err(damaged(why)),
    }
}

#[cold]
fn damaged(why: c_int) -> Error {
    let why = std::io::Error::from_raw_os_error(why);
    Error::new(class::INTERN, format!("the lock of the window's elements cannot be taken: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> SharedLock {
        let mapping = Arc::new(Mapping::private(SharedLock::LENGTH as usize).expect("memory"));
        let lock = SharedLock::new(&mapping, 0);
        lock.prepare().expect("made");
        lock
    }

    #[test]
    fn turn_has_one_holder() {
        struct Counter(UnsafeCell<u64>);
        // SAFETY: only who has the turn looks at it.
        unsafe impl Sync for Counter {}
        let (lock, counter) = (lock(), Counter(UnsafeCell::new(0)));
        let count = || {
            let counter = &counter;
            for _ in 0..10_000 {
                let _turn = turn(Some(&lock)).expect("free in the end");
                // SAFETY: this thread has the turn.
                unsafe { *counter.0.get() += 1 };
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(count))));
        assert_eq!(counter.0.into_inner(), 40_000);
    }

    #[test]
    fn turn_of_ended_holder_is_free() {
        let lock = lock();
        let other = lock.clone();
        let holds = move || std::mem::forget(turn(Some(&other)));
        std::thread::spawn(holds).join().expect("ended");
        for _ in 0..2 {
            drop(turn(Some(&lock)).expect("free again"));
        }
    }
}
