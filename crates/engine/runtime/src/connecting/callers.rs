//! Tasks that call a listener of this one: who they are, and whether the daemon has announced them.

use crate::connecting::connections::{Early, Expected, Silent, Watched};
use crate::connecting::transports::called;
use crate::runtime::Runtime;
use parvum_stream::sockets::{Caller, Connection, Greeting, Heard};
use parvum_transport::{Link, Route};
use parvum_wire::Tid;
use rustix::fd::AsFd;
use std::io;
use std::time::{Duration, Instant};

/// The maximum number of connections before their announcement, and of silent connections. Further connections replace
/// the oldest. As many tasks may connect at once: the words of each are on their way for a moment.
const EARLY: usize = 1024;
/// The time that a connection waits for its announcement.
const EARLY_FOR: Duration = Duration::from_secs(60);
/// The time that a connection may be silent. A task identifies itself with its first bytes.
const SILENT_FOR: Duration = Duration::from_secs(5);
/// The number of connections that are accepted at a time, because the task has other work too.
const AT_A_TIME: usize = 256;

/// The system has no descriptor or memory for it; the connection waits on.
fn is_want_of_room(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let kinds = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| kinds.contains(&errno))
}

impl Runtime {
    /// Accepts the connections that have come, and greets their tasks. A stranger can only take places of other
    /// strangers: a task's first message comes with its connection, or directly after it.
    ///
    /// Whether a task was let in. Frames may have come with its greeting: they are in the link, where poll(2) does not
    /// show them, so the links must be looked at before any sleep.
    pub(crate) fn accept_callers(&mut self) -> bool {
        let admitted = self.connections.admitted;
        self.connections.early.retain(|early| early.since.elapsed() < EARLY_FOR);
        for Silent { route, greeting, since } in std::mem::take(&mut self.connections.silent) {
            self.greet(route, greeting, since);
        }
        for place in 0..self.connections.listeners.len() {
            self.accept_at(place);
        }
        self.connections.admitted != admitted
    }

    /// The same at one listener.
    fn accept_at(&mut self, place: usize) {
        for _ in 0..AT_A_TIME {
            let Some((route, listener)) = self.connections.listening().get(place) else { return };
            let (route, Some(called)) = (*route, called(*route)) else { return };
            match called.accept(listener.as_fd()) {
                Ok(greeting) => self.greet(route, greeting, Instant::now()),
                Err(error) if is_want_of_room(&error) => {
                    if !parvum_task::make_room() {
                        return self.connections.turn_deaf(&error);
                    }
                }
                // There is none, or the one there was has gone.
                Err(_) => return,
            }
        }
    }

    fn greet(&mut self, route: Route, greeting: Box<dyn Greeting>, since: Instant) {
        match greeting.heard() {
            Heard::NotYet(greeting) if since.elapsed() < SILENT_FOR => {
                if self.connections.silent.len() >= EARLY {
                    self.connections.silent.remove(0);
                }
                self.connections.silent.push(Silent { route, greeting, since });
            }
            Heard::NotYet(_) | Heard::Nothing => {}
            Heard::Hello(caller) => self.admit(route, caller),
        }
    }

    /// Takes a connection in. The daemon's word that it would come may be slower than the
    /// connection itself: until then it waits. A stranger waits in vain, and is dropped without a word.
    fn admit(&mut self, route: Route, caller: Box<dyn Caller>) {
        let from = caller.from();
        let known = |expected: &Expected| {
            (expected.from, expected.route) == (from, route) && caller.has(&expected.token)
        };
        if let Some(at) = self.connections.expected.iter().position(known) {
            let Expected { token, encrypted, .. } = self.connections.expected.swap_remove(at);
            let link = self.watch(from, route, caller.admit(&token, encrypted));
            self.connections.admitted += 1;
            return self.joined_by(from, route, link);
        }
        if self.connections.early.len() >= EARLY {
            self.connections.early.remove(0);
        }
        self.connections.early.push(Early { route, caller, since: Instant::now() });
    }

    /// A task will connect, or has done so already.
    pub(crate) fn expect(&mut self, expected: Expected) {
        let Expected { from, route, token, .. } = expected;
        self.connections.expected.push(expected);
        let meant =
            |early: &Early| (early.caller.from(), early.route) == (from, route) && early.caller.has(&token);
        if let Some(at) = self.connections.early.iter().position(meant) {
            let Early { caller, .. } = self.connections.early.swap_remove(at);
            self.admit(route, caller);
        }
        self.accept_callers();
    }

    /// The task was to connect, and cannot: messages to it take another route, at once.
    pub(crate) fn not_joined_by(&mut self, from: Tid, route: Route) {
        self.expect_no_more(from);
        if called(route).is_some() {
            self.connections.unreachable.insert((from, route));
        }
        self.waits.waiters.stirred = true;
    }

    /// Forgets that the task was to connect.
    pub(crate) fn expect_no_more(&mut self, tid: Tid) {
        self.connections.expected.retain(|expected| expected.from != tid);
        self.connections.early.retain(|early| early.caller.from() != tid);
    }

    /// Hears of what comes over the connection from now on; its link. A connection with a gate joins the common query.
    pub(crate) fn watch(&mut self, peer: Tid, route: Route, connection: Connection) -> Box<dyn Link> {
        let Connection { link, socket, gate, acknowledged } = connection;
        if let Some(socket) = socket {
            self.keep_watched(Watched { peer, route, socket, gate, acknowledged });
        }
        link
    }

    pub(crate) fn keep_watched(&mut self, watched: Watched) {
        parvum_task::keep_room_beyond(&watched.socket);
        self.connections.watched.push(watched);
        self.connections.kept += 1;
        self.connections.ask_together();
    }
}
