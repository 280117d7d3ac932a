//! Taking turns on a core: a task that waits lets others of its scheduling group run, and looks each time that it runs again.

use crate::inside::Inside;
use crate::patience::TO_NOBODY;
use crate::runtime::Runtime;
use crate::scheduling::processor_time;
use std::time::{Duration, Instant};

impl Inside {
    /// So long a task takes turns before it sleeps: some rounds of a few dozen tasks on a core.
    const TURNS: Duration = Duration::from_micros(200);

    /// Who waits for many to meet finds that in the memory they share, and looks at everything else in every so manieth turn: most of a turn
    /// is that look, when the caches are others' in between.
    const LOOK_EACH: u32 = 8;

    /// So many turns a task takes with members of a meeting that the kernel may not let it take turns with.
    const FEW_TURNS: u32 = 4;

    /// Who waits so long for its turn shares the core with somebody who computes: asleep it would be called at once.
    const LONG_TURN: Duration = Duration::from_millis(2);

    /// Lets others have this core, and looks after each time, for a while. Tasks that exchange messages and are more than
    /// there are cores go on so without anybody falling asleep and being woken, which costs far more than a turn.
    pub(crate) fn take_turns<T>(
        &mut self,
        deadline: Option<Instant>,
        unseen: bool,
        done: &mut impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        let among_all = self.can_take_turns();
        let in_the_way = unseen || self.is_in_the_way();
        let mut turns = match among_all {
            _ if !self.waits.waiters.is_empty() || self.is_wanted() => return None,
            _ if !self.waits.patience.takes_turns() => return None,
            true => u32::MAX,
            // If all have only to come to a meeting, one turn of each is enough, in whatever group.
            false if self.meets_many() => Self::FEW_TURNS,
            false => return None,
        };
        let began = Instant::now();
        let mut until = if in_the_way { began + Self::TURNS } else { began };
        // The daemon may be what others let run, in a group of its own.
        let looks_longer = among_all && self.connections.routed.is_none();
        // Since when, but for others' turns, it looks for what it has computed.
        let mut of_earned = None;
        let (mut turn, mut unlooked, look_each) =
            (began, 0, if self.meets_many() { Self::LOOK_EACH } else { 1 });
        let found = loop {
            if turn >= until && of_earned.is_none() && looks_longer {
                of_earned = Some(until);
                until += self.waits.patience.earned(processor_time());
            }
            if turn >= until || turns == 0 || deadline.is_some_and(|end| turn >= end) {
                break None;
            }
            let now = if among_all {
                self.waits.patience.let_run(turn)
            } else {
                turns -= 1;
                rustix::thread::sched_yield();
                Instant::now()
            };
            let took = now - turn;
            let is_late = took >= Self::LONG_TURN;
            if took >= TO_NOBODY {
                // Others have worked meanwhile: that is no waiting.
                until += took;
                of_earned = of_earned.map(|since| since + took);
            }
            unlooked += 1;
            if unlooked == look_each || is_late || turns == 0 {
                unlooked = 0;
                self.look();
            }
            if let Some(found) = done(self) {
                match is_late {
                    // As it will have come after so long: else each turn would be lost anew.
                    true => self.waits.patience.waited_for_turn(),
                    false if among_all => self.waits.patience.turned(),
                    false => {}
                }
                break Some(found);
            }
            if self.is_wanted() || is_late {
                break None;
            }
            turn = now;
        };
        if let Some(since) = of_earned {
            self.waits.patience.spend(since.elapsed(), processor_time());
        }
        found
    }

    /// Whether others that the message may depend on want this core.
    fn is_in_the_way(&self) -> bool {
        self.meets_many() || self.connections.crowd.wants_this_core(&self.identity.page)
    }

    /// Whether the kernel gives this core to those others when this task yields.
    fn can_take_turns(&self) -> bool {
        let group = self.identity.page.door().scheduled_in();
        let meeting = self.meets.as_ref().is_none_or(|meeting| meeting.is_scheduled_in(group));
        meeting && self.connections.crowd.takes_turns_with(&self.identity.page)
    }
}
