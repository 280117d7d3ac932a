//! Letters: messages between the second endpoints of processes that need no reply, or get a reply later and from
//! another process.
//!
//! A thread of the receiver handles *questions*, in the order of each sender, while the program computes. The waiting
//! thread itself receives its *answer*, without another thread in between. During the wait it handles questions too. If
//! a protocol forwards a question from task to task before the answer, it therefore costs one message for each step.

use crate::server::{STACK, bytes_of};
use parvum_api::{ANY_TASK, CoreApi, Message, Notes, Pattern, Request, SendTo, Status, TagKind, call};
use parvum_api::{Buffering, Completion};
use parvum_sync::without_signals;
use parvum_wire::Tid;
use parvum_wire::control::{self, Blob, MailFlags, Notice};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

const LETTER: i32 = 1;
const GONE: i32 = 2;

/// The messages that come to the thread, or to a thread that waits for an answer.
pub enum Came<'a> {
    /// A question: from whose [`Post::tid`], and what.
    Question(i32, &'a [u8]),
    /// A task or post that [`Post::watch`] named has ended.
    Gone(i32),
    /// A question came, and there was no memory for its data.
    Lost,
}

/// The function that gets each message of the thread.
type Desk = Box<dyn FnMut(Came<'_>) + Send>;

/// The receives of a place for letters. Each is taken by one thread at a time, which posts it again.
#[derive(Clone, Copy)]
struct Standing {
    answers: Request,
    questions: Request,
}

/// The place where a task sends and receives letters. One for each interface of a process.
pub struct Post {
    endpoint: CoreApi,
    me: i32,
    context: u32,
    /// Letters that are sent and not delivered yet, because their credit is used up.
    behind: Mutex<Vec<Request>>,
    standing: Standing,
    /// Set by [`Post::attend`].
    desk: OnceLock<Mutex<Desk>>,
}

impl Post {
    /// Opens it. `api` is the program's own endpoint, which is part of the machine; `context` and the next context of
    /// the second endpoint belong to this interface. Nothing is lost that comes before [`Post::attend`].
    pub fn open(api: CoreApi, interface: &str, context: u32) -> Result<Post, Status> {
        let endpoint = api.service();
        let me = endpoint.enrol(interface)?.tid;
        let receive = |context| endpoint.post(&pattern(context), 0);
        let standing = Standing { answers: receive(context + 1), questions: receive(context) };
        Ok(Post { endpoint, me, context, behind: Mutex::default(), standing, desk: OnceLock::new() })
    }

    /// Under which id others write to this process; not that of its task.
    pub fn tid(&self) -> i32 {
        self.me
    }

    /// Starts the thread, which calls `came` with each question and each end of a task, one after the other. The thread
    /// ends with the process. A thread in [`Post::await_answer`] makes these calls instead of the thread.
    pub fn attend(
        self: &Arc<Post>,
        name: &str,
        came: impl FnMut(Came<'_>) + Send + 'static,
    ) -> io::Result<()> {
        self.desk.set(Mutex::new(Box::new(came))).map_err(|_| io::ErrorKind::AlreadyExists)?;
        let post = self.clone();
        let builder = std::thread::Builder::new().name(name.into()).stack_size(STACK);
        let notes = self.notes(call::SERVE, -1);
        let work = move || {
            let questions = post.standing.questions;
            loop {
                match post.endpoint.wait_standing(&[questions], &notes) {
                    Ok((_, message)) => post.came(message),
                    Err(Status::Pending) => continue,
                    // The machine is gone, or this process left it.
                    Err(_) => return,
                }
            }
        };
        without_signals(|| builder.spawn(work)).map(drop)
    }

    /// Handles a question, and posts the receive for the next question. Until then no other thread gets a question, so
    /// questions of one sender keep their order.
    fn came(&self, came: Result<Message, Status>) {
        if let Some(desk) = self.desk.get() {
            let mut desk = lock(desk);
            match &came {
                Ok(message) if message.tag == LETTER => {
                    desk(Came::Question(message.from, bytes_of(message)));
                }
                Ok(message) if message.tag == GONE && message.from == Tid::LOCAL_DAEMON.0 => {
                    if let Some(task) = bytes_of(message).first_chunk() {
                        desk(Came::Gone(i32::from_be_bytes(*task)));
                    }
                }
                Ok(_) => {}
                Err(_) => desk(Came::Lost),
            }
        }
        if let Ok(message) = came {
            self.endpoint.give_back(&message);
        }
        // Without a machine no question comes any more.
        let _ = self.endpoint.post_again(self.standing.questions, &pattern(self.context));
    }

    /// Sends [`Came::Gone`] to the desk when a task, or another process's post, ends. If it has already ended, the notice comes at
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
        let mut behind = lock(&self.behind);
        let now = self.notes(call::SEND, 0);
        behind.retain(|&request| matches!(self.endpoint.wait(request, &now), Err(Status::Pending)));
        behind.extend(started);
        Ok(())
    }

    /// Waits for an answer. Returns its sender and its data. One thread of a process at a time does. `Err(Pending)`:
    /// none came in time; `None` waits as long as it takes.
    ///
    /// The waiting thread also handles the questions that come, because it is awake. Waking the other thread for a
    /// question takes longer than all else that the question costs.
    pub fn await_answer(&self, limit: Option<Duration>) -> Result<(i32, Vec<u8>), Status> {
        let Standing { answers, questions } = self.standing;
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        // Before there is a desk, questions wait for it.
        let both = [answers, questions];
        let awaited = if self.desk.get().is_some() { &both[..] } else { &both[..1] };
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()).as_nanos());
            let left = left.map_or(-1, |left| left.try_into().unwrap_or(i64::MAX));
            match self.endpoint.wait_standing(awaited, &self.notes(call::RECEIVE, left))? {
                (0, answer) => {
                    let answer = answer.map(|message| (message.from, self.taken(&message)));
                    // Without a machine no answer comes any more, and the next call tells so.
                    let _ = self.endpoint.post_again(answers, &pattern(self.context + 1));
                    return answer;
                }
                // No signal handler of the program runs in between: a handler may jump away.
                (_, question) => without_signals(|| self.came(question)),
            }
        }
    }

    fn taken(&self, message: &Message) -> Vec<u8> {
        let bytes = bytes_of(message).to_vec();
        self.endpoint.give_back(message);
        bytes
    }

    fn how(&self, to: i32, context: u32, tag: i32) -> SendTo {
        SendTo { to, tag, context, meta: 0, buffering: Buffering::AtSender, completion: Completion::Copied }
    }

    fn notes(&self, call: u32, limit: i64) -> Notes {
        Notes { limit, call, peer: ANY_TASK, tag: -1, context: self.context as i32 }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pattern(context: u32) -> Pattern {
    Pattern { from: ANY_TASK, tags: TagKind::Any, tag: 0, other: 0, context: i64::from(context) }
}
