//! How this task is joined to others: the routes it may take, and what the transports have open.

use crate::patience::Crowd;
use crate::routes::RoutePolicy;
use parvum_transport::Route;
use parvum_wire::Tid;
use rustix::fd::OwnedFd;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// A task that will connect by TCP, and what it will show.
pub(crate) struct Expected {
    pub(crate) from: Tid,
    pub(crate) token: [u8; 16],
    pub(crate) encrypted: bool,
}

/// A connection that nobody has announced yet.
pub(crate) struct Early {
    pub(crate) caller: parvum_tcp::Caller,
    pub(crate) since: Instant,
}

/// A connection that has not said yet who it is.
pub(crate) struct Silent {
    pub(crate) greeting: parvum_tcp::Greeting,
    pub(crate) since: Instant,
}

/// What is open to others.
pub(crate) struct Connections {
    pub(crate) routes: RoutePolicy,
    pub(crate) single_copy: bool,
    /// By which the engine is told the time.
    pub(crate) clock: Instant,
    /// The tasks of this host that this one talks to.
    pub(crate) crowd: Crowd,
    /// Sockets of links, to be watched while the task sleeps.
    pub(crate) watched: Vec<(Tid, OwnedFd)>,
    pub(crate) routed: Option<parvum_routed::Hub>,
    pub(crate) listener: Option<OwnedFd>,
    pub(crate) expected: Vec<Expected>,
    /// Connections that came before the daemon said so.
    pub(crate) early: Vec<Early>,
    pub(crate) silent: Vec<Silent>,
    /// Tasks that this one has connected to, that have not let it in yet.
    pub(crate) unanswered: Vec<(Tid, Route)>,
    /// When the machine said last that a task is gone.
    pub(crate) gone_at: HashMap<Tid, Instant>,
    /// Tasks whose end the daemon was asked to tell, though there is no link to them.
    pub(crate) looked_after: HashSet<Tid>,
    /// Tasks that receives were posted from, that this one has no link to: who sleeps looks after them first.
    pub(crate) unheard: Vec<Tid>,
    /// The receiver of long messages that did not catch up when it was waited for.
    pub(crate) slow: Option<Tid>,
}

impl Connections {
    pub(crate) fn new(routes: RoutePolicy, single_copy: bool) -> Connections {
        Connections {
            routes,
            single_copy,
            clock: Instant::now(),
            crowd: Crowd::new(),
            watched: Vec::new(),
            routed: None,
            listener: None,
            expected: Vec::new(),
            early: Vec::new(),
            silent: Vec::new(),
            unanswered: Vec::new(),
            gone_at: HashMap::new(),
            looked_after: HashSet::new(),
            unheard: Vec::new(),
            slow: None,
        }
    }

    /// Whether something may come that no door is rung for.
    #[inline]
    pub(crate) fn has_sockets(&self) -> bool {
        !self.watched.is_empty() || !self.expected.is_empty() || !self.silent.is_empty()
    }

    /// How many sockets a thread that sleeps in poll(2) watches, the daemon's apart.
    pub(crate) fn sockets_to_watch(&self) -> usize {
        self.watched.len() + self.silent.len() + self.expected.len()
    }

    /// Whether the task was to connect and has not been let in. On a busy host the connection
    /// of one that has ended already may still be on its way.
    pub(crate) fn expects(&self, tid: Tid) -> bool {
        self.expected.iter().any(|expected| expected.from == tid)
    }
}
