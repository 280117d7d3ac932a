//! Contexts: numbers that keep the messages of one communicator apart from all others.

use crate::errors::{Error, Mpi, class};
use crate::process::machine::machine;
use parvum_wire::control::{Reply, Request};
use std::sync::atomic::{AtomicU32, Ordering};

/// Contexts of communicators that were made have this bit; nobody else's do.
const MADE: u32 = 1 << 31;

/// A context that this process has of the machine, which gets it back when nobody uses it any more: also if what it was for fails.
#[derive(Debug)]
pub(crate) struct OwnContext(u32);

impl OwnContext {
    /// A number for a context that is the machine's only one; it is told to all members.
    pub(crate) fn new() -> Mpi<OwnContext> {
        let machine = machine()?;
        if !machine.is_joined()
            && let Some(context) = own_context()
        {
            return Ok(OwnContext(context));
        }
        let refused = |why: String| Error::new(class::OTHER, format!("no context for a communicator: {why}"));
        match machine.ask(&Request::NewContext { shared: true }) {
            Ok(Ok(Reply::Number(number))) => Ok(OwnContext(MADE | number << 1)),
            Ok(Ok(other)) => Err(refused(format!("{other:?}"))),
            Ok(Err(failure)) => Err(refused(failure.to_string())),
            Err(status) => Err(refused(format!("{status:?}"))),
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.0
    }
}

impl Drop for OwnContext {
    fn drop(&mut self) {
        if self.0 & MADE == 0 {
            return;
        }
        if let Ok(machine) = machine() {
            // Nobody can be told when the machine does not know it any more.
            let _ = machine.ask(&Request::FreeContext { context: (self.0 & !MADE) >> 1, job: None });
        }
    }
}

/// Contexts of a process that is in no machine: nobody else can send there.
const ALONE: u32 = 0x7d6a_0000;
const MOST_ALONE: u32 = 0x10_0000;

/// A context that no other process knows of; nothing when all have been used.
fn own_context() -> Option<u32> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number =
        NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| (it < MOST_ALONE).then_some(it + 1));
    number.ok().map(|number| ALONE + 2 * number)
}
