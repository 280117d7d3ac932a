//! What a node sends.

use super::{Node, Representative};
use crate::Now;
use crate::header::{HEADER, Header, Kind, fragments};
use crate::outgoing::{Outgoing, Part, part};
use crate::port::{Address, Port, Transfer};
use containers::Error;
use containers::Protocol;

impl<P: Port> Node<P> {
    /// Sends. Reliable messages go when those before them have arrived: [`Node::poll`] sees to that, and
    /// [`Node::is_delivered`] tells. A multicast is never reliable.
    pub fn send(
        &mut self,
        now: Now,
        to: &Representative<P::Address>,
        data: &[u8],
        protocol: Protocol,
    ) -> Result<(), Error> {
        self.send_as(now, to, 0, data, protocol)
    }

    pub(super) fn send_as(
        &mut self,
        now: Now,
        to: &Representative<P::Address>,
        call: u32,
        data: &[u8],
        protocol: Protocol,
    ) -> Result<(), Error> {
        if data.len() > u32::MAX as usize {
            return Err(Error::TooLarge);
        }
        let own = self.port.own();
        // What stays here lies in buffers of the pool at once; on a network it waits until there are some.
        if to.to == own && !self.pool.has(fragments(data.len(), self.fragment)) {
            return Err(Error::NoBuffer);
        }
        let outgoing = self.outgoing.get_mut(&to.conversation).ok_or(Error::BadArgument)?;
        if let Some(why) = outgoing.failure() {
            return Err(why.clone());
        }
        let once = protocol == Protocol::Datagram || to.to.is_multicast();
        let at_once = once || (self.reliable && outgoing.is_idle());
        if !at_once {
            outgoing.push(call, data);
            self.counts.copies_out += 1;
            self.transmit(now, to.conversation);
            return Ok(());
        }
        // Straight out of the program's memory: nothing will be asked for again.
        let kind = if once { Kind::Datagram } else { Kind::Reliable };
        let header = outgoing.number(kind, call, data.len(), self.fragment);
        if !once {
            outgoing.was_sent(header);
        }
        self.counts.fragments += u64::from(header.fragments);
        self.counts.copies_out += u64::from(!self.in_place);
        for fragment in 0..header.fragments {
            let Part { header, from, to: end } = part(header, fragment, self.fragment);
            self.put_out(own, to.to, header, &data[from..end]);
        }
        Ok(())
    }

    /// Hands a packet to the transfer; what is for this very node stays here.
    pub(super) fn put_out(&mut self, own: P::Address, to: P::Address, header: Header, data: &[u8]) {
        if to == own {
            let Some(mut buffer) = self.pool.get(true) else { return };
            buffer.length = HEADER + data.len();
            buffer.memory()[..HEADER].copy_from_slice(&header.encode());
            buffer.memory()[HEADER..HEADER + data.len()].copy_from_slice(data);
            return self.take_in(0, own, buffer);
        }
        self.counts.packets += 1;
        self.port.transfer().send(to, &header.encode(), data);
    }

    /// Sends what is due in a conversation.
    pub(super) fn transmit(&mut self, now: Now, conversation: u32) {
        let own = self.port.own();
        loop {
            let Some(mut outgoing) = self.outgoing.remove(&conversation) else { return };
            let fresh = outgoing.data().is_empty() && outgoing.wakes_at().is_none();
            let parts = outgoing.due(now, self.fragment, self.reliable);
            let count = parts.len() as u64;
            *(if fresh { &mut self.counts.fragments } else { &mut self.counts.repeats }) += count;
            let to = outgoing.to;
            let data = outgoing.data().to_vec();
            self.outgoing.insert(conversation, outgoing);
            for Part { header, from, to: end } in parts {
                self.put_out(own, to, header, &data[from..end]);
            }
            // What is for this very node is answered already; the next message may go.
            let goes_on =
                |o: &Outgoing<P::Address>| o.wakes_at().is_none() && !o.is_idle() && o.failure().is_none();
            if count == 0 || to != own || !self.outgoing.get(&conversation).is_some_and(goes_on) {
                return;
            }
        }
    }

    /// Whether all that was sent has been taken into the container; an error when the container, or its node, is gone.
    pub fn is_delivered(&self, to: &Representative<P::Address>) -> Result<bool, Error> {
        let outgoing = self.outgoing.get(&to.conversation).ok_or(Error::BadArgument)?;
        match outgoing.failure() {
            Some(why) => Err(why.clone()),
            None => Ok(outgoing.is_idle()),
        }
    }
}
