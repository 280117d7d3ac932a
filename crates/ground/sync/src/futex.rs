//! Sleeping on a word of memory, futex(2): the thread sleeps only if the word still has the value that the thread has seen.

use rustix::io::Errno;
use rustix::thread::ClockId;
use rustix::thread::futex::{self, Wait, WaitFlags, WaitPtr, WaitvFlags};
use rustix::time::{Timespec, clock_gettime};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// For [`wake`]: all threads that sleep on the word.
pub const ALL: u32 = i32::MAX as u32;

/// Who may sleep on the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Threads of this process.
    Threads,
    /// Threads of all processes that map the word.
    Processes,
}

/// Why a sleep is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Somebody woke the thread, or the word had another value.
    Rung,
    /// The time is over.
    TimedOut,
    /// A signal came.
    Interrupted,
}

impl Woken {
    fn of(slept: Result<(), Errno>) -> Woken {
        match slept {
            Err(Errno::TIMEDOUT) => Woken::TimedOut,
            Err(Errno::INTR) => Woken::Interrupted,
            _ => Woken::Rung,
        }
    }
}

impl Among {
    fn flags(self) -> futex::Flags {
        match self {
            Among::Threads => futex::Flags::PRIVATE,
            Among::Processes => futex::Flags::empty(),
        }
    }
}

/// Sleeps while the word has this value, for at most `limit`, or for no reason at all.
pub fn sleep(word: &AtomicU32, while_it_is: u32, limit: Option<Duration>, among: Among) -> Woken {
    let limit = limit.map(timespec);
    Woken::of(futex::wait(word, among.flags(), while_it_is, limit.as_ref()))
}

/// Wakes at most so many threads that sleep on the word.
pub fn wake(word: &AtomicU32, most: u32, among: Among) {
    // The kernel's only error is a bad address, and the word is a reference.
    let _ = futex::wake(word, among.flags(), most);
}

/// Sleeps while both words have their values, for at most `limit`; futex_waitv(2). The error is that of a kernel without the call.
pub fn sleep_on_either(words: [(&AtomicU32, u32, Among); 2], limit: Duration) -> Result<Woken, Errno> {
    let now = clock_gettime(ClockId::Monotonic);
    let until = now.checked_add(timespec(limit)).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
    let on = |(word, value, among): (&AtomicU32, u32, Among)| {
        let mut wait = Wait::new();
        wait.val = u64::from(value);
        wait.uaddr = WaitPtr::new(word.as_ptr().cast());
        wait.flags = match among {
            Among::Threads => WaitFlags::SIZE_U32 | WaitFlags::PRIVATE,
            Among::Processes => WaitFlags::SIZE_U32,
        };
        wait
    };
    match futex::waitv(&words.map(on), WaitvFlags::empty(), Some(&until), ClockId::Monotonic) {
        Err(why @ (Errno::NOSYS | Errno::PERM)) => Err(why),
        slept => Ok(Woken::of(slept.map(|_| ()))),
    }
}

fn timespec(limit: Duration) -> Timespec {
    Timespec { tv_sec: limit.as_secs().min(i64::MAX as u64) as i64, tv_nsec: limit.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_ends_when_the_word_differs_or_the_time_is_over() {
        let word = AtomicU32::new(1);
        for among in [Among::Threads, Among::Processes] {
            assert_eq!(sleep(&word, 0, None, among), Woken::Rung);
            assert_eq!(sleep(&word, 1, Some(Duration::from_millis(1)), among), Woken::TimedOut);
        }
    }

    #[test]
    fn sleep_ends_when_another_thread_wakes() {
        let word = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                while word.load(std::sync::atomic::Ordering::Relaxed) == 0 {
                    sleep(&word, 0, None, Among::Threads);
                }
            });
            word.store(1, std::sync::atomic::Ordering::Relaxed);
            wake(&word, 1, Among::Threads);
            sleeper.join().expect("the sleeper ends");
        });
    }
}
