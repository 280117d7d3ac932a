//! The task's own page as its inbox.

use parvum_control::{ControlBlock, Marks, PLACES};
use parvum_transport::Inbox;
use std::sync::Arc;

/// The inbox in a task's page: of the task whose page it is.
pub struct PageInbox {
    page: Arc<ControlBlock>,
    marks: Marks,
}

impl PageInbox {
    /// That of this task.
    pub fn new(page: Arc<ControlBlock>) -> PageInbox {
        PageInbox { page, marks: Marks::default() }
    }
}

impl Inbox for PageInbox {
    fn places(&self) -> u32 {
        PLACES
    }

    fn open(&mut self) {
        self.page.open_inbox();
    }

    fn next(&mut self) -> Option<u32> {
        self.page.next_mark(&mut self.marks)
    }
}
