//! The end of a link: this end leaves, or the peer is gone.

use super::FabricLink;
use crate::domain::Prefix;
use crate::ofi::Posted;
use parvum_transport::Refused;
use std::time::{Duration, Instant};

/// How long frames may take that the peer says it has sent before it left.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an end that leaves waits for a peer that computes, once the fabric has everything.
const FAREWELL: Duration = Duration::from_millis(500);

/// The silence after which a link ends whose peer was killed: a time, and a number of looks.
const GRACE: Duration = Duration::from_millis(100);
const EMPTY_LOOKS: u32 = 20;

/// The connection has ended. Frames may still come over the fabric.
pub(super) struct Ended {
    /// Since when nothing has come.
    since: Instant,
    /// Looks that found nothing. A program that computes does not look.
    empty: u32,
}

impl Ended {
    pub(super) fn now() -> Ended {
        Ended { since: Instant::now(), empty: 0 }
    }

    /// Whether the link may end, after a look that has taken this number of frames.
    fn is_quiet(&mut self, taken: usize, has_told: bool) -> bool {
        if taken > 0 {
            *self = Ended::now();
            return false;
        }
        self.empty += 1;
        let patience = if has_told { PATIENCE } else { GRACE };
        self.empty >= EMPTY_LOOKS && self.since.elapsed() >= patience
    }
}

/// How far this end is with its farewell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    No,
    /// It still has to ask the peer how many frames were taken.
    Begins,
    /// It has asked, then.
    Asked(Instant),
}

impl FabricLink {
    /// Whether the fabric has everything; if this end leaves, whether the peer has it, as far as this end waits for that.
    pub(super) fn has_left_there(&mut self) -> Result<bool, Refused> {
        let Some(own) = &self.own else { return Ok(true) };
        let mut shared = own.domain.turn();
        if shared.sending(own.number) > 0 {
            shared.poll();
            shared.show_waiting();
        }
        let is_sent = shared.sending(own.number) == 0;
        drop(shared);
        match self.leaving {
            Leaving::No => Ok(is_sent),
            _ if self.ended.is_some() => Ok(true),
            Leaving::Begins => {
                // No message is injected then: the library tells when this one has left, and the others have left before.
                match self.send_message(Prefix::ASKS, |_| 0) {
                    Posted::Yes => self.leaving = Leaving::Asked(Instant::now()),
                    Posted::Full => {}
                    Posted::Failed => return Err(self.is_stuck()),
                }
                Ok(false)
            }
            Leaving::Asked(when) => Ok(is_sent && (self.out.under_way() == 0 || when.elapsed() >= FAREWELL)),
        }
    }

    /// Whether the link ends, after a look that has taken this number of frames.
    pub(super) fn is_over(&mut self, taken: usize) -> bool {
        let count = self.inn.count();
        match &mut self.ended {
            Some(ended) if self.left != Some(count) => ended.is_quiet(taken, self.left.is_some()),
            Some(_) => taken == 0,
            // The fabric has failed, and the peer may live.
            None => taken == 0 && self.stuck.is_some_and(|since| since.elapsed() >= PATIENCE),
        }
    }
}
