//! One control connection.

use crate::daemon::shell::{Fd, Shell, TaskIo};
use crate::daemon::tasks::relay;
use crate::daemon::watch::room;
use crate::state::{ClientId, Input};
use parvum_socket::{Filled, Inbox, InboxError, send};
use parvum_wire::control::{Call, CodecError, ErrorKind, Failure, FromDaemon, Reply, Request, encode, frame};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

/// When this much waits for a client, output meant for it stays in its pipes and
/// its requests are left unread.
pub(crate) const OUTBOX_FULL: usize = 1024 * 1024;
/// A client for which this much waits is not reading at all: it is cut off.
const OUTBOX_LIMIT: usize = 64 * 1024 * 1024;

pub(crate) struct ClientIo {
    pub id: ClientId,
    pub pid: u32,
    fd: AsyncFd<OwnedFd>,
    out: RefCell<Outbox>,
    flush: Notify,
    /// Told when the outbox has room again, or the client is gone.
    pub room: Notify,
    closing: Cell<bool>,
    broken: Cell<bool>,
    /// The task's door, rung after every message.
    pub task: RefCell<Option<Rc<TaskIo>>>,
    /// The reader of its data connection.
    pub data: RefCell<Option<Rc<relay::Source>>>,
    end: Notify,
}

#[derive(Default)]
struct Outbox {
    queue: VecDeque<Outgoing>,
    bytes: usize,
}

struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    fds: Vec<Fd>,
}

impl ClientIo {
    pub fn new(id: ClientId, pid: u32, fd: AsyncFd<OwnedFd>) -> ClientIo {
        ClientIo {
            id,
            pid,
            fd,
            out: Default::default(),
            flush: Notify::new(),
            room: Notify::new(),
            closing: Cell::new(false),
            broken: Cell::new(false),
            task: RefCell::new(None),
            data: RefCell::new(None),
            end: Notify::new(),
        }
    }

    /// Queues a message and sends what the socket takes now.
    pub fn post(&self, message: &FromDaemon, fds: Vec<Fd>) -> Result<(), CodecError> {
        let mut out = self.out.borrow_mut();
        if self.broken.get() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        encode(message, fds.len(), &mut bytes)?;
        out.bytes += bytes.len();
        out.queue.push_back(Outgoing { bytes, sent: 0, fds });
        let (first, over) = (out.queue.len() == 1, out.bytes > OUTBOX_LIMIT);
        drop(out);
        if over {
            self.cut();
        } else if first && !self.flush_now() {
            self.flush.notify_one();
        }
        Ok(())
    }

    /// Whether so much waits that no more should be made.
    pub fn is_full(&self) -> bool {
        self.out.borrow().bytes > OUTBOX_FULL && !self.broken.get()
    }

    /// Whether everything was sent, or never will be.
    pub fn is_flushed(&self) -> bool {
        self.out.borrow().queue.is_empty()
    }

    /// Closes once everything queued is sent.
    pub fn close(&self) {
        self.closing.set(true);
        self.flush.notify_one();
    }

    /// Gives the connection up.
    fn cut(&self) {
        self.broken.set(true);
        let mut out = self.out.borrow_mut();
        out.queue.clear();
        out.bytes = 0;
        drop(out);
        let _ = rustix::net::shutdown(&self.fd, rustix::net::Shutdown::Both);
        self.room.notify_waiters();
        self.end.notify_one();
    }

    /// Sends until the queue is empty (true) or the socket full (false).
    fn flush_now(&self) -> bool {
        let mut whole = 0;
        let done = loop {
            let mut out = self.out.borrow_mut();
            let Some(next) = out.queue.front_mut() else { break true };
            let fds: Vec<_> = match next.sent {
                0 => next.fds.iter().map(|fd| fd.as_fd()).collect(),
                _ => Vec::new(),
            };
            match send(&self.fd, &next.bytes[next.sent..], &fds) {
                Ok(sent) => {
                    drop(fds);
                    next.sent += sent;
                    if next.sent == next.bytes.len() {
                        let length = next.bytes.len();
                        out.queue.pop_front();
                        out.bytes -= length;
                        whole += 1;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break false,
                Err(_) => {
                    drop(fds);
                    drop(out);
                    self.cut();
                    break true;
                }
            }
        };
        if whole > 0 {
            if let Some(task) = &*self.task.borrow() {
                task.announce();
            }
            if !self.is_full() {
                self.room.notify_waiters();
            }
        }
        done
    }

    /// Sends what did not go at once; ends when the connection does.
    async fn write(&self) {
        loop {
            self.flush.notified().await;
            while !self.flush_now() {
                if room(&self.fd).await.is_err() {
                    return self.cut();
                }
            }
            if self.closing.get() && self.is_flushed() {
                return self.cut();
            }
        }
    }
}

/// Serves a connection from its first byte to its last.
pub(crate) async fn handle(shell: Rc<Shell>, client: Rc<ClientIo>) {
    let writer = tokio::task::spawn_local({
        let client = client.clone();
        async move { client.write().await }
    });
    let mut inbox = Inbox::default();
    let outcome = read(&shell, &client, &mut inbox).await;
    if let Ok(Some(data)) = outcome {
        // The answer to DataHello may still wait: frames must come after it.
        while !client.is_flushed() {
            client.room.notified().await;
        }
        writer.abort();
        let _ = writer.await;
        shell.forget(client.id);
        if let Some(client) = Rc::into_inner(client) {
            relay::relay(shell, data, client.fd, inbox.leftover()).await;
        }
        return;
    }
    if let Err(error) = outcome {
        refuse(&shell, &client, &error);
    }
    shell.closing(client.id);
    hand_on_data(&client).await;
    client.broken.set(true);
    client.room.notify_waiters();
    shell.input(Input::Closed(client.id));
    shell.forget(client.id);
    writer.abort();
}

/// What the task sent on its data connection before it went comes first.
async fn hand_on_data(client: &ClientIo) {
    let data = client.data.borrow_mut().take();
    if let Some(data) = data {
        data.finish().await;
    }
}

/// Reads requests. Returns at the end, or with the task whose data connection
/// this turned out to be.
async fn read(
    shell: &Rc<Shell>,
    client: &Rc<ClientIo>,
    inbox: &mut Inbox,
) -> Result<Option<parvum_wire::Tid>, InboxError> {
    loop {
        let mut guard = tokio::select! {
            guard = client.fd.readable() => guard?,
            _ = client.end.notified() => return Ok(None),
        };
        match inbox.fill(&client.fd)? {
            Filled::Empty => {
                guard.clear_ready();
                continue;
            }
            Filled::Closed => return Ok(None),
            Filled::Bytes(_) => {}
        }
        while let Some((call, fds)) = inbox.take::<Call>()? {
            match call.request {
                Request::DataHello { tid, secret } => {
                    if shell.tid_of(client.id).is_none() && shell.may_carry(tid, secret) {
                        client.post(&FromDaemon::Reply(call.id, Ok(Reply::Done)), Vec::new())?;
                        return Ok(Some(tid));
                    }
                    let why = Failure::new(ErrorKind::Denied, "that data connection");
                    client.post(&FromDaemon::Reply(call.id, Err(why)), Vec::new())?;
                }
                request => {
                    if matches!(request, Request::Depart) {
                        hand_on_data(client).await;
                    }
                    shell.call(client, Call { request, ..call }, fds);
                }
            }
            // A client that asks without reading the answers waits for itself.
            while client.is_full() {
                client.room.notified().await;
            }
        }
    }
}

fn refuse(shell: &Shell, client: &ClientIo, error: &InboxError) {
    let (kind, failure) = match error {
        InboxError::Codec(CodecError::Protocol { .. }) => ("another version", ErrorKind::Version),
        InboxError::System(_) => return,
        _ => ("not a request", ErrorKind::Protocol),
    };
    shell.log.refusal(kind, &format!("process {}: {error}", client.pid));
    let failure = Failure::new(failure, error.to_string());
    let _ = client.post(&FromDaemon::Reply(0, Err(failure)), Vec::new());
}

/// Tells a connection that it is not welcome, as far as its socket takes it.
pub(crate) fn turn_away(socket: impl AsFd, why: Failure) {
    if let Ok(bytes) = frame(&FromDaemon::Reply(0, Err(why)), 0) {
        let _ = send(socket, &bytes, &[]);
    }
}
