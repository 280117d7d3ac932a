//! The asynchronous OR: each task tells the others when its bit changes, and each knows the bits of all.
//!
//! A task that asks takes in what has come by then, and waits for nobody. A message from a task overtakes none of its
//! earlier ones, so the last one seen is that task's newest bit.

use crate::errors::Cmmd;
use crate::state::{State, context, notes, own};
use parvum_api::{ANY_TASK, Notes, Pattern, Receiving, Status, TagKind, call};

/// The bits as this task knows them.
#[derive(Default)]
pub(crate) struct GlobalOr {
    own: bool,
    /// Other tasks whose bit is set.
    raised: Vec<i32>,
}

impl State {
    pub(crate) fn set_global_or(&mut self, bit: bool) -> Cmmd<i32> {
        self.take_in_bits()?;
        if self.or.own != bit {
            self.or.own = bit;
            for task in self.participants() {
                // With the state kept, so that no other thread's newer bit goes before.
                match self.api.send(
                    own(task, context::OR, bit.into(), 0),
                    &[&[]],
                    &notes(call::SEND, task, -1),
                ) {
                    // Who is gone raises nothing, and reads nothing.
                    Err(Status::Gone) => {}
                    told => told?,
                }
            }
        }
        Ok(0)
    }

    pub(crate) fn global_or(&mut self) -> Cmmd<i32> {
        self.take_in_bits()?;
        Ok((self.or.own || !self.or.raised.is_empty()).into())
    }

    fn take_in_bits(&mut self) -> Cmmd<()> {
        let any =
            Pattern { from: ANY_TASK, tags: TagKind::Any, tag: 0, other: 0, context: context::OR.into() };
        let once = Notes { limit: 0, ..notes(call::RECEIVE, ANY_TASK, -1) };
        loop {
            match self.api.receive(&any, Receiving::Into(&mut []), &once) {
                Ok(message) => {
                    self.or.raised.retain(|&task| task != message.from);
                    if message.tag != 0 {
                        self.or.raised.push(message.from);
                    }
                }
                Err(Status::Pending) => return Ok(()),
                Err(why) => return Err(why.into()),
            }
        }
    }

    /// The other nodes, and the host when it takes part.
    pub(crate) fn participants(&self) -> Vec<i32> {
        let host = if self.with_host { None } else { self.company.host };
        self.company.others().filter(|&task| Some(task) != host).collect()
    }
}
