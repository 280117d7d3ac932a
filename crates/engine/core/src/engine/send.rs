//! Sending: a message goes into its link at once, or is queued as [`policy`] decides.
//!
//! ```text
//! Eager       Start                              short, the link has room, the receiver has credit
//! OfferLoan   Offer, copy into memory of the link; the receiver follows ... Done
//! Offer       Offer ... the receiver reads, both ends if it is very long ... Done
//!             Offer ... Clear, Answer, More      if the kernel lets nobody read
//! OfferCopy   the same, of a copy
//! Stream      Start, More, More ...              as fast as the link takes frames
//! StreamCopy  the same; what does not leave at once is copied
//! ```

use super::Engine;
use super::scattered::{fill, gathered};
use crate::ids::RequestId;
use crate::ledger::{Counter, PairCounters};
use crate::memory::Source;
use crate::peers::{OWN_PEER, Peer, PeerState, Pending, is_awaited, is_wanted_in_place};
use crate::requests::{Outcome, State};
use crate::sending::credit::OVERHEAD;
use crate::sending::outgoing::{Buffering, Outgoing, SendError, Sent};
use crate::sending::policy::{self, Decision};
use crate::sending::scattered::Scattered;
use parvum_transport::{Gather, Limits};
use parvum_wire::frame::{DISCARD_UNLESS_POSTED, FETCH_AT_ONCE, KEPT_BY_SENDER};
use parvum_wire::{Header, Kind, Tid};

/// The place of the task itself among its peers: between a task and itself there is no credit.
const OWN: usize = OWN_PEER as usize;

/// Counts a message of this length, and makes its header for the receiver.
#[inline(always)]
pub(super) fn header(state: &PeerState, message: &Outgoing<'_>, length: usize) -> Header {
    let ledger = state.ledger(state.route);
    ledger.add(Counter::Sent, 1);
    ledger.add(Counter::SentBytes, length as u64);
    Header {
        kind: Kind::Start,
        flags: match message.buffering {
            Buffering::OrDiscard => DISCARD_UNLESS_POSTED,
            Buffering::SenderIfUnposted => KEPT_BY_SENDER,
            _ => 0,
        },
        tag: message.tag,
        context: message.context,
        length: length as u64,
        meta: message.meta,
        order: state.outbox.next_order,
    }
}

/// Counts the protocol of a message that is not eager.
fn count_protocol(ledger: PairCounters, decision: Decision, length: u64, limits: Limits) {
    let counter = match decision {
        Decision::OfferLoan => Counter::SentCopied,
        Decision::Offer | Decision::OfferCopy => Counter::SentInPlace,
        // A short message that only waits for room in the link is still one frame.
        Decision::Stream | Decision::StreamCopy if length <= limits.frame as u64 => return,
        Decision::Stream | Decision::StreamCopy => Counter::SentCopied,
    };
    ledger.add(counter, 1);
    ledger.add(Counter::LongBytes, length);
    if counter == Counter::SentInPlace {
        ledger.add(Counter::InPlaceBytes, length);
    }
}

impl Engine {
    /// Starts to send a message.
    ///
    /// # Safety
    /// When the result is [`Sent::Later`] and `keep` is `None`, the memory of the pieces must stay valid and unchanged
    /// until the request is over. `keep` must own the memory of the pieces.
    #[inline(always)]
    pub unsafe fn send(&mut self, message: Outgoing<'_>) -> Result<Sent, SendError> {
        let Some(index) = self.peers.index_of(message.to) else { return Err(self.no_way_to(message.to)) };
        let Peer { links, state } = &mut self.peers[index];
        let (Some(limits), Some(link)) = (state.limits[state.route.place()], &mut links[state.route.place()])
        else {
            return Err(SendError::NotAttached(message.to));
        };
        let gather = Gather::new(message.pieces);
        let asks = message.buffering == Buffering::SenderIfUnposted;
        if asks && state.credit.outstanding + state.outbox.queued >= self.core.settings.credit && index != OWN
        {
            return Err(SendError::Full(message.to));
        }
        let ledger = state.ledger(state.route);
        let header = header(state, &message, gather.len());
        self.core.record_sent(message.to, state.route, &header);

        if index == OWN
            && let [data] = message.pieces
            && data.len() <= limits.eager
            && state.outbox.is_idle()
            && self.core.meet_own(state, &header, data)
        {
            state.outbox.next_order = state.outbox.next_order.wrapping_add(1);
            return Ok(Sent::Now);
        }
        let at_once = gather.len() <= limits.eager
            && gather.len() <= limits.frame
            && state.credit.outstanding < self.core.settings.credit
            && state.outbox.is_idle()
            && policy::goes_at_once(message.buffering, message.completion, state.offers.is_prompt, || {
                is_awaited(&**link, &header)
            });
        if at_once && link.send(&header, gather).is_ok() {
            state.outbox.next_order = state.outbox.next_order.wrapping_add(1);
            if index != OWN {
                state.credit.outstanding += header.length + OVERHEAD;
            }
            ledger.add(Counter::CopiedIn, header.length);
            // Looked at only now: by the time that the peer's line has come here, the peer has the message.
            let unseen = asks && !is_awaited(&**link, &header);
            if asks {
                state.offers.is_prompt = !unseen;
            }
            if limits.buffered && link.flush() != Ok(true) {
                self.flush_later(index, header);
            }
            if unseen {
                self.keep_what_went(index, header, gather);
            }
            return Ok(Sent::Now);
        }
        // SAFETY: the caller's promise is the one that `queue` asks for.
        Ok(unsafe { self.queue(index, header, message, None, limits) })
    }

    /// The reason why sends to a task that is not joined fail.
    #[cold]
    pub(super) fn no_way_to(&self, peer: Tid) -> SendError {
        if self.is_gone(peer) { SendError::Gone(peer) } else { SendError::NotAttached(peer) }
    }

    /// The link took the message and keeps some of it back: nothing goes before that has left.
    #[cold]
    fn flush_later(&mut self, index: usize, header: Header) {
        let request = self.core.requests.insert(State::Sending, false);
        let state = &mut self.peers[index].state;
        let source = Source::nothing();
        let pending = Pending {
            request,
            header,
            source,
            sent: 0,
            offer: false,
            owned: false,
            handed: true,
            cost: 0,
            group: None,
        };
        state.outbox.current = Some((state.route, pending));
        self.core.requests.finish(request, Outcome::Sent);
        self.core.requests.take(request);
        self.core.list_for_push(&mut self.peers, index);
    }

    /// Queues what could not go at once, and pushes. `data` is copied now, and stands in for the pieces.
    ///
    /// # Safety
    /// As for [`Engine::send`].
    #[cold]
    pub(super) unsafe fn queue(
        &mut self,
        index: usize,
        header: Header,
        message: Outgoing<'_>,
        data: Option<&dyn Scattered>,
        limits: Limits,
    ) -> Sent {
        let length = header.length as usize;
        let about = policy::Message {
            length,
            buffering: message.buffering,
            completion: message.completion,
            is_kept: message.keep.is_some() || data.is_some(),
            is_one_piece: message.pieces.len() == 1,
        };
        let reads_in_place = policy::may_go_in_place(&about) && self.reads_in_place(index, &header, limits);
        let receiver = policy::Receiver {
            limits,
            is_self: index == OWN,
            lent: self.peers[index].lent(),
            reads_in_place,
        };
        let loan = match policy::borrows(&about, &receiver) {
            true => self.peers[index].lend(length),
            false => None,
        };
        let decision = policy::decide(&about, &receiver, loan.is_some());
        let route = self.peers[index].state.route;
        let ledger = self.peers[index].state.ledger(route);
        let mut source = if let Some(loan) = &loan {
            ledger.add(Counter::BufferedAtSender, header.length);
            Source::lent(loan.clone(), length)
        } else if let Some(data) = data {
            ledger.add(Counter::BufferedAtSender, header.length);
            Source::copied(gathered(data, &self.core.kept))
        } else {
            // SAFETY: the memory outlives the request or belongs to the keeper,
            // as the caller promised; the source is dropped when the request is over,
            // or has a copy of its own before the caller's memory is given back.
            unsafe { Source::new(message.pieces, message.keep.clone()) }
        };
        if decision == Decision::OfferCopy {
            ledger.add(Counter::BufferedAtSender, header.length);
            source.own_from(0, &self.core.kept);
        }
        count_protocol(ledger, decision, header.length, limits);
        let alone = policy::ends_alone(&about, decision);
        let request = self.core.requests.insert(State::Sending, false);
        let state = &mut self.peers[index].state;
        state.outbox.next_order = state.outbox.next_order.wrapping_add(1);
        let fetch = if policy::is_fetched_at_once(&about, decision) { FETCH_AT_ONCE } else { 0 };
        let room = state.credit.outstanding + state.outbox.queued < self.core.settings.credit
            || (self.peers[index].state.credit.keeps && self.keeps_for(index, header.length));
        let state = &mut self.peers[index].state;
        state.outbox.enqueue(Pending {
            request,
            header: Header { flags: header.flags | fetch, ..header },
            source,
            sent: 0,
            offer: decision.is_offer(),
            owned: alone,
            handed: false,
            // Only this task itself could return credit for it.
            cost: if index == OWN {
                0
            } else if policy::takes_memory(&about, decision) {
                OVERHEAD + header.length
            } else {
                OVERHEAD
            },
            group: None,
        });
        if state.credit.outstanding >= self.core.settings.credit {
            ledger.add(Counter::CreditStalls, 1);
        }
        self.core.push(&mut self.peers, index);
        if let Some(loan) = loan {
            // The receiver may be reading behind us.
            match data {
                _ if length >= self.core.leaves_copies_of => self.core.unfilled = Some(loan),
                Some(data) => fill(&*loan, data),
                None => message.pieces.iter().for_each(|piece| loan.fill(piece)),
            }
        } else if decision == Decision::StreamCopy {
            // The link takes what it can straight from the program.
            self.own_rest(index, request);
        }
        let sent = self.outcome_so_far(request, alone && room);
        self.wind_up();
        sent
    }

    /// Whether the receiver waits for the message, and has found that messages of this length come sooner in place. The
    /// receiver then reads an offered message at once. The sender helps, and one copy is enough. If the receiver does not wait
    /// for a message, the engine avoids an offer in place, because its sender would have to wait.
    fn reads_in_place(&mut self, index: usize, header: &Header, limits: Limits) -> bool {
        if !limits.single_copy || header.length <= limits.eager as u64 {
            return false;
        }
        let peer = &mut self.peers[index];
        let Peer { links, state } = peer;
        let Some(link) = &links[state.route.place()] else { return false };
        let is_wanted = || is_wanted_in_place(&**link, header);
        let begins_look =
            state.incoming.learned.as_mut().is_some_and(|learned| learned.begins_look(header.length));
        if is_wanted() {
            return true;
        }
        // About a twentieth of the time of a copy: a small part of what a copy less saves.
        let looks = (header.length >> 12).clamp(32, 256);
        let found = begins_look
            && (0..looks).any(|_| {
                std::hint::spin_loop();
                is_wanted()
            });
        if let (true, Some(learned)) = (begins_look, &mut state.incoming.learned) {
            learned.ends_look(found);
        }
        found
    }

    /// How far a send came that has just been pushed. A request that the engine may finish alone counts as complete.
    pub(super) fn outcome_so_far(&mut self, request: RequestId, alone: bool) -> Sent {
        match self.core.requests.take(request) {
            Some(Outcome::Sent) => Sent::Now,
            Some(other) => {
                // The peer went while we pushed: let the caller learn it from the request.
                let again = self.core.requests.insert(State::Sending, false);
                self.core.requests.finish(again, other);
                Sent::Later(again)
            }
            // The data belongs to the engine, and there is room for it, so the caller need not wait.
            None if alone => {
                self.core.requests.finish(request, Outcome::Sent);
                self.core.requests.take(request);
                Sent::Now
            }
            None => Sent::Later(request),
        }
    }

    /// Copies what has not left yet of a message that was sent a moment ago.
    pub(super) fn own_rest(&mut self, index: usize, request: RequestId) {
        let state = &mut self.peers[index].state;
        let ledger = state.ledger(state.route);
        let Some(Pending { source, sent, .. }) = state.outbox.find(request) else { return };
        ledger.add(Counter::BufferedAtSender, (source.length - *sent) as u64);
        source.own_from(*sent, &self.core.kept);
    }
}
