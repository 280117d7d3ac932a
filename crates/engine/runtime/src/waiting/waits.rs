//! The state of a task's waits: the waiting threads, the measurements about waiting, and the work to do during waits.

use crate::waiting::away::Away;
use crate::waiting::patience::Patience;
use crate::waiting::time::Time;
use crate::waiting::waiters::Waiters;
use parvum_engine::{Pattern, TagMatch};
use rustix::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Memory that no message has used for this time is released, at the latest after twice this time.
const REST: Duration = Duration::from_millis(400);

/// The waits of this process.
pub(crate) struct Waits {
    /// The threads that wait.
    pub(crate) waiters: Waiters,
    /// How many threads wait, awake or asleep.
    pub(crate) waiting: usize,
    /// The work of threads without the lock.
    pub(crate) away: Away,
    patience: Patience,
    /// The measurements about waits of serving threads: their length depends on others, and the waits of the
    /// program are different.
    serving: Patience,
    /// The measured use of time.
    pub(crate) time: Time,
    /// The time of sleep, and the number of vain queries, since the last check of the daemon.
    slept_unlooked: Duration,
    asked_unlooked: u32,
    /// The time of the last check for unused memory.
    rested: Instant,
    /// The start of the time without progress of a wait that ended without result, and the end of the wait. A task that
    /// waits again at once is as idle as before.
    still: Option<(Instant, Instant)>,
    /// The one descriptor that stands for all others, if the program waits for descriptors itself.
    pub(crate) all: Option<OwnedFd>,
    /// The program's knowledge of its messages when it waits for descriptors.
    pub(crate) noticed: Noticed,
}

impl Waits {
    pub(crate) fn new() -> Waits {
        Waits {
            waiters: Waiters::default(),
            waiting: 0,
            away: Away::default(),
            patience: Patience::new(),
            serving: Patience::new(),
            time: Time::default(),
            slept_unlooked: Duration::ZERO,
            asked_unlooked: 0,
            rested: Instant::now(),
            still: None,
            all: None,
            noticed: Noticed::default(),
        }
    }

    /// The measurements about the waits of the program, or of a serving thread.
    pub(crate) fn patience(&mut self, serves: bool) -> &mut Patience {
        if serves { &mut self.serving } else { &mut self.patience }
    }

    /// Since when nothing has moved, for a wait that begins now.
    pub(crate) fn still_since(&mut self, now: Instant) -> Instant {
        const AT_ONCE: Duration = Duration::from_millis(10);
        match self.still.take() {
            Some((since, ended)) if now.saturating_duration_since(ended) <= AT_ONCE => since,
            _ => now,
        }
    }

    /// A wait has ended in vain, for which nothing has moved since then.
    pub(crate) fn ends_still(&mut self, since: Instant) {
        self.still = Some((since, Instant::now()));
    }

    /// Whether to check the daemon, after one more check without result and this additional sleep. The death of the
    /// daemon wakes no sleeper, and a program may never wait for long at once.
    pub(crate) fn must_look(&mut self, slept: Duration) -> bool {
        const SLEPT: Duration = Duration::from_millis(400);
        const IN_VAIN: u32 = 256;
        self.slept_unlooked += slept;
        self.asked_unlooked += 1;
        let must = self.slept_unlooked >= SLEPT || self.asked_unlooked >= IN_VAIN;
        if must {
            (self.slept_unlooked, self.asked_unlooked) = (Duration::ZERO, 0);
        }
        must
    }

    /// Whether it is time to give back memory of pairs that are idle. A pair that is used more often than that keeps it, even if
    /// its tasks sleep before each message.
    pub(crate) fn has_rested(&mut self, now: Instant) -> bool {
        let has = now.saturating_duration_since(self.rested) >= REST;
        if has {
            self.rested = now;
        }
        has
    }
}

/// The knowledge of a program that waits for descriptors about the messages that have come.
///
/// A receive also takes in other messages while it waits for its own. The program must be notified of these messages
/// until it has had its chance to look. A program looks in several steps, one for each kind of message, and may ignore
/// some messages. It therefore counts as informed when it has asked for any message, or several times for some
/// messages.
#[derive(Default)]
pub(crate) struct Noticed {
    /// The engine's count of arrivals when something was last asked for in vain.
    arrivals: u64,
    /// How often since something came.
    in_vain: u32,
}

impl Noticed {
    /// More kinds of messages than any program asks for in one round.
    const ENOUGH: u32 = 16;

    /// The program asked for such a message, and there is none.
    pub(crate) fn nothing(&mut self, pattern: &Pattern, arrivals: u64) {
        if self.arrivals != arrivals {
            *self = Noticed { arrivals, in_vain: 0 };
        }
        let any = pattern.from.is_none() && pattern.tag == TagMatch::Any;
        self.in_vain = if any { Self::ENOUGH } else { self.in_vain.saturating_add(1) };
    }

    pub(crate) fn knows_of(&self, arrivals: u64) -> bool {
        self.arrivals == arrivals && self.in_vain >= Self::ENOUGH
    }
}
