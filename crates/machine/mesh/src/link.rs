//! One connection with one peer, from the end of the greeting on.

use crate::carrier::Carrier;
use crate::events::Ended;
use crate::handshake::refusal::REPLACED;
use crate::session::Session;
use crate::socket::plain;
use crate::watching::Pulse;
use crate::wire::frames::Farewell;
use crate::{Host, Incarnation};
use quinn::Connection;
use std::cell::{Cell, OnceCell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use tokio::sync::watch;
use tokio::time::Instant;

pub(crate) struct Link {
    pub host: Host,
    pub incarnation: Incarnation,
    pub name: String,
    /// Both ends know the link by it.
    pub number: u64,
    pub carrier: Rc<Carrier>,
    /// What goes over it, and goes on when it breaks; set when it is admitted.
    session: OnceCell<Rc<Session>>,
    pub up: Cell<bool>,
    /// Nothing of an earlier link is on its way to the daemon: what was received can be told.
    pub may_resume: Cell<bool>,
    /// The number of the message that goes next, when the peer has said where to begin.
    pub next: Cell<Option<u64>>,
    pub pulse: Cell<Pulse>,
    /// The time of a question between two steps.
    pub probed: Cell<Option<Instant>>,
    pub farewell: Cell<Option<Farewell>>,
    pub ended: RefCell<Option<Ended>>,
    over: watch::Sender<bool>,
}

impl Link {
    pub fn new(
        (host, incarnation, name): (Host, Incarnation, String),
        number: u64,
        connection: Connection,
    ) -> Rc<Link> {
        Rc::new(Link {
            host,
            incarnation,
            name,
            number,
            carrier: Rc::new(Carrier::new(connection)),
            session: OnceCell::new(),
            up: Cell::new(false),
            may_resume: Cell::new(false),
            next: Cell::new(None),
            pulse: Cell::default(),
            probed: Cell::default(),
            farewell: Cell::new(None),
            ended: RefCell::default(),
            over: watch::Sender::new(false),
        })
    }

    /// It serves, and is not dead with its end still to be told, or about to end on purpose.
    pub fn is_up(&self) -> bool {
        self.up.get() && !self.is_dead() && !self.is_parting()
    }

    /// The connection has ended.
    pub fn is_dead(&self) -> bool {
        self.carrier.is_dead()
    }

    pub fn address(&self) -> SocketAddr {
        plain(self.carrier.connection.remote_address())
    }

    /// It carries that session from now on.
    pub fn carry(&self, session: Rc<Session>) {
        // Links are admitted once.
        let _ = self.session.set(session);
    }

    pub fn session(&self) -> &Rc<Session> {
        self.session.get().expect("it was admitted")
    }

    /// It has something to write.
    pub fn wake(&self) {
        self.carrier.wake();
    }

    /// Whether it is about to end on purpose.
    pub fn is_parting(&self) -> bool {
        self.farewell.get().is_some()
    }

    /// After what is queued, says farewell; the peer then ends the connection.
    pub fn say_farewell(&self, why: Farewell) {
        self.ended.borrow_mut().get_or_insert(Ended::Closed(why));
        if self.farewell.get().is_none() {
            self.farewell.set(Some(why));
        }
        self.carrier.wake();
    }

    /// Another link takes this one's place.
    pub fn replace(&self, why: Ended) {
        self.ended.borrow_mut().get_or_insert(why);
        self.carrier.connection.close(REPLACED, b"");
    }

    /// Until its end has been told, or nothing will be.
    pub async fn wait_over(&self) {
        // The sender is in the link itself: it cannot be gone.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }

    pub fn set_over(&self) {
        self.over.send_replace(true);
    }
}
