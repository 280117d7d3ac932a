//! Operations that the program does itself: their end is a message from the process to itself, which wakes whoever waits.

use crate::errors::Mpi;
use crate::process::machine::{OWN_CONTEXT, notes};
use crate::process::this::Process;
use parvum_api::{Buffering, Completion};
use parvum_api::{Pattern, Request, SendTo, TagKind, call};
use std::sync::atomic::{AtomicI32, Ordering};

static NEXT: AtomicI32 = AtomicI32::new(0);

/// Begins one: its tag, and the engine's request that is over when it is.
pub(crate) fn begin(process: &Process) -> (i32, Request) {
    // Relaxed: a number that nobody else has is all that is asked of it.
    let tag = NEXT.fetch_add(1, Ordering::Relaxed) & i32::MAX;
    let (tags, context) = (TagKind::Exactly, i64::from(OWN_CONTEXT));
    (tag, process.api.post(&Pattern { from: process.me(), tags, tag, other: 0, context }, 0))
}

/// It is over.
pub(crate) fn complete(process: &Process, tag: i32) -> Mpi {
    let how = SendTo {
        to: process.me(),
        tag,
        context: OWN_CONTEXT,
        meta: 0,
        buffering: Buffering::AtSender,
        completion: Completion::Copied,
    };
    let told = notes(call::SEND, process.me(), tag, OWN_CONTEXT);
    process.api.send_one(how, &[], &told).map_err(|status| process.failed(status, None))
}
