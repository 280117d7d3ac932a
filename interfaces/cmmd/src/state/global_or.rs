//! The asynchronous OR: each task tells the others when its bit changes, and each knows the bits of all.
//!
//! A task that reads the bit first receives the messages that have come, and does not wait. A message from a task
//! overtakes none of its earlier ones, so the last one seen is that task's newest bit.

use crate::envelope::{context, notes, own};
use crate::errors::Cmmd;
use parvum_api::{ANY_TASK, CoreApi, Notes, Pattern, Receiving, Status, TagKind, call};

/// The bits as this task knows them.
#[derive(Default)]
pub(crate) struct GlobalOr {
    own: bool,
    /// Other tasks whose bit is set.
    raised: Vec<i32>,
}

impl GlobalOr {
    pub(crate) fn set(&mut self, api: CoreApi, participants: &[i32], bit: bool) -> Cmmd<i32> {
        self.take_in_bits(api)?;
        if self.own != bit {
            self.own = bit;
            for &task in participants {
                // With the state kept, so that no other thread's newer bit goes before.
                match api.send(own(task, context::OR, bit.into(), 0), &[&[]], &notes(call::SEND, task, -1)) {
                    // A node that is gone neither raises the bit nor reads it.
                    Err(Status::Gone) => {}
                    told => told?,
                }
            }
        }
        Ok(0)
    }

    pub(crate) fn get(&mut self, api: CoreApi) -> Cmmd<i32> {
        self.take_in_bits(api)?;
        Ok((self.own || !self.raised.is_empty()).into())
    }

    fn take_in_bits(&mut self, api: CoreApi) -> Cmmd<()> {
        let any =
            Pattern { from: ANY_TASK, tags: TagKind::Any, tag: 0, other: 0, context: context::OR.into() };
        let once = Notes { limit: 0, ..notes(call::RECEIVE, ANY_TASK, -1) };
        loop {
            match api.receive(&any, Receiving::Into(&mut []), &once) {
                Ok(message) => {
                    self.raised.retain(|&task| task != message.from);
                    if message.tag != 0 {
                        self.raised.push(message.from);
                    }
                }
                Err(Status::Pending) => return Ok(()),
                Err(why) => return Err(why.into()),
            }
        }
    }
}
