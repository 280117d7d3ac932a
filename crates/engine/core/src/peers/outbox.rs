//! The messages that wait for the links of one peer, in order.

use crate::ids::RequestId;
use crate::memory::Source;
use crate::sending::credit::PLACE;
use parvum_transport::Route;
use parvum_wire::{Header, Kind};
use std::collections::VecDeque;
use std::sync::Arc;

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

/// A message to several peers. The next part leaves only after all peers have got this part.
pub(crate) struct Group {
    /// Counts such messages of this task.
    pub(crate) number: u64,
    /// The peers, by index.
    pub(crate) members: Vec<u32>,
}

/// A frame that only answers.
pub(crate) struct Answer {
    pub(crate) route: Route,
    pub(crate) header: Header,
}

/// The waiting messages.
#[derive(Default)]
pub(crate) struct Outbox {
    /// The next message sent to the peer gets this number.
    pub(crate) next_order: u32,
    pub(crate) answers: VecDeque<Answer>,
    /// Data of cleared offers, to be sent before anything that needs credit.
    pub(crate) cleared: VecDeque<Pending>,
    /// The message being handed over, and the route it began on.
    pub(crate) current: Option<(Route, Pending)>,
    pub(crate) queue: VecDeque<Pending>,
    /// Memory of the sends in `queue`, their places in it included.
    pub(crate) queued: u64,
    /// The links that took frames that have not left yet: a bit for each route's place.
    pub(crate) unflushed: u8,
    /// Already among the peers with something to push.
    pub(crate) listed: bool,
}

impl Outbox {
    /// Whether nothing waits to be handed over, so that a message may go at once.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.current.is_none() && self.cleared.is_empty() && self.answers.is_empty()
    }

    /// Whether there is something to push that only waits for room in a link; `may_begin` is true if there is credit
    /// for one more message.
    pub(crate) fn has_output(&self, may_begin: bool) -> bool {
        let held = self.current.is_some()
            || !self.cleared.is_empty()
            || !self.answers.is_empty()
            || self.unflushed != 0;
        held || (!self.queue.is_empty() && may_begin)
    }

    /// Whether what [`Outbox::has_output`] is about waits for the link of that route; messages begin on the `usual` one.
    pub(crate) fn waits_for(&self, route: Route, usual: Route) -> bool {
        let answer = self.answers.front().map(|answer| answer.route);
        let next = answer.or(self.current.as_ref().map(|(begun, _)| *begun)).unwrap_or(usual);
        next == route || self.unflushed & 1 << route.place() != 0
    }

    /// Sends that were not handed over in full.
    pub(crate) fn sends(&self) -> usize {
        self.queue.len() + self.cleared.len() + usize::from(self.current.is_some())
    }

    /// Puts an answer behind the others.
    #[inline]
    pub(crate) fn answer(&mut self, route: Route, kind: Kind, cookie: u64, slot: u32) {
        self.say(route, Header::answer(kind, cookie, slot));
    }

    /// As [`Outbox::answer`], with any header.
    #[inline]
    pub(crate) fn say(&mut self, route: Route, header: Header) {
        self.answers.push_back(Answer { route, header });
    }

    /// Adds a message after the waiting messages.
    pub(crate) fn enqueue(&mut self, pending: Pending) {
        self.queued += pending.header.length + PLACE;
        self.queue.push_back(pending);
    }

    /// The next message whose turn it is.
    pub(crate) fn dequeue(&mut self) -> Option<Pending> {
        let next = self.queue.pop_front()?;
        self.queued -= next.header.length + PLACE;
        Some(next)
    }

    /// Takes back the message that was put in line last, as if it had never been. The number that it had is the next one's.
    pub(crate) fn take_back(&mut self) -> Option<Pending> {
        let last = self.queue.pop_back()?;
        self.queued -= last.header.length + PLACE;
        self.next_order = last.header.order;
        Some(last)
    }

    /// The send of that request, if it was not handed over in full. Mostly it is the last.
    pub(crate) fn find(&mut self, request: RequestId) -> Option<&mut Pending> {
        let current = self.current.as_mut().map(|(_, pending)| pending);
        let mut all = current.into_iter().chain(&mut self.cleared).chain(self.queue.iter_mut().rev());
        all.find(|pending| pending.request == request)
    }

    /// Drops everything. The requests of the sends among it.
    pub(crate) fn clear(&mut self) -> Vec<RequestId> {
        let waiting = self.queue.drain(..).chain(self.cleared.drain(..));
        let mut over: Vec<_> = waiting.map(|pending| pending.request).collect();
        over.extend(self.current.take().map(|(_, pending)| pending.request));
        self.answers.clear();
        self.unflushed = 0;
        self.queued = 0;
        over
    }
}
