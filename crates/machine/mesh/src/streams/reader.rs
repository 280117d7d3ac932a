//! The receiving end of a stream.

use super::incoming::Incoming;
use super::{PORTION, lost};
use crate::errors::StreamError;
use crate::session::Session;
use bytes::{Buf, Bytes};
use quinn::{ReadError, RecvStream};
use std::rc::Rc;

/// The receiving end. Dropped early, the sender is told.
pub struct StreamReader {
    session: Rc<Session>,
    number: u64,
    incoming: Rc<Incoming>,
    stream: RecvStream,
    /// So much has been read, and so much of it the sender was told of.
    at: u64,
    told: u64,
    /// So much comes again before what is new.
    skip: u64,
}

impl StreamReader {
    pub(super) fn new(
        session: Rc<Session>,
        number: u64,
        incoming: Rc<Incoming>,
        stream: RecvStream,
    ) -> StreamReader {
        StreamReader { session, number, incoming, stream, at: 0, told: 0, skip: 0 }
    }

    /// The next bytes, at most `limit`; none at the end.
    pub async fn next(&mut self, limit: usize) -> Result<Option<Bytes>, StreamError> {
        loop {
            match self.stream.read_chunk(limit, true).await {
                Ok(Some(mut chunk)) => {
                    let known = self.skip.min(chunk.bytes.len() as u64);
                    self.skip = self.skip.saturating_sub(known);
                    chunk.bytes.advance(known as usize);
                    if chunk.bytes.is_empty() {
                        continue;
                    }
                    self.at = self.at.saturating_add(chunk.bytes.len() as u64);
                    let much = self.at.saturating_sub(self.told) >= PORTION;
                    if much {
                        self.told = self.at;
                    }
                    self.session.owe(self.number, self.at, much);
                    return Ok(Some(chunk.bytes));
                }
                Ok(None) => {
                    self.session.owe(self.number, self.at.saturating_add(1), true);
                    return Ok(None);
                }
                Err(ReadError::ConnectionLost(_)) => self.go_on().await?,
                Err(_) => return Err(StreamError::Abandoned),
            }
        }
    }

    /// Waits for the connection on which the stream goes on.
    async fn go_on(&mut self) -> Result<(), StreamError> {
        loop {
            let changed = self.incoming.changed.notified();
            let next = self.incoming.next.take();
            if let Some((stream, at)) = next {
                // More than was taken cannot be missing.
                self.skip = self.at.checked_sub(at).ok_or(StreamError::Abandoned)?;
                self.stream = stream;
                return Ok(());
            }
            if self.incoming.is_lost.get() || self.session.is_over() {
                return Err(lost());
            }
            changed.await;
        }
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        self.session.forget(self.number);
    }
}

impl std::fmt::Debug for StreamReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamReader").field("number", &self.number).finish_non_exhaustive()
    }
}
