//! The task's own control block as its inbox.

use parvum_control::{ControlBlock, Marks, PLACES};
use parvum_transport::Inbox;
use std::sync::Arc;

/// The inbox in a task's control block: of the task whose control block it is.
pub struct PageInbox {
    control_block: Arc<ControlBlock>,
    marks: Marks,
}

impl PageInbox {
    /// That of this task.
    pub fn new(control_block: Arc<ControlBlock>) -> PageInbox {
        PageInbox { control_block, marks: Marks::default() }
    }
}

impl Inbox for PageInbox {
    fn places(&self) -> u32 {
        PLACES
    }

    fn open(&mut self) {
        self.control_block.open_inbox();
    }

    fn next(&mut self) -> Option<u32> {
        self.control_block.next_mark(&mut self.marks)
    }
}
