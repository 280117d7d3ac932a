//! Waiting for the answer to a send that asks whether a receive is posted.

use crate::inside::Inside;
use crate::sending::pusher;
use parvum_api::{Notes, Status, call};
use parvum_engine::{AskOutcome, Outcome, Received, RequestId};
use parvum_wire::Tid;

/// The time that a sender waits for a receiver that may be inside the library. A receiver that computes does not
/// answer.
const LIMIT: i64 = 100_000;
/// Bytes of a copy in a nanosecond.
const BYTES: i64 = 8;
/// The same time if more tasks than cores are awake, because the receiver may not be running.
const CROWDED: i64 = 20_000;

impl Inside {
    /// Waits a moment for the receiver's answer, then has the data copied. `Pending`: the receiver is fetching it.
    pub(crate) fn await_answer(
        &mut self,
        to: Tid,
        tag: i32,
        id: RequestId,
        length: usize,
        request: &mut u64,
    ) -> Status {
        // If a receiver did not answer, the sender does not wait for it again until it has answered.
        let limit = match self.engine.is_silent(to) {
            true => 0,
            false if self.connections.crowd.exceeds_cores() => CROWDED,
            // To wait as long as the copy would take costs twice as much as to copy at once, at the worst.
            false => LIMIT.max(length as i64 / BYTES),
        };
        let notes = Notes { limit, call: call::SEND, peer: to.0, tag, context: 0 };
        self.wait_until(&notes, |runtime| {
            matches!(runtime.engine.asked(to, id), AskOutcome::Over | AskOutcome::Unposted).then_some(())
        });
        if !self.engine.keep_at_sender(to, id) {
            *request = id.number();
            return Status::Pending;
        }
        if self.engine.is_behind(to) {
            pusher::start(self.place, self.engine.ledger());
        }
        match self.engine.test(id) {
            Received::Over(Outcome::Gone(_)) => Status::Gone,
            _ => Status::Done,
        }
    }
}
