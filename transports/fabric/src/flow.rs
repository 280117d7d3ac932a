//! How many frames of a link may be under way. The receiver has a buffer for each of them, so no frame waits inside the fabric.

/// Frames that a link may have under way in one direction.
pub const WINDOW: u32 = 32;
/// After this number of taken frames the receiver tells the sender, if no frame of the other direction has told.
const TELL: u32 = WINDOW / 2;
/// Messages that only tell: the sender of frames has at most two of these under way to it.
pub const TELLING: u32 = WINDOW / TELL;

/// The sending end. Counts wrap.
#[derive(Debug, Default)]
pub struct Outgoing {
    sent: u32,
    taken: u32,
}

impl Outgoing {
    /// How many more frames may be sent.
    pub fn room(&self) -> u32 {
        WINDOW.saturating_sub(self.under_way())
    }

    /// Frames that were sent and not reported as taken.
    pub fn under_way(&self) -> u32 {
        self.sent.wrapping_sub(self.taken)
    }

    /// A frame was sent.
    pub fn sent(&mut self) {
        self.sent = self.sent.wrapping_add(1);
    }

    /// The number of frames that were sent.
    pub fn count(&self) -> u32 {
        self.sent
    }

    /// The peer reports how many frames it has taken in all. False: the number is impossible.
    pub fn told(&mut self, taken: u32) -> bool {
        let is_possible = taken.wrapping_sub(self.taken) <= self.under_way();
        if is_possible {
            self.taken = taken;
        }
        is_possible
    }
}

/// The receiving end. Counts wrap.
#[derive(Debug, Default)]
pub struct Incoming {
    taken: u32,
    told: u32,
}

impl Incoming {
    /// A frame was taken.
    pub fn took(&mut self) {
        self.taken = self.taken.wrapping_add(1);
    }

    /// The number of frames that were taken.
    pub fn count(&self) -> u32 {
        self.taken
    }

    /// Whether it is time to tell the peer.
    pub fn must_tell(&self) -> bool {
        self.taken.wrapping_sub(self.told) >= TELL
    }

    /// A message to the peer had the number.
    pub fn told(&mut self) {
        self.told = self.taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_of_frames_is_never_exceeded_and_never_stays_shut() {
        // Counts that wrap in between.
        let start = u32::MAX - 20;
        let mut out = Outgoing { sent: start, taken: start };
        let mut inn = Incoming { taken: start, told: start };
        for round in 0..200u32 {
            let mut sent = 0;
            while out.room() > 0 {
                out.sent();
                sent += 1;
            }
            assert!(sent > 0 && out.under_way() == WINDOW);
            assert!(out.count().wrapping_sub(inn.count()) <= WINDOW, "a buffer for each");
            // The receiver takes some, or all.
            for _ in 0..TELL + round % TELL {
                inn.took();
            }
            assert!(inn.must_tell());
            assert!(out.told(inn.count()));
            inn.told();
            assert!(!inn.must_tell());
        }
    }

    #[test]
    fn impossible_reports_are_refused() {
        let mut out = Outgoing::default();
        out.sent();
        assert!(!out.told(2) && !out.told(u32::MAX) && out.told(1) && !out.told(0));
    }
}
