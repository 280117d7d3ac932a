//! Serves a link: writes what its session has to say, reads what the peer says, and takes in streams.

use crate::events::{Ended, MeshEvent, Waiting};
use crate::handshake::refusal::{ENDED, REPLACED, Refusal, RefusalKind, SILENT};
use crate::inner::Inner;
use crate::link::Link;
use crate::session::Session;
use crate::streams::accepting::accept;
use crate::wire::frames::{self, Frame, Framer};
use bytes::Bytes;
use quinn::{ConnectionError, ReadError, RecvStream, SendStream};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::{JoinSet, spawn_local};
use tokio::time::{Instant, timeout};

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
    session.attach(&link.carrier);
    link.may_resume.set(true);
    link.wake();
    let (host, incarnation) = (link.host, link.incarnation);
    let up = MeshEvent::Up {
        host,
        incarnation,
        name: link.name.clone(),
        address: link.address(),
        rtt: link.carrier.connection.rtt(),
    };
    mesh.emit((up, None)).await;
    let (stop, stopped) = oneshot::channel();
    let mut streams = spawn_local(accept_streams(mesh.clone(), link.clone(), stopped));
    let how = read(&mesh, &link, recv).await;
    if matches!(how, Ended::Farewell(_)) {
        // What the peer knew to have arrived is told before the end.
        let _ = stop.send(());
        let _ = timeout(mesh.settings.detect.mul_f64(0.5), &mut streams).await;
    }
    // No stream may be told after the end.
    streams.abort();
    if !streams.is_finished() {
        let _ = streams.await;
    }
    writer.abort();
    link.carrier.connection.close(ENDED, b"");
    link.up.set(false);
    session.leave(&link.carrier);
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
        link.carrier.woken().await;
    }
    if stream.write_all(&frames::resume(session.resume())).await.is_err() {
        return;
    }
    let mut owes_since = None;
    loop {
        let mut pieces = take_messages(&link, &session);
        let idle = pieces.is_empty();
        match session.owes() {
            Some(at_once) => {
                let since: &mut Instant = owes_since.get_or_insert_with(Instant::now);
                if at_once || !idle || since.elapsed() >= SETTLE {
                    owes_since = None;
                    pieces.extend(news(&session));
                }
            }
            None => owes_since = None,
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
        match owes_since {
            Some(since) => drop(timeout(SETTLE.saturating_sub(since.elapsed()), link.carrier.woken()).await),
            None => link.carrier.woken().await,
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
        next = next.saturating_add(1);
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
                chunks.iter_mut().take(count).for_each(|chunk| framer.push(std::mem::take(chunk)));
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
    Refusal::new(RefusalKind::Garbled, text.clone()).close(&link.carrier.connection);
    Ended::Lost(text)
}

async fn accept_streams(mesh: Rc<Inner>, link: Rc<Link>, mut stopped: oneshot::Receiver<()>) {
    // Each header in a task of its own: a slow one keeps nobody waiting.
    let mut begun = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            stream = link.carrier.connection.accept_uni() => {
                let Ok(stream) = stream else { break };
                let (mesh, session) = (mesh.clone(), link.session().clone());
                begun.spawn_local(async move { accept(&mesh, &session, stream).await });
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
            format!("no word from it for {:.0} s", mesh.settings.idle().as_secs_f64())
        }
        ConnectionError::ApplicationClosed(close) if close.error_code == REPLACED => {
            "the peer made a new connection".into()
        }
        ConnectionError::ApplicationClosed(close) if close.error_code == SILENT => {
            "the peer got no answer from this host".into()
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
