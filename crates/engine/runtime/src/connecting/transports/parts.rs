//! The runtime's state for transports: only types. The files that connect tasks need the runtime, and the runtime needs
//! these.

use parvum_control::ControlBlock;
pub(crate) use parvum_routed::Hub;
use parvum_shm::PageInbox;
pub(crate) use parvum_shm::single_copy;
use parvum_transport::Inbox;
use parvum_wire::Tid;
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// Memory that another task has made for both, and that could not be mapped yet.
pub(crate) struct Unmapped {
    pub(super) from: Tid,
    pub(super) segment: OwnedFd,
    pub(super) control_block: OwnedFd,
    pub(super) event: OwnedFd,
}

/// The inbox in which peers mark new data, in the task's own control block.
pub(crate) fn inbox(control_block: Arc<ControlBlock>) -> Box<dyn Inbox> {
    Box::new(PageInbox::new(control_block))
}
