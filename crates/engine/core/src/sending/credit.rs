//! Flow: how much a sender may have with a receiver that the receiver has not consumed.

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The limit of unconsumed bytes of a sender at one receiver. A sender begins another message only below this
    /// limit.
    pub credit: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { credit: 64 << 20 }
    }
}

/// The memory of a message besides its data: its place in queues.
pub(crate) const OVERHEAD: u64 = 64;

/// The memory of a queued send besides its data: its place in the queue, and its allocations.
pub(crate) const PLACE: u64 = 512;

/// The credit between this task and one peer, in both directions.
#[derive(Default)]
pub(crate) struct Credit {
    /// Cost of messages sent and not known to be consumed.
    pub(crate) outstanding: u64,
    /// Cost of messages consumed here and not yet reported to the sender.
    owed: u64,
    /// Credit lent to the peer beyond what was consumed.
    advance: u64,
    /// Sends that find no credit are kept here: to wait for it closes a circle.
    pub(crate) keeps: bool,
}

impl Credit {
    /// The peer has consumed so much of what was sent to it, or it never will.
    pub(crate) fn returned(&mut self, cost: u64) {
        self.outstanding -= cost.min(self.outstanding);
    }

    /// A message no longer takes memory here. The credit to report to the sender now, in portions.
    #[inline]
    pub(crate) fn consumed(&mut self, cost: u64, limit: u64) -> Option<u64> {
        self.owed += if self.advance == 0 { cost } else { self.less_advance(cost) };
        if self.owed < limit / 8 {
            return None;
        }
        Some(std::mem::take(&mut self.owed))
    }

    /// The rest of a consumed cost to return, after repaying lent credit.
    fn less_advance(&mut self, cost: u64) -> u64 {
        let paid = cost.min(self.advance);
        self.advance -= paid;
        cost - paid
    }

    /// Lends the peer more than it has given back.
    pub(crate) fn lend(&mut self, more: u64) {
        self.advance += more;
    }

    /// Whether the peer must stop sending while messages of this cost are not received, if all its messages have come.
    pub(crate) fn is_used_up(&self, not_taken: u64, limit: u64) -> bool {
        not_taken > 0 && not_taken + self.owed >= limit + self.advance
    }
}

#[cfg(test)]
mod tests {
    use super::Credit;

    #[test]
    fn lent_credit_is_repaid_before_more_is_returned() {
        let mut credit = Credit::default();
        credit.lend(100);
        assert!(credit.is_used_up(900, 800) && !credit.is_used_up(899, 800));
        assert_eq!(credit.consumed(60, 80), None, "all of it is paid");
        assert_eq!(credit.consumed(49, 80), None, "9 are owed, and told when there are 10");
        assert_eq!(credit.consumed(1, 80), Some(10));
        assert!(credit.is_used_up(800, 800), "nothing is lent or owed any more");
    }
}
