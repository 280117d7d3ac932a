//! Where a call meets others, beside waiting for messages: in the page that the members of a group share.

use parvum_control::ControlBlock;
use parvum_segment::GroupSegment;
use parvum_sync::futex::Woken;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// A page, and how others come to it.
#[derive(Clone)]
pub(crate) struct Meets {
    page: Arc<GroupSegment>,
    what: What,
}

/// What is waited for.
#[derive(Clone, Copy)]
enum What {
    /// That the meeting opens.
    All,
    /// The other, by one of two of this number, in a turn.
    Other(u32, u64),
    /// An announcement.
    Announcement,
}

impl Meets {
    /// Waits until the meeting opens.
    pub(crate) fn all(page: Arc<GroupSegment>) -> Meets {
        Meets { page, what: What::All }
    }

    /// Waits, as this one of two, for the other in that turn.
    pub(crate) fn other(page: Arc<GroupSegment>, member: u32, turn: u64) -> Meets {
        Meets { page, what: What::Other(member, turn) }
    }

    /// Waits for the next announcement.
    pub(crate) fn announcement(page: Arc<GroupSegment>) -> Meets {
        Meets { page, what: What::Announcement }
    }

    /// To be called before looking once more and going to sleep.
    pub(crate) fn fall_asleep(&self) -> u32 {
        match self.what {
            What::All => self.page.fall_asleep(),
            What::Other(member, turn) => self.page.fall_asleep_beside(member, turn),
            What::Announcement => self.page.fall_asleep_unannounced(),
        }
    }

    /// The wait is over.
    pub(crate) fn stay_awake(&self) {
        if let What::Other(member, turn) = self.what {
            self.page.stay_awake_beside(member, turn);
        }
    }

    /// See [`GroupSegment::sleep`].
    pub(crate) fn sleep(&self, changes: u32, page: &ControlBlock, rings: u32, limit: Duration) -> Woken {
        self.page.sleep(changes, page, rings, limit)
    }

    /// See [`GroupSegment::sleep_beside`].
    pub(crate) fn sleep_beside(&self, changes: u32, word: &AtomicU32, limit: Duration) -> Woken {
        self.page.sleep_beside(changes, word, limit)
    }

    /// How many members the group has.
    pub(crate) fn members(&self) -> u32 {
        self.page.members()
    }

    /// See [`GroupSegment::is_scheduled_in`].
    pub(crate) fn is_scheduled_in(&self, group: u32) -> bool {
        self.page.is_scheduled_in(group)
    }
}
