//! What two daemons have told each other in these two lives of theirs, over all their connections.
//!
//! A connection may break while both ends live: a cable, a busy switch, a daemon that got no processor.
//! So messages are kept until the other end says that it has told them to its daemon, and sent again
//! over the next connection, from the first that it has not. Streams do the same ([`crate::streams`]).
//! A session ends when an end says farewell, or when a newer life of the peer is known.

use crate::carrier::Carrier;
use crate::errors::MeshError;
use crate::streams::incoming::Incoming;
use crate::streams::outgoing::Outgoing;
use crate::wire::frames::Resume;
use crate::{Host, Incarnation};
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;
use tokio::sync::Notify;

/// After so many messages, or bytes of a stream, the sender is told at once that they have come.
const MANY: u64 = 64;

#[derive(Default)]
struct Outbox {
    /// Sent or not, and not acknowledged.
    messages: VecDeque<Bytes>,
    /// The number of the first of them.
    first: u64,
    /// Their bytes.
    held: usize,
}

/// Streams, by the number that their sender gave them.
#[derive(Default)]
struct Streams {
    last: u64,
    outgoing: HashMap<u64, Rc<Outgoing>>,
    incoming: HashMap<u64, Rc<Incoming>>,
    /// Those whose reader is gone: all below a number, and some above.
    over_below: u64,
    over: BTreeSet<u64>,
    /// What their senders are to be told: so many bytes have been taken.
    owed: BTreeMap<u64, u64>,
}

/// What becomes of a stream that comes in.
pub(crate) enum Arrival {
    New,
    /// It goes on where it broke off.
    Known(Rc<Incoming>),
    /// Its reader has had all, or is gone.
    Over,
}

pub(crate) struct Session {
    pub host: Host,
    pub incarnation: Incarnation,
    /// Ours, so that the peer sees whether it has heard of this one.
    number: u64,
    peer: Cell<u64>,
    outbox: RefCell<Outbox>,
    /// So many messages have been told to our daemon, and so many of them the peer knows of.
    received: Cell<u64>,
    acknowledged: Cell<u64>,
    streams: RefCell<Streams>,
    is_pressing: Cell<bool>,
    /// The connection that carries it now.
    carrier: RefCell<Option<Rc<Carrier>>>,
    /// A connection carries it, or none will again.
    changed: Notify,
    is_over: Cell<bool>,
}

impl Session {
    pub fn new(host: Host, incarnation: Incarnation, number: u64) -> Rc<Session> {
        Rc::new(Session {
            host,
            incarnation,
            number,
            peer: Cell::new(0),
            outbox: RefCell::default(),
            received: Cell::new(0),
            acknowledged: Cell::new(0),
            streams: RefCell::default(),
            is_pressing: Cell::new(false),
            carrier: RefCell::default(),
            changed: Notify::new(),
            is_over: Cell::new(false),
        })
    }

    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Nothing is sent any more, and nothing comes.
    pub fn end(&self) {
        self.is_over.set(true);
        self.changed.notify_waiters();
        self.drop_streams();
    }

    fn drop_streams(&self) {
        let streams = std::mem::take(&mut *self.streams.borrow_mut());
        streams.outgoing.values().for_each(|stream| stream.fail());
        streams.incoming.values().for_each(|stream| stream.fail());
        // Numbers are not used again.
        self.streams.borrow_mut().last = streams.last;
    }

    /// That connection carries it from now on.
    pub fn attach(&self, carrier: &Rc<Carrier>) {
        *self.carrier.borrow_mut() = Some(carrier.clone());
        self.changed.notify_waiters();
    }

    pub fn leave(&self, carrier: &Rc<Carrier>) {
        self.carrier.borrow_mut().take_if(|current| Rc::ptr_eq(current, carrier));
    }

    /// The next connection that carries it; none when it is over.
    pub async fn wait_carrier(&self) -> Option<Rc<Carrier>> {
        loop {
            let changed = self.changed.notified();
            if self.is_over() {
                return None;
            }
            if let Some(carrier) = self.carrier.borrow().clone().filter(|carrier| !carrier.is_dead()) {
                return Some(carrier);
            }
            changed.await;
        }
    }

    fn wake(&self) {
        if let Some(carrier) = &*self.carrier.borrow() {
            carrier.wake();
        }
    }

    /// Queues a message.
    pub fn send(&self, bytes: Bytes, bound: usize) -> Result<(), MeshError> {
        let mut outbox = self.outbox.borrow_mut();
        if outbox.held > 0 && outbox.held.saturating_add(bytes.len()) > bound {
            return Err(MeshError::Busy { host: self.host, waiting: outbox.held, bound });
        }
        outbox.held = outbox.held.saturating_add(bytes.len());
        outbox.messages.push_back(bytes);
        drop(outbox);
        self.wake();
        Ok(())
    }

    /// Whether the peer has not confirmed a message or a part of a stream.
    pub fn is_owed(&self) -> bool {
        !self.outbox.borrow().messages.is_empty()
            || self.streams.borrow().outgoing.values().any(|stream| stream.is_owed())
    }

    /// The message of that number, if there is one.
    pub fn message(&self, number: u64) -> Option<Bytes> {
        let outbox = self.outbox.borrow();
        let at = number.checked_sub(outbox.first)?;
        outbox.messages.get(usize::try_from(at).ok()?).cloned()
    }

    /// The peer has so many; false when it cannot.
    pub fn acknowledge(&self, received: u64) -> bool {
        let mut outbox = self.outbox.borrow_mut();
        let news = received.checked_sub(outbox.first).and_then(|news| usize::try_from(news).ok());
        let Some(news) = news.filter(|news| *news <= outbox.messages.len()) else { return false };
        let gone: usize = outbox.messages.drain(..news).map(|message| message.len()).sum();
        outbox.first = received;
        outbox.held = outbox.held.saturating_sub(gone);
        true
    }

    /// What the peer is told first over a new link.
    pub fn resume(&self) -> Resume {
        let received = self.received.get();
        self.acknowledged.set(received);
        Resume { mine: self.number, yours: self.peer.get(), received }
    }

    /// What the peer says first over a new link. The number of the message that goes next; none when
    /// that makes no sense.
    pub fn resumed(&self, resume: Resume) -> Option<u64> {
        let known = self.peer.replace(resume.mine);
        if known != 0 && known != resume.mine {
            // It has ended the session, and we did not hear its farewell.
            self.received.set(0);
            self.acknowledged.set(0);
            self.drop_streams();
        }
        if resume.yours == self.number {
            return self.acknowledge(resume.received).then_some(resume.received);
        }
        let mut outbox = self.outbox.borrow_mut();
        if outbox.first > 0 {
            *outbox = Outbox::default();
        }
        Some(0)
    }

    /// A message has been told to our daemon.
    pub fn has_told(&self) {
        let had_debt = self.owes().is_some();
        self.received.set(self.received.get().saturating_add(1));
        self.press(had_debt, self.received.get().saturating_sub(self.acknowledged.get()) >= MANY);
    }

    /// Whether the peer is to be told of something that has come; true when at once.
    pub fn owes(&self) -> Option<bool> {
        let owes = self.received.get() > self.acknowledged.get() || !self.streams.borrow().owed.is_empty();
        owes.then(|| self.is_pressing.get())
    }

    /// What the peer is to be told: so many messages, and of streams so many bytes.
    pub fn take_acknowledgement(&self) -> (Option<u64>, BTreeMap<u64, u64>) {
        self.is_pressing.set(false);
        let received = self.received.get();
        let news = self.acknowledged.replace(received) != received;
        (news.then_some(received), std::mem::take(&mut self.streams.borrow_mut().owed))
    }

    /// A stream begins here.
    pub fn open(&self, stream: impl FnOnce(u64) -> Rc<Outgoing>) -> Rc<Outgoing> {
        let mut streams = self.streams.borrow_mut();
        streams.last = streams.last.saturating_add(1);
        let opened = stream(streams.last);
        let number = streams.last;
        streams.outgoing.insert(number, opened.clone());
        opened
    }

    /// A stream of ours has nothing more to send.
    pub fn close(&self, stream: u64) {
        self.streams.borrow_mut().outgoing.remove(&stream);
    }

    /// The reader of a stream of ours has taken so much.
    pub fn taken(&self, stream: u64, bytes: u64) {
        let stream = self.streams.borrow().outgoing.get(&stream).cloned();
        if let Some(stream) = stream {
            stream.taken(bytes);
        }
    }

    /// A stream has come, for the first time or again.
    pub fn arrival(&self, stream: u64) -> Arrival {
        let streams = self.streams.borrow();
        if stream < streams.over_below || streams.over.contains(&stream) {
            return Arrival::Over;
        }
        streams.incoming.get(&stream).cloned().map_or(Arrival::New, Arrival::Known)
    }

    /// A stream has a reader.
    pub fn admit(&self, stream: u64, incoming: Rc<Incoming>) {
        self.streams.borrow_mut().incoming.insert(stream, incoming);
    }

    /// A stream's reader has had so much; `press` when its sender may wait for that.
    pub fn owe(&self, stream: u64, bytes: u64, press: bool) {
        let had_debt = self.owes().is_some();
        self.streams.borrow_mut().owed.insert(stream, bytes);
        self.press(had_debt, press);
    }

    /// The writer sees to a debt in its own time, but must know that there is one.
    fn press(&self, had_debt: bool, at_once: bool) {
        let pressed = at_once && !self.is_pressing.replace(true);
        if pressed || !had_debt {
            self.wake();
        }
    }

    /// A stream's reader is gone.
    pub fn forget(&self, stream: u64) {
        let mut streams = self.streams.borrow_mut();
        if streams.incoming.remove(&stream).is_some() {
            streams.over.insert(stream);
        }
        // Numbers begin at 1.
        streams.over_below = streams.over_below.max(1);
        while let below = streams.over_below
            && streams.over.remove(&below)
        {
            streams.over_below = below.saturating_add(1);
        }
    }
}
