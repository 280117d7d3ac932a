//! Locks that are here: taken and given back without the node, by one atomic operation each.
//!
//! For each lock a word, which all tasks of the node have. *Away*: the node decides. *Free*: the lock is here and no
//! other node wants it, so a task may take it. *Taken*: by that task. *Wanted*: it is taken and another waits for it,
//! of this node or not, so the node does what follows its release. Checked under loom.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, Ordering};

const AWAY: u32 = 0;
const FREE: u32 = 1;
/// And the task's number.
const TAKEN: u32 = 2;
const WANTED: u32 = 1 << 31;

/// How a lock was taken, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was free.
    Here,
    /// The node must be asked.
    Ask,
    /// This task has it already.
    Already,
}

/// The locks of a node, as one of its tasks or the node sees them.
#[derive(Clone)]
pub struct Keys {
    states: &'static [AtomicU32],
    /// Taken by this task.
    own: u32,
}

impl Keys {
    /// The keys of a node with one task.
    pub fn new(locks: u32) -> Keys {
        Keys::shared((0..locks).map(|_| AtomicU32::new(AWAY)).collect::<Vec<_>>().leak(), 0)
    }

    /// The keys of a node whose tasks share these words, which begin as zeros.
    pub fn shared(states: &'static [AtomicU32], task: usize) -> Keys {
        Keys { states, own: TAKEN + task as u32 }
    }

    /// For the program.
    #[inline]
    pub fn take(&self, lock: u32) -> Taken {
        let Some(state) = self.states.get(lock as usize) else { return Taken::Ask };
        // Acquire and release, here and below: partners of each other. Between nodes, pages share the data of the lock.
        // Between the tasks of a node, this ordering shares it.
        match state.compare_exchange(FREE, self.own, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Taken::Here,
            Err(state) if state & !WANTED == self.own => Taken::Already,
            Err(_) => Taken::Ask,
        }
    }

    /// For the program: whether that was all. Otherwise the caller must notify the node.
    #[inline]
    pub fn give_back(&self, lock: u32) -> bool {
        let Some(state) = self.states.get(lock as usize) else { return false };
        // Release: partner of the acquires in `take` and `claim`.
        match state.compare_exchange(self.own, FREE, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => true,
            Err(seen) if seen == self.own | WANTED => {
                // Relaxed: tasks cannot take a lock that is away. The message to the node hands over what the lock
                // guards.
                state.store(AWAY, Ordering::Relaxed);
                false
            }
            Err(_) => false,
        }
    }

    /// For the node, when a task has released a lock that no other node wants.
    pub fn keep(&self, lock: u32) {
        // Release: partner of the acquire in `take`.
        self.states[lock as usize].store(FREE, Ordering::Release);
    }

    /// For the node, when all that was done is undone: it decides of all locks again.
    pub fn forget(&self) {
        // Relaxed: tasks cannot take a lock that is away, so this store hands no data over. `keep` does that when the
        // lock is here again.
        self.states.iter().for_each(|state| state.store(AWAY, Ordering::Relaxed));
    }

    /// For the node, when another wants a lock: which task has taken it, if one has.
    pub fn claim(&self, lock: u32) -> Result<(), usize> {
        let state = &self.states[lock as usize];
        loop {
            // Acquire: partner of the releases in `give_back` and `keep`. Relaxed on failure: the task's message comes with the lock.
            match state.compare_exchange(FREE, AWAY, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) | Err(AWAY) => return Ok(()),
                Err(taken) if taken & WANTED == 0 => {
                    let wanted = taken | WANTED;
                    // Relaxed: the holder keeps the lock, and tells the node when it gives it back.
                    if state.compare_exchange(taken, wanted, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                        return Err((taken - TAKEN) as usize);
                    }
                }
                // It is about to be given back: the node has heard of that lock before.
                Err(_) => {}
            }
        }
    }
}

#[cfg(all(test, loom))]
#[allow(unsafe_code)]
mod model {
    use super::*;
    use loom::cell::UnsafeCell as Watched;
    use loom::sync::Arc;

    /// Two tasks take a lock without the node while the node claims it: the lock always has at most one owner.
    #[test]
    fn lock_has_one_owner_while_node_claims() {
        loom::model(|| {
            // Leaked, as the words of a segment are never unmapped.
            let states: &'static [AtomicU32] = vec![AtomicU32::new(AWAY)].leak();
            let value = Arc::new(Watched::new(0));
            let node = Keys::shared(states, 2);
            node.keep(0);
            let tasks = [0, 1].map(|task| {
                let (keys, value) = (Keys::shared(states, task), value.clone());
                loom::thread::spawn(move || {
                    if keys.take(0) != Taken::Here {
                        return true;
                    }
                    // SAFETY: the lock is this thread's alone, which loom checks.
                    value.with_mut(|value| unsafe { *value += 1 });
                    keys.give_back(0)
                })
            });
            let claimed = node.claim(0);
            if claimed.is_ok() {
                // SAFETY: as above; no task takes it any more.
                value.with_mut(|value| unsafe { *value += 1 });
            }
            let told = tasks.map(|task| !task.join().expect("it ends"));
            match claimed {
                Ok(()) => assert!(!told[0] && !told[1]),
                // The node learns only of the holder's release.
                Err(task) => assert!(told[task] && !told[1 - task]),
            }
            assert_eq!(node.claim(0), Ok(()), "it is the node's in the end");
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU8;

    #[test]
    fn lock_that_is_here_is_taken_without_node() {
        let keys = Keys::new(4);
        assert_eq!((keys.take(3), keys.take(4), keys.give_back(3)), (Taken::Ask, Taken::Ask, false));
        keys.keep(3);
        assert_eq!((keys.take(3), keys.take(3)), (Taken::Here, Taken::Already));
        assert!(keys.give_back(3) && !keys.give_back(3));
        assert_eq!((keys.claim(3), keys.take(3)), (Ok(()), Taken::Ask));
    }

    #[test]
    fn lock_claimed_by_node_is_released_through_node() {
        let keys = Keys::new(1);
        keys.keep(0);
        assert_eq!((keys.take(0), keys.claim(0)), (Taken::Here, Err(0)));
        assert_eq!(keys.take(0), Taken::Already);
        assert_eq!((keys.give_back(0), keys.take(0), keys.claim(0)), (false, Taken::Ask, Ok(())));
    }

    #[test]
    fn node_learns_which_task_holds_lock() {
        let states: &'static [AtomicU32] = vec![AtomicU32::new(AWAY)].leak();
        let [one, other] = [Keys::shared(states, 0), Keys::shared(states, 5)];
        one.keep(0);
        assert_eq!((other.take(0), one.take(0), other.take(0)), (Taken::Here, Taken::Ask, Taken::Already));
        assert!(!one.give_back(0), "another has it");
        assert_eq!(one.claim(0), Err(5));
        assert_eq!((one.take(0), other.take(0)), (Taken::Ask, Taken::Already));
        assert!(!other.give_back(0));
        assert_eq!(one.claim(0), Ok(()));
    }

    /// The program's thread and the node's thread: the lock always has at most one owner.
    #[test]
    fn program_and_node_never_both_hold_lock() {
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
                if keys.claim(0).is_err() {
                    refused += 1;
                    while keys.states[0].load(Ordering::Acquire) & WANTED != 0 {
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
