//! Letters: messages between the second endpoints of processes that need no reply, or get a reply later and from
//! another process.
//!
//! A thread of the receiver handles *questions*, in the order of each sender, while the program computes. The waiting
//! thread itself receives its *answer*, without another thread in between. If a protocol forwards a question from task
//! to task before the answer, it therefore costs one message for each step.

use crate::server::{STACK, bytes_of};
use parvum_api::{
    ANY_TASK, CoreApi, Message, Notes, Pattern, Receiving, Request, SendTo, Status, TagKind, call,
};
use parvum_api::{Buffering, Completion};
use parvum_sync::without_signals;
use parvum_wire::Tid;
use parvum_wire::control::{self, Blob, MailFlags, Notice};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const LETTER: i32 = 1;
const GONE: i32 = 2;
const STOP: i32 = 3;

/// The messages that come to the thread.
pub enum Came<'a> {
    /// A question: from whose [`Post::tid`], and what.
    Question(i32, &'a [u8]),
    /// A task or post that [`Post::watch`] named has ended.
    Gone(i32),
}

/// The place where a task sends and receives letters. One for each interface of a process.
pub struct Post {
    endpoint: CoreApi,
    me: i32,
    context: u32,
    /// Letters that are sent and not delivered yet, because their credit is used up.
    behind: Mutex<Vec<Request>>,
}

impl Post {
    /// Opens it. `api` is the program's own endpoint, which is part of the machine; `context` and the next context of
    /// the second endpoint belong to this interface. Nothing is lost that comes before [`Post::attend`].
    pub fn open(api: CoreApi, interface: &str, context: u32) -> Result<Post, Status> {
        let endpoint = api.service();
        let me = endpoint.enrol(interface)?.tid;
        Ok(Post { endpoint, me, context, behind: Mutex::default() })
    }

    /// Under which id others write to this process; not that of its task.
    pub fn tid(&self) -> i32 {
        self.me
    }

    /// Starts the thread, which calls `came` with each question and each end of a task, one after the other. It ends with the
    /// process, or with [`Post::stop`].
    pub fn attend(
        self: &Arc<Post>,
        name: &str,
        mut came: impl FnMut(Came<'_>) + Send + 'static,
    ) -> io::Result<()> {
        let post = self.clone();
        let builder = std::thread::Builder::new().name(name.into()).stack_size(STACK);
        let pattern = self.pattern(self.context);
        let notes = self.notes(call::SERVE, -1);
        let work = move || {
            loop {
                let message = match post.endpoint.receive(&pattern, Receiving::Block, &notes) {
                    Ok(message) => message,
                    Err(Status::Pending) => continue,
                    // The machine is gone, or this process left it.
                    Err(_) => return,
                };
                match message.tag {
                    LETTER => came(Came::Question(message.from, bytes_of(&message))),
                    GONE if message.from == Tid::LOCAL_DAEMON.0 => {
                        if let Some(task) = bytes_of(&message).first_chunk() {
                            came(Came::Gone(i32::from_be_bytes(*task)));
                        }
                    }
                    STOP if message.from == post.me => return,
                    _ => {}
                }
                post.endpoint.give_back(&message);
            }
        };
        without_signals(|| builder.spawn(work)).map(drop)
    }

    /// Ends the thread, after what has come before this.
    pub fn stop(&self) {
        let how = self.how(self.me, self.context, STOP);
        // Without a machine there is no thread any more.
        let _ = self.endpoint.send_owned(how, &Arc::new(Vec::new()), &self.notes(call::SEND, -1));
    }

    /// Notifies the thread when a task, or another process's post, ends. If it has already ended, the notice comes at
    /// once.
    pub fn watch(&self, task: i32) -> Result<(), Status> {
        let cookie = u64::from(self.context) << 32 | GONE as u64;
        let about = Notice::TaskExit;
        let request = control::Request::Notify { about, targets: vec![Tid(task)], count: 1, cookie };
        match self.endpoint.ask(&request, &self.notes(call::MACHINE, -1))? {
            Ok(_) => Ok(()),
            Err(_) => Err(Status::Refused),
        }
    }

    /// Leaves something in the machine's mailbox, behind what is there under that name. It stays until a task removes
    /// it or the job ends, even after the end of this process.
    pub fn leave(&self, name: &str, data: &[u8]) -> Result<(), Status> {
        let flags =
            MailFlags::PERSISTENT.and(MailFlags::OF_JOB).and(MailFlags::MULTI).and(MailFlags::OVERWRITABLE);
        let data = Blob(data.to_vec());
        let request = control::Request::MailPut { name: name.into(), index: None, flags, data };
        match self.endpoint.ask(&request, &self.notes(call::MACHINE, -1))? {
            Ok(_) => Ok(()),
            Err(_) => Err(Status::Refused),
        }
    }

    /// Sends a question. It does not wait for the receiver, whatever that does.
    pub fn ask(&self, to: i32, letter: Vec<u8>) -> Result<(), Status> {
        self.send(self.how(to, self.context, LETTER), letter)
    }

    /// Sends an answer, likewise.
    pub fn answer(&self, to: i32, letter: Vec<u8>) -> Result<(), Status> {
        self.send(self.how(to, self.context + 1, LETTER), letter)
    }

    fn send(&self, how: SendTo, letter: Vec<u8>) -> Result<(), Status> {
        let started = self.endpoint.start_owned(how, &Arc::new(letter))?;
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.notes(call::SEND, 0);
        behind.retain(|&request| matches!(self.endpoint.wait(request, &now), Err(Status::Pending)));
        behind.extend(started);
        Ok(())
    }

    /// Waits for an answer. Returns its sender and its data. One thread of a process at a time does. `Err(Pending)`:
    /// none came in time; `None` waits as long as it takes.
    pub fn await_answer(&self, limit: Option<Duration>) -> Result<(i32, Vec<u8>), Status> {
        let limit = limit.map_or(-1, |limit| limit.as_nanos().try_into().unwrap_or(i64::MAX));
        let pattern = self.pattern(self.context + 1);
        let message = self.endpoint.receive(&pattern, Receiving::Block, &self.notes(call::RECEIVE, limit))?;
        Ok((message.from, self.taken(&message)))
    }

    fn taken(&self, message: &Message) -> Vec<u8> {
        let bytes = bytes_of(message).to_vec();
        self.endpoint.give_back(message);
        bytes
    }

    fn pattern(&self, context: u32) -> Pattern {
        Pattern { from: ANY_TASK, tags: TagKind::Any, tag: 0, other: 0, context: i64::from(context) }
    }

    fn how(&self, to: i32, context: u32, tag: i32) -> SendTo {
        SendTo { to, tag, context, meta: 0, buffering: Buffering::AtSender, completion: Completion::Copied }
    }

    fn notes(&self, call: u32, limit: i64) -> Notes {
        Notes { limit, call, peer: ANY_TASK, tag: -1, context: self.context as i32 }
    }
}
