//! The recording of the task for `parvum trace`, if its job is recorded.

use crate::errors::StartError;
use parvum_control::{Happening, Recording};
use parvum_engine::Recorder;
use parvum_transport::Route;
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
