//! A message that was received, its data left where it lies.

use crate::receiving::message::Envelope;
use parvum_transport::{Kept, Route};
use parvum_wire::frame::Offer;
use std::sync::Arc;

/// Data of a received message that is still in its sender's place. Read it with
/// [`Engine::read_remote`](crate::Engine::read_remote), and release it as soon as it is not needed any more.
pub struct Remote {
    pub(crate) peer: u32,
    pub(crate) route: Route,
    pub(crate) offer: Offer,
    /// The data, in memory that outlives the sender. None: the data is in the sender's own memory.
    pub(crate) kept: Option<Arc<dyn Kept>>,
    pub(crate) envelope: Envelope,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("envelope", &self.envelope).finish_non_exhaustive()
    }
}
