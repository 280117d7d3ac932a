//! What is kept for each peer: its links, the order of messages, credit, and sends under way.

use crate::ledger::PairLedger;
use crate::memory::Source;
use crate::queues::MessageId;
use crate::requests::RequestId;
use parvum_transport::{Limits, Link, Route};
use parvum_wire::{Header, Tid};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

pub(crate) struct Peer {
    pub(crate) links: [Option<Box<dyn Link>>; Route::BOUND],
    pub(crate) state: PeerState,
}

/// Where the rest of a message goes that began on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// No message is under way.
    Idle,
    /// Into an unexpected message.
    Message(MessageId),
    /// Into a receive; `got` bytes of `length` have come.
    Receive { id: RequestId, got: u64, length: u64 },
    /// Nowhere: `left` bytes of a discarded message are still to come.
    Skip { left: u64 },
}

impl Stream {
    /// So many bytes are still to come that nobody wants.
    pub(crate) fn skip(left: u64) -> Stream {
        if left > 0 { Stream::Skip { left } } else { Stream::Idle }
    }
}

/// A send that has not been handed over to a link in full.
pub(crate) struct Pending {
    pub(crate) request: RequestId,
    pub(crate) header: Header,
    pub(crate) source: Source,
    /// Bytes handed over so far.
    pub(crate) sent: usize,
    /// Announce and keep the data, rather than hand it over.
    pub(crate) offer: bool,
    /// The engine owns the data: the request is over once the offer is out.
    pub(crate) owned: bool,
    /// All of it was handed over to a link that keeps some of it back: see `Link::flush`.
    pub(crate) handed: bool,
    /// Memory that this send holds on either side until it is consumed.
    pub(crate) cost: u64,
    /// Others get the same, in step.
    pub(crate) group: Option<Arc<Group>>,
}

/// A message to several peers: no one of them is sent the next part before all have had this one.
pub(crate) struct Group {
    /// Counts such messages of this task.
    pub(crate) number: u64,
    /// The peers, by index.
    pub(crate) members: Vec<u32>,
}

/// A send whose data waits here for the receiver.
pub(crate) struct Offered {
    /// Where it was offered.
    pub(crate) route: Route,
    /// `None` once the request was reported: the engine owns the data.
    pub(crate) request: Option<RequestId>,
    pub(crate) source: Source,
    pub(crate) header: Header,
    pub(crate) cost: u64,
    /// Whether the receiver was asked if it has a receive posted, and what it said.
    pub(crate) asked: Asking,
}

/// How far a send came that asks before it moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// It does not ask.
    No,
    /// No answer yet.
    Unanswered,
    /// No receive was posted.
    Unposted,
    /// A receive is posted, and its task was told where the data lies: it may be reading it now.
    Placed,
}

/// A frame that only answers.
pub(crate) struct Answer {
    pub(crate) route: Route,
    pub(crate) header: Header,
}

pub(crate) struct PeerState {
    pub(crate) tid: Tid,
    /// Over which route new messages go.
    pub(crate) route: Route,
    /// Over which route it says in the inbox that it has brought something.
    pub(crate) placed: Option<Route>,
    pub(crate) limits: [Option<Limits>; Route::BOUND],
    /// What is counted of this peer, over each route.
    pub(crate) ledgers: [PairLedger; Route::BOUND],
    /// Over which routes it has a ledger of its own.
    pub(crate) counted: [bool; Route::BOUND],
    pub(crate) streams: [Stream; Route::BOUND],
    /// The next message sent to the peer gets this number.
    pub(crate) next_order: u32,
    /// The next message from the peer must have this number.
    pub(crate) expected: u32,
    /// Messages that came before their turn, over a quicker route.
    pub(crate) early: Vec<(u32, MessageId)>,
    /// Cost of messages sent and not known to be consumed.
    pub(crate) outstanding: u64,
    /// Cost of messages consumed here and not yet reported to the sender.
    pub(crate) owed: u64,
    /// Credit lent to the peer beyond what was consumed.
    pub(crate) advance: u64,
    pub(crate) answers: VecDeque<Answer>,
    /// Data of cleared offers, to be sent before anything that needs credit.
    pub(crate) cleared: VecDeque<Pending>,
    /// The message being handed over, and the route it began on.
    pub(crate) current: Option<(Route, Pending)>,
    pub(crate) queue: VecDeque<Pending>,
    /// Memory of the sends in `queue`, their places in it included.
    pub(crate) queued: u64,
    /// Sends that find no credit are kept here: to wait for it closes a circle.
    pub(crate) keeps: bool,
    pub(crate) offers: HashMap<u64, Offered>,
    pub(crate) next_cookie: u64,
    /// Some link took frames that have not left yet.
    pub(crate) unflushed: bool,
    /// The number of the message that this task has published to be waiting for.
    pub(crate) awaited: Option<u32>,
    /// The number of the last message whose data was left with its sender on arrival.
    pub(crate) left: Option<u32>,
    /// The peer was waiting for the last short message that asked: the next one is sent before looking.
    pub(crate) is_prompt: bool,
    /// The peer has not answered the last question in time: the next one is not waited for.
    pub(crate) is_silent: bool,
    /// The last send that asked, and the cookie of its offer.
    pub(crate) asking: Option<(RequestId, u64)>,
    /// How many of its sends are in the sum that onlookers see.
    pub(crate) shown: u64,
    /// Already in the engine's list of peers with something to push.
    pub(crate) listed: bool,
}

impl PeerState {
    pub(crate) fn new(tid: Tid, route: Route, ledger: PairLedger) -> PeerState {
        PeerState {
            tid,
            route,
            placed: None,
            limits: [None; Route::BOUND],
            ledgers: [ledger; Route::BOUND],
            counted: [false; Route::BOUND],
            streams: [Stream::Idle; Route::BOUND],
            next_order: 0,
            expected: 0,
            early: Vec::new(),
            outstanding: 0,
            owed: 0,
            advance: 0,
            answers: VecDeque::new(),
            cleared: VecDeque::new(),
            current: None,
            queue: VecDeque::new(),
            queued: 0,
            keeps: false,
            offers: HashMap::new(),
            next_cookie: 1,
            unflushed: false,
            awaited: None,
            left: None,
            is_prompt: false,
            is_silent: false,
            asking: None,
            shown: 0,
            listed: false,
        }
    }

    /// What is counted of this peer, over a route.
    #[inline]
    pub(crate) fn ledger(&self, route: Route) -> PairLedger {
        self.ledgers[route.place()]
    }

    /// Whether nothing waits to be handed over, so that a message may go at once.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.current.is_none() && self.cleared.is_empty() && self.answers.is_empty()
    }

    /// Whether there is something to push that only waits for room in a link.
    pub(crate) fn has_output(&self, credit: u64) -> bool {
        let held =
            self.current.is_some() || !self.cleared.is_empty() || !self.answers.is_empty() || self.unflushed;
        held || (!self.queue.is_empty() && self.outstanding < credit)
    }

    /// Sends that are not over, or whose data is still kept here.
    pub(crate) fn unfinished(&self) -> usize {
        self.queue.len() + self.cleared.len() + usize::from(self.current.is_some()) + self.offers.len()
    }
}
