//! How this task is joined to others: the routes it may take, and what the transports have open.

use crate::connecting::routes::RoutePolicy;
use crate::connecting::transports::parts::{Hub, Unmapped};
use crate::waiting::patience::Crowd;
use crate::waiting::waiters::{Word, own_word};
use parvum_stream::readiness::{Gate, Readiness};
use parvum_stream::sockets::{Caller, Greeting};
use parvum_transport::Route;
use parvum_wire::Tid;
use rustix::fd::{AsFd, OwnedFd};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

    pub(crate) fn take(&self) -> Vec<Tid> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A task that will call, and what it will show.
pub(crate) struct Expected {
    pub(crate) from: Tid,
    pub(crate) route: Route,
    pub(crate) token: [u8; 16],
    pub(crate) encrypted: bool,
}

/// A task that a thread of this process is joining.
pub(crate) struct Joining {
    pub(crate) to: Tid,
    /// By which the thread is known, and where its stack was.
    word: Arc<Word>,
    frame: usize,
}

/// Whose a join is that is under way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Others,
    /// This very thread's: a signal handler has interrupted the join.
    Own,
    /// A thread's that has jumped out of it, or ended.
    Nobodys,
}

impl Joining {
    pub(crate) fn new(to: Tid, frame: usize) -> Joining {
        Joining { to, word: own_word(), frame }
    }

    /// Whose it is, for a thread whose stack is there now.
    pub(crate) fn whose(&self, frame: usize) -> Whose {
        let is_own = Arc::ptr_eq(&self.word, &own_word());
        match is_own {
            // Stacks grow downwards: the calls that this thread has not left are at higher addresses.
            true if self.frame < frame => Whose::Nobodys,
            true => Whose::Own,
            // A thread that has ended holds its word no more.
            false if Arc::strong_count(&self.word) == 1 => Whose::Nobodys,
            false => Whose::Others,
        }
    }
}

/// A connection that the daemon has not announced yet.
pub(crate) struct Early {
    pub(crate) route: Route,
    pub(crate) caller: Box<dyn Caller>,
    pub(crate) since: Instant,
}

/// A connection that has not identified itself yet.
pub(crate) struct Silent {
    pub(crate) route: Route,
    pub(crate) greeting: Box<dyn Greeting>,
    pub(crate) since: Instant,
}

/// A socket of a link, or of all that go through the daemon.
pub(crate) struct Watched {
    /// This task itself marks the daemon's connection, which carries messages of all peers.
    pub(crate) peer: Tid,
    /// The route of its link.
    pub(crate) route: Route,
    pub(crate) socket: OwnedFd,
    /// Whether it is worth a read, where it can be asked for together with others.
    pub(crate) gate: Option<Gate>,
    /// It may have taken bytes that the peer's system does not have yet.
    pub(crate) acknowledged: bool,
}

/// The sockets that a sleeping thread watches. A sleeper must be moved if they become others, even as many others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    pub(crate) count: usize,
    /// The number of sockets of links that were ever added.
    kept: u64,
}

/// The pause of a listener after there was no descriptor for the next connection.
pub(crate) const DEAF: Duration = Duration::from_millis(50);

/// The open connections and listeners of a task.
pub(crate) struct Connections {
    pub(crate) routes: RoutePolicy,
    pub(crate) single_copy: bool,
    /// The clock for the engine.
    pub(crate) clock: Instant,
    /// The tasks of this host that this one talks to.
    pub(crate) crowd: Crowd,
    /// Sockets of links, to be watched while the task sleeps.
    pub(crate) watched: Vec<Watched>,
    /// The readiness of links, if there are several.
    readiness: Option<Readiness>,
    pub(crate) routed: Option<Hub>,
    /// The listeners for callers, and their routes.
    pub(crate) listeners: Vec<(Route, OwnedFd)>,
    /// The listeners pause until this time, because there was no descriptor for the next connection.
    deaf_until: Option<Instant>,
    /// Whether a remark about this was printed.
    told_deaf: bool,
    pub(crate) expected: Vec<Expected>,
    /// Connections that came before their announcement by the daemon.
    pub(crate) early: Vec<Early>,
    pub(crate) silent: Vec<Silent>,
    /// The number of sockets that were added to `watched`.
    pub(crate) kept: u64,
    /// The number of callers that were let in.
    pub(crate) admitted: u64,
    /// Tasks that this one has connected to, that have not let it in yet.
    pub(crate) unanswered: Vec<(Tid, Route)>,
    /// The time of the daemon's last report that a task is gone.
    pub(crate) gone_at: HashMap<Tid, Instant>,
    /// Tasks whose end the daemon was asked to tell, though there is no link to them.
    pub(crate) looked_after: HashSet<Tid>,
    /// Tasks that receives were posted from, that this one has no link to: who sleeps looks after them first.
    pub(crate) unheard: Vec<Tid>,
    /// Tasks that threads of this process are joining just now; this task itself stands for the daemon's routed frames.
    pub(crate) joining: Vec<Joining>,
    /// Tasks to which a route does not lead: this task or the other has tried. They are asked no more as long as they live.
    pub(crate) unreachable: HashSet<(Tid, Route)>,
    /// The receiver of long messages that did not catch up when it was waited for.
    pub(crate) slow: Option<Tid>,
    /// Peers that their host's daemon is to wake, once there are some that this process has no descriptor for.
    pub(crate) calls: Option<Arc<Calls>>,
    /// Offers of other tasks that this process could not map for lack of memory.
    pub(crate) unmapped: Vec<(Route, Unmapped)>,
    /// Notices of the ends of tasks whose last words are still on their way: the notice comes after those.
    pub(crate) notices: Vec<(Tid, u64)>,
}

impl Connections {
    pub(crate) fn new(routes: RoutePolicy, single_copy: bool) -> Connections {
        Connections {
            routes,
            single_copy,
            clock: Instant::now(),
            crowd: Crowd::new(),
            watched: Vec::new(),
            readiness: None,
            routed: None,
            listeners: Vec::new(),
            deaf_until: None,
            told_deaf: false,
            expected: Vec::new(),
            early: Vec::new(),
            silent: Vec::new(),
            kept: 0,
            admitted: 0,
            unanswered: Vec::new(),
            gone_at: HashMap::new(),
            looked_after: HashSet::new(),
            unheard: Vec::new(),
            joining: Vec::new(),
            unreachable: HashSet::new(),
            slow: None,
            calls: None,
            unmapped: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Whether something may come that no door is rung for.
    #[inline]
    pub(crate) fn has_sockets(&self) -> bool {
        !self.watched.is_empty() || !self.expected.is_empty() || !self.silent.is_empty()
    }

    /// There is one more: from the second on they are asked for together, not read one by one. Without a descriptor for
    /// this, the task reads each link, as before.
    pub(crate) fn ask_together(&mut self) {
        let Connections { watched, readiness, .. } = self;
        let guarded = |one: &Watched| one.gate.is_some();
        let new = match readiness {
            Some(_) => watched.len() - 1,
            None if watched.iter().filter(|one| guarded(one)).count() > 1 => {
                *readiness = Readiness::new().ok();
                0
            }
            None => return,
        };
        let Some(readiness) = readiness else { return };
        for Watched { socket, gate, .. } in &watched[new..] {
            if let Some(gate) = gate {
                // Its gate stays open otherwise.
                let _ = readiness.take_in(socket.as_fd(), gate);
            }
        }
    }

    /// Finds out which of them have brought something.
    #[inline]
    pub(crate) fn ask_for_all(&mut self) {
        if let Some(readiness) = &mut self.readiness
            && !self.watched.is_empty()
        {
            readiness.ask();
        }
    }

    /// The listeners, if a connection can be accepted. Otherwise a socket would stay readable without effect.
    pub(crate) fn listening(&self) -> &[(Route, OwnedFd)] {
        if self.is_deaf() { &[] } else { &self.listeners }
    }

    /// Whether it is of no use to listen.
    pub(crate) fn is_deaf(&self) -> bool {
        self.deaf_until.is_some_and(|until| Instant::now() < until)
    }

    /// There is no room for the next connection, which waits: the system or this program may make some.
    pub(crate) fn turn_deaf(&mut self, error: &io::Error) {
        self.deaf_until = Some(Instant::now() + DEAF);
        if !std::mem::replace(&mut self.told_deaf, true) {
            crate::status::remarks::say(format_args!(
                "E-RESOURCES: no connection of another task can be taken ({error}); help: \
                 raise the limit (`ulimit -n`) or start fewer tasks"
            ));
        }
    }

    /// The sockets that a thread watches which sleeps in poll(2), the daemon's apart.
    pub(crate) fn sources(&self) -> Sources {
        let count = self.watched.len() + self.silent.len() + self.expected.len();
        Sources { count, kept: self.kept }
    }

    /// Whether a thread of this process is joining that task.
    pub(crate) fn is_joining(&self, to: Tid) -> bool {
        self.joining.iter().any(|joining| joining.to == to)
    }

    /// Whether the task was to connect and has not been let in. On a busy host, the connection of a task that has
    /// already ended may still be on its way.
    pub(crate) fn expects(&self, tid: Tid) -> bool {
        self.expected.iter().any(|expected| expected.from == tid)
    }
}
