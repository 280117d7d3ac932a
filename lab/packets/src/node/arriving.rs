//! What comes to a node: packets that become messages, and messages that are received.

use super::{ANSWERS, Node, Sender};
use crate::Now;
use crate::header::{Header, Kind};
use crate::incoming::Assembly;
use crate::mailbox::Message;
use crate::port::Port;
use containers::Error;
use containers::buffers::NetworkBuffer;
use std::sync::Arc;

impl<P: Port> Node<P> {
    pub(super) fn take_in(&mut self, now: Now, from: P::Address, buffer: NetworkBuffer) {
        let Some((header, data)) = Header::decode(buffer.used()) else { return self.unwanted(buffer) };
        match header.kind {
            Kind::Reliable => self.take_reliable(now, from, header, buffer),
            Kind::Datagram => self.take_datagram(now, from, header, buffer),
            Kind::Answer | Kind::Full | Kind::Gone => {
                if let Some(outgoing) = self.outgoing.get_mut(&header.conversation)
                    && outgoing.to == from
                {
                    outgoing.hear(&header, data);
                }
                self.pool.put(buffer);
                // Answered here and now: `transmit` is at it.
                if from != self.port.own() {
                    self.transmit(now, header.conversation);
                }
            }
        }
    }

    fn unwanted(&mut self, buffer: NetworkBuffer) {
        self.counts.unwanted += 1;
        self.pool.put(buffer);
    }

    fn say(&mut self, to: P::Address, header: Header, kind: Kind, fragment: u32, data: &[u8]) {
        let own = self.port.own();
        self.put_out(own, to, Header { kind, fragment, ..header }, data);
    }

    fn take_reliable(&mut self, now: Now, from: P::Address, header: Header, buffer: NetworkBuffer) {
        let asks = header.fragment.checked_add(1) == Some(header.fragments);
        let incoming = self.incoming.entry((from, header.conversation)).or_default();
        let behind = incoming.expected.wrapping_sub(header.sequence);
        if behind != 0 {
            // One that was taken already: its answer was lost. Or nonsense: the sender has one message under way.
            self.unwanted(buffer);
            if asks && behind < u32::MAX / 2 {
                self.say(from, header, Kind::Answer, header.fragments, &[]);
            }
            return;
        }
        if header.container != ANSWERS && !self.containers.contains_key(&header.container) {
            self.pool.put(buffer);
            return self.say(from, header, Kind::Gone, 0, &[]);
        }
        if incoming.assembly.is_none() {
            incoming.assembly = Assembly::new(header, self.fragment, now);
        }
        let Some(assembly) = &mut incoming.assembly else { return self.unwanted(buffer) };
        if let Some(buffer) = assembly.add(&header, buffer, self.fragment) {
            self.counts.unwanted += 1;
            self.pool.put(buffer);
        }
        if assembly.is_whole() {
            self.deliver(from, header.conversation);
        } else if asks {
            let (first, bits) = assembly.missing(self.fragment);
            self.say(from, header, Kind::Answer, first, &bits);
        }
    }

    /// Puts a whole message into its container, if that has room.
    fn deliver(&mut self, from: P::Address, conversation: u32) {
        let Some(incoming) = self.incoming.get_mut(&(from, conversation)) else { return };
        let Some(assembly) = incoming.assembly.take() else { return };
        let header = assembly.header;
        let length = header.length as usize;
        if header.container != ANSWERS
            && self.containers.get(&header.container).is_some_and(|mailbox| !mailbox.has_room(length))
        {
            incoming.assembly = Some(assembly);
            incoming.is_held = true;
            return self.say(from, header, Kind::Full, 0, &[]);
        }
        incoming.is_held = false;
        incoming.expected = header.sequence.wrapping_add(1);
        let message = Message { from, call: header.call, length, parts: Arc::new(assembly.into_parts()) };
        if header.container == ANSWERS {
            if let Some(old) = self.answers.insert(header.call, message) {
                old.release(&mut self.pool);
            }
        } else if let Some(mailbox) = self.containers.get_mut(&header.container) {
            mailbox.put(message);
        }
        self.say(from, header, Kind::Answer, header.fragments, &[]);
    }

    fn take_datagram(&mut self, now: Now, from: P::Address, header: Header, buffer: NetworkBuffer) {
        let key = (from, header.conversation, header.sequence);
        let fresh = || Assembly::new(header, self.fragment, now);
        let Some(mut assembly) = self.datagrams.remove(&key).or_else(fresh) else {
            return self.unwanted(buffer);
        };
        if let Some(buffer) = assembly.add(&header, buffer, self.fragment) {
            self.counts.unwanted += 1;
            self.pool.put(buffer);
        }
        if !assembly.is_whole() {
            self.datagrams.insert(key, assembly);
            return;
        }
        let length = header.length as usize;
        let to = match self.groups.get(&header.container) {
            Some(members) => members.clone(),
            None => vec![header.container],
        };
        let message = Message { from, call: 0, length, parts: Arc::new(assembly.into_parts()) };
        for container in to {
            match self.containers.get_mut(&container) {
                Some(mailbox) if mailbox.has_room(length) => mailbox.put(message.clone()),
                Some(_) => self.counts.dropped += 1,
                None => {}
            }
        }
        message.release(&mut self.pool);
    }

    /// Receives the oldest message of a container, if there is one. One that is longer than `room` stays.
    pub fn receive(&mut self, container: u32, room: &mut [u8]) -> Result<(usize, Sender<P::Address>), Error> {
        let message = self.containers.get_mut(&container).ok_or(Error::BadArgument)?.take(room.len())?;
        let (length, sender) = (message.length, Sender { at: message.from, call: message.call });
        self.counts.copies_in += 1;
        message.unload(room, &mut self.pool);
        // There is room again.
        let held: Vec<_> = self
            .incoming
            .iter()
            .filter(|(_, incoming)| incoming.is_held)
            .filter(|(_, incoming)| {
                incoming.assembly.as_ref().is_some_and(|a| a.header.container == container)
            })
            .map(|(key, _)| *key)
            .collect();
        for (from, conversation) in held {
            self.deliver(from, conversation);
        }
        Ok((length, sender))
    }
}
