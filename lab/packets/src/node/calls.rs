//! Calls and their answers.

use super::{ANSWERS, Node, Representative, Sender};
use crate::Now;
use crate::port::{Port, Transfer};
use containers::Error;
use containers::{ClientState, Decision, Protocol};

/// A call that waits for its answer.
#[derive(Debug)]
pub struct Call<A> {
    server: Representative<A>,
    number: u32,
    since: Now,
}

impl<P: Port> Node<P> {
    /// Begins to call a server.
    pub fn call(
        &mut self,
        now: Now,
        server: &Representative<P::Address>,
        request: &[u8],
    ) -> Result<Call<P::Address>, Error> {
        let number = self.number();
        self.send_as(now, server, number, request, Protocol::Reliable)?;
        Ok(Call { server: *server, number, since: now })
    }

    /// Answers a call that was received.
    pub fn reply(&mut self, now: Now, to: &Sender<P::Address>, answer: &[u8]) -> Result<(), Error> {
        if to.call == 0 {
            return Err(Error::BadArgument);
        }
        let conversation = match self.answering.get(&to.at) {
            Some(conversation) => *conversation,
            None => {
                let fresh = self.represent(to.at, ANSWERS).conversation;
                self.answering.insert(to.at, fresh);
                fresh
            }
        };
        let back = Representative { to: to.at, container: ANSWERS, conversation };
        self.send_as(now, &back, to.call, answer, Protocol::Reliable)
    }

    /// Whether a call is over: its answer's length, or why there is none. When its timer has expired the state's handler decides.
    pub fn answer(
        &mut self,
        now: Now,
        call: &mut Call<P::Address>,
        room: &mut [u8],
        state: &mut ClientState,
    ) -> Option<Result<usize, Error>> {
        if let Some(message) = self.answers.remove(&call.number) {
            let length = message.length;
            return Some(match room.get_mut(..length) {
                Some(room) => {
                    self.counts.copies_in += 1;
                    message.unload(room, &mut self.pool);
                    Ok(length)
                }
                None => {
                    message.release(&mut self.pool);
                    Err(Error::NoRoom { length })
                }
            });
        }
        if let Err(why) = self.is_delivered(&call.server) {
            return Some(Err(why));
        }
        if self.port.transfer().is_gone(call.server.to) {
            return Some(Err(Error::Gone));
        }
        let timer = state.timer()?;
        if now < call.since + timer.as_micros() as Now {
            return None;
        }
        call.since = now;
        match state.expire() {
            Decision::GiveUp => return Some(Err(Error::TimedOut)),
            Decision::WaitOn => {}
            Decision::Again => {
                state.has_repeated(1);
                if let Some(outgoing) = self.outgoing.get_mut(&call.server.conversation) {
                    outgoing.hurry(now);
                }
                self.transmit(now, call.server.conversation);
            }
        }
        None
    }
}
