//! Operations under way, named by ids that go stale when the operation is done.

mod receive;
mod remote;

use crate::ids::RequestId;
use crate::receiving::message::{Block, Envelope};
use parvum_wire::Tid;
pub use receive::Destination;
pub(crate) use receive::Receive;
pub use remote::Remote;

/// The outcome of an operation.
#[derive(Debug)]
pub enum Outcome {
    /// A send: the memory may be reused, or the receiver has the message, as was asked.
    Sent,
    /// A receive.
    Received(Completed),
    /// A message has come and there was no memory for its data, which is lost.
    NoMemory(Envelope),
    /// The peer is gone; a send was not delivered, a receive cannot be.
    Gone(Tid),
    /// The operation was cancelled.
    Cancelled,
}

/// A message received.
#[derive(Debug)]
pub struct Completed {
    /// The properties of the message; `length` is the true length.
    pub envelope: Envelope,
    /// The data, if the receive gave no memory for it.
    pub block: Option<Block>,
    /// The data, when it was left where it lies.
    pub remote: Option<Remote>,
}

impl Completed {
    /// Whether the message was longer than the memory given for it: the rest is lost.
    pub fn is_cut(&self, room: usize) -> bool {
        self.block.is_none() && self.remote.is_none() && self.envelope.length > room as u64
    }
}

pub(crate) enum State {
    Free,
    /// A send in some queue or offer of a peer.
    Sending,
    Receiving(Receive),
    Over(Outcome),
    /// A receive whose outcome was taken, and that will be posted again under the same id.
    Resting,
}

struct Slot {
    generation: u32,
    state: State,
    /// Reported through `Engine::next_completed` when over.
    announce: bool,
}

/// All operations under way.
#[derive(Default)]
pub(crate) struct Requests {
    slots: Vec<Slot>,
    free: Vec<u32>,
    announced: std::collections::VecDeque<RequestId>,
    /// How many operations have ended, ever.
    pub(crate) finished: u64,
}

impl Requests {
    pub(crate) fn insert(&mut self, state: State, announce: bool) -> RequestId {
        match self.free.pop() {
            Some(index) => {
                let slot = &mut self.slots[index as usize];
                slot.state = state;
                slot.announce = announce;
                RequestId { index, generation: slot.generation }
            }
            None => {
                self.slots.push(Slot { generation: 0, state, announce });
                RequestId { index: self.slots.len() as u32 - 1, generation: 0 }
            }
        }
    }

    fn slot(&mut self, id: RequestId) -> Option<&mut Slot> {
        self.slots.get_mut(id.index as usize).filter(|slot| slot.generation == id.generation)
    }

    pub(crate) fn receive(&mut self, id: RequestId) -> Option<&mut Receive> {
        match self.slot(id).map(|slot| &mut slot.state) {
            Some(State::Receiving(receive)) => Some(receive),
            _ => None,
        }
    }

    /// The receive in the slot a peer named in an answer; a peer may name nonsense.
    pub(crate) fn receive_at(&mut self, index: u32) -> Option<(RequestId, &mut Receive)> {
        let slot = self.slots.get_mut(index as usize)?;
        let id = RequestId { index, generation: slot.generation };
        match &mut slot.state {
            // A receive whose data a thread copies is left out.
            State::Receiving(receive) if !receive.is_taken => Some((id, receive)),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn take_receive(&mut self, id: RequestId) -> Option<Receive> {
        let slot = self.slot(id)?;
        match std::mem::replace(&mut slot.state, State::Free) {
            State::Receiving(receive) => Some(receive),
            other => {
                slot.state = other;
                None
            }
        }
    }

    pub(crate) fn finish(&mut self, id: RequestId, outcome: Outcome) {
        let Some(slot) = self.slot(id) else { return };
        slot.state = State::Over(outcome);
        let announce = slot.announce;
        self.finished += 1;
        if announce {
            self.announced.push_back(id);
        }
    }

    pub(crate) fn next_announced(&mut self) -> Option<RequestId> {
        self.announced.pop_front()
    }

    pub(crate) fn is_known(&mut self, id: RequestId) -> bool {
        self.slot(id).is_some_and(|slot| !matches!(slot.state, State::Free))
    }

    #[inline]
    pub(crate) fn is_over(&self, id: RequestId) -> bool {
        matches!(self.slots.get(id.index as usize), Some(slot)
            if slot.generation == id.generation && matches!(slot.state, State::Over(_)))
    }

    /// Takes the outcome of an operation that is over, and frees its slot.
    pub(crate) fn take(&mut self, id: RequestId) -> Option<Outcome> {
        if !self.is_over(id) {
            return None;
        }
        let slot = &mut self.slots[id.index as usize];
        let State::Over(outcome) = std::mem::replace(&mut slot.state, State::Free) else { return None };
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
        Some(outcome)
    }

    /// Takes the outcome of an operation that is over, and keeps its id for [`Requests::resume`].
    pub(crate) fn take_and_rest(&mut self, id: RequestId) -> Option<Outcome> {
        if !self.is_over(id) {
            return None;
        }
        let state = &mut self.slots[id.index as usize].state;
        let State::Over(outcome) = std::mem::replace(state, State::Resting) else { return None };
        Some(outcome)
    }

    /// Gives up the id of a resting receive. False: no receive rests under the id.
    pub(crate) fn end_rest(&mut self, id: RequestId) -> bool {
        let Some(State::Resting) = self.slot(id).map(|slot| &slot.state) else { return false };
        self.finish(id, Outcome::Cancelled);
        true
    }

    /// Puts a receive under the id of a resting receive. False: no receive rests under the id.
    pub(crate) fn resume(&mut self, id: RequestId, receive: Receive) -> bool {
        match self.slot(id).map(|slot| &mut slot.state) {
            Some(state @ State::Resting) => {
                *state = State::Receiving(receive);
                true
            }
            _ => false,
        }
    }

    /// Ids of all receives under way.
    pub(crate) fn receives(&self) -> Vec<RequestId> {
        let under_way = |(_, slot): &(usize, &Slot)| matches!(slot.state, State::Receiving(_));
        self.slots
            .iter()
            .enumerate()
            .filter(under_way)
            .map(|(index, slot)| RequestId { index: index as u32, generation: slot.generation })
            .collect()
    }
}
