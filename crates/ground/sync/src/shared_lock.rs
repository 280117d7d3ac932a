//! A lock that many may share or one may have for itself: a word in memory that all see, and a queue at its owner.
//!
//! While nobody waits each enters and leaves by itself, with one exchange. Who finds the lock taken asks the owner, who gives it in the
//! order in which it was asked for. While the word says that somebody is queued, the owner alone changes it: who comes does not overtake,
//! and who leaves tells the owner. Checked under loom.

use std::collections::VecDeque;

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, Ordering};

/// The owner alone changes the word: somebody waits, or may be about to.
const QUEUED: u32 = 1 << 31;
/// One has it for itself. Below: how many share it.
const EXCLUSIVE: u32 = 1 << 30;

/// The word: free when it is 0. Its orderings are sequentially consistent: each with the others in whichever process; what was stored in
/// the memory that the lock guards is seen by whoever has it next, and stores and loads of one who has it lie between its own two.
#[repr(transparent)]
pub struct LockWord(AtomicU32);

/// The word once somebody more has the lock, if that may be. Not for words with [`QUEUED`].
fn entered(word: u32, exclusive: bool) -> Option<u32> {
    match exclusive {
        true => (word == 0).then_some(EXCLUSIVE),
        false => (word & EXCLUSIVE == 0).then_some(word + 1),
    }
}

/// The word once somebody has it no more.
fn left(word: u32, exclusive: bool) -> u32 {
    if exclusive { word & !EXCLUSIVE } else { word & EXCLUSIVE | (word & !EXCLUSIVE).saturating_sub(1) }
}

impl LockWord {
    /// A free lock.
    #[allow(clippy::new_without_default, reason = "a free lock is nothing that is taken for granted")]
    pub fn new() -> LockWord {
        LockWord(AtomicU32::new(0))
    }

    /// Takes the lock, if it may be had at once.
    #[inline]
    pub fn try_enter(&self, exclusive: bool) -> bool {
        self.change(|word| entered(word, exclusive))
    }

    /// Gives it back, unless the owner must be told.
    #[inline]
    pub fn try_leave(&self, exclusive: bool) -> bool {
        self.change(|word| Some(left(word, exclusive)))
    }

    #[inline]
    fn change(&self, next: impl Fn(u32) -> Option<u32>) -> bool {
        // Relaxed: only a guess, which the exchange checks.
        let mut word = self.0.load(Ordering::Relaxed);
        while word & QUEUED == 0
            && let Some(next) = next(word)
        {
            match self.0.compare_exchange(word, next, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// From here on the owner alone changes it, until [`LockWord::set`].
    fn keep(&self) -> u32 {
        self.0.fetch_or(QUEUED, Ordering::SeqCst) & !QUEUED
    }

    fn set(&self, word: u32, queued: bool) {
        self.0.store(if queued { word | QUEUED } else { word }, Ordering::SeqCst);
    }
}

/// Who waits for a lock, at its owner; used by one thread at a time.
pub struct LockQueue<W>(VecDeque<(bool, W)>);

impl<W> Default for LockQueue<W> {
    fn default() -> LockQueue<W> {
        LockQueue(VecDeque::new())
    }
}

impl<W> LockQueue<W> {
    /// Whether it has the lock at once; if not, [`LockQueue::leave`] says later that it has it. Who comes later does not overtake.
    pub fn ask(&mut self, lock: &LockWord, exclusive: bool, who: W) -> bool {
        let word = lock.keep();
        if self.0.is_empty()
            && let Some(next) = entered(word, exclusive)
        {
            lock.set(next, false);
            return true;
        }
        self.0.push_back((exclusive, who));
        lock.set(word, true);
        false
    }

    /// Somebody gives the lock back. Who has it next.
    pub fn leave(&mut self, lock: &LockWord, exclusive: bool) -> Vec<W> {
        let mut word = left(lock.keep(), exclusive);
        let mut next = Vec::new();
        while let Some((exclusive, _)) = self.0.front()
            && let Some(more) = entered(word, *exclusive)
        {
            word = more;
            next.extend(self.0.pop_front().map(|(_, who)| who));
        }
        lock.set(word, !self.0.is_empty());
        next
    }
}

#[cfg(all(test, loom))]
#[allow(unsafe_code)]
mod model {
    use super::*;
    use loom::cell::UnsafeCell as Watched;
    use loom::sync::{Arc, Condvar, Mutex};

    struct Guarded {
        word: LockWord,
        queue: Mutex<LockQueue<usize>>,
        granted: Mutex<[bool; 2]>,
        news: Condvar,
        value: Watched<u32>,
    }

    impl Guarded {
        fn enter(&self, who: usize, exclusive: bool) {
            if self.word.try_enter(exclusive)
                || self.queue.lock().expect("whole").ask(&self.word, exclusive, who)
            {
                return;
            }
            let mut granted = self.granted.lock().expect("whole");
            while !granted[who] {
                granted = self.news.wait(granted).expect("whole");
            }
            granted[who] = false;
        }

        fn leave(&self, exclusive: bool) {
            if self.word.try_leave(exclusive) {
                return;
            }
            for who in self.queue.lock().expect("whole").leave(&self.word, exclusive) {
                self.granted.lock().expect("whole")[who] = true;
                self.news.notify_all();
            }
        }
    }

    /// Loom ends the test when one changes the value while another is at it, or when somebody waits for ever.
    fn both(exclusive: [bool; 2], times: usize) {
        loom::model(move || {
            let guarded = Arc::new(Guarded {
                word: LockWord::new(),
                queue: Mutex::new(LockQueue::default()),
                granted: Mutex::new([false; 2]),
                news: Condvar::new(),
                value: Watched::new(0),
            });
            let work = move |guarded: &Guarded, who: usize| {
                for _ in 0..times {
                    guarded.enter(who, exclusive[who]);
                    match exclusive[who] {
                        // SAFETY: the lock is this thread's alone, which loom checks.
                        true => guarded.value.with_mut(|value| unsafe { *value += 1 }),
                        // SAFETY: nobody changes it, which loom checks.
                        false => guarded.value.with(|value| unsafe { _ = *value }),
                    }
                    guarded.leave(exclusive[who]);
                }
            };
            let other = guarded.clone();
            let other = loom::thread::spawn(move || work(&other, 1));
            work(&guarded, 0);
            other.join().expect("it ends");
            assert!(guarded.word.try_enter(true), "it is free");
            let wanted = exclusive.iter().filter(|it| **it).count() * times;
            // SAFETY: the other thread has ended.
            assert_eq!(guarded.value.with(|value| unsafe { *value }) as usize, wanted);
        });
    }

    #[test]
    fn exclusive_lock_has_one_holder() {
        both([true, true], 2);
    }

    #[test]
    fn exclusive_lock_excludes_shared_holders() {
        both([true, false], 2);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn locks_are_granted_in_request_order() {
        let (word, mut queue) = (LockWord::new(), LockQueue::default());
        assert!(word.try_enter(false) && queue.ask(&word, false, 1));
        assert!(!word.try_enter(true) && !queue.ask(&word, true, 2));
        assert!(
            !word.try_enter(false) && !queue.ask(&word, false, 3) && !queue.ask(&word, false, 4),
            "nobody overtakes"
        );
        assert!(!word.try_leave(false), "the owner is to be told");
        assert_eq!(queue.leave(&word, false), []);
        assert_eq!(queue.leave(&word, false), [2]);
        assert_eq!(queue.leave(&word, true), [3, 4]);
        assert!(
            !word.try_enter(true) && word.try_enter(false) && word.try_leave(false),
            "nobody waits any more"
        );
        assert!(!queue.ask(&word, true, 0));
        assert_eq!((queue.leave(&word, false), queue.leave(&word, false)), (vec![], vec![0]));
        assert!(word.try_leave(true) && word.try_enter(true));
    }

    #[test]
    fn unheld_lock_may_be_released() {
        let (word, mut queue) = (LockWord::new(), LockQueue::<u8>::default());
        assert!(word.try_leave(false) && queue.leave(&word, true).is_empty() && word.try_enter(true));
    }
}
