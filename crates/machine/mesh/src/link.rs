//! One connection with one peer, from the end of the greeting on.

use crate::events::Waiting;
use crate::meeting::refusal::{ENDED, REPLACED, Refusal, RefusalKind};
use crate::mesh::Inner;
use crate::session::Session;
use crate::socket::plain;
use crate::wire::frames::{self, Farewell, Frame, Framer};
use crate::{Ended, Host, Incarnation, MeshEvent, streams};
use bytes::Bytes;
use quinn::{Connection, ConnectionError, ReadError, RecvStream, SendStream};
use std::cell::{Cell, OnceCell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::{Instant, timeout};

pub(crate) struct Link {
    pub host: Host,
    pub incarnation: Incarnation,
    pub name: String,
    /// Both ends know the link by it.
    pub number: u64,
    pub connection: Connection,
    /// What goes over it, and goes on when it breaks; set when it is admitted.
    session: OnceCell<Rc<Session>>,
    up: Cell<bool>,
    /// Nothing of an earlier link is on its way to the daemon: what was received can be told.
    may_resume: Cell<bool>,
    /// The number of the message that goes next, when the peer has said where to begin.
    next: Cell<Option<u64>>,
    farewell: Cell<Option<Farewell>>,
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
            session: OnceCell::new(),
            up: Cell::new(false),
            may_resume: Cell::new(false),
            next: Cell::new(None),
            farewell: Cell::new(None),
            wake: Notify::new(),
            ended: RefCell::default(),
            over: watch::Sender::new(false),
        })
    }

    /// It serves, and is not dead with its end still to be told, or about to end on purpose.
    pub fn is_up(&self) -> bool {
        self.up.get() && !self.is_dead() && !self.is_parting()
    }

    /// The connection has ended.
    pub fn is_dead(&self) -> bool {
        self.connection.close_reason().is_some()
    }

    pub fn address(&self) -> SocketAddr {
        plain(self.connection.remote_address())
    }

    /// It carries that session from now on.
    pub fn carry(&self, session: Rc<Session>) {
        // Links are admitted once.
        let _ = self.session.set(session);
    }

    fn session(&self) -> &Rc<Session> {
        self.session.get().expect("it was admitted")
    }

    /// It has something to write.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Whether it is about to end on purpose.
    pub fn is_parting(&self) -> bool {
        self.farewell.get().is_some()
    }

    /// After what is queued, says farewell; the peer then ends the connection.
    pub fn say_farewell(&self, why: Farewell) {
        self.ended.borrow_mut().get_or_insert(Ended::Closed(why));
        if self.farewell.get().is_none() {
            self.farewell.set(Some(why));
        }
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
    let session = link.session().clone();
    session.attach(&link);
    link.may_resume.set(true);
    link.wake();
    let (host, incarnation) = (link.host, link.incarnation);
    let up = MeshEvent::Up {
        host,
        incarnation,
        name: link.name.clone(),
        address: link.address(),
        rtt: link.connection.rtt(),
    };
    mesh.emit((up, None)).await;
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
    session.leave(&link);
    mesh.table.borrow_mut().remove(&link);
    let why = link.ended.borrow_mut().take().unwrap_or(how);
    if !matches!(why, Ended::Lost(_)) {
        session.end();
    }
    mesh.emit((MeshEvent::Down { host, incarnation, why }, None)).await;
    link.set_over();
    mesh.changed.notify_waiters();
}

/// What has come is acknowledged so late at the latest, with what else there is to say if there is anything.
const SETTLE: Duration = Duration::from_millis(200);

async fn write(link: Rc<Link>, mut stream: SendStream, first: Vec<u8>) {
    // Control goes before bulk.
    let _ = stream.set_priority(1);
    // Errors mean that the connection is gone; the reader says so.
    if stream.write_all(&first).await.is_err() {
        return;
    }
    let session = link.session().clone();
    while !link.may_resume.get() {
        link.wake.notified().await;
    }
    if stream.write_all(&frames::resume(session.resume())).await.is_err() {
        return;
    }
    let mut settle_at = None;
    loop {
        let mut pieces = take_messages(&link, &session);
        let idle = pieces.is_empty();
        match session.owes() {
            Some(at_once) => {
                let at = *settle_at.get_or_insert_with(|| Instant::now() + SETTLE);
                if at_once || !idle || Instant::now() >= at {
                    settle_at = None;
                    pieces.extend(news(&session));
                }
            }
            None => settle_at = None,
        }
        if !pieces.is_empty() {
            if stream.write_all_chunks(&mut pieces).await.is_err() {
                return;
            }
            continue;
        }
        if let Some(why) = link.farewell.get()
            && link.next.get().is_some()
        {
            // Finished, it is sent to its end though we let go of it.
            let _ = stream.write_all(&frames::farewell(why)).await;
            let _ = stream.finish();
            return;
        }
        match settle_at {
            Some(at) => drop(timeout(at - Instant::now(), link.wake.notified()).await),
            None => link.wake.notified().await,
        }
    }
}

/// The messages that go next, when the peer has said where to begin.
fn take_messages(link: &Link, session: &Session) -> Vec<Bytes> {
    /// So many at once: acknowledgements go between them.
    const RUN: usize = 64;
    let mut pieces = Vec::new();
    let Some(mut next) = link.next.get() else { return pieces };
    while pieces.len() < 2 * RUN
        && let Some(message) = session.message(next)
    {
        // `Mesh::open` bounds messages to 32 bits of length.
        pieces.push(Bytes::copy_from_slice(&frames::message_header(message.len() as u32)));
        pieces.push(message);
        next += 1;
    }
    link.next.set(Some(next));
    pieces
}

/// What has come since this was last said.
fn news(session: &Session) -> Vec<Bytes> {
    let (received, taken) = session.take_acknowledgement();
    let taken = taken.into_iter().map(|(stream, bytes)| frames::taken(stream, bytes).into());
    received.map(|count| frames::received(count).into()).into_iter().chain(taken).collect()
}

async fn read(mesh: &Rc<Inner>, link: &Rc<Link>, mut stream: RecvStream) -> Ended {
    let session = link.session();
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
                    mesh.emit((event, permit) as Waiting).await;
                    session.has_told();
                }
                Ok(Some(Frame::Resume(resume))) if link.next.get().is_none() => {
                    let Some(next) = session.resumed(resume) else {
                        return garbled(link, "it has received what was never sent");
                    };
                    link.next.set(Some(next));
                    link.wake();
                }
                Ok(Some(Frame::Resume(_))) => return garbled(link, "it begins again"),
                Ok(Some(Frame::Received(count))) => {
                    if !session.acknowledge(count) {
                        return garbled(link, "it has received what was never sent");
                    }
                }
                Ok(Some(Frame::Taken { stream, bytes })) => session.taken(stream, bytes),
                Ok(Some(Frame::Farewell(why))) => return Ended::Farewell(why),
                Err(why) => return garbled(link, &why.to_string()),
            }
        }
    }
}

fn garbled(link: &Link, why: &str) -> Ended {
    let text = format!("what the other end sent cannot be read: {why}");
    Refusal::new(RefusalKind::Garbled, text.clone()).close(&link.connection);
    Ended::Lost(text)
}

async fn accept_streams(mesh: Rc<Inner>, link: Rc<Link>, mut stopped: oneshot::Receiver<()>) {
    // Each header in a task of its own: a slow one keeps nobody waiting.
    let mut begun = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            stream = link.connection.accept_uni() => {
                let Ok(stream) = stream else { break };
                let (mesh, session) = (mesh.clone(), link.session().clone());
                begun.spawn_local(async move { streams::accept(&mesh, &session, stream).await });
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
