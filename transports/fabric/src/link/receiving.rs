//! Receiving frames and notes from the connection, and frames from the fabric.

use super::farewell::Ended;
use super::{FabricLink, Peer};
use crate::card::{Card, MARK, Note};
use crate::domain::Prefix;
use crate::ofi::Posted;
use crate::secret::Secret;
use parvum_transport::{Link, Refused, Sink};
use parvum_wire::Header;

impl FabricLink {
    /// Takes frames and notes of the connection.
    pub(super) fn receive_here(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        if self.ended.is_some() {
            return Ok(0);
        }
        let mut filter = Filter { sink, notes: Vec::new(), frames: 0 };
        let result = self.connection.receive(most, &mut filter);
        let Filter { notes, frames, .. } = filter;
        for note in notes {
            match note {
                Some(Note::Here(card)) => self.meet(&card),
                Some(Note::Without(_)) => {}
                Some(Note::Switched) => self.open_there(),
                Some(Note::Left(count)) => self.left = Some(count),
                None => return Err(self.fail()),
            }
        }
        match result {
            Ok(_) => Ok(frames),
            Err(Refused::Closed) if self.comes_there => {
                self.ended = Some(Ended::now());
                Ok(frames)
            }
            Err(why) => Err(why),
        }
    }

    /// The peer sends all further frames over the fabric.
    fn open_there(&mut self) {
        self.comes_there = true;
        if let Some(own) = &self.own {
            own.domain.turn().open_link(own.number);
        }
    }

    /// The peer is on the fabric. The two ends do not meet there if they have different providers.
    fn meet(&mut self, card: &Card) {
        let Some(own) = &self.own else { return };
        let mut shared = own.domain.turn();
        if shared.endpoint.provider() == card.provider && self.peer.is_none() {
            let address = shared.endpoint.add_peer(&card.address);
            drop(shared);
            match address {
                Ok(address) => self.peer = Some(Peer { address, link: card.link, key: card.key }),
                // The peer may send there already, and would never learn what was taken.
                Err(_) => self.has_failed = true,
            }
        }
    }

    /// Takes frames of the fabric.
    pub(super) fn receive_there(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        let Some(own) = &self.own else { return Err(Refused::Closed) };
        let mut shared = own.domain.turn();
        match self.ended {
            None => shared.poll_for(&mut self.polls),
            Some(_) => shared.poll(),
        }
        let (mut taken, mut is_good) = (0, true);
        let FabricLink { out, inn, secret, owes, .. } = self;
        while taken < most && is_good {
            let more = shared.next_message(own.number, |message, long| {
                let Some(prefix) = Prefix::decode(message) else { return };
                is_good = out.told(prefix.taken);
                *owes |= prefix.long == Prefix::ASKS;
                let frame = &mut message[Prefix::SIZE..];
                if frame.is_empty() || !is_good {
                    return;
                }
                // A gap: the fabric has lost a frame. A long payload on an encrypted link is not the peer's.
                is_good = prefix.number == inn.count() && (long.is_none() || secret.is_none());
                if !is_good {
                    return;
                }
                inn.took();
                is_good = give(frame, long, secret.as_mut(), sink).is_some();
                taken += 1;
            });
            if !more {
                break;
            }
        }
        shared.show_waiting();
        let has_failed = shared.has_failed(own.number);
        drop(shared);
        if !is_good {
            return Err(self.fail());
        }
        if has_failed {
            self.is_stuck();
        }
        let must_tell = self.stuck.is_none() && (self.inn.must_tell() || self.owes);
        if must_tell && self.switch() && self.sends_there {
            // If the fabric does not take it now, a later look sends it.
            self.owes &= self.send_message(0, |_| 0) != Posted::Yes;
        }
        Ok(taken)
    }
}

/// Gives a frame to the sink. `None`: it is damaged.
fn give(
    message: &mut [u8],
    long: Option<&[u8]>,
    secret: Option<&mut Secret>,
    sink: &mut dyn Sink,
) -> Option<()> {
    let frame = match secret {
        Some(secret) => &*secret.open(message)?,
        None => message,
    };
    let (head, behind) = frame.split_first_chunk()?;
    let payload = long.unwrap_or(behind);
    let (header, length, _) = Header::decode(head).ok()?;
    if length as usize != payload.len() {
        return None;
    }
    sink.frame(&header, payload);
    Some(())
}

/// Takes notes out of the frames of the connection.
struct Filter<'a> {
    sink: &'a mut dyn Sink,
    /// `None` stands for a damaged note.
    notes: Vec<Option<Note>>,
    frames: usize,
}

impl Sink for Filter<'_> {
    fn frame(&mut self, header: &Header, payload: &[u8]) {
        if header.kind == MARK && !payload.is_empty() {
            self.notes.push(Note::decode(payload));
        } else {
            self.frames += 1;
            self.sink.frame(header, payload);
        }
    }

    fn room(&mut self, length: usize) -> &mut [u8] {
        self.sink.room(length)
    }

    fn filled(&mut self, length: usize) {
        self.sink.filled(length);
    }
}
