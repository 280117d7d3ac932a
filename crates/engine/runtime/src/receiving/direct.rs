//! Receiving by the short way: the message goes from its link straight to the caller, while the task stays awake for it.

use crate::inside::Inside;
use crate::runtime::Runtime;
use crate::waiting::turns::has_spun_in_vain;
use crate::waiting::wait::ROUNDS;
use crate::waiting::waiters::serves;
use parvum_api::Notes;
use parvum_engine::{Envelope, Look, Pattern, Room};
use parvum_wire::EAGER;
use std::time::{Duration, Instant};

impl Runtime {
    /// Looks once whether the message is there, if nothing but that message is to be heeded.
    #[inline]
    pub(crate) fn look_once(&mut self, pattern: &Pattern, room: &mut Room<'_>, found: &mut Envelope) -> Look {
        if !self.engine.is_quiet() || self.has_sockets() {
            return Look::Other;
        }
        self.engine.take_next(pattern, room, found)
    }
}

impl Inside {
    /// Looks for the message as long as this task would spin, after [`Runtime::look_once`] has found nothing. When it does
    /// not come, or something else has, the usual way is the caller's.
    #[inline(never)]
    pub(crate) fn spin_directly(
        &mut self,
        pattern: &Pattern,
        room: &mut Room<'_>,
        found: &mut Envelope,
        notes: &Notes,
    ) -> bool {
        // The first look at a peer may have joined it, and stored its messages. These messages come before the data in
        // its link, and may be the wanted message.
        if !self.engine.is_quiet() || self.has_sockets() {
            return false;
        }
        self.serves = serves(notes);
        let budget = self.spinning_budget();
        if budget.is_zero() {
            return false;
        }
        self.engine.say_awaited(pattern);
        self.engine.start_waiting_for(pattern, room.length());
        let began = self.waits.time.begins_wait();
        self.note_wait(notes);
        let taken = self.look_directly(budget, pattern, room, found);
        if taken {
            if room.length() > EAGER {
                self.engine.end_waiting_for(pattern);
            }
            self.note_end_of_wait(notes);
        } else {
            // It goes on in the usual way: one wait, not two.
            self.wait_is_noted = true;
        }
        self.waits.time.ends_wait(began);
        taken
    }

    #[inline]
    fn look_directly(
        &mut self,
        budget: Duration,
        pattern: &Pattern,
        room: &mut Room<'_>,
        found: &mut Envelope,
    ) -> bool {
        let since = Instant::now();
        loop {
            let serves = self.serves;
            let runtime: &mut Runtime = self;
            for _ in 0..ROUNDS {
                match runtime.engine.take_next(pattern, room, found) {
                    Look::Taken => {
                        runtime.has_looked(since, serves);
                        return true;
                    }
                    Look::Nothing => std::hint::spin_loop(),
                    Look::Other => return false,
                }
            }
            // Other peers, other routes and the daemon are looked after as well.
            self.progress();
            if !self.engine.is_quiet() || self.has_sockets() {
                return false;
            }
            if self.is_wanted() {
                return false;
            }
            if since.elapsed() >= budget
                || self.connections.crowd.wants_this_core(&self.identity.control_block)
            {
                self.has_spun = true;
                has_spun_in_vain(since.elapsed());
                return false;
            }
        }
    }
}
