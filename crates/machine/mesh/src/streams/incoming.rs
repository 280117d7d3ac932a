//! The reader's side of a stream, between the connections that carry it.

use quinn::RecvStream;
use std::cell::{Cell, RefCell};
use tokio::sync::Notify;

/// The reader's side of a stream: where the next connection leaves what goes on.
#[derive(Default)]
pub(crate) struct Incoming {
    pub(super) next: RefCell<Option<(RecvStream, u64)>>,
    pub(super) changed: Notify,
    pub(super) is_lost: Cell<bool>,
}

impl Incoming {
    pub fn fail(&self) {
        self.is_lost.set(true);
        self.changed.notify_waiters();
    }

    pub(super) fn go_on(&self, stream: RecvStream, at: u64) {
        *self.next.borrow_mut() = Some((stream, at));
        self.changed.notify_waiters();
    }
}
