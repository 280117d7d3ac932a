//! Streams for task data: one way, each with back pressure of its own.
//!
//! A stream outlives the connection that carries it, as messages do ([`crate::session`]): its sender
//! keeps what the reader has not taken, and sends that again over the next connection.

use crate::mesh::Inner;
use crate::session::{Arrival, Session};
use crate::wire::{Garbled, header};
use bytes::{Buf, Bytes, BytesMut};
use quinn::{Connection, ReadError, RecvStream, SendStream, VarInt, WriteError};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use tokio::sync::Notify;
use tokio::task::spawn_local;

/// Why a stream ends before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The other end gave it up.
    #[error("the other end gave the stream up")]
    Abandoned,
    /// The host is gone, or this life of it.
    #[error("the connection is gone: {0}")]
    Lost(String),
    /// The header has too many bytes.
    #[error("E-TOOLARGE: {0}; put the data into the stream itself")]
    Header(#[from] Garbled),
}

/// Code of a stream that was given up.
const GIVEN_UP: VarInt = VarInt::from_u32(1);
/// What is said of a stream whose reader has had all, or does not want more.
const READER_GONE: u64 = u64::MAX;
/// The sender is told when its reader has taken so much more.
const PORTION: u64 = 128 * 1024;
/// So much may wait to be written.
const AHEAD: u64 = 256 * 1024;

fn lost() -> StreamError {
    StreamError::Lost("the host is out, or has ended the connection".to_owned())
}

/// The sender's side of a stream, between its user and the task that writes.
pub(crate) struct Outgoing {
    number: u64,
    said: Bytes,
    state: RefCell<Sending>,
    /// There is something to write, or to give up.
    more: Notify,
    /// There is room, or an end.
    changed: Notify,
    /// What may be unread in all.
    bound: u64,
}

#[derive(Default)]
struct Sending {
    /// What the reader has not taken.
    kept: VecDeque<Bytes>,
    /// Where in the stream that begins, how far it is written to this connection, and where it ends.
    taken: u64,
    written: u64,
    end: u64,
    is_finished: bool,
    is_given_up: bool,
    /// The other end has all, in its memory at least.
    has_arrived: bool,
    over: Option<StreamError>,
}

impl Sending {
    /// The pieces that are not written.
    fn unwritten(&self) -> Vec<Bytes> {
        let (mut at, mut pieces) = (self.taken, Vec::new());
        for piece in &self.kept {
            let end = at + piece.len() as u64;
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
        state.taken += count;
        while count > 0 {
            let Some(first) = state.kept.front_mut() else { break };
            let part = first.len().min(count as usize);
            first.advance(part);
            count -= part as u64;
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

    pub fn fail(&self) {
        self.finish_with(lost());
    }

    fn finish_with(&self, why: StreamError) {
        self.state.borrow_mut().over.get_or_insert(why);
        self.changed.notify_waiters();
        self.more.notify_one();
    }

    /// Writes, over one connection after the other, until all is taken or nobody wants it.
    async fn pump(self: Rc<Self>, session: Rc<Session>) {
        while let Some(link) = session.wait_link().await {
            let connection = link.connection.clone();
            match self.write(&connection).await {
                Ok(()) => break,
                Err(WriteError::ConnectionLost(_)) => {
                    // The link's own end comes with it; until then it may look alive.
                    connection.closed().await;
                }
                Err(_) => {
                    self.finish_with(StreamError::Abandoned);
                    break;
                }
            }
        }
        if session.is_over() {
            self.fail();
        }
        session.close(self.number);
    }

    async fn write(&self, connection: &Connection) -> Result<(), WriteError> {
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
                self.state.borrow_mut().written += length;
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
                bound: 2 * u64::from(window) + PORTION,
            })
        };
        let stream = session.open(make);
        spawn_local(stream.clone().pump(session.clone()));
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
                let (unwritten, untaken) = (state.end - state.written, state.end - state.taken);
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
        state.end += bytes.len() as u64;
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

/// The reader's side of a stream: where the next connection leaves what goes on.
#[derive(Default)]
pub(crate) struct Incoming {
    next: RefCell<Option<(RecvStream, u64)>>,
    changed: Notify,
    is_lost: Cell<bool>,
}

impl Incoming {
    pub fn fail(&self) {
        self.is_lost.set(true);
        self.changed.notify_waiters();
    }

    fn go_on(&self, stream: RecvStream, at: u64) {
        *self.next.borrow_mut() = Some((stream, at));
        self.changed.notify_waiters();
    }
}

/// Takes in a stream that the peer has opened: a new one becomes an event, another goes to its reader.
pub(crate) async fn accept(mesh: &Rc<Inner>, session: &Rc<Session>, mut stream: RecvStream) {
    // A stream that was given up before its header is nobody's.
    let Ok((begin, said)) = read_beginning(&mut stream).await else { return };
    let number = begin.number;
    match session.arrival(number) {
        Arrival::Known(incoming) => return incoming.go_on(stream, begin.at),
        // Its sender has not heard of the end.
        Arrival::Over => return session.owe(number, READER_GONE, true),
        Arrival::New if begin.at > 0 => return,
        Arrival::New => {}
    }
    // What follows is not cut short when the connection ends.
    let Some(room) = mesh.room_for_event().await else { return };
    let incoming = Rc::<Incoming>::default();
    session.admit(number, incoming.clone());
    let reader = StreamReader { session: session.clone(), number, incoming, stream, at: 0, told: 0, skip: 0 };
    room.send((crate::MeshEvent::Stream { host: session.host, header: said, reader }, None));
}

async fn read_beginning(stream: &mut RecvStream) -> Result<(header::Beginning, Bytes), StreamError> {
    let mut bytes = [0; header::BEGINNING];
    stream.read_exact(&mut bytes).await.map_err(|_| StreamError::Abandoned)?;
    let begin = header::Beginning::decode(bytes)?;
    let length = begin.length as usize;
    let mut said = BytesMut::new();
    while said.len() < length {
        let piece = stream.read_chunk(length - said.len(), true).await.map_err(|_| StreamError::Abandoned)?;
        said.extend_from_slice(&piece.ok_or(StreamError::Abandoned)?.bytes);
    }
    Ok((begin, said.freeze()))
}

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
    /// The next bytes, at most `limit`; none at the end.
    pub async fn next(&mut self, limit: usize) -> Result<Option<Bytes>, StreamError> {
        loop {
            match self.stream.read_chunk(limit, true).await {
                Ok(Some(mut chunk)) => {
                    let known = self.skip.min(chunk.bytes.len() as u64);
                    self.skip -= known;
                    chunk.bytes.advance(known as usize);
                    if chunk.bytes.is_empty() {
                        continue;
                    }
                    self.at += chunk.bytes.len() as u64;
                    let much = self.at - self.told >= PORTION;
                    if much {
                        self.told = self.at;
                    }
                    self.session.owe(self.number, self.at, much);
                    return Ok(Some(chunk.bytes));
                }
                Ok(None) => {
                    self.session.owe(self.number, self.at + 1, true);
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

impl std::fmt::Debug for StreamSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamSender").field("number", &self.0.number).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for StreamReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamReader").field("number", &self.number).finish_non_exhaustive()
    }
}
