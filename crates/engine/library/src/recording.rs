//! What the task does, written down for `parvum trace` when its job is recorded.

use crate::inside::Inside;
use crate::runtime::{Runtime, StartError};
use parvum_engine::Recorder;
use parvum_page::{Happening, Recording};
use parvum_transport::Route;
use parvum_waist::{Notes, call};
use parvum_wire::Tid;
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// Opens the recording that the daemon gave.
pub(crate) fn open(file: OwnedFd) -> Result<Arc<Recording>, StartError> {
    Ok(Arc::new(Recording::open(file)?))
}

/// Writes down the engine's messages.
pub(crate) struct Messages(pub(crate) Arc<Recording>);

impl Recorder for Messages {
    fn sent(&mut self, to: Tid, route: Route, tag: i32, order: u32, length: u64) {
        self.0.record(Happening::Sent { peer: to.0, route: route.number(), tag, order, length });
    }

    fn received(&mut self, from: Tid, tag: i32, order: u32, length: u64) {
        self.0.record(Happening::Received { peer: from.0, tag, order, length });
    }
}

impl Runtime {
    /// The task is about to wait.
    #[inline]
    pub(crate) fn note_wait(&self, notes: &Notes) {
        if let Some(recording) = &self.identity.recording {
            let &Notes { call, peer, tag, .. } = notes;
            recording.record(Happening::Waits { call: call as u8, peer, tag });
        }
    }

    /// It has what it waited for, or gives up.
    #[inline]
    pub(crate) fn note_end_of_wait(&self, notes: &Notes) {
        let Some(recording) = &self.identity.recording else { return };
        // The message that it waited for was noted a moment ago.
        recording.note_with_last(Happening::GoesOn, |last| match last {
            Happening::Received { peer, tag, .. } => {
                let fits = |wanted: i32, found: i32| wanted == -1 || wanted == found;
                notes.call == call::RECEIVE && fits(notes.peer, peer) && fits(notes.tag, tag)
            }
            _ => false,
        });
    }
}

impl Inside {
    /// As below, if the beginning of the wait was noted and it did not come to wait in the usual way.
    #[inline]
    pub(crate) fn end_noted_wait(&mut self, notes: &Notes) {
        self.has_spun = false;
        if std::mem::take(&mut self.wait_is_noted) {
            self.note_end_of_wait(notes);
        }
    }
}
