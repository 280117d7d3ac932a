//! Receiving by the short way: the message goes from its link straight to the caller, while the task stays awake for it.

use crate::runtime::Runtime;
use parvum_engine::{Envelope, Look, Pattern, Room};
use parvum_waist::Notes;
use std::time::{Duration, Instant};

impl Runtime {
    /// Receives if nothing but the message is to be heeded, looking for it as long as this task would spin. When it is
    /// not there then, or something else has come, the usual way is the caller's.
    #[inline]
    pub(crate) fn receive_directly(
        &mut self,
        pattern: &Pattern,
        room: &mut Room<'_>,
        notes: &Notes,
    ) -> Option<Envelope> {
        if !self.engine.is_quiet() || self.has_sockets() {
            return None;
        }
        match self.engine.take_next(pattern, room) {
            Look::Taken(envelope) => Some(envelope),
            Look::Nothing if notes.limit < 0 => self.spin_directly(pattern, room, notes),
            Look::Nothing | Look::Other => None,
        }
    }

    #[inline(never)]
    fn spin_directly(&mut self, pattern: &Pattern, room: &mut Room<'_>, notes: &Notes) -> Option<Envelope> {
        let budget = self.spinning_budget();
        if budget.is_zero() {
            return None;
        }
        let began = self.time.begins_wait();
        self.note_wait(notes);
        let found = self.look_directly(budget, pattern, room);
        if found.is_some() {
            self.note_end_of_wait(notes);
        } else {
            // It goes on in the usual way: one wait, not two.
            self.wait_is_noted = true;
        }
        self.time.ends_wait(began);
        found
    }

    #[inline]
    fn look_directly(
        &mut self,
        budget: Duration,
        pattern: &Pattern,
        room: &mut Room<'_>,
    ) -> Option<Envelope> {
        let since = Instant::now();
        loop {
            for _ in 0..Self::ROUNDS {
                match self.engine.take_next(pattern, room) {
                    Look::Taken(envelope) => {
                        self.patience.spun(since);
                        return Some(envelope);
                    }
                    Look::Nothing => std::hint::spin_loop(),
                    Look::Other => return None,
                }
            }
            // Other peers, other routes and the daemon are looked after as well.
            self.progress();
            if !self.engine.is_quiet() || self.has_sockets() {
                return None;
            }
            if since.elapsed() >= budget || self.crowd.wants_this_core(&self.page) {
                self.has_spun = true;
                return None;
            }
        }
    }
}
