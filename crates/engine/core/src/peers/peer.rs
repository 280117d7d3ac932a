//! The state of one peer: its links, and a part for each layer above.

use super::incoming::Incoming;
use super::offers::{Offered, Offers};
use super::outbox::{Outbox, Pending};
use crate::ids::RequestId;
use crate::ledger::PairCounters;
use crate::receiving::message::Envelope;
use crate::sending::credit::Credit;
use parvum_transport::{Limits, Link, Loan, Route};
use parvum_wire::frame::FETCH_AT_ONCE;
use parvum_wire::{Header, Kind, Tid};
use std::sync::Arc;

pub(crate) struct Peer {
    pub(crate) links: [Option<Box<dyn Link>>; Route::BOUND],
    pub(crate) state: PeerState,
}

pub(crate) struct PeerState {
    pub(crate) tid: Tid,
    /// Over which route new messages go.
    pub(crate) route: Route,
    /// The route over which it marks new data in the inbox.
    pub(crate) placed: Option<Route>,
    pub(crate) limits: [Option<Limits>; Route::BOUND],
    /// The counters of this peer, for each route.
    pub(crate) ledgers: [PairCounters; Route::BOUND],
    /// The routes with a separate ledger.
    pub(crate) counted: [bool; Route::BOUND],
    pub(crate) incoming: Incoming,
    pub(crate) outbox: Outbox,
    pub(crate) offers: Offers,
    pub(crate) credit: Credit,
    /// The number of its sends in the sum that tools see.
    pub(crate) shown: u64,
}

impl Peer {
    /// The link that new messages take.
    pub(crate) fn preferred(&self) -> Option<&dyn Link> {
        self.links[self.state.route.place()].as_deref()
    }

    /// Bytes of such memory that the peer has not given back.
    pub(crate) fn lent(&self) -> usize {
        self.preferred().map_or(0, |link| link.lent())
    }

    /// Memory of the link for a message that its receiver may read while it is copied there.
    pub(crate) fn lend(&mut self, length: usize) -> Option<Arc<dyn Loan>> {
        self.links[self.state.route.place()].as_mut()?.lend(length)
    }
}

impl PeerState {
    pub(crate) fn new(tid: Tid, route: Route, ledger: PairCounters) -> PeerState {
        PeerState {
            tid,
            route,
            placed: None,
            limits: [None; Route::BOUND],
            ledgers: [ledger; Route::BOUND],
            counted: [false; Route::BOUND],
            incoming: Incoming::new(),
            outbox: Outbox::default(),
            offers: Offers::new(),
            credit: Credit::default(),
            shown: 0,
        }
    }

    /// The counters of this peer for a route.
    #[inline]
    pub(crate) fn ledger(&self, route: Route) -> PairCounters {
        self.ledgers[route.place()]
    }

    /// The properties of a message from this peer, from its header.
    #[inline]
    pub(crate) fn envelope(&self, header: &Header) -> Envelope {
        let Header { tag, context, meta, length, order, .. } = *header;
        Envelope { from: self.tid, tag, context, meta, length, order: Some(order) }
    }

    /// Whether there is something to push that only waits for room in a link.
    pub(crate) fn has_output(&self, credit: u64) -> bool {
        self.outbox.has_output(self.credit.outstanding < credit)
    }

    /// Sends that are not over, or whose data is still kept here.
    pub(crate) fn unfinished(&self) -> usize {
        self.outbox.sends() + self.offers.all.len()
    }

    /// This task leaves: receivers must fetch offered data now.
    pub(crate) fn ask_to_fetch(&mut self) {
        let may_wait = |(_, offered): &(&u64, &Offered)| offered.header.flags & FETCH_AT_ONCE == 0;
        let mut waiting: Vec<_> = self.offers.all.iter().filter(may_wait).collect();
        // In the order sent, and the same in every run.
        waiting
            .sort_unstable_by_key(|(_, offered)| offered.header.order.wrapping_sub(self.outbox.next_order));
        for (&cookie, &Offered { route, .. }) in waiting {
            self.outbox.answer(route, Kind::Fetch, cookie, 0);
        }
    }

    /// The receiver asks for the data of an offer: it goes to its slot.
    pub(crate) fn clear(&mut self, cookie: u64, slot: u32, never: impl FnOnce() -> RequestId) {
        let Some(Offered { request, source, header, cost, .. }) = self.offers.all.remove(&cookie) else {
            return;
        };
        let request = request.unwrap_or_else(never);
        let header = Header { kind: Kind::Answer, order: slot, flags: 0, ..header };
        self.outbox.cleared.push_back(Pending {
            request,
            header,
            source,
            sent: 0,
            offer: false,
            owned: true,
            handed: false,
            cost,
            group: None,
        });
    }
}

/// A length comes from a peer, and may be wrong. A length that is larger than any memory is reduced, so that sums of
/// lengths do not overflow.
#[inline]
pub(crate) fn sensible(header: &Header) -> Header {
    const LONGEST: u64 = 1 << 47;
    Header { length: header.length.min(LONGEST), ..*header }
}
