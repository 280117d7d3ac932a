//! Waking peers by the daemon: what a process does that may have no descriptor for their eventfds.

use crate::runtime::Runtime;
use parvum_wire::control::Request;

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
