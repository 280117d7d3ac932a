//! Locks that are here: taken and given back without the node, by one atomic operation each.
//!
//! For each lock a byte. *Away*: the node decides. *Free*: it is here and nobody wants it, so the program may take it. *Taken*: it
//! has. *Wanted*: it has, and another process waits for it, so the node does what follows its release.

use std::sync::atomic::{AtomicU8, Ordering};

const AWAY: u8 = 0;
const FREE: u8 = 1;
const TAKEN: u8 = 2;
const WANTED: u8 = 3;

/// How a lock was taken, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Here,
    /// The node must be asked.
    Ask,
    /// This process has it already.
    Already,
}

pub(crate) struct Keys {
    states: Box<[AtomicU8]>,
}

impl Keys {
    pub(crate) fn new(locks: u32) -> Keys {
        Keys { states: (0..locks).map(|_| AtomicU8::new(AWAY)).collect() }
    }

    /// For the program.
    #[inline]
    pub(crate) fn take(&self, lock: u32) -> Taken {
        let Some(state) = self.states.get(lock as usize) else { return Taken::Ask };
        // Acquire and release, here and below: partners of each other. What the lock guards is shared by pages, not by these.
        match state.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Taken::Here,
            Err(AWAY) => Taken::Ask,
            Err(_) => Taken::Already,
        }
    }

    /// For the program: whether that was all. Else the node must be told.
    #[inline]
    pub(crate) fn give_back(&self, lock: u32) -> bool {
        let Some(state) = self.states.get(lock as usize) else { return false };
        match state.compare_exchange(TAKEN, FREE, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => true,
            Err(WANTED) => {
                state.store(AWAY, Ordering::Relaxed);
                false
            }
            Err(_) => false,
        }
    }

    /// For the node, when the program has given a lock back that nobody wants.
    pub(crate) fn keep(&self, lock: u32) {
        self.states[lock as usize].store(FREE, Ordering::Release);
    }

    /// For the node, when all that was done is undone: it decides of all locks again.
    pub(crate) fn forget(&self) {
        self.states.iter().for_each(|state| state.store(AWAY, Ordering::Release));
    }

    /// For the node, when another wants a lock: whether the program has not taken it.
    pub(crate) fn claim(&self, lock: u32) -> bool {
        let state = &self.states[lock as usize];
        loop {
            match state.compare_exchange(FREE, AWAY, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) | Err(AWAY) => return true,
                Err(_) => {}
            }
            if state.compare_exchange(TAKEN, WANTED, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_here_is_taken_without_the_node() {
        let keys = Keys::new(4);
        assert_eq!((keys.take(3), keys.take(4), keys.give_back(3)), (Taken::Ask, Taken::Ask, false));
        keys.keep(3);
        assert_eq!((keys.take(3), keys.take(3)), (Taken::Here, Taken::Already));
        assert!(keys.give_back(3) && !keys.give_back(3));
        assert_eq!((keys.claim(3), keys.take(3)), (true, Taken::Ask));
    }

    #[test]
    fn one_that_is_wanted_meanwhile_goes_by_the_node() {
        let keys = Keys::new(1);
        keys.keep(0);
        assert_eq!((keys.take(0), keys.claim(0)), (Taken::Here, false));
        assert_eq!(keys.take(0), Taken::Already);
        assert_eq!((keys.give_back(0), keys.take(0), keys.claim(0)), (false, Taken::Ask, true));
    }

    /// The program's thread and the node's: whoever has the lock has it alone.
    #[test]
    fn the_program_and_the_node_never_both_have_it() {
        let keys = Keys::new(1);
        let inside = AtomicU8::new(0);
        let enter = || assert_eq!(inside.swap(1, Ordering::SeqCst), 0);
        let leave = || inside.store(0, Ordering::SeqCst);
        keys.keep(0);
        std::thread::scope(|scope| {
            let program = scope.spawn(|| {
                let mut handed_over = 0;
                for _ in 0..200_000 {
                    if keys.take(0) == Taken::Here {
                        enter();
                        leave();
                        handed_over += u32::from(!keys.give_back(0));
                    }
                }
                handed_over
            });
            let mut refused = 0;
            while !program.is_finished() {
                if !keys.claim(0) {
                    refused += 1;
                    while keys.states[0].load(Ordering::Acquire) == WANTED {
                        std::hint::spin_loop();
                    }
                }
                // Another has it, and then it is here again.
                enter();
                leave();
                keys.keep(0);
            }
            assert_eq!(program.join().expect("it ends"), refused);
        });
    }
}
