//! One connection with one peer, from the end of the greeting on.

use crate::events::Waiting;
use crate::mesh::{Inner, MeshError};
use crate::refusal::{ENDED, REPLACED, Refusal, RefusalKind};
use crate::socket::plain;
use crate::wire::frames::{self, Farewell, Frame, Framer};
use crate::{Ended, Host, Incarnation, MeshEvent, StreamReader};
use bytes::Bytes;
use quinn::{Connection, ConnectionError, ReadError, RecvStream, SendStream};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::timeout;

#[derive(Default)]
struct Outbox {
    messages: VecDeque<Bytes>,
    /// Bytes not yet taken by QUIC.
    held: usize,
    farewell: Option<Farewell>,
}

pub(crate) struct Link {
    pub host: Host,
    pub incarnation: Incarnation,
    pub name: String,
    /// Both ends know the link by it.
    pub number: u64,
    pub connection: Connection,
    up: Cell<bool>,
    outbox: RefCell<Outbox>,
    wake: Notify,
    ended: RefCell<Option<Ended>>,
    over: watch::Sender<bool>,
}

impl Link {
    pub fn new(
        (host, incarnation, name): (Host, Incarnation, String),
        number: u64,
        connection: Connection,
    ) -> Rc<Link> {
        Rc::new(Link {
            host,
            incarnation,
            name,
            number,
            connection,
            up: Cell::new(false),
            outbox: RefCell::default(),
            wake: Notify::new(),
            ended: RefCell::default(),
            over: watch::Sender::new(false),
        })
    }

    /// It serves, and is not dead with its end still to be told.
    pub fn is_up(&self) -> bool {
        self.up.get() && !self.is_dead()
    }

    /// The connection has ended.
    pub fn is_dead(&self) -> bool {
        self.connection.close_reason().is_some()
    }

    pub fn address(&self) -> SocketAddr {
        plain(self.connection.remote_address())
    }

    /// Queues a message.
    pub fn send(&self, bytes: Bytes, bound: usize) -> Result<(), MeshError> {
        let mut outbox = self.outbox.borrow_mut();
        if outbox.farewell.is_some() {
            return Err(MeshError::NotConnected(self.host));
        }
        if outbox.held > 0 && outbox.held + bytes.len() > bound {
            return Err(MeshError::Busy { host: self.host, waiting: outbox.held, bound });
        }
        outbox.held += bytes.len();
        outbox.messages.push_back(bytes);
        drop(outbox);
        self.wake.notify_one();
        Ok(())
    }

    /// After what is queued, says farewell; the peer then ends the connection.
    pub fn say_farewell(&self, why: Farewell) {
        self.ended.borrow_mut().get_or_insert(Ended::Closed(why));
        self.outbox.borrow_mut().farewell.get_or_insert(why);
        self.wake.notify_one();
    }

    /// Another link takes this one's place.
    pub fn replace(&self, why: Ended) {
        self.ended.borrow_mut().get_or_insert(why);
        self.connection.close(REPLACED, b"");
    }

    /// Until its end has been told, or nothing will be.
    pub async fn wait_over(&self) {
        // The sender is in the link itself: it cannot be gone.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }

    pub fn set_over(&self) {
        self.over.send_replace(true);
    }
}

/// Serves a link from `Up` to `Down`. `first` goes before everything else on
/// the control stream; `before` is a link that this one replaces, whose end
/// is to be told first.
pub(crate) async fn run(
    mesh: Rc<Inner>,
    link: Rc<Link>,
    before: Option<Rc<Link>>,
    (send, recv): (SendStream, RecvStream),
    first: Vec<u8>,
) {
    // The peer waits for `first`; it must not wait for our daemon too.
    let writer = spawn_local(write(link.clone(), send, first));
    link.up.set(true);
    mesh.changed.notify_waiters();
    if let Some(before) = before {
        before.wait_over().await;
    }
    let (host, incarnation) = (link.host, link.incarnation);
    let up = MeshEvent::Up {
        host,
        incarnation,
        name: link.name.clone(),
        address: link.address(),
        rtt: link.connection.rtt(),
    };
    mesh.tell((up, None)).await;
    let (stop, stopped) = oneshot::channel();
    let mut streams = spawn_local(accept_streams(mesh.clone(), link.clone(), stopped));
    let how = read(&mesh, &link, recv).await;
    if matches!(how, Ended::Farewell(_)) {
        // What the peer knew to have arrived is told before the end.
        let _ = stop.send(());
        let _ = timeout(mesh.settings.detect / 2, &mut streams).await;
    }
    // No stream may be told after the end.
    streams.abort();
    if !streams.is_finished() {
        let _ = streams.await;
    }
    writer.abort();
    link.connection.close(ENDED, b"");
    link.up.set(false);
    mesh.table.borrow_mut().remove(&link);
    let why = link.ended.borrow_mut().take().unwrap_or(how);
    mesh.tell((MeshEvent::Down { host, incarnation, why }, None)).await;
    link.set_over();
    mesh.changed.notify_waiters();
}

async fn write(link: Rc<Link>, mut stream: SendStream, first: Vec<u8>) {
    // Control goes before bulk.
    let _ = stream.set_priority(1);
    // Errors mean that the connection is gone; the reader says so.
    if stream.write_all(&first).await.is_err() {
        return;
    }
    loop {
        let (messages, farewell) = {
            let mut outbox = link.outbox.borrow_mut();
            (std::mem::take(&mut outbox.messages), outbox.farewell)
        };
        if messages.is_empty() {
            if let Some(why) = farewell {
                // Finished, it is sent to its end though we let go of it.
                let _ = stream.write_all(&frames::farewell(why)).await;
                let _ = stream.finish();
                return;
            }
            link.wake.notified().await;
            continue;
        }
        for message in messages {
            let length = message.len();
            // `Mesh::open` bounds messages to 32 bits of length.
            let header = Bytes::copy_from_slice(&frames::message_header(length as u32));
            if stream.write_all_chunks(&mut [header, message]).await.is_err() {
                return;
            }
            link.outbox.borrow_mut().held -= length;
        }
    }
}

async fn read(mesh: &Rc<Inner>, link: &Rc<Link>, mut stream: RecvStream) -> Ended {
    let mut framer = Framer::new(mesh.settings.max_message);
    let mut chunks = [const { Bytes::new() }; 32];
    loop {
        match stream.read_chunks(&mut chunks).await {
            Ok(Some(count)) => {
                chunks[..count].iter_mut().for_each(|chunk| framer.push(std::mem::take(chunk)));
            }
            Ok(None) => return Ended::Lost("the peer ended the control stream".into()),
            Err(ReadError::ConnectionLost(error)) => return lost(mesh, &error),
            Err(error) => return Ended::Lost(error.to_string()),
        }
        loop {
            match framer.frame() {
                Ok(None) => break,
                Ok(Some(Frame::Message(bytes))) => {
                    let permit = mesh.inbox_room(bytes.len()).await;
                    let event = MeshEvent::Message { host: link.host, bytes };
                    mesh.tell((event, permit) as Waiting).await;
                }
                Ok(Some(Frame::Farewell(why))) => return Ended::Farewell(why),
                Err(garbled) => {
                    let text = format!("what the other end sent makes no sense: {garbled}");
                    Refusal::new(RefusalKind::Garbled, text.clone()).tell(&link.connection);
                    return Ended::Lost(text);
                }
            }
        }
    }
}

async fn accept_streams(mesh: Rc<Inner>, link: Rc<Link>, mut stopped: oneshot::Receiver<()>) {
    // Each header in a task of its own: a slow one keeps nobody waiting.
    let mut begun = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            stream = link.connection.accept_uni() => {
                let Ok(stream) = stream else { break };
                let (mesh, host) = (mesh.clone(), link.host);
                begun.spawn_local(async move {
                    // A stream that was given up before its header is nobody's.
                    if let Ok((header, reader)) = StreamReader::begin(stream).await {
                        mesh.tell((MeshEvent::Stream { host, header, reader }, None)).await;
                    }
                });
            }
            // After the streams that are there already.
            _ = &mut stopped => break,
            Some(_) = begun.join_next() => {}
        }
    }
    while begun.join_next().await.is_some() {}
}

fn lost(mesh: &Inner, error: &ConnectionError) -> Ended {
    Ended::Lost(match error {
        ConnectionError::TimedOut => {
            format!("no word from it for {:.1} s", mesh.settings.silence().as_secs_f64())
        }
        ConnectionError::ApplicationClosed(close) if close.error_code == REPLACED => {
            "the peer made a new connection".into()
        }
        ConnectionError::ApplicationClosed(close) if close.error_code == ENDED => {
            "the peer closed the connection without a farewell".into()
        }
        ConnectionError::Reset => "the peer does not know the connection any more".into(),
        error => match Refusal::from_quic(error) {
            Some(refusal) => refusal.to_string(),
            None => error.to_string(),
        },
    })
}
