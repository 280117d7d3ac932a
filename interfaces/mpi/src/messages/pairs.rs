//! Which partitioned requests of two processes belong together.
//!
//! Requests of one sender, tag and communicator belong together in the order in which both sides have made them, whatever the order in
//! which they are started. So the sender announces the number of each request when it is made, and the receiver counts.

use crate::process::machine::{LOOK, Machine, machine_notes};
use parvum_api::{Buffering, Completion, Pattern, Receiving, SendTo, TagKind};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tag of announcements, in the context of collective operations, whose own tags are below; those of data are above it.
pub(super) const ANNOUNCED: i32 = 0x4000_0000;
/// The numbers of a communicator's requests that send: each is part of a tag.
const NUMBERS: u32 = 0x1fff_ffff;

/// Which partitioned requests of a communicator belong together.
#[derive(Default)]
pub(crate) struct Pairs {
    /// Requests that send, so far.
    sends: AtomicU32,
    /// What was received of each peer's task and tag.
    from: Mutex<HashMap<(i32, i32), From>>,
}

/// Requests of one sender and one tag.
#[derive(Default)]
struct From {
    /// Requests that receive, so far.
    receives: u64,
    /// Announcements, so far, and those that no request has asked for yet: by their places.
    announced: u64,
    open: HashMap<u64, u32>,
}

/// What a request is to its peer.
pub(crate) enum Part {
    /// It sends under this number.
    Sends(u32),
    /// It receives from the request that is announced at this place.
    Receives(u64),
}

impl Pairs {
    fn lock(&self) -> MutexGuard<'_, HashMap<(i32, i32), From>> {
        self.from.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request that receives so.
    pub(crate) fn receive(&self, task: i32, tag: i32) -> Part {
        let mut from = self.lock();
        let from = from.entry((task, tag)).or_default();
        from.receives += 1;
        Part::Receives(from.receives - 1)
    }

    /// The next request that sends so. Its peer is told.
    pub(crate) fn send(&self, machine: &Machine, context: u32, task: i32, tag: i32) -> Part {
        // Relaxed: a number only.
        let number = self.sends.fetch_add(1, Ordering::Relaxed) % NUMBERS + 1;
        let said = [tag.to_le_bytes(), number.to_le_bytes()].concat();
        // The sender keeps what cannot leave at once: nobody is waited for.
        let how = SendTo {
            to: task,
            tag: ANNOUNCED,
            context,
            meta: 0,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        // Who is gone is found when something is sent.
        let _ = machine.api.send_owned(how, &Arc::new(said), &machine_notes());
        Part::Sends(number)
    }

    /// The number of the sender's request at a place, once it has been announced.
    pub(crate) fn number(
        &self,
        machine: &Machine,
        context: u32,
        (task, tag): (i32, i32),
        place: u64,
    ) -> Option<u32> {
        let (tags, context) = (TagKind::Exactly, i64::from(context));
        let pattern = Pattern { from: task, tags, tag: ANNOUNCED, other: 0, context };
        // One thread at a time: announcements count in their order. What is here is taken; nobody waits.
        let mut all = self.lock();
        while let Ok(found) = machine.api.extract(&pattern, &LOOK) {
            let mut said = [0; 8];
            if machine.api.take(&found, Receiving::Into(&mut said), &LOOK).is_err() {
                continue;
            }
            let [of, number] =
                [0, 4].map(|at| u32::from_le_bytes([said[at], said[at + 1], said[at + 2], said[at + 3]]));
            let from = all.entry((task, of as i32)).or_default();
            from.open.insert(from.announced, number);
            from.announced += 1;
        }
        all.get_mut(&(task, tag))?.open.remove(&place)
    }
}
