//! The thread that answers.

use crate::memory::Own;
use crate::question::{Question, STATUS, Trouble, status};
use crate::windows::Windows;
use parvum_api::{ANY_TASK, CoreApi, Message, Notes, Pattern, Receiving, SendTo, Status, TagKind, call};
use parvum_api::{Buffering, Completion};
use parvum_sync::without_signals;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Answers requests of other tasks; the arguments are the sender and the data. `None`: the handler cannot read the
/// request. It runs on the server's thread and must not wait for what only another answer of this server could bring.
pub type Handler = Box<dyn Fn(i32, &[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// It calls little, an interface's handler apart.
pub(crate) const STACK: usize = 512 << 10;

/// The data that the server's thread and the program's own threads share.
pub(crate) struct Server {
    windows: Mutex<Windows>,
    /// Lies in this process's memory, so that who copies from there knows that it is this process.
    token: Box<[u8; 16]>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Starts the thread. The server answers requests of this context in the next context.
    pub(crate) fn start(
        endpoint: CoreApi,
        me: i32,
        context: u32,
        handler: Option<Handler>,
    ) -> io::Result<Arc<Server>> {
        let mut token = Box::new([0; 16]);
        rustix::rand::getrandom(&mut token[..], rustix::rand::GetRandomFlags::empty())?;
        let server = Arc::new(Server { windows: Mutex::default(), token, thread: Mutex::new(None) });
        let desk = Desk { endpoint, me, context, handler, server: server.clone() };
        let builder = std::thread::Builder::new().name("parvum serve".into()).stack_size(STACK);
        let thread = without_signals(|| builder.spawn(move || desk.run()))?;
        *server.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(server)
    }

    /// One at a time: that is what makes an operation atomic.
    pub(crate) fn windows(&self) -> MutexGuard<'_, Windows> {
        // A thread that panics here never leaves a list half changed.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what is asked of this process's memory.
    pub(crate) fn serve(
        &self,
        question: &Question,
        data: &[u8],
        answer: &mut Vec<u8>,
    ) -> Result<(), Trouble> {
        self.windows().serve(question, data, &mut Own, answer)
    }

    /// Waits for the thread to end.
    pub(crate) fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }

    /// The address of a window, and the identity of this process.
    fn describe(&self, question: &Question, answer: &mut Vec<u8>) -> Result<(), Trouble> {
        let &Question::Describe { window } = question else { return Err(Trouble::Malformed) };
        let range = self.windows().range(window)?;
        let token = self.token.as_ptr().expose_provenance() as u64;
        for number in [range.start, range.length, std::process::id().into(), token] {
            answer.extend_from_slice(&number.to_le_bytes());
        }
        answer.extend_from_slice(&self.token[..]);
        Ok(())
    }
}

/// Where questions come in.
struct Desk {
    endpoint: CoreApi,
    me: i32,
    context: u32,
    handler: Option<Handler>,
    server: Arc<Server>,
}

impl Desk {
    fn run(&self) {
        let pattern = Pattern {
            from: ANY_TASK,
            tags: TagKind::Any,
            tag: 0,
            other: 0,
            context: i64::from(self.context),
        };
        let notes = Notes { call: call::SERVE, ..self.notes(ANY_TASK) };
        loop {
            match self.endpoint.receive(&pattern, Receiving::Block, &notes) {
                Ok(message) => {
                    let goes_on = self.attend(&message);
                    self.endpoint.give_back(&message);
                    if !goes_on {
                        return;
                    }
                }
                Err(Status::Pending) => {}
                // The machine is gone, or this process left it, or is a child of who was part of it.
                Err(_) => return,
            }
        }
    }

    fn notes(&self, peer: i32) -> Notes {
        Notes { limit: -1, call: call::RECEIVE, peer, tag: -1, context: self.context as i32 }
    }

    /// Answers one question. `false`: it was the last.
    fn attend(&self, message: &Message) -> bool {
        let mut answer = vec![0; STATUS];
        let outcome = match Question::decode(bytes_of(message)) {
            // Only this process itself may say so.
            Ok((Question::Stop, _)) if message.from == self.me => return false,
            Ok((question @ Question::Describe { .. }, _)) => self.server.describe(&question, &mut answer),
            Ok((Question::Request, data)) => self.handle(message.from, data, &mut answer),
            Ok((question, data)) => self.server.serve(&question, data, &mut answer),
            Err(why) => Err(why),
        };
        if outcome.is_err() {
            answer.truncate(STATUS);
        }
        answer[..STATUS].copy_from_slice(&status(outcome));
        let how = SendTo {
            to: message.from,
            tag: message.tag,
            context: self.context + 1,
            meta: 0,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        // A task that is gone needs no answer.
        let _ = self.endpoint.send_owned(how, &Arc::new(answer), &self.notes(message.from));
        true
    }

    fn handle(&self, from: i32, data: &[u8], answer: &mut Vec<u8>) -> Result<(), Trouble> {
        let handler = self.handler.as_ref().ok_or(Trouble::NoAnswer)?;
        // A mistake of the interface's is its own; who asked hears that there is no answer, and the next is served.
        let said = catch_unwind(AssertUnwindSafe(|| handler(from, data)));
        answer.extend_from_slice(&said.ok().flatten().ok_or(Trouble::NoAnswer)?);
        Ok(())
    }
}

/// The data of a message that was received without memory for it.
pub(crate) fn bytes_of(message: &Message) -> &[u8] {
    let length = message.length as usize;
    if message.handle == 0 {
        return &message.inline[..length.min(message.inline.len())];
    }
    // SAFETY: the block is lent, and so long, until it is given back, which the borrow outlives not.
    unsafe { std::slice::from_raw_parts(message.data, length) }
}
