//! The page and the eventfd of a task, and descriptors that pass through the daemon.

use crate::state::Channel;
use parvum_control::{ControlBlock, ControlError, CounterBook};
use std::os::fd::OwnedFd;
use std::rc::Rc;

/// A descriptor on its way through the machine.
pub(crate) type Fd = Rc<OwnedFd>;

/// Context and tag of output that comes as messages.
pub(crate) type AsMessages = Option<(u32, i32)>;

/// A task's page, mapped, and its eventfd.
pub(crate) struct TaskIo {
    pub page: ControlBlock,
    pub book: CounterBook,
    bell: Fd,
}

impl TaskIo {
    /// Maps the page of a task and what lies behind it.
    pub fn open(channel: &Channel<Fd>) -> Result<TaskIo, ControlError> {
        let (page, book) = (ControlBlock::open(&*channel.page)?, CounterBook::open(&*channel.page)?);
        Ok(TaskIo { page, book, bell: channel.bell.clone() })
    }

    /// A control message is in the task's socket.
    pub fn announce(&self) {
        self.page.announce_control(&*self.bell);
    }

    /// Wakes the task where it sleeps in poll(2), and whoever serves it, for something that a peer has brought.
    pub fn wake(&self) {
        parvum_control::Bell::ring(&*self.bell);
    }

    /// Whether its program has yet to say that it ends.
    pub fn owes_end(&self) -> bool {
        self.page.owes_end()
    }

    /// Wakes the task, if it does not hear its sockets, for what lies in one.
    pub fn ring_for_socket(&self) {
        self.page.ring_for_socket();
    }
}
