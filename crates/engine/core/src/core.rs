//! The state that the layers share, besides the peers: operations, messages, memory and counters. It is separate from
//! the peers, so that code can borrow a peer and this state at the same time. While frames arrive, their link is
//! borrowed.

use crate::ids::{MessageId, RequestId};
use crate::ledger::{Counter, Counters};
use crate::matching::{Order, Queues};
use crate::peers::{PeerState, Peers};
use crate::receiving::message::{Envelope, Pool};
use crate::recorder::Recorder;
use crate::requests::Requests;
use crate::sending::copies::KeptMemory;
use crate::sending::credit::Settings;
use parvum_transport::{Loan, Route};
use parvum_wire::frame::Offer;
use parvum_wire::{Header, Kind, Tid};
use std::sync::Arc;

/// Everything but the peers.
pub(crate) struct Core {
    pub(crate) settings: Settings,
    pub(crate) ledger: Counters,
    pub(crate) pool: Pool,
    pub(crate) kept: KeptMemory,
    pub(crate) requests: Requests,
    pub(crate) queues: Queues,
    /// Data to fetch as soon as its link is free.
    pub(crate) fetches: Vec<Fetch>,
    /// Memory that the code behind `fetches` reuses.
    pub(crate) spare: Vec<Fetch>,
    /// Data that is not whole here: its sender is still filling it in, or a thread copies it.
    pub(crate) pulling: Vec<Pulling>,
    /// Copies of this number of bytes or more are left to threads that ask for them. The engine makes the others.
    pub(crate) leaves_copies_of: usize,
    /// The time in ticks; `None`: messages are not timed.
    pub(crate) clock: Option<fn() -> u64>,
    /// Memory that was lent to the message that was sent last, and that its sender is to fill.
    pub(crate) unfilled: Option<Arc<dyn Loan>>,
    /// The number of times that a copy became available to threads.
    pub(crate) copies_left: u64,
    /// Offers that ask, and have no posted receive. Their senders get this answer when this task continues to wait.
    pub(crate) askers: Vec<Asker>,
    /// Data whose address peers have, and may be reading: see `help`.
    pub(crate) placed: Vec<Placed>,
    /// Receives without a waiting call that are not complete yet.
    pub(crate) given_up: Vec<RequestId>,
    /// Sends under way to all peers.
    waiting_sends: u64,
    /// Gets events of messages, if the task is recorded.
    pub(crate) recorder: Option<Box<dyn Recorder>>,
}

/// Offered data for a receive.
#[derive(Clone, Copy)]
pub(crate) struct Fetch {
    pub(crate) peer: u32,
    pub(crate) route: Route,
    pub(crate) offer: Offer,
    pub(crate) into: RequestId,
    /// The message's place among all and its flags, if it may go back there.
    pub(crate) back: Option<(Order, u16)>,
}

/// A sender that has asked whether a receive is posted.
#[derive(Clone, Copy)]
pub(crate) struct Asker {
    pub(crate) peer: u32,
    pub(crate) from: Tid,
    pub(crate) route: Route,
    pub(crate) cookie: u64,
}

/// An offer of this task's whose data a peer may be reading.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) peer: u32,
    pub(crate) route: Route,
    pub(crate) cookie: u64,
}

/// Offered data that its sender has not filled in yet.
#[derive(Clone, Copy)]
pub(crate) struct Pulling {
    pub(crate) fetch: Fetch,
    /// Bytes that are here. `None` for data that stays in place until all of it is there. This saves a copy, compared
    /// with following the sender into a block.
    pub(crate) got: Option<usize>,
    pub(crate) copier: Copier,
}

/// The thread that copies pulled data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copier {
    /// The engine, as it goes on.
    Engine,
    /// A thread that calls [`Engine::take_copy`](crate::Engine::take_copy), when one does.
    AnyThread,
    /// The same, but its sender had filled in nothing more: the next step of the engine looks again.
    Later,
    /// A thread that has taken the copy.
    Taken,
}

impl Core {
    pub(crate) fn new(settings: Settings, ledger: Counters) -> Core {
        Core {
            settings,
            ledger,
            pool: Pool::default(),
            kept: KeptMemory::default(),
            requests: Requests::default(),
            queues: Queues::default(),
            fetches: Vec::new(),
            spare: Vec::new(),
            pulling: Vec::new(),
            leaves_copies_of: usize::MAX,
            clock: None,
            unfilled: None,
            copies_left: 0,
            askers: Vec::new(),
            placed: Vec::new(),
            given_up: Vec::new(),
            waiting_sends: 0,
            recorder: None,
        }
    }

    /// A message no longer takes memory here: the sender gets its credit back, some at a time.
    #[inline]
    pub(crate) fn consume(&mut self, state: &mut PeerState, cost: u64) {
        if let Some(credit) = state.credit.consumed(cost, self.settings.credit) {
            state.outbox.answer(state.route, Kind::Credit, credit, 0);
        }
    }

    /// Notes that a peer has something to push, if it has.
    pub(crate) fn list_for_push(&self, peers: &mut Peers, index: usize) {
        peers.list_for_push(index, self.settings.credit);
    }

    /// Makes a stored message visible to receives, and to tools that show why the task waits.
    pub(crate) fn enqueue(&mut self, id: MessageId) {
        self.queues.enqueue(id, &self.ledger);
    }

    /// Hides a message from receives; it stays stored.
    pub(crate) fn hide(&mut self, id: MessageId) {
        self.queues.hide(id, &self.ledger);
    }

    /// Takes a message out of matching; it stays stored.
    pub(crate) fn extract(&mut self, id: MessageId) {
        self.queues.extract(id, &self.ledger);
    }

    /// A message is with its receiver, or as good as.
    pub(crate) fn count_received(&mut self, envelope: &Envelope) {
        self.ledger.add(Counter::Received, 1);
        self.ledger.add(Counter::ReceivedBytes, envelope.length);
        self.record_received(envelope);
    }

    #[inline]
    pub(crate) fn record_sent(&mut self, to: Tid, route: Route, header: &Header) {
        if let Some(recorder) = &mut self.recorder {
            recorder.sent(to, route, header.tag, header.order, header.length);
        }
    }

    #[inline]
    pub(crate) fn record_received(&mut self, envelope: &Envelope) {
        if let (Some(recorder), Some(order)) = (&mut self.recorder, envelope.order) {
            recorder.received(envelope.from, envelope.tag, order, envelope.length);
        }
    }

    /// Publishes how many sends are under way, after those to one peer may have changed.
    #[inline]
    pub(crate) fn publish_sends(&mut self, state: &mut PeerState) {
        let now = state.unfinished() as u64;
        if now != state.shown {
            self.waiting_sends = self.waiting_sends + now - state.shown;
            state.shown = now;
            self.ledger.set(Counter::WaitingSends, self.waiting_sends);
        }
    }

    /// Publishes how much waits here.
    #[inline]
    pub(crate) fn publish_waiting(&self) {
        self.ledger.set(Counter::WaitingMessages, self.queues.waiting() as u64);
        self.ledger.set(Counter::WaitingBytes, self.queues.bytes_here);
    }
}
