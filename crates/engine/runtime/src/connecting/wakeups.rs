//! Waking peers by the daemon: what a process does that may have no descriptor for their eventfds.

use crate::runtime::Runtime;
use parvum_wire::Tid;
use parvum_wire::control::Request;
use std::sync::{Mutex, PoisonError};

/// Peers to be woken, in the order in which they were called.
#[derive(Default)]
pub(crate) struct Calls(Mutex<Vec<Tid>>);

impl Calls {
    pub(crate) fn add(&self, peer: Tid) {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !peers.contains(&peer) {
            peers.push(peer);
        }
    }

    fn take(&self) -> Vec<Tid> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Runtime {
    /// Has those woken that were called.
    #[inline]
    pub(crate) fn pass_calls(&mut self) {
        if self.connections.calls.is_some() {
            self.ask_to_wake();
        }
    }

    #[cold]
    fn ask_to_wake(&mut self) {
        let called = self.connections.calls.as_ref().map(|calls| calls.take()).unwrap_or_default();
        for to in called {
            // Without a daemon there is no machine to wait in.
            let _ = self.identity.session.start(Request::Wake { to });
        }
    }
}
