//! The sender's side of a stream: what the reader has not taken.

use super::{READER_GONE, lost};
use crate::errors::StreamError;
use crate::wire::header;
use bytes::{Buf, Bytes};
use quinn::{Connection, SendStream, VarInt, WriteError};
use std::cell::RefCell;
use std::collections::VecDeque;
use tokio::sync::Notify;

/// Code of a stream that was given up.
const GIVEN_UP: VarInt = VarInt::from_u32(1);

/// The sender's side of a stream, between its user and the task that writes.
pub(crate) struct Outgoing {
    pub(super) number: u64,
    pub(super) said: Bytes,
    pub(super) state: RefCell<Sending>,
    /// There is something to write, or to give up.
    pub(super) more: Notify,
    /// There is room, or an end.
    pub(super) changed: Notify,
    /// What may be unread in all.
    pub(super) bound: u64,
}

#[derive(Default)]
pub(super) struct Sending {
    /// What the reader has not taken.
    pub(super) kept: VecDeque<Bytes>,
    /// Where in the stream that begins, how far it is written to this connection, and where it ends.
    pub(super) taken: u64,
    pub(super) written: u64,
    pub(super) end: u64,
    pub(super) is_finished: bool,
    pub(super) is_given_up: bool,
    /// The other end has all, in its memory at least.
    pub(super) has_arrived: bool,
    pub(super) over: Option<StreamError>,
}

impl Sending {
    /// The pieces that are not written.
    fn unwritten(&self) -> Vec<Bytes> {
        let (mut at, mut pieces) = (self.taken, Vec::new());
        for piece in &self.kept {
            let end = at.saturating_add(piece.len() as u64);
            if end > self.written {
                pieces.push(piece.slice(self.written.saturating_sub(at) as usize..));
            }
            at = end;
        }
        pieces
    }
}

impl Outgoing {
    pub fn taken(&self, bytes: u64) {
        let mut state = self.state.borrow_mut();
        let mut count = bytes.min(state.end).saturating_sub(state.taken);
        state.taken = state.taken.saturating_add(count);
        while count > 0 {
            let Some(first) = state.kept.front_mut() else { break };
            let part = first.len().min(count as usize);
            first.advance(part);
            count = count.saturating_sub(part as u64);
            if first.is_empty() {
                state.kept.pop_front();
            }
        }
        // One more than there are: the reader has seen the end.
        if bytes == READER_GONE || bytes > state.end && state.is_finished {
            state.has_arrived = state.is_finished;
            state.over = Some(StreamError::Abandoned);
        }
        drop(state);
        self.changed.notify_waiters();
        self.more.notify_one();
    }

    /// Whether the other end has not taken everything.
    pub fn is_owed(&self) -> bool {
        let state = self.state.borrow();
        state.over.is_none() && state.taken < state.end
    }

    pub fn fail(&self) {
        self.finish_with(lost());
    }

    pub(super) fn finish_with(&self, why: StreamError) {
        self.state.borrow_mut().over.get_or_insert(why);
        self.changed.notify_waiters();
        self.more.notify_one();
    }

    /// Writes over one connection until all is taken.
    pub(super) async fn write(&self, connection: &Connection) -> Result<(), WriteError> {
        let mut stream = connection.open_uni().await?;
        let begin = {
            let mut state = self.state.borrow_mut();
            if state.over.is_some() {
                return Ok(());
            }
            state.written = state.taken;
            header::Beginning { number: self.number, at: state.taken, length: self.said.len() as u32 }
        };
        let begin = Bytes::copy_from_slice(&begin.encode());
        stream.write_all_chunks(&mut [begin, self.said.clone()]).await?;
        let mut is_finished = false;
        loop {
            let (mut pieces, finish, give_up, over) = {
                let state = self.state.borrow();
                (state.unwritten(), state.is_finished, state.is_given_up, state.over.is_some())
            };
            if over {
                return Ok(());
            }
            if !pieces.is_empty() && !give_up {
                let length: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
                stream.write_all_chunks(&mut pieces).await?;
                let mut state = self.state.borrow_mut();
                state.written = state.written.saturating_add(length);
                drop(state);
                self.changed.notify_waiters();
                continue;
            }
            if give_up {
                let _ = stream.reset(GIVEN_UP);
                return Err(WriteError::ClosedStream);
            }
            if finish && !is_finished {
                is_finished = true;
                let _ = stream.finish();
            }
            self.await_news(&mut stream, connection, is_finished).await?;
        }
    }

    /// Until there is more to do; an error when this connection will not carry it.
    async fn await_news(
        &self,
        stream: &mut SendStream,
        connection: &Connection,
        is_finished: bool,
    ) -> Result<(), WriteError> {
        let has_arrived = self.state.borrow().has_arrived;
        tokio::select! {
            () = self.more.notified() => Ok(()),
            error = connection.closed() => Err(WriteError::ConnectionLost(error)),
            stopped = stream.stopped(), if !has_arrived => match stopped {
                Ok(None) => {
                    // The other end has all, though perhaps not its reader.
                    self.state.borrow_mut().has_arrived = is_finished;
                    self.changed.notify_waiters();
                    Ok(())
                }
                Ok(Some(code)) => Err(WriteError::Stopped(code)),
                Err(_) => Err(WriteError::ConnectionLost(connection.closed().await)),
            },
        }
    }
}
