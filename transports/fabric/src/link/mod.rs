//! One end of a link: a connection of TCP, and the fabric as soon as both ends have it.
//!
//! The connection comes first. Over it each end says where it is on the fabric, and sends its frames there until it knows the same of the
//! peer. Then the end says that it switches, and sends all further frames over the fabric. The receiver takes fabric frames only after all
//! frames of the connection, so frames keep their order. The connection stays: it ends when the peer's process ends, which no fabric tells.

mod farewell;
mod receiving;
mod sending;

use crate::card::{Card, MARK, Note};
use crate::domain::{Domain, Filled, Prefix};
use crate::flow::{Incoming, Outgoing, WINDOW};
use crate::ofi::{BUFFER, FabricError, LONG_BUFFER};
use crate::secret::Secret;
use crate::unacknowledged::unacknowledged;
use farewell::{Ended, Leaving};
use parvum_tcp::TcpLink;
use parvum_tcp::sealed::AROUND;
use parvum_transport::{Gather, Limits, Link, Refused, Sink};
use parvum_wire::Header;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// The longest payload of one message.
const SHORT: usize = BUFFER - Prefix::SIZE - AROUND - Header::SIZE;
/// Up to this length, several messages are faster than a long payload, for which the receiver has to ask.
const SEVERAL: usize = 128 << 10;
const _: () = assert!(SEVERAL.div_ceil(SHORT) <= WINDOW as usize);
/// The limits of a link.
pub const LIMITS: Limits =
    Limits { frame: LONG_BUFFER, eager: LONG_BUFFER, single_copy: false, buffered: true };
/// The same, if frames are encrypted: each is one record.
const ENCRYPTED: Limits = Limits { frame: SHORT, eager: SHORT, ..LIMITS };

/// Looks at the fabric for one look at the connection, which then brings only the end.
const LOOKS: u32 = 32;
/// One end of a link.
pub struct FabricLink {
    connection: TcpLink,
    /// This end on the fabric.
    own: Option<Own>,
    peer: Option<Peer>,
    out: Outgoing,
    /// Frames that the fabric has taken.
    posted: u32,
    inn: Incoming,
    /// This end sends its frames over the fabric.
    sends_there: bool,
    /// The peer does.
    comes_there: bool,
    /// A note that the connection did not take yet.
    note: Option<Note>,
    /// Messages that have their place among all, and that the fabric did not take yet: what is behind the prefix.
    held: VecDeque<Vec<u8>>,
    /// How many long payloads were sent.
    longs: u32,
    /// A long payload that was announced, and that the fabric did not take yet.
    unsent: Option<(Filled, u32)>,
    /// The peer asks how many frames were taken.
    owes: bool,
    leaving: Leaving,
    /// Seals and opens, if the connection is encrypted.
    secret: Option<Secret>,
    /// The number of frames that the peer has sent before it left.
    left: Option<u32>,
    /// The connection has ended.
    ended: Option<Ended>,
    has_failed: bool,
    /// The fabric takes nothing more from this end, since then. Frames of the peer may still come.
    stuck: Option<Instant>,
    looks: u32,
    polls: u64,
    /// The test drops this end as if its process were killed.
    #[cfg(test)]
    is_killed: bool,
}

/// This end on the fabric.
struct Own {
    domain: Arc<Domain>,
    number: u32,
}

/// The other end on the fabric.
struct Peer {
    address: u64,
    link: u32,
    key: u64,
}

impl FabricLink {
    /// The link over a connection; all goes over the connection if this process has no fabric.
    pub fn new(
        connection: TcpLink,
        domain: Result<Arc<Domain>, FabricError>,
        secret: Option<Secret>,
    ) -> FabricLink {
        let own = domain.and_then(|domain| {
            let mut key = [0; 8];
            let no_key =
                |why: rustix::io::Errno| FabricError::Call { call: "getrandom", why: why.to_string() };
            rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty()).map_err(no_key)?;
            let key = u64::from_le_bytes(key);
            let mut shared = domain.turn();
            let number = shared.join(key)?;
            let (provider, address) =
                (shared.endpoint.provider().to_owned(), shared.endpoint.address().to_vec());
            drop(shared);
            Ok((Own { domain, number }, Card { provider, address, link: number, key }))
        });
        let (own, note) = match own {
            Ok((own, card)) => (Some(own), Note::Here(card)),
            Err(why) => (None, Note::from(&why)),
        };
        let mut link = FabricLink {
            connection,
            own,
            peer: None,
            out: Outgoing::default(),
            posted: 0,
            inn: Incoming::default(),
            sends_there: false,
            comes_there: false,
            note: Some(note),
            held: VecDeque::new(),
            longs: 0,
            unsent: None,
            owes: false,
            leaving: Leaving::No,
            secret,
            left: None,
            ended: None,
            has_failed: false,
            stuck: None,
            looks: 0,
            polls: 0,
            #[cfg(test)]
            is_killed: false,
        };
        link.send_note();
        link
    }

    /// Whether frames go over the fabric in both directions.
    #[cfg(test)]
    pub fn is_switched(&self) -> bool {
        self.sends_there && self.comes_there
    }

    /// This end is dropped as if its process were killed: the peer gets no note.
    #[cfg(test)]
    pub fn forget_to_part(&mut self) {
        self.is_killed = true;
    }

    /// Sends the note that waits. False: it still waits.
    fn send_note(&mut self) -> bool {
        let Some(note) = &self.note else { return true };
        let bytes = note.encode();
        let is_sent = match self.connection.send(&Header::answer(MARK, 0, 0), Gather::new(&[&bytes])) {
            Ok(()) => true,
            Err(Refused::Full) => false,
            // The next look at the connection tells.
            Err(Refused::Closed) => true,
        };
        if is_sent {
            self.note = None;
        }
        is_sent
    }

    /// Sends further frames over the fabric, if the peer is there. False: the connection takes no note now.
    fn switch(&mut self) -> bool {
        if self.peer.is_some() && !self.sends_there && self.note.is_none() {
            self.note = Some(Note::Switched);
            self.sends_there = true;
        }
        self.send_note()
    }

    /// The peer sends what it must not send.
    fn fail(&mut self) -> Refused {
        self.has_failed = true;
        Refused::Closed
    }

    /// The fabric takes nothing more.
    fn is_stuck(&mut self) -> Refused {
        self.stuck.get_or_insert_with(Instant::now);
        Refused::Closed
    }
}

impl Link for FabricLink {
    fn limits(&self) -> Limits {
        if self.secret.is_some() { ENCRYPTED } else { LIMITS }
    }

    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        if self.has_failed || self.stuck.is_some() {
            return Err(Refused::Closed);
        }
        if !self.switch() {
            return Err(Refused::Full);
        }
        match self.sends_there {
            true => self.send_there(header, payload),
            false => self.connection.send(header, payload),
        }
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        if self.has_failed {
            return Err(Refused::Closed);
        }
        self.looks = self.looks.wrapping_add(1);
        let mut taken = 0;
        if !self.comes_there || self.looks.is_multiple_of(LOOKS) {
            taken = self.receive_here(most, sink)?;
        }
        if self.comes_there && taken < most {
            taken += self.receive_there(most - taken, sink)?;
        } else if let Some(own) = &self.own {
            // The fabric has work without messages: it makes its connections.
            let mut shared = own.domain.turn();
            shared.poll_for(&mut self.polls);
            shared.show_waiting();
        }
        if self.is_over(taken) { Err(self.fail()) } else { Ok(taken) }
    }

    fn doze(&mut self) {
        if let Some(own) = &self.own {
            own.domain.turn().arm();
        }
        // The last look before the sleep is also at the connection.
        self.looks = LOOKS - 1;
    }

    fn leave(&mut self) {
        if self.leaving == Leaving::No {
            self.leaving = Leaving::Begins;
        }
    }

    fn flush(&mut self) -> Result<bool, Refused> {
        if self.has_failed || self.stuck.is_some() {
            return Err(Refused::Closed);
        }
        let has_left = self.send_note()
            && self.connection.flush()?
            && (self.leaving == Leaving::No || unacknowledged(self.connection.socket()) == 0);
        if !self.sends_there {
            return Ok(has_left);
        }
        Ok(self.send_held()? && self.has_left_there()? && has_left)
    }
}

impl Drop for FabricLink {
    fn drop(&mut self) {
        #[cfg(test)]
        if self.is_killed {
            self.sends_there = false;
        }
        if self.sends_there && self.send_note() {
            self.note = Some(Note::Left(self.out.count()));
            self.send_note();
            let _ = self.connection.flush();
        }
        if let Some(own) = &self.own {
            let mut shared = own.domain.turn();
            if let Some((filled, _)) = self.unsent {
                shared.take_back(filled);
            }
            shared.leave(own.number);
            if let Some(peer) = &self.peer {
                shared.endpoint.remove_peer(peer.address);
            }
        }
    }
}
