//! The step that moves the runtime on: engine, daemon and sockets.

use crate::runtime::Runtime;
use parvum_routed::Waiting;

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
        if !self.connections.expected.is_empty() || !self.connections.silent.is_empty() {
            self.accept_tcp();
        }
        if self.engine.has_leaving() {
            self.let_go();
        }
        if !self.connections.unanswered.is_empty() {
            self.look_who_answered();
        }
        self.tend_routed()
    }

    /// Takes in what came over the daemon's socket since its links were looked at. It is in memory by now: no thread that sleeps
    /// there, or is about to, would hear of it.
    fn tend_routed(&mut self) -> bool {
        /// Who sends so fast finds this task awake anyway.
        const AT_A_TIME: usize = 64;
        for round in 0..AT_A_TIME {
            let Some(hub) = &self.connections.routed else { return round > 0 };
            match hub.waiting() {
                Waiting::Nothing => return round > 0,
                Waiting::Frame => {}
                Waiting::Stranger(tid) => {
                    let link = hub.link(tid);
                    self.joined_by(tid, parvum_routed::TRANSPORT.route, Box::new(link));
                }
            }
            self.engine.progress();
            self.pass_calls();
            self.waits.waiters.stirred = true;
        }
        true
    }
}
