//! What a port must supply: where things are, where names lead, and how packets travel. The rest has defaults.

use containers::buffers::NetworkBufferFreeList;
use std::fmt::Debug;

/// Where a node is. A multicast address stands for all nodes that listen to it.
pub trait Address: Copy + Eq + Ord + Debug {
    /// Whether it stands for several nodes.
    fn is_multicast(&self) -> bool {
        false
    }
}

/// Where names lead: a node, and the number of a container there.
pub trait NameServer<A> {
    /// Binds a name; false while it is bound.
    fn bind(&mut self, name: &str, at: A, container: u32) -> bool;
    /// Takes a name back; false when it was not bound.
    fn unbind(&mut self, name: &str) -> bool;
    /// Where it leads now.
    fn lookup(&mut self, name: &str) -> Option<(A, u32)>;
}

/// What a way of transfer can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a message in one packet.
    pub fragment: usize,
    /// What is sent arrives, once and in order: then no protocol repeats anything.
    pub reliable: bool,
    /// Packets are read where the program has them: sending copies nothing.
    pub in_place: bool,
}

/// Moves packets. Neither call waits.
pub trait Transfer<A> {
    /// What it can do; does not change.
    fn limits(&self) -> Limits;
    /// Sends a packet: its header, and its part of the message. They are the caller's again when this returns.
    fn send(&mut self, to: A, header: &[u8], part: &[u8]);
    /// The next packet that has come, written into `room`: who sent it, and how long it is.
    fn receive(&mut self, room: &mut [u8]) -> Option<(A, usize)>;
    /// Whether a node is known to be gone. Where nobody can know, a timer must decide.
    fn is_gone(&self, _node: A) -> bool {
        false
    }
}

/// Attends to a device. The default has none: packets are there when [`Transfer::receive`] finds them.
pub trait NetworkDriver {
    /// Called before packets are looked for.
    fn attend(&mut self) {}
}

/// A port: one of each.
pub trait Port {
    /// Where nodes are.
    type Address: Address;
    /// Who knows names.
    type Names: NameServer<Self::Address>;
    /// What moves packets.
    type Transfer: Transfer<Self::Address> + NetworkDriver;

    /// This node's own address.
    fn own(&self) -> Self::Address;
    /// The name server.
    fn names(&mut self) -> &mut Self::Names;
    /// The transfer.
    fn transfer(&mut self) -> &mut Self::Transfer;
    /// The pool that arriving packets are put into, each buffer with room for a header and a fragment.
    fn buffers(&self, size: usize) -> NetworkBufferFreeList {
        NetworkBufferFreeList::new(size, 32, true)
    }
}
