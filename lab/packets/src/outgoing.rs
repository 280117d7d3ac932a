//! The sender's side of a conversation: one message under way, others behind it.

use super::Now;
use super::header::{Header, Kind, fragments};
use containers::Error;
use std::collections::VecDeque;

/// After so long without an answer the receiver is asked again; then after twice as long, and so on.
const PATIENCE: Now = 2_000;
/// The longest pause is so many times as long.
const MOST_DOUBLINGS: u32 = 6;

/// One message by blast.
struct Blast {
    header: Header,
    data: Vec<u8>,
    /// Which fragments the receiver does not have, as far as it has told.
    missing: Vec<u32>,
    ask_at: Now,
    tries: u32,
}

/// Messages to one container.
pub(super) struct Outgoing<A> {
    pub(super) to: A,
    number: u32,
    container: u32,
    next: u32,
    /// Datagrams have numbers of their own: the receiver waits for none of them.
    next_datagram: u32,
    under_way: Option<Blast>,
    waiting: VecDeque<(u32, Vec<u8>)>,
    failed: Option<Error>,
}

/// A packet to be sent: the header, and which part of the message.
pub(super) struct Part {
    pub(super) header: Header,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The part of a message that a fragment is.
pub(super) fn part(header: Header, fragment: u32, size: usize) -> Part {
    let from = fragment as usize * size;
    let to = (from + size).min(header.length as usize);
    Part { header: Header { fragment, ..header }, from, to }
}

impl<A: Copy> Outgoing<A> {
    pub(super) fn new(to: A, number: u32, container: u32) -> Outgoing<A> {
        let (under_way, waiting, failed) = (None, VecDeque::new(), None);
        Outgoing { to, number, container, next: 0, next_datagram: 0, under_way, waiting, failed }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.under_way.is_none() && self.waiting.is_empty()
    }

    pub(super) fn failure(&self) -> Option<&Error> {
        self.failed.as_ref()
    }

    /// The header of the next message.
    pub(super) fn number(&mut self, kind: Kind, call: u32, length: usize, fragment: usize) -> Header {
        let next = if kind == Kind::Datagram { &mut self.next_datagram } else { &mut self.next };
        let sequence = *next;
        *next = next.wrapping_add(1);
        Header {
            kind,
            conversation: self.number,
            sequence,
            container: self.container,
            call,
            fragment: 0,
            fragments: fragments(length, fragment) as u32,
            length: length as u32,
        }
    }

    /// Begins with a message whose parts were sent already, out of the program's own memory, where nothing is lost.
    pub(super) fn was_sent(&mut self, header: Header) {
        self.under_way =
            Some(Blast { header, data: Vec::new(), missing: Vec::new(), ask_at: Now::MAX, tries: 0 });
    }

    pub(super) fn push(&mut self, call: u32, data: &[u8]) {
        self.waiting.push_back((call, data.to_vec()));
    }

    /// What is to be sent now. The parts are of [`Outgoing::data`].
    pub(super) fn due(&mut self, now: Now, fragment: usize, reliable: bool) -> Vec<Part> {
        if self.failed.is_some() {
            return Vec::new();
        }
        if self.under_way.is_none() {
            let Some((call, data)) = self.waiting.pop_front() else { return Vec::new() };
            let header = self.number(Kind::Reliable, call, data.len(), fragment);
            let ask_at = if reliable { Now::MAX } else { now + PATIENCE };
            self.under_way = Some(Blast { header, data, missing: Vec::new(), ask_at, tries: 0 });
            return (0..header.fragments).map(|at| part(header, at, fragment)).collect();
        }
        let Some(blast) = &mut self.under_way else { return Vec::new() };
        if !blast.missing.is_empty() {
            blast.ask_at = now + PATIENCE;
            let again = std::mem::take(&mut blast.missing);
            return again.into_iter().map(|at| part(blast.header, at, fragment)).collect();
        }
        if now < blast.ask_at {
            return Vec::new();
        }
        // No answer: the last fragment asks for one.
        blast.tries += 1;
        blast.ask_at = now + (PATIENCE << blast.tries.min(MOST_DOUBLINGS));
        vec![part(blast.header, blast.header.fragments - 1, fragment)]
    }

    /// The data of the message under way.
    pub(super) fn data(&self) -> &[u8] {
        self.under_way.as_ref().map_or(&[], |blast| &blast.data)
    }

    /// When `due` may have something again.
    pub(super) fn wakes_at(&self) -> Option<Now> {
        self.under_way.as_ref().map(|blast| blast.ask_at).filter(|at| *at != Now::MAX)
    }

    /// Asks again at once.
    pub(super) fn hurry(&mut self, now: Now) {
        if let Some(blast) = &mut self.under_way
            && blast.ask_at != Now::MAX
        {
            blast.ask_at = now;
        }
    }

    /// What the receiver says of the message under way.
    pub(super) fn hear(&mut self, answer: &Header, bits: &[u8]) {
        let Some(blast) = &mut self.under_way else { return };
        if answer.sequence != blast.header.sequence {
            return;
        }
        match answer.kind {
            Kind::Answer if answer.fragment >= blast.header.fragments => self.under_way = None,
            Kind::Answer => {
                let first = answer.fragment;
                let has = |at: u32| {
                    let bit = (at - first) as usize;
                    bits.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
                };
                // The last fragment goes last, and asks.
                blast.missing = (first..blast.header.fragments).filter(|at| !has(*at)).collect();
                if blast.missing.last() != Some(&(blast.header.fragments - 1)) {
                    blast.missing.push(blast.header.fragments - 1);
                }
                blast.tries = 0;
            }
            Kind::Gone => self.fail(Error::Gone),
            // It is there, and waits for room: no hurry.
            _ => blast.tries = 1,
        }
    }

    pub(super) fn fail(&mut self, why: Error) {
        self.under_way = None;
        self.waiting.clear();
        self.failed = Some(why);
    }
}
