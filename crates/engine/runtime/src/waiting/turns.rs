//! Taking turns on a core: a task that waits lets others of its scheduling group run, and looks each time that it runs again.

use crate::inside::Inside;
use crate::runtime::Runtime;
use crate::waiting::patience::{Earned, TO_NOBODY};
use crate::waiting::scheduling::processor_time;
use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    /// The computing time of this thread that it has not yet spent on looking.
    static EARNED: Cell<Earned> = const { Cell::new(Earned::NOTHING) };
}

/// The maximum processor time of a task for turns before it sleeps: some rounds of a few dozen tasks on a core.
const TURNS: Duration = Duration::from_micros(200);

/// The maximum time of all turns of a wait. Events that only sleepers notice, such as the daemon's end and signals,
/// wait for this time.
const MOST: Duration = Duration::from_millis(20);

/// Less is not worth a yield.
const LITTLE: Duration = Duration::from_micros(20);

/// The processor's clock is read once in this number of turns.
const EACH: u32 = 16;

/// A task at a barrier of many members polls the shared memory, and checks everything else only once in this number of
/// turns. This check is most of a turn, because others use the caches in between.
const LOOK_EACH: u32 = 8;

/// The number of turns with members of a barrier that may be in other scheduling groups.
const FEW_TURNS: u32 = 4;

/// A task that waits this long for its turn shares the core with a program that computes. If it slept, its message
/// would wake it at once.
const LONG_TURN: Duration = Duration::from_millis(2);

/// How much of its processor a thread may use for the turns of a wait.
struct Account {
    /// The earned time at the start of the turns.
    earned: Earned,
    allowed: Duration,
}

impl Account {
    fn is_spent(&self) -> bool {
        self.earned.since(processor_time()) >= self.allowed
    }
}

/// A spin without result does not count as computing.
pub(crate) fn has_spun_in_vain(spun: Duration) {
    EARNED.set(EARNED.get().without(spun));
}

impl Inside {
    /// Lets others have this core, and looks after each time, for a while. If more communicating tasks than cores
    /// exist, they continue in this way without sleep and wakeups, which cost far more than a turn. A task that has
    /// computed takes turns for the same time, because unknown tasks may want its core.
    pub(crate) fn take_turns<T>(
        &mut self,
        deadline: Option<Instant>,
        done: &mut impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        if !self.waits.waiters.is_empty() || self.is_wanted() {
            return None;
        }
        let unseen = self.has_sockets() && self.patience().knows_of_others();
        let among_all = self.can_take_turns();
        let turns = match among_all {
            true => u32::MAX,
            // If all have only to come to a segment's barrier, one turn of each is enough, in whatever group.
            false if self.awaits_many() => FEW_TURNS,
            false => return None,
        };
        let mut account = None;
        if !unseen && !self.is_in_the_way() {
            let opened = self.open_account(among_all, Duration::ZERO);
            if opened.allowed < LITTLE {
                return None;
            }
            account = Some(opened);
        }
        if !self.patience().takes_turns() {
            return None;
        }
        let found = self.take_so_many(turns, &mut account, deadline, done);
        if let Some(account) = account {
            EARNED.set(account.earned.spent(processor_time()));
        }
        if unseen && found.is_some() {
            self.patience().turned_with_others();
        }
        found
    }

    /// Starts to account for turns: the given time is always allowed, and in addition the time that the thread has
    /// earned.
    #[cold]
    fn open_account(&self, among_all: bool, in_any_case: Duration) -> Account {
        let earned = EARNED.get().at(processor_time());
        EARNED.set(earned);
        // The others may let the daemon run, which is in a separate group.
        let looks_longer = among_all && self.connections.routed.is_none();
        let of_earned = if looks_longer { earned.time() } else { Duration::ZERO };
        Account { earned, allowed: in_any_case + of_earned }
    }

    #[inline(always)]
    fn take_so_many<T>(
        &mut self,
        mut turns: u32,
        account: &mut Option<Account>,
        deadline: Option<Instant>,
        done: &mut impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        let among_all = turns == u32::MAX;
        let look_each = if self.awaits_many() { LOOK_EACH } else { 1 };
        let (mut unlooked, mut unclocked, mut others_ran) = (0, 0, false);
        let mut turn = Instant::now();
        let end = deadline.map_or(turn + MOST, |end| end.min(turn + MOST));
        while turns > 0 && turn < end {
            turns -= 1;
            let now = self.patience().let_run(turn, !among_all);
            let took = now - turn;
            turn = now;
            others_ran |= took >= TO_NOBODY;
            // This also holds if the kernel has given the core to other tasks itself, which may be in another group.
            let is_late = took >= LONG_TURN;
            unlooked += 1;
            if unlooked == look_each || is_late || turns == 0 {
                unlooked = 0;
                self.look();
            }
            if let Some(found) = done(self) {
                match is_late {
                    // Counts as a wait for a turn, as the message will have come by then. Otherwise each turn would be
                    // lost again.
                    true => self.patience().waited_for_turn(),
                    false if others_ran => self.patience().turned(),
                    false => {}
                }
                return Some(found);
            }
            if self.is_wanted() || is_late || self.engine.has_copies() {
                return None;
            }
            unclocked += 1;
            if unclocked == EACH {
                unclocked = 0;
                // The processor's clock costs as much as a turn: short waits do without.
                let account = account.get_or_insert_with(|| self.open_account(among_all, TURNS));
                if self.is_over() || account.is_spent() {
                    return None;
                }
            }
        }
        None
    }

    /// Whether others that the message may depend on want this core.
    fn is_in_the_way(&self) -> bool {
        self.awaits_many() || self.connections.crowd.wants_this_core(&self.identity.control_block)
    }

    /// Whether the kernel gives this core to those others when this task yields.
    fn can_take_turns(&self) -> bool {
        let group = self.identity.control_block.door().scheduled_in();
        let shared = self.awaits_in_segment.as_ref().is_none_or(|shared| shared.is_scheduled_in(group));
        shared && self.connections.crowd.takes_turns_with(&self.identity.control_block)
    }
}
