//! One process's containers on a network of packets.

use super::Now;
use super::buffers::{NetworkBuffer, NetworkBufferFreeList};
use super::header::{GROUP, HEADER, Header, Kind};
use super::incoming::{Assembly, Incoming};
use super::mailbox::{Mailbox, Message};
use super::outgoing::{Outgoing, Part, part};
use super::port::{Address, NameServer, NetworkDriver, Port, Transfer};
use crate::Bounds;
use crate::errors::Error;
use crate::state::{ClientState, Decision, Protocol};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Parts of a datagram whose others do not come are freed after so long.
const STALE: Now = 1_000_000;
/// The container of answers to calls.
const ANSWERS: u32 = 0;

/// What a node has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Questions to the name server.
    pub exchanges: u64,
    /// Packets handed to the transfer.
    pub packets: u64,
    /// Packets with parts of messages that were sent for the first time.
    pub fragments: u64,
    /// Packets with parts that were sent again, or asked for an answer.
    pub repeats: u64,
    /// Packets that came and were not wanted: there already, or nonsense.
    pub unwanted: u64,
    /// Datagrams that found their container full.
    pub dropped: u64,
    /// Datagrams that never became whole.
    pub stale: u64,
    /// Times that a message's data was copied on its way out.
    pub copies_out: u64,
    /// Times that a message's data was copied on its way in.
    pub copies_in: u64,
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender<A> {
    /// Its node.
    pub at: A,
    /// The number of a call; 0: nobody waits for an answer.
    pub call: u32,
}

/// A handle on a container elsewhere, or here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Representative<A> {
    /// The node of the container.
    pub to: A,
    container: u32,
    conversation: u32,
}

/// A call that waits for its answer.
#[derive(Debug)]
pub struct Call<A> {
    server: Representative<A>,
    number: u32,
    since: Now,
}

/// See the module's text.
pub struct Node<P: Port> {
    port: P,
    fragment: usize,
    reliable: bool,
    in_place: bool,
    pool: NetworkBufferFreeList,
    last: u32,
    containers: BTreeMap<u32, Mailbox<P::Address>>,
    groups: BTreeMap<u32, Vec<u32>>,
    outgoing: BTreeMap<u32, Outgoing<P::Address>>,
    incoming: BTreeMap<(P::Address, u32), Incoming>,
    /// Datagrams of several parts: from whom, of which conversation, which message.
    datagrams: BTreeMap<(P::Address, u32, u32), Assembly>,
    /// Conversations in which calls from a node are answered.
    answering: BTreeMap<P::Address, u32>,
    /// Answers that wait to be taken.
    answers: BTreeMap<u32, Message<P::Address>>,
    counts: Counts,
}

impl<P: Port> Node<P> {
    /// A node without containers.
    pub fn new(mut port: P) -> Node<P> {
        let limits = port.transfer().limits();
        let pool = port.buffers(HEADER + limits.fragment);
        Node {
            port,
            fragment: limits.fragment,
            reliable: limits.reliable,
            in_place: limits.in_place,
            pool,
            last: 0,
            containers: BTreeMap::new(),
            groups: BTreeMap::new(),
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            datagrams: BTreeMap::new(),
            answering: BTreeMap::new(),
            answers: BTreeMap::from([]),
            counts: Counts::default(),
        }
    }

    /// What it has counted.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The buffers of packets that arrive.
    pub fn pool(&self) -> &NetworkBufferFreeList {
        &self.pool
    }

    /// The port.
    pub fn port(&mut self) -> &mut P {
        &mut self.port
    }

    fn number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Makes a container; gives its number.
    pub fn create(&mut self, bounds: Bounds) -> u32 {
        let number = self.number();
        self.containers.insert(number, Mailbox::new(bounds));
        number
    }

    /// Ends a container: what lies in it is lost, and senders are told when they send.
    pub fn destroy(&mut self, container: u32) {
        if let Some(mailbox) = self.containers.remove(&container) {
            mailbox.messages.into_iter().for_each(|message| message.release(&mut self.pool));
        }
        self.groups.values_mut().for_each(|members| members.retain(|member| *member != container));
    }

    /// Binds a name to a container of this node.
    pub fn bind(&mut self, name: &str, container: u32) -> Result<(), Error> {
        self.counts.exchanges += 1;
        let own = self.port.own();
        match self.port.names().bind(name, own, container) {
            true => Ok(()),
            false => Err(Error::NameTaken(name.to_owned())),
        }
    }

    /// Takes a name back.
    pub fn unbind(&mut self, name: &str) -> Result<(), Error> {
        self.counts.exchanges += 1;
        if self.port.names().unbind(name) { Ok(()) } else { Err(Error::Unbound) }
    }

    /// Looks a name up.
    pub fn lookup(&mut self, name: &str) -> Result<Representative<P::Address>, Error> {
        self.counts.exchanges += 1;
        let (to, container) = self.port.names().lookup(name).ok_or(Error::Unbound)?;
        Ok(self.represent(to, container))
    }

    /// A handle on the groups of that number, on all nodes that the address stands for.
    pub fn group(&mut self, to: P::Address, group: u32) -> Representative<P::Address> {
        self.represent(to, group | GROUP)
    }

    /// Adds a container of this node to a group: it gets each of the group's messages once.
    pub fn join(&mut self, group: u32, container: u32) {
        let members = self.groups.entry(group | GROUP).or_default();
        if !members.contains(&container) {
            members.push(container);
        }
    }

    fn represent(&mut self, to: P::Address, container: u32) -> Representative<P::Address> {
        let conversation = self.number();
        self.outgoing.insert(conversation, Outgoing::new(to, conversation, container));
        Representative { to, container, conversation }
    }

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

    fn send_as(
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
    fn put_out(&mut self, own: P::Address, to: P::Address, header: Header, data: &[u8]) {
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
    fn transmit(&mut self, now: Now, conversation: u32) {
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

    /// Takes in what has come, and sends what is due.
    pub fn poll(&mut self, now: Now) {
        self.port.transfer().attend();
        while let Some(mut buffer) = self.pool.get(true) {
            match self.port.transfer().receive(buffer.memory()) {
                Some((from, length)) => {
                    buffer.length = length;
                    self.take_in(now, from, buffer);
                }
                None => {
                    self.pool.put(buffer);
                    break;
                }
            }
        }
        let all: Vec<u32> = self.outgoing.keys().copied().collect();
        for conversation in all {
            if let Some(outgoing) = self.outgoing.get_mut(&conversation)
                && self.port.transfer().is_gone(outgoing.to)
                && !outgoing.is_idle()
            {
                outgoing.fail(Error::Gone);
            }
            self.transmit(now, conversation);
        }
        let old = self.datagrams.extract_if(.., |_, assembly| now >= assembly.began + STALE);
        for (_, assembly) in old.collect::<Vec<_>>() {
            self.counts.stale += 1;
            assembly.into_parts().into_iter().for_each(|part| self.pool.put(part));
        }
    }

    fn take_in(&mut self, now: Now, from: P::Address, buffer: NetworkBuffer) {
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
        let asks = header.fragment + 1 == header.fragments;
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
        let message = Message { from, call: header.call, length, parts: Rc::new(assembly.into_parts()) };
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
        let message = Message { from, call: 0, length, parts: Rc::new(assembly.into_parts()) };
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
        let held: VecDeque<_> = self
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

    /// Begins to call a server.
    pub fn call(
        &mut self,
        now: Now,
        server: &Representative<P::Address>,
        request: &[u8],
    ) -> Result<Call<P::Address>, Error> {
        let number = self.number();
        self.send_as(now, server, number, request, Protocol::Reliable)?;
        Ok(Call { server: *server, number, since: now })
    }

    /// Answers a call that was received.
    pub fn reply(&mut self, now: Now, to: &Sender<P::Address>, answer: &[u8]) -> Result<(), Error> {
        if to.call == 0 {
            return Err(Error::BadArgument);
        }
        let conversation = match self.answering.get(&to.at) {
            Some(conversation) => *conversation,
            None => {
                let fresh = self.represent(to.at, ANSWERS).conversation;
                self.answering.insert(to.at, fresh);
                fresh
            }
        };
        let back = Representative { to: to.at, container: ANSWERS, conversation };
        self.send_as(now, &back, to.call, answer, Protocol::Reliable)
    }

    /// Whether a call is over: its answer's length, or why there is none. When its timer has expired the state's handler decides.
    pub fn answer(
        &mut self,
        now: Now,
        call: &mut Call<P::Address>,
        room: &mut [u8],
        state: &mut ClientState,
    ) -> Option<Result<usize, Error>> {
        if let Some(message) = self.answers.remove(&call.number) {
            let length = message.length;
            return Some(match room.get_mut(..length) {
                Some(room) => {
                    self.counts.copies_in += 1;
                    message.unload(room, &mut self.pool);
                    Ok(length)
                }
                None => {
                    message.release(&mut self.pool);
                    Err(Error::NoRoom { length })
                }
            });
        }
        if let Err(why) = self.is_delivered(&call.server) {
            return Some(Err(why));
        }
        if self.port.transfer().is_gone(call.server.to) {
            return Some(Err(Error::Gone));
        }
        let timer = state.timer()?;
        if now < call.since + timer.as_micros() as Now {
            return None;
        }
        call.since = now;
        match state.expire() {
            Decision::GiveUp => return Some(Err(Error::TimedOut)),
            Decision::WaitOn => {}
            Decision::Again => {
                state.has_repeated(1);
                if let Some(outgoing) = self.outgoing.get_mut(&call.server.conversation) {
                    outgoing.hurry(now);
                }
                self.transmit(now, call.server.conversation);
            }
        }
        None
    }
}
