//! Where a call meets others, beside waiting for messages: in the page that the members of a group share.

use parvum_page::{Awake, MeetingPage, TaskPage};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// A page, and how others come to it.
#[derive(Clone)]
pub(crate) struct Meets {
    page: Arc<MeetingPage>,
    /// One of two, by its number, waits there for the other in a turn. All others wait until the meeting opens.
    beside: Option<(u32, u64)>,
}

impl Meets {
    /// Waits until the meeting opens.
    pub(crate) fn all(page: Arc<MeetingPage>) -> Meets {
        Meets { page, beside: None }
    }

    /// Waits, as this one of two, for the other in that turn.
    pub(crate) fn other(page: Arc<MeetingPage>, member: u32, turn: u64) -> Meets {
        Meets { page, beside: Some((member, turn)) }
    }

    /// To be called before looking once more and going to sleep.
    pub(crate) fn fall_asleep(&self) -> u32 {
        match self.beside {
            None => self.page.fall_asleep(),
            Some((member, turn)) => self.page.fall_asleep_beside(member, turn),
        }
    }

    /// The wait is over.
    pub(crate) fn stay_awake(&self) {
        if let Some((member, turn)) = self.beside {
            self.page.stay_awake_beside(member, turn);
        }
    }

    /// See [`MeetingPage::sleep`].
    pub(crate) fn sleep(&self, changes: u32, page: &TaskPage, rings: u32, limit: Duration) -> Awake {
        self.page.sleep(changes, page, rings, limit)
    }

    /// See [`MeetingPage::sleep_beside`].
    pub(crate) fn sleep_beside(&self, changes: u32, word: &AtomicU32, limit: Duration) -> Awake {
        self.page.sleep_beside(changes, word, limit)
    }

    /// How many members the group has.
    pub(crate) fn members(&self) -> u32 {
        self.page.members()
    }

    /// See [`MeetingPage::is_scheduled_in`].
    pub(crate) fn is_scheduled_in(&self, group: u32) -> bool {
        self.page.is_scheduled_in(group)
    }
}
