//! What a task knows of its waits: who waits, what was learnt of waiting, and what is to be looked after meanwhile.

use crate::patience::Patience;
use crate::time::Time;
use crate::waiters::Waiters;
use crate::watching::Noticed;
use rustix::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Memory that no message has used for so long is given back, at the latest after twice that time.
const REST: Duration = Duration::from_millis(400);

/// The waits of this process.
pub(crate) struct Waits {
    /// The threads that wait.
    pub(crate) waiters: Waiters,
    pub(crate) patience: Patience,
    /// Where the time goes, as far as it is measured.
    pub(crate) time: Time,
    /// How long it has slept, and how often it has asked in vain, since it last looked for the daemon.
    slept_unlooked: Duration,
    asked_unlooked: u32,
    /// When memory that nobody uses was last looked for.
    rested: Instant,
    /// The one descriptor that stands for all others, if the program waits for descriptors itself.
    pub(crate) all: Option<OwnedFd>,
    /// What the program knows of its messages when it waits for descriptors.
    pub(crate) noticed: Noticed,
}

impl Waits {
    pub(crate) fn new() -> Waits {
        Waits {
            waiters: Waiters::default(),
            patience: Patience::new(),
            time: Time::default(),
            slept_unlooked: Duration::ZERO,
            asked_unlooked: 0,
            rested: Instant::now(),
            all: None,
            noticed: Noticed::default(),
        }
    }

    /// Whether to look for the daemon, after one more question in vain and so much more sleep: nothing rings when it dies, and
    /// a program may never wait for long at once.
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
