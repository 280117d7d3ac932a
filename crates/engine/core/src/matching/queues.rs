//! Matching: receives that wait for messages, and messages that wait for receives.

use super::bins::{Key, MANY, ManyPosted, ManyUnexpected, Order};
use super::claims::Claims;
use crate::ids::{MessageId, RequestId};
use crate::ledger::Counters;
use crate::receiving::message::{Block, Envelope, Pattern};

use parvum_transport::Route;
use parvum_wire::frame::Offer;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

pub(crate) enum Body {
    /// All data is here.
    Whole(Block),
    /// Data is still arriving; `claimed` is the receive that waits for the rest.
    Filling { block: Block, got: usize, claimed: Option<RequestId> },
    /// The data is with the sender.
    Offered { offer: Offer, route: Route },
    /// There was no memory for the data when it came: only that it came is known.
    NoMemory,
    /// The data is lost with its sender, after a call had taken the message out.
    Gone,
}

pub(crate) struct Message {
    pub(crate) envelope: Envelope,
    /// Index of the peer it came from.
    pub(crate) peer: u32,
    pub(crate) flags: u16,
    pub(crate) body: Body,
    /// Which of all messages that became visible to receives it was; 0 as long as it has not.
    pub(crate) arrival: u64,
    /// Parts it from others of the same arrival, which were put back before the last of them: the lowest goes first.
    pub(crate) put_back: u64,
    /// Its entry for tools, while it waits for a receive.
    pub(crate) window: Option<u8>,
}

impl Message {
    /// A message that no receive can see yet.
    pub(crate) fn new(envelope: Envelope, peer: u32, flags: u16, body: Body) -> Message {
        Message { envelope, peer, flags, body, arrival: 0, put_back: u64::MAX, window: None }
    }

    /// Its position among all messages.
    pub(crate) fn order(&self) -> Order {
        (self.arrival, self.put_back)
    }

    /// Bytes of data that lie in this task's memory.
    pub(crate) fn held_here(&self) -> u64 {
        match &self.body {
            Body::Whole(_) | Body::Filling { .. } => self.envelope.length,
            Body::Offered { .. } | Body::NoMemory | Body::Gone => 0,
        }
    }
}

/// A receive that waits for a message.
#[derive(Clone, Copy)]
struct Posted {
    /// Counts receives in the order posted.
    turn: u64,
    pattern: Pattern,
    id: RequestId,
}

/// Receives in the order posted, and unexpected messages in the order arrived.
#[derive(Default)]
pub(crate) struct Queues {
    /// Receives that take a message before any other does: handlers.
    urgent: Vec<Posted>,
    posted: VecDeque<Posted>,
    /// All posted receives, when there are many: `posted` is empty then.
    many_posted: Option<Box<ManyPosted<RequestId>>>,
    /// The turns of those, to withdraw them by their ids.
    turns_of: FxHashMap<RequestId, u64>,
    /// The turn of the receive posted last.
    turns: u64,
    unexpected: VecDeque<MessageId>,
    /// All unexpected messages, when there are many: `unexpected` is empty then.
    many_unexpected: Option<Box<ManyUnexpected<MessageId>>>,
    /// Entries that were looked at, for the tests.
    #[cfg(test)]
    pub(crate) looked: std::cell::Cell<usize>,
    messages: Vec<(u32, Option<Message>)>,
    free: Vec<u32>,
    /// Messages that were taken out of matching and are not received yet.
    extracted: Vec<MessageId>,
    /// Receives that have claimed a message and not copied it.
    pub(crate) claims: Claims,
    /// How many messages have become visible to receives, ever.
    pub(crate) arrivals: u64,
    /// Bytes in unexpected messages, kept here as a sum.
    pub(crate) bytes_here: u64,
    /// Windows in use, one bit each.
    shown: u64,
}

impl Queues {
    /// The turn of a receive that is about to be posted.
    pub(crate) fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Posts a receive after the receives of earlier turns. This is the last place, unless its message was lost and it
    /// waits again.
    pub(crate) fn post(&mut self, turn: u64, pattern: Pattern, id: RequestId, urgent: bool) {
        let posted = Posted { turn, pattern, id };
        if urgent {
            let at = self.urgent.partition_point(|other| other.turn < turn);
            self.urgent.insert(at, posted);
        } else if let Some(many) = &mut self.many_posted {
            many.insert((turn, 0), pattern, id);
            self.turns_of.insert(id, turn);
        } else if self.posted.back().is_none_or(|last| last.turn < turn) {
            self.posted.push_back(posted);
            if self.posted.len() > MANY {
                self.put_posted_into_bins();
            }
        } else {
            let at = self.posted.partition_point(|other| other.turn < turn);
            self.posted.insert(at, posted);
        }
    }

    #[cold]
    fn put_posted_into_bins(&mut self) {
        let mut many = Box::new(ManyPosted::new());
        for Posted { turn, pattern, id } in self.posted.drain(..) {
            many.insert((turn, 0), pattern, id);
            self.turns_of.insert(id, turn);
        }
        self.many_posted = Some(many);
    }

    /// Takes the receive of that turn out of the bins.
    fn take_from_bins(&mut self, order: Order) -> Option<RequestId> {
        let many = self.many_posted.as_mut()?;
        let id = many.remove(order)?;
        if many.len() == 0 {
            self.many_posted = None;
        }
        self.turns_of.remove(&id);
        Some(id)
    }

    /// Whether the queues have neither posted receives nor visible messages.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.posted.is_empty()
            && self.unexpected.is_empty()
            && self.urgent.is_empty()
            && self.many_posted.is_none()
            && self.many_unexpected.is_none()
    }

    /// Takes the first posted receive that wants such a message.
    #[inline]
    pub(crate) fn match_posted(&mut self, envelope: &Envelope) -> Option<RequestId> {
        if let Some(at) = self.urgent.iter().position(|posted| posted.pattern.matches(envelope)) {
            return Some(self.urgent.remove(at).id);
        }
        if let Some(many) = &self.many_posted {
            let oldest = many.oldest_for(envelope, || self.count_look())?;
            return self.take_from_bins(oldest);
        }
        let at = self.posted.iter().position(|posted| {
            self.count_look();
            posted.pattern.matches(envelope)
        })?;
        self.posted.remove(at).map(|posted| posted.id)
    }

    /// An entry is looked at.
    #[inline(always)]
    fn count_look(&self) {
        #[cfg(test)]
        self.looked.set(self.looked.get() + 1);
    }

    /// Takes a receive out of the posted ones; whether it was there.
    pub(crate) fn withdraw(&mut self, id: RequestId) -> bool {
        if let Some(&turn) = self.turns_of.get(&id) {
            return self.take_from_bins((turn, 0)).is_some();
        }
        let before = self.urgent.len() + self.posted.len();
        self.urgent.retain(|posted| posted.id != id);
        self.posted.retain(|posted| posted.id != id);
        self.urgent.len() + self.posted.len() < before
    }

    /// Receives that only `peer` could satisfy.
    pub(crate) fn posted_for(&self, peer: parvum_wire::Tid) -> Vec<RequestId> {
        let only_from = |posted: &Posted| (posted.pattern.from == Some(peer)).then_some(posted.id);
        let many = self.many_posted.iter().flat_map(|many| many.iter());
        let in_bins = many.filter(|(_, pattern, _)| pattern.from == Some(peer)).map(|(_, _, id)| id);
        self.urgent.iter().chain(&self.posted).filter_map(only_from).chain(in_bins).collect()
    }

    /// The oldest receive that only `peer` could satisfy, handlers apart.
    pub(crate) fn first_posted_for(&self, peer: parvum_wire::Tid) -> Option<&Pattern> {
        if let Some(many) = &self.many_posted {
            return many.first_for(peer);
        }
        self.posted.iter().map(|posted| &posted.pattern).find(|pattern| pattern.from == Some(peer))
    }

    /// Stores a message without making it visible to receives.
    pub(crate) fn store(&mut self, message: Message) -> MessageId {
        self.bytes_here += message.held_here();
        match self.free.pop() {
            Some(index) => {
                let slot = &mut self.messages[index as usize];
                slot.1 = Some(message);
                MessageId { index, generation: slot.0 }
            }
            None => {
                self.messages.push((0, Some(message)));
                MessageId { index: self.messages.len() as u32 - 1, generation: 0 }
            }
        }
    }

    /// Counts a message that has come.
    pub(crate) fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Makes a stored message visible to receives, after all that already are.
    pub(crate) fn enqueue(&mut self, id: MessageId, ledger: &Counters) {
        let order = self.next_arrival();
        let window = (!self.shown).trailing_zeros() as usize;
        let Some(message) = self.get_mut(id) else { return };
        message.arrival = order;
        message.put_back = u64::MAX;
        let key = Key::of_message(&message.envelope);
        match &mut self.many_unexpected {
            Some(many) => many.insert((order, u64::MAX), key, id),
            None => {
                self.unexpected.push_back(id);
                if self.unexpected.len() > MANY {
                    self.put_unexpected_into_bins();
                }
            }
        }
        let Some(message) = self.get_mut(id) else { return };
        if window >= ledger.windows() {
            return;
        }
        let Envelope { from, tag, context, length, .. } = message.envelope;
        message.window = Some(window as u8);
        let who = u64::from(from.0 as u32) | u64::from(tag as u32) << 32;
        ledger.show(window, [who, u64::from(context) | 1 << 63, length, order]);
        self.shown |= 1 << window;
    }

    #[cold]
    fn put_unexpected_into_bins(&mut self) {
        let mut many = Box::new(ManyUnexpected::new());
        for id in std::mem::take(&mut self.unexpected) {
            if let Some(message) = self.get(id) {
                many.insert(message.order(), Key::of_message(&message.envelope), id);
            }
        }
        self.many_unexpected = Some(many);
    }

    /// Unexpected messages in order of arrival.
    fn visible(&self) -> impl Iterator<Item = MessageId> {
        let in_bins = self.many_unexpected.iter().flat_map(|many| many.iter());
        self.unexpected.iter().copied().chain(in_bins)
    }

    /// A message is not shown any more.
    fn close_window(&mut self, id: MessageId, ledger: &Counters) {
        if let Some(window) = self.get_mut(id).and_then(|message| message.window.take()) {
            self.shown &= !(1 << window);
            ledger.show(window.into(), [0; 4]);
        }
    }

    /// How many unexpected messages there are.
    pub(crate) fn waiting(&self) -> usize {
        self.many_unexpected.as_ref().map_or(self.unexpected.len(), |many| many.len())
    }

    /// The first unexpected message that `wanted` accepts, in order of arrival.
    #[inline]
    pub(crate) fn find(&self, mut wanted: impl FnMut(MessageId, &Envelope) -> bool) -> Option<MessageId> {
        self.visible().find(|&id| self.get(id).is_some_and(|message| wanted(id, &message.envelope)))
    }

    /// The first unexpected message that matches, in order of arrival.
    #[inline]
    pub(crate) fn find_match(&mut self, pattern: &Pattern) -> Option<MessageId> {
        if let Some(mut many) = self.many_unexpected.take() {
            let matches = |id: &MessageId| {
                self.count_look();
                self.get(*id).is_some_and(|message| pattern.matches(&message.envelope))
            };
            let found = many.alike(pattern).find(matches);
            self.many_unexpected = Some(many);
            return found;
        }
        self.unexpected.iter().copied().find(|&id| {
            self.count_look();
            self.get(id).is_some_and(|message| pattern.matches(&message.envelope))
        })
    }

    pub(crate) fn get(&self, id: MessageId) -> Option<&Message> {
        let (generation, message) = self.messages.get(id.index as usize)?;
        message.as_ref().filter(|_| *generation == id.generation)
    }

    pub(crate) fn get_mut(&mut self, id: MessageId) -> Option<&mut Message> {
        let (generation, message) = self.messages.get_mut(id.index as usize)?;
        message.as_mut().filter(|_| *generation == id.generation)
    }

    /// Hides a message from other receives; it stays stored.
    pub(crate) fn hide(&mut self, id: MessageId, ledger: &Counters) {
        self.close_window(id, ledger);
        let order = self.get(id).map(Message::order);
        if let Some(many) = &mut self.many_unexpected {
            if order.is_some_and(|order| many.remove(order)) && many.len() == 0 {
                self.many_unexpected = None;
            }
        } else if self.unexpected.front() == Some(&id) {
            self.unexpected.pop_front();
        } else if let Some(at) = self.unexpected.iter().position(|queued| *queued == id) {
            self.unexpected.remove(at);
        }
    }

    /// Makes a hidden message visible again in its place, before later messages.
    pub(crate) fn unhide(&mut self, id: MessageId) {
        let Some(message) = self.get(id) else { return };
        let (own, key) = (message.order(), Key::of_message(&message.envelope));
        if let Some(many) = &mut self.many_unexpected {
            return many.insert(own, key, id);
        }
        let order = |id: MessageId| self.get(id).map_or((0, 0), Message::order);
        let at = self.unexpected.partition_point(|&other| order(other) < own);
        self.unexpected.insert(at, id);
    }

    /// Takes a visible message out of matching: only a call with its id can receive it.
    pub(crate) fn extract(&mut self, id: MessageId, ledger: &Counters) {
        self.hide(id, ledger);
        self.extracted.push(id);
    }

    /// Whether the message was taken out, and neither received nor put back.
    pub(crate) fn is_extracted(&self, id: MessageId) -> bool {
        self.extracted.contains(&id)
    }

    /// The data of a message that was taken out cannot be had any more.
    pub(crate) fn lose_extracted(&mut self, id: MessageId) {
        let Some(message) = self.get_mut(id) else { return };
        let held = message.held_here();
        message.body = Body::Gone;
        self.bytes_here -= held;
    }

    /// The message is not kept apart any more. Whether it was.
    pub(crate) fn end_extraction(&mut self, id: MessageId) -> bool {
        let at = self.extracted.iter().position(|other| *other == id);
        at.map(|at| self.extracted.swap_remove(at)).is_some()
    }

    /// Takes a message out of the store.
    pub(crate) fn remove(&mut self, id: MessageId) -> Option<Message> {
        let slot = self.messages.get_mut(id.index as usize).filter(|slot| slot.0 == id.generation)?;
        let message = slot.1.take()?;
        slot.0 = slot.0.wrapping_add(1);
        self.free.push(id.index);
        self.bytes_here -= message.held_here();
        Some(message)
    }

    /// Gives all messages of one peer to another.
    pub(crate) fn reassign(&mut self, peer: u32, to: u32) {
        let all = self.messages.iter_mut().filter_map(|(_, message)| message.as_mut());
        all.filter(|message| message.peer == peer).for_each(|message| message.peer = to);
    }

    /// Messages from one peer that are visible or were taken out.
    pub(crate) fn of_peer(&self, peer: u32) -> Vec<MessageId> {
        let is_from = |id: &MessageId| self.get(*id).is_some_and(|message| message.peer == peer);
        self.visible().chain(self.extracted.iter().copied()).filter(is_from).collect()
    }
}
