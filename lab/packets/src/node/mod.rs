//! One process's containers on a network of packets.

mod arriving;
mod calls;
mod sending;

pub use calls::Call;

use super::Now;
use super::header::{GROUP, HEADER};
use super::incoming::{Assembly, Incoming};
use super::mailbox::{Mailbox, Message};
use super::outgoing::Outgoing;
use super::port::{NameServer, NetworkDriver, Port, Transfer};
use containers::Bounds;
use containers::Error;
use containers::buffers::NetworkBufferFreeList;
use std::collections::BTreeMap;

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
}
