//! The step that moves the runtime on: engine, daemon and sockets.

use crate::runtime::Runtime;
use parvum_routed::Waiting;

impl Runtime {
    /// Moves everything on. Whether anything moved. Never blocks.
    #[inline]
    pub(crate) fn progress(&mut self) -> bool {
        let moved = self.engine.progress();
        self.pass_calls();
        self.waits.waiters.stirred |= moved;
        if self.identity.has_news() {
            self.attend();
            return true;
        }
        if self.has_sockets() {
            return self.tend_sockets() || moved;
        }
        moved
    }

    /// Moves on what only sockets move. Whether anything moved.
    fn tend_sockets(&mut self) -> bool {
        if !self.connections.expected.is_empty() || !self.connections.silent.is_empty() {
            self.accept_tcp();
        }
        if self.engine.has_leaving() {
            self.let_go();
        }
        if !self.connections.unanswered.is_empty() {
            self.look_who_answered();
        }
        let Some(hub) = &self.connections.routed else { return false };
        match hub.waiting() {
            Waiting::Nothing => return false,
            // It came after its link was looked at: nobody sleeps now.
            Waiting::Frame => {}
            Waiting::Stranger(tid) => {
                let link = hub.link(tid);
                self.joined_by(tid, parvum_routed::TRANSPORT.route, Box::new(link));
            }
        }
        true
    }
}
