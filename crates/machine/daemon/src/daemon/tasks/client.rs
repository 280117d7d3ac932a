//! One control connection: what waits to be sent to its client.

use crate::daemon::tasks::io::{Fd, TaskIo};
use crate::daemon::tasks::port::Source;
use crate::daemon::watch::room;
use crate::state::ClientId;
use parvum_socket::send;
use parvum_wire::control::{CodecError, FromDaemon, encode};
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
    pub fd: AsyncFd<OwnedFd>,
    out: RefCell<Outbox>,
    flush: Notify,
    /// Told when the outbox has room again, or the client is gone.
    pub room: Notify,
    closing: Cell<bool>,
    pub broken: Cell<bool>,
    /// The task's door, rung after every message.
    pub task: RefCell<Option<Rc<TaskIo>>>,
    /// The reader of its data connection.
    pub data: RefCell<Option<Rc<Source>>>,
    pub end: Notify,
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
    pub async fn write(&self) {
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
