//! Completing operations: looking whether they are over, waiting for them, and running their handlers.

use crate::envelope::{Last, notes};
use crate::errors::{Cmmd, Fault};
use crate::lent::{Handler, deliver, scatter};
use crate::state::operations::{Kind, Operation};
use crate::state::{Guard, State};
use crate::words;
use parvum_api::{Message, Notes, Receiving, Request, Status};

impl State {
    /// Whether the operation is over, by now.
    pub(crate) fn look_at(&mut self, mcb: i32) -> bool {
        let api = self.api;
        let Ok(operation) = self.operations.get(mcb) else { return true };
        if operation.over.is_some() {
            return true;
        }
        let once = Notes { limit: 0, ..notes(words::msg_wait(), -1, -1) };
        match operation.request {
            Some(request) => match api.wait(request, &once) {
                Err(Status::Pending) => return false,
                ended => self.end(mcb, ended),
            },
            None => return self.match_operation(mcb),
        }
        true
    }

    /// Writes down how an operation ended.
    pub(crate) fn end(&mut self, mcb: i32, ended: Result<Message, Status>) {
        let Ok(operation) = self.operations.get(mcb) else { return };
        operation.request = None;
        operation.over = Some(match ended {
            Ok(message) if operation.kind == Kind::Receive => {
                operation.message = Last { from: message.from, tag: message.tag, bytes: message.length };
                let whole = operation
                    .scattered
                    .take()
                    .map_or(operation.len, |scattered| scatter(scattered, message.length));
                let last = operation.message;
                let ended = if message.length > whole as u64 { Err(Fault::Truncated) } else { Ok(()) };
                self.last = last;
                ended
            }
            Ok(_) => {
                operation.message.bytes = operation.len as u64;
                let bytes = operation.len as u64;
                self.sent = bytes;
                Ok(())
            }
            Err(why) => Err(why.into()),
        });
        if self.operations.is_discarded(mcb) {
            self.operations.remove(mcb);
        }
    }

    /// Finds a message for a receive that the program's matching function decides about.
    fn match_operation(&mut self, mcb: i32) -> bool {
        let Ok(&mut Operation { node, tag, .. }) = self.operations.get(mcb) else { return true };
        let Some(found) = self.find_matching(node, tag) else { return false };
        let taken = self.api.take(&found, Receiving::Block, &notes(words::msg_wait(), -1, -1));
        if let (Ok(message), Ok(operation)) = (&taken, self.operations.get(mcb)) {
            let Operation { buffer, len, .. } = *operation;
            deliver(message, buffer, len, operation.scattered.as_mut());
            self.api.give_back(message);
        }
        self.end(mcb, taken.map(Message::without_data));
        true
    }

    /// The oldest message that the program's matching function likes.
    pub(crate) fn find_matching(&self, node: i32, tag: i32) -> Option<Message> {
        let matching = self.matching?;
        let here = self.api.unexpected(|message| message.context == 0);
        here.into_iter().find(|message| self.matches(matching, node, tag, message))
    }

    /// An operation with a handler that is over and whose handler has not run: it counts as run now.
    fn next_due(&mut self) -> Option<(i32, Handler, usize)> {
        for mcb in self.operations.with_handlers() {
            self.look_at(mcb);
        }
        self.operations.take_due()
    }
}

/// Waits until an operation is complete; handlers of other operations run during the wait.
pub(crate) fn wait_for(mut state: Guard, mcb: i32) -> (Guard, Cmmd<()>) {
    loop {
        let seen = state.api.arrivals();
        if state.look_at(mcb) {
            let over = state.operations.get(mcb).map(|operation| operation.over);
            return match over {
                Ok(over) => (state, over.unwrap_or(Ok(()))),
                // Its handler, or an early free, gave it back.
                Err(_) => (state, Ok(())),
            };
        }
        let request = state.operations.get(mcb).ok().and_then(|operation| operation.request);
        let seen = if request.is_none() { seen } else { u64::MAX };
        (state, _) = wait_among(state, request, seen, words::msg_wait(), -1, -1);
    }
}

/// Waits until a request is complete. If `seen` counts messages, it also returns when another message has come.
/// Handlers run during the wait. Whether the request may be over.
pub(crate) fn wait_among(
    mut state: Guard,
    request: Option<Request>,
    seen: u64,
    call: u32,
    peer: i32,
    tag: i32,
) -> (Guard, bool) {
    let mut all: Vec<Request> = request.into_iter().collect();
    let wanted = all.len() as i64;
    if !state.in_handler {
        all.extend(state.operations.handled_requests());
    }
    let api = state.api;
    let first = state.outside(|| api.wait_any(&all, seen, &notes(call, peer, tag)));
    if first >= wanted {
        return (run_handlers(state), false);
    }
    (state, true)
}

/// Runs the handlers of all operations that are over, one after the other.
#[cold]
pub(crate) fn run_handlers(mut state: Guard) -> Guard {
    while !state.in_handler
        && let Some((mcb, handler, arg)) = state.next_due()
    {
        state.in_handler = true;
        drop(state);
        handler.run(mcb, arg);
        state = Guard::take();
        state.in_handler = false;
    }
    state
}

impl Guard {
    /// Waits until no sending end has a transfer under way.
    pub(crate) fn await_channels(&mut self) {
        for name in self.channels.names() {
            let api = self.api;
            while let Ok(false) = self.channels.is_idle(api, name, Some(true)) {
                let Some((request, peer)) = self.channels.under_way(name) else { break };
                if self.outside(|| api.wait_any(&[request], u64::MAX, &notes(words::msg_wait(), peer, -1)))
                    < 0
                {
                    // There is no machine any more.
                    return;
                }
            }
        }
    }
}
