//! Waiting: a thread looks, spins while this is likely to help, and takes turns on its core with others. Then it
//! releases the process lock and [sleeps](crate::waiting::sleeping). [`crate::waiting::patience`] has the measurements
//! about waiting.

use crate::inside::Inside;
use crate::runtime::Runtime;
use crate::waiting::patience::Patience;
use crate::waiting::scheduling::was_taken_away;
use crate::waiting::turns::has_spun_in_vain;
use crate::waiting::waiters::{Until, serves};
use parvum_api::Notes;
use parvum_engine::RequestId;
use parvum_wire::Tid;
use std::time::{Duration, Instant};

/// The clock is read once in this number of rounds of spinning.
pub(crate) const ROUNDS: u32 = 32;

/// From this number of nanoseconds on, a wait is longer than a task spins.
const LONG: i64 = 2_000_000;

/// Whether a wait is more than a look.
#[inline]
pub(crate) fn is_long(notes: &Notes) -> bool {
    notes.limit < 0 || notes.limit >= LONG
}

impl Inside {
    /// The wait is over, if its beginning of the wait was noted and it did not come to wait in the usual way.
    #[inline]
    pub(crate) fn end_noted_wait(&mut self, notes: &Notes) {
        self.has_spun = false;
        if std::mem::take(&mut self.wait_is_noted) {
            self.note_end_of_wait(notes);
        }
    }

    /// The measurements about waits like this one.
    pub(crate) fn patience(&mut self) -> &mut Patience {
        let serves = self.serves;
        self.waits.patience(serves)
    }

    /// How long it makes sense to spin now. The daemon may need this core to bring what is waited for; so may a peer.
    pub(crate) fn spinning_budget(&mut self) -> Duration {
        let in_the_way =
            self.awaits_many() || self.connections.routed.is_some() || self.connections.crowd.exceeds_cores();
        if in_the_way { Duration::ZERO } else { self.patience().budget() }
    }

    /// Whether it waits for more tasks than could all run at once.
    pub(crate) fn awaits_many(&self) -> bool {
        self.awaits_in_segment
            .as_ref()
            .is_some_and(|shared| shared.members() as usize > self.connections.crowd.cores())
    }

    /// Works and waits until `done` gives something, as `notes` say; `None` when the time is over
    /// or the machine is lost.
    #[inline]
    pub(crate) fn wait_until<T>(
        &mut self,
        notes: &Notes,
        done: impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        self.wait(notes, || Until::Changed, done)
    }

    /// Whether the request is over; waits as the notes say.
    #[inline]
    pub(crate) fn wait_for(&mut self, request: RequestId, notes: &Notes) -> bool {
        let is_over = |runtime: &mut Runtime| runtime.engine.is_over(request).then_some(());
        self.wait_wanting(request, notes, || Until::Over(request), is_over).is_some()
    }

    /// As [`Inside::wait`], for only one request. If it is a receive of a long message, its sender learns that this
    /// task waits for it.
    #[inline]
    pub(crate) fn wait_wanting<T>(
        &mut self,
        request: RequestId,
        notes: &Notes,
        until: impl Fn() -> Until,
        done: impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        let is_said = is_long(notes) && self.engine.start_waiting(request);
        let found = self.wait(notes, until, done);
        // Something else may have ended the wait.
        if is_said && !self.engine.is_over(request) {
            self.engine.end_waiting(request);
        }
        found
    }

    /// Waits without end for a request that ends, with its data or with its sender. False: this task has left the machine.
    pub(crate) fn wait_to_end(&mut self, request: RequestId, notes: &Notes) -> bool {
        while !self.wait_for(request, notes) {
            if self.has_left {
                return false;
            }
            self.attend();
        }
        true
    }

    /// As [`Inside::wait_until`]; another thread that sees this wait to be over wakes this one.
    #[inline]
    pub(crate) fn wait<T>(
        &mut self,
        notes: &Notes,
        until: impl Fn() -> Until,
        mut done: impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = done(self) {
            self.end_noted_wait(notes);
            return Some(found);
        }
        if !self.awaits_many() || notes.limit == 0 {
            self.look();
            if let Some(found) = done(self) {
                self.end_noted_wait(notes);
                return Some(found);
            }
        }
        if self.engine.has_copies() {
            // Another thread that waits makes the copies that this one does not wait for.
            let is_alone = self.waits.waiting == 0 && self.waits.waiters.are_servers();
            if self.make_copies(&until(), None, is_alone)
                && let Some(found) = done(self)
            {
                self.end_noted_wait(notes);
                return Some(found);
            }
        }
        if notes.limit == 0 {
            self.look_after(Duration::ZERO);
            if !self.connections.unheard.is_empty() {
                self.look_after_sources();
            }
            return None;
        }
        self.wait_patiently(notes, until, done)
    }

    /// Moves everything on, for a wait that is not over. Whether anything moved.
    #[inline]
    pub(crate) fn look(&mut self) -> bool {
        if self.engine.has_askers() {
            self.engine.answer_askers();
        }
        self.progress()
    }

    /// The factor by which a task with a connection to another host spins longer. The kernel needs more time than a
    /// wakeup to bring a message. It also prefers to wake a receiver on the core that does the network's work, which is
    /// the sender's core if both are on one host.
    const FAR: u32 = 4;

    #[inline(never)]
    fn wait_patiently<T>(
        &mut self,
        notes: &Notes,
        until: impl Fn() -> Until,
        done: impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        self.serves = serves(notes);
        let began = self.waits.time.begins_wait();
        if !std::mem::take(&mut self.wait_is_noted) {
            self.note_wait(notes);
        }
        self.waits.waiting += 1;
        let found = self.look_and_sleep(notes, until, done);
        self.waits.waiting = self.waits.waiting.saturating_sub(1);
        self.note_end_of_wait(notes);
        self.waits.time.ends_wait(began);
        found
    }

    #[inline(always)]
    fn look_and_sleep<T>(
        &mut self,
        notes: &Notes,
        until: impl Fn() -> Until,
        mut done: impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        let deadline = (notes.limit > 0).then(|| Instant::now() + Duration::from_nanos(notes.limit as u64));
        loop {
            if let Some(found) = self.spin(&mut done) {
                return Some(found);
            }
            if !self.engine.has_copies()
                && let Some(found) = self.take_turns(deadline, &mut done)
            {
                return Some(found);
            }
            // A message that came while this thread looked may have left it a copy, and no other thread makes the copy
            // sooner.
            if self.engine.has_copies() && self.make_own_copies(&until()) {
                if let Some(found) = done(self) {
                    return Some(found);
                }
                continue;
            }
            if let Some(found) = self.sleep_until(notes, &until(), deadline, &mut done) {
                return found;
            }
            if deadline.is_some_and(|end| Instant::now() >= end) {
                return None;
            }
        }
    }

    /// Makes the copies that this wait is for; if no other thread waits, others as well. Whether it has made any.
    #[cold]
    fn make_own_copies(&mut self, until: &Until) -> bool {
        let is_alone = self.waits.waiting <= 1 && self.waits.waiters.are_servers();
        self.make_copies(until, None, is_alone)
    }

    /// Looks again and again as long as that is likely to be worth it.
    #[inline(always)]
    fn spin<T>(&mut self, done: &mut impl FnMut(&mut Runtime) -> Option<T>) -> Option<T> {
        let has_spun = std::mem::take(&mut self.has_spun);
        // If another thread already waits, it looks for both.
        if has_spun || !self.waits.waiters.are_servers() {
            return None;
        }
        let far = if self.has_sockets() { Self::FAR } else { 1 };
        let budget = self.spinning_budget() * far;
        if budget.is_zero() {
            return None;
        }
        let mut since = Instant::now();
        // While this thread looks, serving threads need not be woken.
        let stands_in = self.waits.waiters.is_driven();
        if stands_in {
            self.waits.waiters.stand_in.begin();
            self.identity.control_block.stay_awake();
        }
        let mut changes = None;
        let found = 'looking: loop {
            for _ in 0..ROUNDS {
                if self.look() {
                    // A message that has begun to arrive continues to arrive.
                    since = Instant::now();
                    // A look that moved something may have copied a piece for a peer, which takes long.
                    if self.is_wanted() {
                        break 'looking None;
                    }
                }
                if self.engine.has_copies() {
                    // Copies are made where this thread neither drives nor stands in for the driver.
                    break 'looking None;
                }
                if let Some(found) = done(self) {
                    let serves = self.serves;
                    self.has_looked(since, serves);
                    break 'looking Some(found);
                }
                // A serving thread has work that this thread cannot do.
                if stands_in && changes.replace(self.engine.changes()) != Some(self.engine.changes()) {
                    let Runtime { waits, engine, .. } = &mut **self;
                    if waits.waiters.has_service_to_do(|request| engine.is_over(request)) {
                        break 'looking None;
                    }
                }
                std::hint::spin_loop();
            }
            if since.elapsed() >= budget
                || self.is_wanted()
                || self.connections.crowd.wants_this_core(&self.identity.control_block)
            {
                break None;
            }
        };
        if found.is_none() {
            has_spun_in_vain(since.elapsed());
        }
        if found.is_none() && far > 1 {
            // Unknown tasks may want this core: daemons, and programs that compute.
            self.patience().spun_in_vain(was_taken_away());
        }
        if stands_in {
            self.hand_back();
        }
        found
    }

    /// This thread has looked instead of the serving thread that sleeps on the control block's wakeup word. From now on
    /// earlier and later messages must wake the serving thread again.
    fn hand_back(&mut self) {
        // It sleeps as before, even if sockets were added: the next thread that leaves moves it.
        self.falls_asleep(self.waits.waiters.watches.count > 0);
        // Messages for the serving thread that came in between wake it when this thread leaves or sleeps.
        self.look();
        self.waits.waiters.stand_in.end();
    }

    /// Gives a receiver that is slow with long messages a moment to catch up: memory that it has read is still in the
    /// caches, and unused memory is slow. If the receiver does not use the moment, the sender does not wait again until
    /// the receiver has caught up.
    #[inline]
    pub(crate) fn give_way(&mut self, to: Tid, length: usize) {
        const LONG: usize = 64 << 10;
        if length < LONG {
            return;
        }
        if self.has_far_to_go(to, length) {
            self.await_taking(to, length);
        } else if self.connections.slow == Some(to) {
            self.connections.slow = None;
        }
    }

    #[cold]
    fn await_taking(&mut self, to: Tid, length: usize) {
        if self.connections.slow == Some(to) {
            return;
        }
        let notes =
            Notes { limit: 1_000_000, call: parvum_api::call::SEND, peer: to.0, tag: -1, context: -1 };
        let caught_up = self.wait_until(&notes, |runtime| {
            (!runtime.has_far_to_go(to, length) || runtime.engine.is_gone(to)).then_some(())
        });
        self.connections.slow = if caught_up.is_none() { Some(to) } else { None };
    }
}

impl Runtime {
    /// The wait that began then ended while this task looked.
    #[inline]
    pub(crate) fn has_looked(&mut self, since: Instant, serves: bool) {
        let patience = self.waits.patience(serves);
        patience.spun(since);
        if patience.is_long_awake() {
            self.identity.control_block.fence_for_ringers();
        }
    }

    /// Whether the receiver would have too much in memory that was lent for it.
    fn has_far_to_go(&mut self, to: Tid, length: usize) -> bool {
        const CACHED: usize = 4 << 20;
        let lent = self.engine.lent_to(to);
        lent > 0 && lent + length > CACHED
    }
}
