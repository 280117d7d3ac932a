//! Staying awake between the frames of a conversation.
//!
//! To wake an idle processor takes longer than to pass a short frame on, most of all in a virtual
//! machine. So while frames come in quick succession the daemon does not sleep at once: it looks
//! for the next one, and gives the processor to whoever wants it between two looks. A lone frame does
//! not keep it awake, nor does one after a pause, so an idle daemon costs nothing.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Frames that follow one another sooner belong to a conversation.
const CONVERSATION: Duration = Duration::from_micros(200);
/// How long the daemon looks for the next frame.
const PATIENCE: Duration = Duration::from_micros(60);

/// Whether the daemon is in a conversation.
#[derive(Default)]
pub(super) struct Awake {
    /// When the last frame came.
    last: Cell<Option<Instant>>,
    /// Whether [`Awake::look`] is at work.
    polling: Cell<bool>,
}

impl Awake {
    /// Frames have come.
    pub fn frames(self: &Rc<Awake>) {
        let now = Instant::now();
        let before = self.last.replace(Some(now));
        let soon = before.is_some_and(|before| now - before < CONVERSATION);
        if soon && !self.polling.replace(true) {
            tokio::task::spawn_local(self.clone().poll());
        }
    }

    /// While this runs the runtime asks for events without waiting for them.
    async fn poll(self: Rc<Awake>) {
        while self.last.get().is_some_and(|last| last.elapsed() < PATIENCE) {
            std::thread::yield_now();
            tokio::task::yield_now().await;
        }
        self.polling.set(false);
    }
}
