//! Where routed frames for one task wait: what its socket does not take, up to a bound.

use crate::daemon::tasks::io::TaskIo;
use crate::daemon::watch::room;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

/// How much may wait for one destination.
pub(crate) const PORT_LIMIT: usize = 1024 * 1024;

/// A task's data connection.
pub(crate) type Socket = Rc<AsyncFd<OwnedFd>>;

/// Where routed frames for one task go.
pub(crate) struct Port {
    queue: RefCell<Queue>,
    /// Where its data connection ends, once that is open.
    pub socket: RefCell<Option<Socket>>,
    flush: Notify,
    /// Told when there is room again, or the task is gone.
    pub room: Notify,
    pub gone: Cell<bool>,
    pub told_to_open: Cell<bool>,
    task: Option<Rc<TaskIo>>,
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    start: usize,
}

impl Queue {
    fn waiting(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.start > PORT_LIMIT / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn pop(&mut self, length: usize) {
        self.start += length;
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
    }
}

impl Port {
    pub fn new(task: Option<Rc<TaskIo>>) -> Port {
        Port {
            queue: Default::default(),
            socket: RefCell::new(None),
            flush: Notify::new(),
            room: Notify::new(),
            gone: Cell::new(false),
            told_to_open: Cell::new(false),
            task,
        }
    }

    /// The task is gone: whoever waits for room learns it.
    pub fn close(&self) {
        self.gone.set(true);
        self.socket.borrow_mut().take();
        *self.queue.borrow_mut() = Queue::default();
        self.room.notify_waiters();
        self.flush.notify_one();
    }

    /// Takes all of `bytes` (true), or nothing because there is no room (false). The last words of a task that ends find
    /// room beyond the limit: others wait for its end, and there is never more of them than its socket holds.
    pub fn offer(&self, bytes: &[u8], last_words: bool) -> bool {
        let mut queue = self.queue.borrow_mut();
        let mut rest = bytes;
        if queue.waiting().is_empty() {
            if let Some(socket) = &*self.socket.borrow() {
                rest = &bytes[try_send(socket, bytes)..];
            }
        } else if !last_words && queue.waiting().len() + bytes.len() > PORT_LIMIT {
            return false;
        }
        if !rest.is_empty() {
            queue.push(rest);
            self.flush.notify_one();
        }
        drop(queue);
        if let Some(task) = &self.task {
            task.ring_for_socket();
        }
        true
    }

    /// Sends what had to wait; ends when the task is gone.
    pub async fn write(&self, socket: &Socket) {
        while !self.gone.get() {
            if self.flush_now(socket) {
                self.flush.notified().await;
                continue;
            }
            if room(&**socket).await.is_err() {
                return;
            }
        }
    }

    /// Sends until nothing waits (true) or the socket is full (false).
    fn flush_now(&self, socket: &Socket) -> bool {
        let mut any = false;
        let mut queue = self.queue.borrow_mut();
        let done = loop {
            if queue.waiting().is_empty() {
                break true;
            }
            match try_send(socket, queue.waiting()) {
                0 => break false,
                sent => queue.pop(sent),
            }
            any = true;
        };
        drop(queue);
        if any {
            if let Some(task) = &self.task {
                task.ring_for_socket();
            }
            self.room.notify_waiters();
        }
        done
    }
}

/// The reading end of a task's data connection.
#[derive(Default)]
pub(crate) struct Source {
    pub finishing: Cell<bool>,
    pub finished: Cell<bool>,
    pub changed: Notify,
}

impl Source {
    /// Waits until everything that the task has sent is handed on.
    pub async fn finish(&self) {
        self.finishing.set(true);
        self.changed.notify_waiters();
        while !self.finished.get() {
            self.changed.notified().await;
        }
    }
}

/// Sends what the socket takes. A broken one takes everything: its task is on
/// its way out, and the control connection tells the rest.
fn try_send(socket: &Socket, bytes: &[u8]) -> usize {
    loop {
        match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(sent) => return sent,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return 0,
            Err(_) => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PORT_LIMIT, Port};

    #[test]
    fn port_takes_last_words_of_task_when_full() {
        let port = Port::new(None);
        assert!(port.offer(&vec![0; PORT_LIMIT], false), "an empty port takes all");
        assert!(!port.offer(&[0; 8], false), "a full port takes nothing of a task that lives");
        assert!(port.offer(&[0; 8], true), "the words of a task that ends");
        assert_eq!(port.queue.borrow().waiting().len(), PORT_LIMIT + 8);
        port.close();
        assert!(port.queue.borrow().waiting().is_empty());
    }
}
