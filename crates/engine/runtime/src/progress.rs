//! The step that moves the runtime on: engine, daemon and sockets.

use crate::runtime::Runtime;

impl Runtime {
    /// Moves everything on. Whether anything moved. Never blocks.
    #[inline]
    pub(crate) fn progress(&mut self) -> bool {
        self.connections.ask_for_all();
        let moved = self.engine.progress();
        self.pass_calls();
        self.waits.waiters.stirred |= moved;
        if self.identity.has_news() {
            self.attend();
            return true;
        }
        if !self.connections.notices.is_empty() {
            self.deliver_kept_notices();
        }
        if self.has_sockets() {
            return self.tend_sockets() || moved;
        }
        moved
    }

    /// Moves on what only sockets move. Whether anything moved.
    fn tend_sockets(&mut self) -> bool {
        let is_awaited = !self.connections.expected.is_empty() || !self.connections.silent.is_empty();
        let admitted = is_awaited && self.accept_callers();
        if self.engine.has_leaving() {
            self.let_go();
        }
        if !self.connections.unanswered.is_empty() {
            self.look_who_answered();
        }
        self.tend_routed() || admitted
    }
}
