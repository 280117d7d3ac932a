//! Leaving the virtual machine: all sent messages are delivered, and the daemon is notified.

use crate::connecting::connections::Watched;
use crate::endpoint::{self, Endpoint, EndpointCell};
use crate::inside::{self, Inside};
use crate::process;
use crate::runtime::Runtime;
use crate::status::account;
use crate::waiting::sleeping::NAP;
use parvum_api::Notes;
use parvum_sync::BiasedGuard;
use parvum_wire::control::{Request, Role};
use rustix::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Departs when the process ends, and forgets what was its parent's in a child that it forks.
pub(crate) fn watch_process() {
    extern "C" fn at_exit() {
        depart_at_exit();
    }
    extern "C" fn in_child() {
        inside::forget();
    }
    process::watch(at_exit, in_child);
}

impl Inside {
    /// Hands over everything that was sent, then tells the daemon that this task leaves.
    fn depart(&mut self) {
        let notes = Notes { limit: -1, call: parvum_api::call::EXIT, peer: -1, tag: -1, context: -1 };
        self.engine.leave();
        let flushed = |runtime: &mut Runtime| (runtime.engine.unfinished() == 0).then_some(());
        self.wait_until(&notes, flushed);
        self.await_acknowledgements(&notes);
        if !self.identity.session.is_lost()
            && let Ok(id) = self.identity.session.start(Request::Depart)
        {
            let brief = Notes { limit: 1_000_000_000, ..notes };
            self.wait_until(&brief, |runtime| {
                (runtime.identity.session.take_reply(id).is_some() || runtime.identity.session.is_lost())
                    .then_some(())
            });
        }
    }

    /// Waits until the systems of the peers have all data that was sent through sockets. If a socket is closed with
    /// unread data, or data comes later, the data in its send buffer is lost.
    fn await_acknowledgements(&mut self, notes: &Notes) {
        // Nothing rings for an acknowledgement.
        let nap = Notes { limit: NAP.as_nanos() as i64, ..*notes };
        let arrived = |runtime: &mut Runtime| (!runtime.is_unacknowledged()).then_some(());
        while self.wait_until(&nap, arrived).is_none() && !self.identity.session.is_lost() {}
    }

    /// Hands over what was sent and leaves the machine. Other threads' calls end without result, if they are `told`.
    fn leave_machine(mut self, told: bool) {
        self.depart();
        crate::status::remarks::say_kept();
        self.has_left = true;
        if self.waits.waiters.is_empty() && self.waits.away.is_nobody() {
            return self.remove();
        }
        if told {
            let runtime = &mut *self;
            runtime.waits.waiters.rouse_all();
            runtime.identity.control_block.rouse(&runtime.identity.event);
        }
    }
}

impl Runtime {
    fn is_unacknowledged(&self) -> bool {
        let open = |one: &&Watched| one.acknowledged && self.engine.is_attached(one.peer, one.route);
        let mut sockets = self.connections.watched.iter().filter(open);
        sockets.any(|one| process::unacknowledged(one.socket.as_fd()) > 0)
    }
}

/// Leaves the machine. False: this process is no task.
pub(crate) fn depart<E: Endpoint>() -> bool {
    let place = E::place();
    if place.forked.load(Ordering::Relaxed) {
        return false;
    }
    let lock = place.runtime.take_unless_own();
    let Some(inside) = lock.and_then(|lock| Inside::new(place, lock)) else { return false };
    inside.leave_machine(true);
    if place.role == Role::Task {
        account::close();
    }
    true
}

/// An end of the process came while it owed its interface something: departing waits until that is paid.
static PUT_OFF: AtomicBool = AtomicBool::new(false);

/// The interface has completed its pending work. If the process ends already, it departs now.
pub(crate) fn depart_if_put_off() {
    if PUT_OFF.swap(false, Ordering::Relaxed) {
        depart_at_exit();
    }
}

/// The process ends: hands over what was sent and leaves the machine. Threads that wait go on waiting, and end with it.
///
/// An interface with pending work may still complete it, in functions that the C library calls after this. If it does
/// not, other tasks must not learn of the end before the interface could report the reason.
fn depart_at_exit() {
    if account::is_obliged() {
        PUT_OFF.store(true, Ordering::Relaxed);
        return;
    }
    for place in endpoint::all() {
        if place.forked.load(Ordering::Relaxed) {
            continue;
        }
        if let Some(inside) = take_soon(place).and_then(|lock| Inside::new(place, lock)) {
            inside.leave_machine(false);
        }
    }
}

/// Takes the process lock, unless a thread keeps it for long. This may be the same thread, if a signal handler that
/// ends the process has interrupted its work.
fn take_soon(place: &'static EndpointCell) -> Option<BiasedGuard<'static, Option<Runtime>>> {
    for _ in 0..50 {
        match place.runtime.try_take() {
            Some(lock) => return Some(lock),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}
