//! Output that other hosts have yet to hand on.

use std::cell::Cell;
use tokio::sync::Notify;

/// Output of a task that is on its way to another host.
#[derive(Default)]
pub(crate) struct OnItsWay {
    pub bytes: Cell<u64>,
    pub changed: Notify,
}
