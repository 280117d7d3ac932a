//! Asynchronous operations, and the handles that name them: their table.

use crate::envelope::{ANY, Last};
use crate::errors::{Cmmd, Fault};
use crate::lent::{Handler, Scattered};
use parvum_api::Request;

/// The maximum number of sends with a handle at the same time, and of receives and found messages.
pub(crate) const MOST: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Send,
    Receive,
    /// A message that was found, and is still there to be received.
    Found,
}

/// One operation.
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    /// Names it in the engine; a receive that waits for the matching function has none yet.
    pub(crate) request: Option<Request>,
    /// The node and the tag that the program named.
    pub(crate) node: i32,
    pub(crate) tag: i32,
    /// The program's memory.
    pub(crate) buffer: usize,
    pub(crate) len: usize,
    /// The destinations of the pieces of a strided receive.
    pub(crate) scattered: Option<Scattered>,
    pub(crate) handler: Option<(Handler, usize)>,
    /// How it ended.
    pub(crate) over: Option<Cmmd<()>>,
    /// The received message, for a receive.
    pub(crate) message: Last,
    /// The program gave the handle back before the end.
    pub(crate) freed: bool,
}

impl Operation {
    pub(crate) fn new(kind: Kind, node: i32, tag: i32, buffer: usize, len: usize) -> Operation {
        let message = Last { from: ANY, tag, bytes: 0 };
        Operation {
            kind,
            request: None,
            node,
            tag,
            buffer,
            len,
            scattered: None,
            handler: None,
            over: None,
            message,
            freed: false,
        }
    }
}

/// All that have a handle.
pub(crate) struct Operations {
    slots: Vec<(i32, Option<Operation>)>,
    free: Vec<usize>,
    sends: usize,
    receives: usize,
    /// Operations whose handlers have not run.
    handlers: Vec<i32>,
}

/// Slots in the low bits of a handle, above them how often the slot was used.
const SLOT_BITS: u32 = 10;
const USES: i32 = 0xf_ffff;

impl Operations {
    pub(crate) fn new() -> Operations {
        Operations { slots: Vec::new(), free: Vec::new(), sends: 0, receives: 0, handlers: Vec::new() }
    }

    fn used(&mut self, kind: Kind) -> &mut usize {
        if kind == Kind::Send { &mut self.sends } else { &mut self.receives }
    }

    /// How many more sends, or receives, may have a handle.
    pub(crate) fn left(&self, kind: Kind) -> usize {
        MOST - if kind == Kind::Send { self.sends } else { self.receives }
    }

    /// Whether one more may.
    pub(crate) fn check_room(&self, kind: Kind) -> Cmmd<()> {
        if self.left(kind) == 0 { Err(Fault::NoRports) } else { Ok(()) }
    }

    /// Gives an operation its handle. There must be room.
    pub(crate) fn add(&mut self, operation: Operation) -> i32 {
        *self.used(operation.kind) += 1;
        let has_handler = operation.handler.is_some();
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() - 1
        });
        self.slots[at].1 = Some(operation);
        let mcb = ((self.slots[at].0 & USES) << SLOT_BITS | at as i32) + 1;
        if has_handler {
            self.handlers.push(mcb);
        }
        mcb
    }

    fn place(&self, mcb: i32) -> Option<usize> {
        let number = mcb.checked_sub(1).filter(|number| *number >= 0)?;
        let at = (number & ((1 << SLOT_BITS) - 1)) as usize;
        let (uses, operation) = self.slots.get(at)?;
        (operation.is_some() && uses & USES == number >> SLOT_BITS).then_some(at)
    }

    /// The operation of that handle.
    pub(crate) fn get(&mut self, mcb: i32) -> Cmmd<&mut Operation> {
        self.place(mcb).and_then(|at| self.slots[at].1.as_mut()).ok_or(Fault::BadMcb)
    }

    /// Gives the handle back. If the operation is under way, the call returns an error, and the handle is freed when
    /// the operation is complete.
    pub(crate) fn free(&mut self, mcb: i32) -> Cmmd<()> {
        let operation = self.get(mcb)?;
        if operation.over.is_none() || self.handlers.contains(&mcb) {
            self.get(mcb)?.freed = true;
            return Err(Fault::Unfinished);
        }
        self.remove(mcb);
        Ok(())
    }

    pub(crate) fn remove(&mut self, mcb: i32) {
        let Some(at) = self.place(mcb) else { return };
        if let Some(operation) = self.slots[at].1.take() {
            *self.used(operation.kind) -= 1;
            self.slots[at].0 = self.slots[at].0.wrapping_add(1);
            self.free.push(at);
        }
    }

    /// Handles of operations that are under way, of one kind or all.
    pub(crate) fn under_way(&self, kind: Option<Kind>) -> Vec<i32> {
        let name = |(at, (uses, _)): (usize, &(i32, _))| ((uses & USES) << SLOT_BITS | at as i32) + 1;
        let slots = self.slots.iter().enumerate();
        let wanted = |operation: &Operation| {
            operation.over.is_none() && kind.is_none_or(|kind| kind == operation.kind)
        };
        slots.filter(|(_, (_, operation))| operation.as_ref().is_some_and(wanted)).map(name).collect()
    }

    #[inline]
    pub(crate) fn has_handlers(&self) -> bool {
        !self.handlers.is_empty()
    }

    pub(crate) fn with_handlers(&self) -> Vec<i32> {
        self.handlers.clone()
    }

    /// Takes a handler whose operation is over.
    pub(crate) fn take_due(&mut self) -> Option<(i32, Handler, usize)> {
        let is_over = |mcb: &i32| {
            self.place(*mcb).and_then(|at| self.slots[at].1.as_ref()).is_none_or(|op| op.over.is_some())
        };
        let at = self.handlers.iter().position(is_over)?;
        let mcb = self.handlers.remove(at);
        let operation = self.get(mcb).ok()?;
        let (handler, arg) = operation.handler?;
        if operation.freed {
            self.remove(mcb);
        }
        Some((mcb, handler, arg))
    }

    /// The requests of operations whose handlers wait for them.
    pub(crate) fn handled_requests(&self) -> Vec<Request> {
        let request = |mcb: &i32| self.slots[self.place(*mcb)?].1.as_ref()?.request;
        self.handlers.iter().filter_map(request).collect()
    }

    pub(crate) fn is_discarded(&self, mcb: i32) -> bool {
        let freed = self.place(mcb).and_then(|at| self.slots[at].1.as_ref()).is_some_and(|op| op.freed);
        freed && !self.handlers.contains(&mcb)
    }
}
