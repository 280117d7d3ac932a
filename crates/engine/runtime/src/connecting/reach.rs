//! Reaching a task: over which route its messages go, and whether anything may come from it.

use crate::connecting::connect::joining as joining_notes;
use crate::connecting::connections::{Joining, Whose};
use crate::connecting::daemon::MINUTE;
use crate::connecting::events::FOR_OURSELVES;
use crate::errors::{ConnectError, remember};
use crate::inside::Inside;
use crate::runtime::Runtime;
use parvum_engine::Pattern;
use parvum_transport::Route;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Notice, Request};
use std::io;
use std::time::Duration;

impl Inside {
    /// Makes sure that messages to `to` go over the wanted route.
    #[inline]
    pub(crate) fn reach(&mut self, to: Tid) -> Result<(), ConnectError> {
        if self.engine.is_leaving(to) {
            // Its last words may still come, but it hears no more.
            return Err(Failure::new(ErrorKind::NoSuchTask, to.to_string()).into());
        }
        let wanted = self.connections.routes.wanted(self.engine.me(), to);
        match self.engine.route_to(to) {
            Some(route) if route == wanted || route == Route::OWN => Ok(()),
            // The send then returns that the task is gone.
            None if self.is_lately_gone(to) => Ok(()),
            _ => {
                let reached = self.reach_as_only_one(to, wanted);
                // If the end of the task was reported in between, it parts by itself after its last messages.
                if reached.as_ref().is_err_and(ConnectError::says_gone) && !self.engine.is_leaving(to) {
                    self.task_gone(to);
                }
                reached
            }
        }
    }

    /// Joins a task while no other thread does: two threads that joined the same task at once would make two links.
    /// Other threads do all other work during this time.
    #[inline(never)]
    fn reach_as_only_one(&mut self, to: Tid, wanted: Route) -> Result<(), ConnectError> {
        if self.start_joining(to)? && self.engine.route_to(to) == Some(wanted) {
            self.end_joining(to);
            return Ok(());
        }
        let reached = self.reach_slowly(to, wanted);
        self.end_joining(to);
        reached
    }

    /// Waits until no other thread joins that task; then this one does. Whether another has.
    pub(crate) fn start_joining(&mut self, to: Tid) -> Result<bool, ConnectError> {
        let here = 0u8;
        let frame = std::ptr::from_ref(&here) as usize;
        let mut another = false;
        while let Some(joining) = self.connections.joining.iter().find(|joining| joining.to == to) {
            match joining.whose(frame) {
                Whose::Others => {
                    let over = |runtime: &mut Runtime| (!runtime.connections.is_joining(to)).then_some(());
                    self.wait_until(&joining_notes(to), over).ok_or(ConnectError::NoCaller(to))?;
                    another = true;
                }
                // A signal handler has interrupted it, and cannot wait for its own thread.
                Whose::Own => return Err(ConnectError::Busy(to)),
                // A signal handler has jumped out of it.
                Whose::Nobodys => self.end_joining(to),
            }
        }
        self.connections.joining.push(Joining::new(to, frame));
        Ok(another)
    }

    /// The other threads that wait for it may go on.
    pub(crate) fn end_joining(&mut self, to: Tid) {
        self.connections.joining.retain(|joining| joining.to != to);
        self.waits.waiters.stirred = true;
    }

    /// Whether the daemon has reported within the last second that the task does not exist. The daemon is not asked
    /// again for each message. Later its id may be another's.
    #[cold]
    fn is_lately_gone(&self, to: Tid) -> bool {
        const LATELY: Duration = Duration::from_secs(1);
        self.engine.is_gone(to) && self.connections.gone_at.get(&to).is_some_and(|at| at.elapsed() < LATELY)
    }

    #[inline(never)]
    fn reach_slowly(&mut self, to: Tid, wanted: Route) -> Result<(), ConnectError> {
        if let Some(taken) = self.connections.routes.detour(to, wanted)
            && self.engine.route_to(to) == Some(taken)
            && !self.engine.is_attached(to, wanted)
        {
            return Ok(());
        }
        // An offer of the peer in between is enough.
        self.attend();
        let (mut route, mut refused) = (wanted, Vec::new());
        while !self.engine.prefer(to, route) {
            let connected = match self.connections.unreachable.contains(&(to, route)) {
                true => Err(ConnectError::NoWay(to.to_string(), io::ErrorKind::HostUnreachable.into())),
                false => self.connect_over(route, to),
            };
            match connected {
                Err(ConnectError::NoWay(address, why)) => {
                    let is_elsewhere = self.engine.me().host() != to.host();
                    let Some(next) = self.connections.routes.after(route).filter(|_| is_elsewhere) else {
                        return Err(ConnectError::NoWay(address, why));
                    };
                    refused.push(route);
                    route = next;
                }
                connected => {
                    connected?;
                    self.engine.prefer(to, route);
                    break;
                }
            }
        }
        if route != wanted {
            self.connections.routes.take_detour(to, wanted, route);
        }
        self.explain(to, route, &refused);
        Ok(())
    }

    /// Whether such a message may still come. If the task waits for one specific task, it asks the daemon to report the
    /// end of that task.
    #[inline]
    pub(crate) fn may_hear(&mut self, pattern: &Pattern) -> bool {
        match pattern.from {
            Some(from) if from.is_task() => {
                self.engine.route_to(from).is_some() || self.may_hear_from(from, pattern)
            }
            _ => true,
        }
    }

    /// A posted receive may match only one task. Before a thread sleeps, this call checks whether this task exists.
    #[inline]
    pub(crate) fn note_source(&mut self, pattern: &Pattern) {
        if let Some(from) = pattern.from
            && from.is_task()
            && self.engine.route_to(from).is_none()
            && !self.connections.unheard.contains(&from)
        {
            self.connections.unheard.push(from);
        }
    }

    /// Ends the receives from tasks that are gone, and were when those were posted.
    #[cold]
    pub(crate) fn look_after_sources(&mut self) {
        for from in std::mem::take(&mut self.connections.unheard) {
            if self.engine.route_to(from).is_none() && self.is_gone(from) {
                // Its last words came before the daemon's answer.
                self.attend();
                self.progress();
                self.engine.end_receives_from(from);
            }
        }
    }

    #[inline(never)]
    fn may_hear_from(&mut self, from: Tid, pattern: &Pattern) -> bool {
        let has_come = |runtime: &mut Runtime| {
            runtime.attend();
            runtime.progress();
            runtime.engine.probe(pattern).is_some()
        };
        // Its last words came before the daemon's answer.
        has_come(self) || !self.is_gone(from) || has_come(self)
    }

    /// Whether nothing will come from the task any more. For a task without a link, this call asks the daemon to report
    /// its end. From then on a receive from the task ends with the task.
    pub(crate) fn is_gone(&mut self, tid: Tid) -> bool {
        let is_watched = self.engine.route_to(tid).is_some() || self.connections.looked_after.contains(&tid);
        if tid.is_task() && !is_watched && !self.engine.is_gone(tid) {
            self.connections.looked_after.insert(tid);
            let about = Notice::TaskExit;
            let request = Request::Notify { about, targets: vec![tid], count: 1, cookie: FOR_OURSELVES };
            if let Err(why) = self.ask(request, &[], &MINUTE) {
                remember(&ConnectError::from(why));
            }
            self.attend();
        }
        self.engine.is_gone(tid)
    }
}
