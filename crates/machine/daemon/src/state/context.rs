//! Contexts: tags of one context are not seen in another.

use super::*;
use std::collections::BTreeSet;

/// The first number given out: above those that programs choose themselves.
const FIRST: u32 = 1;
/// Numbers of one host: PVM's own begin above.
const LAST: u32 = 0x3_ffff;

/// The contexts that are in use.
#[derive(Default)]
pub(super) struct Contexts {
    in_use: BTreeSet<u32>,
    last: u32,
}

impl Contexts {
    /// A number that is not in use; numbers go round.
    fn take(&mut self, bound: usize) -> Option<u32> {
        if self.in_use.len() >= bound.min(LAST as usize) {
            return None;
        }
        loop {
            self.last = if self.last >= LAST { FIRST } else { self.last + 1 };
            if self.in_use.insert(self.last) {
                return Some(self.last);
            }
        }
    }
}

impl<F: Clone> Machine<F> {
    pub(super) fn new_context(&mut self, client: ClientId, id: RequestId, me: Tid) {
        // The host's bits above, as PVM has them: two hosts never give the same.
        let host = me.daemon().0 as u32;
        let result = match self.contexts.take(self.config.limits.contexts) {
            Some(number) => Ok(Reply::Number(host | number)),
            None => {
                let detail = format!("{} contexts are the bound", self.config.limits.contexts);
                Err(Failure::new(ErrorKind::OutOfResources, detail))
            }
        };
        self.answer(client, id, result);
    }

    pub(super) fn free_context(&mut self, client: ClientId, id: RequestId, context: u32) {
        let host = self.daemon_tid().0 as u32;
        let known = context & !LAST == host && self.contexts.in_use.remove(&(context & LAST));
        let result = if known {
            Ok(Reply::Done)
        } else {
            Err(Failure::new(ErrorKind::NoSuchEntry, format!("context {context}")))
        };
        self.answer(client, id, result);
    }
}
