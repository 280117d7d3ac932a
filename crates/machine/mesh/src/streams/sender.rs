//! The sending end of a stream.

use super::PORTION;
use super::outgoing::Outgoing;
use crate::errors::StreamError;
use crate::session::Session;
use crate::wire::header;
use bytes::Bytes;
use quinn::WriteError;
use std::cell::RefCell;
use std::rc::Rc;
use tokio::sync::Notify;
use tokio::task::spawn_local;

/// So much may wait to be written.
const AHEAD: u64 = 256 * 1024;

/// The sending end. Dropped before [`StreamSender::finish`], the reader sees
/// an abandoned stream, never a shorter one.
pub struct StreamSender(Rc<Outgoing>);

impl StreamSender {
    pub(crate) fn begin(
        session: &Rc<Session>,
        said: Bytes,
        window: u32,
    ) -> Result<StreamSender, StreamError> {
        header::check(said.len())?;
        let make = |number| {
            Rc::new(Outgoing {
                number,
                said,
                state: RefCell::default(),
                more: Notify::new(),
                changed: Notify::new(),
                bound: u64::from(window).saturating_mul(2).saturating_add(PORTION),
            })
        };
        let stream = session.open(make);
        spawn_local(pump(stream.clone(), session.clone()));
        Ok(StreamSender(stream))
    }

    /// Sends, without a copy; waits while the reader is slow.
    pub async fn send(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        loop {
            let changed = self.0.changed.notified();
            {
                let state = self.0.state.borrow_mut();
                if let Some(over) = &state.over {
                    return Err(over.clone());
                }
                let (unwritten, untaken) =
                    (state.end.saturating_sub(state.written), state.end.saturating_sub(state.taken));
                if unwritten < AHEAD && untaken < self.0.bound {
                    break;
                }
            }
            changed.await;
        }
        self.push(bytes)
    }

    /// Sends without a look at how much waits: the last words of a task go so, since others wait to hear of its end.
    pub fn push(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        let mut state = self.0.state.borrow_mut();
        if let Some(over) = &state.over {
            return Err(over.clone());
        }
        state.end = state.end.saturating_add(bytes.len() as u64);
        state.kept.extend((!bytes.is_empty()).then_some(bytes));
        drop(state);
        self.0.more.notify_one();
        Ok(())
    }

    /// Ends it: the reader gets everything, then the end.
    pub fn finish(self) {
        self.0.state.borrow_mut().is_finished = true;
        self.0.more.notify_one();
    }

    /// Ends it and waits until the other end has all of it.
    pub async fn finish_and_wait(self) -> Result<(), StreamError> {
        self.0.state.borrow_mut().is_finished = true;
        self.0.more.notify_one();
        loop {
            let changed = self.0.changed.notified();
            {
                let state = self.0.state.borrow();
                if state.has_arrived {
                    return Ok(());
                }
                if let Some(over) = &state.over {
                    return Err(over.clone());
                }
            }
            changed.await;
        }
    }
}

impl Drop for StreamSender {
    fn drop(&mut self) {
        let mut state = self.0.state.borrow_mut();
        state.is_given_up = !state.is_finished;
        drop(state);
        self.0.more.notify_one();
    }
}

impl std::fmt::Debug for StreamSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamSender").field("number", &self.0.number).finish_non_exhaustive()
    }
}

/// Writes, over one connection after the other, until all is taken or nobody wants it.
async fn pump(stream: Rc<Outgoing>, session: Rc<Session>) {
    while let Some(carrier) = session.wait_carrier().await {
        let connection = carrier.connection.clone();
        match stream.write(&connection).await {
            Ok(()) => break,
            Err(WriteError::ConnectionLost(_)) => {
                // The link's own end comes with it; until then it may look alive.
                connection.closed().await;
            }
            Err(_) => {
                stream.finish_with(StreamError::Abandoned);
                break;
            }
        }
    }
    if session.is_over() {
        stream.fail();
    }
    session.close(stream.number);
}
