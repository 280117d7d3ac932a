//! Tasks of other hosts that connect to this one: who they are, and whether the daemon has announced them.

use crate::connecting::connections::{Early, Expected, Silent, Watched};
use crate::runtime::Runtime;
use parvum_tcp::Gate;
use parvum_wire::Tid;
use rustix::fd::BorrowedFd;
use std::io;
use std::time::{Duration, Instant};

/// So many connections may come before they are announced, and so many be silent; more take the places of the oldest. As
/// many tasks may connect at once: the words of each are on their way for a moment.
const EARLY: usize = 1024;
/// So long a connection waits to be announced.
const EARLY_FOR: Duration = Duration::from_secs(60);
/// So long it may be silent. A task says who it is with its first bytes.
const SILENT_FOR: Duration = Duration::from_secs(5);
/// So many connections are taken at a time: behind them the task has other work.
const AT_A_TIME: usize = 256;

/// The system has no descriptor or memory for it; the connection waits on.
fn is_want_of_room(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let kinds = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| kinds.contains(&errno))
}

impl Runtime {
    /// Accepts the connections that have come, and greets those who made them. What a stranger may do is take places
    /// from other strangers: a task's first words come with its connection or right behind it.
    pub(crate) fn accept_tcp(&mut self) {
        self.connections.early.retain(|early| early.since.elapsed() < EARLY_FOR);
        for Silent { greeting, since } in std::mem::take(&mut self.connections.silent) {
            self.greet(greeting, since);
        }
        for _ in 0..AT_A_TIME {
            let Some(listener) = self.connections.listening() else { return };
            match parvum_tcp::accept(listener) {
                Ok(greeting) => self.greet(greeting, Instant::now()),
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

    fn greet(&mut self, greeting: parvum_tcp::Greeting, since: Instant) {
        match greeting.heard() {
            parvum_tcp::Heard::NotYet(greeting) if since.elapsed() < SILENT_FOR => {
                if self.connections.silent.len() >= EARLY {
                    self.connections.silent.remove(0);
                }
                self.connections.silent.push(Silent { greeting, since });
            }
            parvum_tcp::Heard::NotYet(_) | parvum_tcp::Heard::Nothing => {}
            parvum_tcp::Heard::Hello(caller) => self.admit(caller),
        }
    }

    /// Takes a connection in. The daemon's word that it would come may be slower than the
    /// connection itself: until then it waits. A stranger waits in vain, and is dropped without a word.
    fn admit(&mut self, caller: parvum_tcp::Caller) {
        let from = caller.from;
        let known = |expected: &Expected| expected.from == from && caller.has(&expected.token);
        if let Some(at) = self.connections.expected.iter().position(known) {
            let Expected { token, encrypted, .. } = self.connections.expected.swap_remove(at);
            let link = caller.admit(&token, encrypted);
            self.watch(from, link.socket(), Some(link.gate()));
            return self.joined_by(from, parvum_tcp::TRANSPORT.route, Box::new(link));
        }
        if self.connections.early.len() >= EARLY {
            self.connections.early.remove(0);
        }
        self.connections.early.push(Early { caller, since: Instant::now() });
    }

    /// A task will connect, or has done so already.
    pub(crate) fn expect(&mut self, from: Tid, token: [u8; 16], encrypted: bool) {
        self.connections.expected.push(Expected { from, token, encrypted });
        let meant = |early: &Early| early.caller.from == from && early.caller.has(&token);
        if let Some(at) = self.connections.early.iter().position(meant) {
            let Early { caller, .. } = self.connections.early.swap_remove(at);
            self.admit(caller);
        }
        self.accept_tcp();
    }

    /// The task was to connect, and cannot: messages to it take another route, at once.
    pub(crate) fn not_joined_by(&mut self, from: Tid) {
        self.expect_no_more(from);
        self.connections.unreachable.insert((from, parvum_tcp::TRANSPORT.route));
        self.waits.waiters.stirred = true;
    }

    /// Forgets that the task was to connect.
    pub(crate) fn expect_no_more(&mut self, tid: Tid) {
        self.connections.expected.retain(|expected| expected.from != tid);
        self.connections.early.retain(|early| early.caller.from != tid);
    }

    /// Hears of what comes over the socket from now on. With a `gate` it is one of those that are asked for together.
    pub(crate) fn watch(&mut self, peer: Tid, socket: BorrowedFd<'_>, gate: Option<&Gate>) {
        if let Ok(socket) = socket.try_clone_to_owned() {
            parvum_task::keep_room_beyond(&socket);
            self.connections.watched.push(Watched { peer, socket, gate: gate.cloned() });
            self.connections.ask_together();
        }
    }
}
