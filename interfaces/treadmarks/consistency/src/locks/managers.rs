//! Locks: each lock has a manager, which knows the last requester. Each requester queues at most one other: the next
//! requester.
//!
//! The last holder keeps a lock until another node asks, and can take the lock again without a message. A request goes
//! to the manager, and from the manager to the last requester, which answers. This takes three messages, or two if the
//! manager is one of the two nodes.

use crate::message::{Asks, Message};
use crate::pages::memory::Memory;
use crate::races::Clock;
use crate::setup::{Fault, Progress};
use crate::state::Node;
use crate::state::locks::Lock;

impl Node {
    /// Takes a lock.
    pub fn acquire(&mut self, lock: u32, memory: &mut impl Memory) -> Result<Progress, Fault> {
        self.begin()?;
        self.ask_for_lock(lock, memory)
    }

    /// The same, also when other tasks of the node wait for something.
    pub(crate) fn ask_for_lock(&mut self, lock: u32, memory: &mut impl Memory) -> Result<Progress, Fault> {
        if lock >= self.setup.locks {
            return Err(Fault::NoSuchLock(lock));
        }
        let stranded = self.is_stranded();
        let entry = self.lock(lock);
        if entry.held {
            return Err(Fault::HeldAlready(lock));
        }
        if stranded {
            entry.take_anyway();
            return Ok(Progress::Done);
        }
        if entry.here {
            entry.held = true;
            self.counts.locks_here += 1;
            self.witness.iter_mut().for_each(|witness| witness.acquired(lock, None));
            return Ok(Progress::Done);
        }
        self.wanted.insert(lock);
        let asks = Asks { stamp: self.stamp.clone(), wishes: self.wishes(lock) };
        self.say(self.manager_of(lock), Message::Acquire { lock, asks });
        self.settle(memory)
    }

    /// Gives a lock back. Sends a message only if a request waits here.
    pub fn release(&mut self, lock: u32, memory: &mut impl Memory) -> Result<Progress, Fault> {
        self.begin()?;
        self.give_lock(lock, memory)
    }

    /// The same, also when other tasks of the node wait for something.
    pub(crate) fn give_lock(&mut self, lock: u32, memory: &mut impl Memory) -> Result<Progress, Fault> {
        if lock >= self.setup.locks {
            return Err(Fault::NoSuchLock(lock));
        }
        let entry = self.lock(lock);
        if !entry.held {
            return Err(Fault::NotHeld(lock));
        }
        entry.held = false;
        let next = entry.next.take();
        self.witness.iter_mut().for_each(|witness| witness.released(lock));
        self.note_release(lock);
        if let Some((to, asks)) = next
            && !self.is_stranded()
        {
            self.grant(lock, to, asks, memory);
        }
        self.settle(memory)
    }

    fn manager_of(&self, lock: u32) -> usize {
        self.living[lock as usize % self.living.len()]
    }

    pub(crate) fn lock(&mut self, lock: u32) -> &mut Lock {
        let manager = self.manager_of(lock);
        let here = manager == self.own;
        self.locks.entry(lock).or_insert_with(|| Lock { here, last: manager, ..Lock::default() })
    }

    /// At the manager.
    pub(crate) fn asked_for_lock(&mut self, from: usize, lock: u32, asks: Asks) -> Result<(), Fault> {
        if lock >= self.setup.locks || self.manager_of(lock) != self.own {
            return Err(Fault::Malformed(from));
        }
        let last = std::mem::replace(&mut self.lock(lock).last, from);
        if last == from {
            return Err(Fault::Malformed(from));
        }
        self.say(last, Message::Forward { lock, to: from as u32, asks });
        Ok(())
    }

    /// At who asked before.
    pub(crate) fn next_for_lock(
        &mut self,
        from: usize,
        lock: u32,
        (to, asks): (usize, Asks),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let sound = self.are_sound_wishes(&asks.wishes);
        if lock >= self.setup.locks || to >= self.setup.nodes || to == self.own || !sound {
            return Err(Fault::Malformed(from));
        }
        let entry = self.lock(lock);
        if entry.here && !entry.held {
            entry.held = !memory.is_free(lock);
        }
        if entry.here && !entry.held {
            self.grant(lock, to, asks, memory);
        } else if entry.next.replace((to, asks)).is_some() {
            return Err(Fault::Malformed(from));
        }
        Ok(())
    }

    fn grant(&mut self, lock: u32, to: usize, asks: Asks, memory: &mut impl Memory) {
        self.lock(lock).here = false;
        self.close_interval(memory);
        let intervals = self.lacking(&asks.stamp);
        let clock = self.witness.as_ref().and_then(|witness| witness.clock_of(lock));
        let fulfilled = self.fulfil(to, asks.wishes, memory);
        self.say(to, Message::Grant { lock, intervals, clock, fulfilled });
    }

    pub(crate) fn granted(&mut self, lock: u32, clock: Option<Clock>) {
        let entry = self.lock(lock);
        entry.here = true;
        entry.held = true;
        self.counts.locks_fetched += 1;
        self.note_grant(lock);
        self.witness.iter_mut().for_each(|witness| witness.acquired(lock, clock.clone()));
    }

    /// A lock that is here was taken without the node.
    pub(crate) fn found_taken(&mut self, lock: u32) {
        self.lock(lock).held = true;
    }

    /// Whether a lock is here, and the node's until it is given back.
    pub(crate) fn has(&mut self, lock: u32) -> bool {
        let entry = self.lock(lock);
        entry.here && entry.held
    }

    /// Whether another node waits for a lock that is here.
    pub(crate) fn is_wanted_elsewhere(&mut self, lock: u32) -> bool {
        self.lock(lock).next.is_some()
    }

    /// Whether a lock is here, free, and without waiting requests. The program may take such a lock without the node,
    /// until the node asks [`Memory::is_free`](crate::Memory::is_free).
    pub fn keeps(&mut self, lock: u32) -> bool {
        let entry = self.lock(lock);
        entry.here && !entry.held && entry.next.is_none()
    }
}
