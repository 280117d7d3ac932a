//! Sending frames over the fabric.

use super::{FabricLink, SEVERAL, SHORT};
use crate::domain::Prefix;
use crate::ofi::Posted;
use parvum_transport::{Gather, Refused};
use parvum_wire::{Header, Kind};

impl FabricLink {
    /// Sends a message: the prefix, and what `write` puts behind it. `long`: the bytes of its long payload.
    pub(super) fn send_message(&mut self, long: u32, write: impl FnOnce(&mut [u8]) -> usize) -> Posted {
        let (Some(own), Some(peer)) = (&self.own, &self.peer) else { return Posted::Failed };
        let prefix =
            Prefix { link: peer.link, key: peer.key, number: self.posted, taken: self.inn.count(), long };
        let is_last = long == Prefix::ASKS;
        let mut has_frame = false;
        let posted = own.domain.turn().send(own.number, peer.address, is_last, |buffer| {
            let (head, rest) = buffer.split_at_mut(Prefix::SIZE);
            head.copy_from_slice(&prefix.encode());
            let length = write(rest);
            has_frame = length > 0;
            Prefix::SIZE + length
        });
        if posted == Posted::Yes {
            self.inn.told();
            self.posted = self.posted.wrapping_add(u32::from(has_frame));
        }
        posted
    }

    /// Sends a frame over the fabric.
    pub(super) fn send_there(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        let wanted = match payload.len() {
            length if length <= SEVERAL => length.div_ceil(SHORT).max(1),
            _ => 1,
        };
        if !self.send_held()? || self.out.room() < wanted as u32 {
            return Err(Refused::Full);
        }
        if let Some(secret) = &mut self.secret {
            let mut sealed = Vec::new();
            secret.seal(&header.encode(payload.len() as u32, 0), payload, &mut sealed);
            self.hold(sealed);
            return self.send_held().map(|_| ());
        }
        if payload.len() > SEVERAL {
            return self.send_long(header, payload);
        }
        let (first, rest) = (payload.part(0, SHORT), payload.part(SHORT, payload.len()));
        match self.send_message(0, |buffer| write_frame(header, first, buffer)) {
            Posted::Yes => self.out.sent(),
            Posted::Full => return Err(Refused::Full),
            Posted::Failed => return Err(self.is_stuck()),
        }
        for from in (0..rest.len()).step_by(SHORT) {
            let (part, header) = (rest.part(from, SHORT), Header::answer(Kind::More, 0, 0));
            let posted = match self.held.is_empty() {
                true => self.send_message(0, |buffer| write_frame(&header, part, buffer)),
                false => Posted::Full,
            };
            match posted {
                Posted::Yes => self.out.sent(),
                Posted::Full => {
                    let mut message = vec![0; Header::SIZE + part.len()];
                    write_frame(&header, part, &mut message);
                    self.hold(message);
                }
                Posted::Failed => return Err(self.is_stuck()),
            }
        }
        Ok(())
    }

    /// Sends a frame whose payload is a separate message.
    fn send_long(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        let Some(own) = &self.own else { return Err(Refused::Closed) };
        let filled = own.domain.turn().fill_long(own.number, |buffer| {
            payload.copy_to(buffer);
            payload.len()
        });
        let Some(filled) = filled else { return Err(Refused::Full) };
        let length = payload.len() as u32;
        let posted = self.send_message(length, |buffer| {
            buffer[..Header::SIZE].copy_from_slice(&header.encode(length, 0));
            Header::SIZE
        });
        if posted != Posted::Yes {
            if let Some(own) = &self.own {
                own.domain.turn().take_back(filled);
            }
            return Err(if posted == Posted::Full { Refused::Full } else { self.is_stuck() });
        }
        self.out.sent();
        self.unsent = Some((filled, self.longs));
        self.longs = self.longs.wrapping_add(1);
        self.send_announced().map(|_| ())
    }

    /// Sends the long payload that was announced. False: the fabric does not take it now.
    fn send_announced(&mut self) -> Result<bool, Refused> {
        let Some((filled, which)) = self.unsent else { return Ok(true) };
        let (Some(own), Some(peer)) = (&self.own, &self.peer) else { return Err(Refused::Closed) };
        let posted = own.domain.turn().send_long(own.number, peer.address, [peer.link, which], filled);
        match posted {
            Posted::Yes => {
                self.unsent = None;
                Ok(true)
            }
            Posted::Full => Ok(false),
            Posted::Failed => Err(self.is_stuck()),
        }
    }

    /// Keeps a message until the fabric takes it.
    fn hold(&mut self, message: Vec<u8>) {
        self.held.push_back(message);
        self.out.sent();
    }

    /// Sends what is held. False: some of it still waits.
    pub(super) fn send_held(&mut self) -> Result<bool, Refused> {
        if !self.send_announced()? {
            return Ok(false);
        }
        while let Some(message) = self.held.pop_front() {
            let posted = self.send_message(0, |buffer| {
                buffer[..message.len()].copy_from_slice(&message);
                message.len()
            });
            match posted {
                Posted::Yes => {}
                Posted::Full => {
                    self.held.push_front(message);
                    return Ok(false);
                }
                Posted::Failed => return Err(self.is_stuck()),
            }
        }
        Ok(true)
    }
}

/// Writes a frame to the front of a buffer, and returns its length.
fn write_frame(header: &Header, payload: Gather<'_>, buffer: &mut [u8]) -> usize {
    let (head, rest) = buffer.split_at_mut(Header::SIZE);
    head.copy_from_slice(&header.encode(payload.len() as u32, 0));
    payload.copy_to(rest);
    Header::SIZE + payload.len()
}
