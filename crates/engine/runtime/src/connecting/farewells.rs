//! Parting from tasks that are gone: what the engine must know of it, and what was kept for them here.

use crate::connecting::transports::that_drain;
use crate::errors::remember;
use crate::runtime::Runtime;
use parvum_wire::Tid;
use std::time::Instant;

/// The number of tasks that are remembered as gone. For other tasks the daemon is asked again.
const GONE: usize = 1024;

impl Runtime {
    /// A task is gone. Its last messages may still be on their way: through the daemon, or in the buffers of a
    /// connection, which the system empties after its end.
    pub(crate) fn see_off(&mut self, tid: Tid, routed: bool) {
        self.accept_callers();
        // The end of the route may have come before this news of it.
        if routed && !self.connections.routed.as_ref().is_some_and(|hub| hub.has_ended(tid)) {
            if let Err(why) = self.open_routed() {
                remember(&why);
                return self.task_gone(tid);
            }
            self.attach_routed(tid);
        }
        let over = that_drain(routed);
        let now = self.connections.clock.elapsed();
        self.engine.peer_ended(tid, &over, self.connections.expects(tid), now);
        if !self.engine.is_leaving(tid) {
            self.forget_task(tid);
        }
    }

    /// Lets go of tasks whose last words have come: their routes are closed then. A connection
    /// that a forked child of theirs holds open is let go when nothing has come for a while.
    pub(crate) fn let_go(&mut self) {
        let Runtime { engine, connections, .. } = self;
        for tid in engine.part(connections.clock.elapsed(), |tid| connections.expects(tid)) {
            self.connections.routed.as_ref().map(|hub| hub.has_ended(tid));
            self.forget_task(tid);
        }
    }

    /// The daemon reports that a task is gone, and nothing of it is under way.
    pub(crate) fn task_gone(&mut self, tid: Tid) {
        self.engine.peer_gone(tid);
        self.forget_task(tid);
    }

    /// Drops data for a task that is gone.
    fn forget_task(&mut self, tid: Tid) {
        if self.connections.gone_at.len() >= GONE {
            self.connections.gone_at.clear();
        }
        self.connections.gone_at.insert(tid, Instant::now());
        self.connections.routes.forget(tid);
        self.connections.unreachable.retain(|(unreachable, _)| *unreachable != tid);
        self.connections.looked_after.remove(&tid);
        self.connections.crowd.remove(tid);
        self.connections.watched.retain(|one| one.peer != tid);
        self.expect_no_more(tid);
    }
}
