//! The thing that a call waits for in a segment: the barrier, the other of two members, or an entry of the broadcast
//! ring.

use parvum_control::ControlBlock;
use parvum_segment::GroupSegment;
use parvum_sync::futex::Woken;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// A wait in a segment.
#[derive(Clone)]
pub(crate) struct InSegment {
    segment: Arc<GroupSegment>,
    what: Awaits,
}

/// What is waited for.
#[derive(Clone, Copy)]
enum Awaits {
    /// The barrier opens.
    All,
    /// The other of two members shows its data: own number, round.
    Other(u32, u64),
    /// The next entry of the broadcast ring.
    Announcement,
}

impl InSegment {
    /// Waits until the barrier opens.
    pub(crate) fn all(segment: Arc<GroupSegment>) -> InSegment {
        InSegment { segment, what: Awaits::All }
    }

    /// Waits, as this one of two members, for the other in that round.
    pub(crate) fn other(segment: Arc<GroupSegment>, member: u32, round: u64) -> InSegment {
        InSegment { segment, what: Awaits::Other(member, round) }
    }

    /// Waits for the next entry of the broadcast ring.
    pub(crate) fn announcement(segment: Arc<GroupSegment>) -> InSegment {
        InSegment { segment, what: Awaits::Announcement }
    }

    /// Marks that this member will sleep soon. The caller looks once more, then sleeps.
    pub(crate) fn fall_asleep(&self) -> u32 {
        match self.what {
            Awaits::All => self.segment.fall_asleep(),
            Awaits::Other(member, round) => self.segment.fall_asleep_beside(member, round),
            Awaits::Announcement => self.segment.fall_asleep_unannounced(),
        }
    }

    /// The wait is over.
    pub(crate) fn stay_awake(&self) {
        if let Awaits::Other(member, round) = self.what {
            self.segment.stay_awake_beside(member, round);
        }
    }

    /// See [`GroupSegment::sleep`].
    pub(crate) fn sleep(
        &self,
        changes: u32,
        control_block: &ControlBlock,
        rings: u32,
        limit: Duration,
    ) -> Woken {
        self.segment.sleep(changes, control_block, rings, limit)
    }

    /// See [`GroupSegment::sleep_beside`].
    pub(crate) fn sleep_beside(&self, changes: u32, word: &AtomicU32, limit: Duration) -> Woken {
        self.segment.sleep_beside(changes, word, limit)
    }

    /// How many members the group has.
    pub(crate) fn members(&self) -> u32 {
        self.segment.members()
    }

    /// See [`GroupSegment::is_scheduled_in`].
    pub(crate) fn is_scheduled_in(&self, group: u32) -> bool {
        self.segment.is_scheduled_in(group)
    }
}
