//! Who asks.

use crate::direct::Direct;
use crate::question::{Change, PART, Question, STATUS, Trouble, Window, outcome};
use crate::server::{Handler, Server};
use parvum_api::{ANY_TASK, CoreApi, Message, Notes, Pattern, Request, SendTo, Space, Status, TagKind, call};
use parvum_api::{Buffering, Completion};
use parvum_collectives::operators::Kind;
use parvum_wire::Tid;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The number of parts of a long put or get that are under way at once.
const WINDOW: usize = 4;

/// The service of this process, for one interface. It ends when it is dropped.
pub struct Service {
    /// The second endpoint.
    endpoint: CoreApi,
    me: i32,
    /// Questions come in this context, answers in the next.
    context: u32,
    /// Tells answers apart: the last that was used.
    numbers: AtomicU32,
    server: Arc<Server>,
    direct: Direct,
}

/// A request without an answer yet. Dropping it takes it back; what it does at the target may still be done.
pub struct PendingAnswer<'a> {
    service: &'a Service,
    to: i32,
    answer: Option<Request>,
    question: Option<Request>,
    /// The memory of head and status while the request is under way.
    frame: Box<Frame>,
    /// How long the answer's data must be; `None`: as it comes, in a block.
    expected: Option<usize>,
}

struct Frame {
    head: [u8; crate::question::HEAD],
    status: [u8; STATUS],
}

impl Service {
    /// Makes this process serve. `api` is the program's own endpoint, which is part of the machine; `context` and the
    /// next context of the second endpoint belong to this interface. `handler` answers requests, on the server's
    /// thread.
    pub fn open(
        api: CoreApi,
        interface: &str,
        context: u32,
        handler: Option<Handler>,
    ) -> Result<Service, Status> {
        let endpoint = api.service();
        let me = endpoint.enrol(interface)?.tid;
        let server = Server::start(endpoint, me, context, handler).map_err(|_| Status::NoMemory)?;
        Ok(Service { endpoint, me, context, numbers: AtomicU32::new(0), server, direct: Direct::default() })
    }

    /// Under which id others ask this process; not that of its task.
    pub fn tid(&self) -> i32 {
        self.me
    }

    /// Lets other tasks read and write this memory. `None`: all numbers were used.
    ///
    /// # Safety
    /// Until the window is withdrawn, with the agreement of those who use it, nobody may hold a reference to the memory that
    /// rules out others' reads and writes. It may be protected or unmapped at any time, but no other memory may come to lie
    /// there.
    pub unsafe fn expose(&self, start: *mut u8, length: usize) -> Option<Window> {
        self.server.windows().expose(start.expose_provenance() as u64, length as u64)
    }

    /// Ends that; `false`: there was no such window. Users of the window must first [forget](Service::forget) it,
    /// because some of them need not ask.
    pub fn withdraw(&self, window: Window) -> bool {
        self.server.windows().withdraw(window)
    }

    /// A window of another task is used no more.
    pub fn forget(&self, to: i32, window: Window) {
        self.direct.forget(to, Some(window));
    }

    /// Writes to a window. It is there when this returns.
    pub fn put(
        &self,
        to: i32,
        window: Window,
        offset: u64,
        data: &[u8],
        limit: Limit,
    ) -> Result<(), Trouble> {
        if to == self.me {
            return self.server.serve(&Question::Put { window, offset }, data, &mut Vec::new());
        }
        if let Some(done) = self.direct.put(self, to, window, offset, data, limit) {
            return done;
        }
        self.in_parts(data.len(), limit, |at, length| {
            let question = Question::Put { window, offset: offset + at as u64 };
            // SAFETY: both are borrowed until all parts are over.
            unsafe { self.start(to, &question, &data[at..at + length], Into::Nowhere) }
        })
    }

    /// Reads from a window.
    pub fn get(
        &self,
        to: i32,
        window: Window,
        offset: u64,
        out: &mut [u8],
        limit: Limit,
    ) -> Result<(), Trouble> {
        if to == self.me {
            let mut answer = Vec::with_capacity(out.len());
            for at in (0..out.len()).step_by(PART) {
                let length = PART.min(out.len() - at) as u64;
                let question = Question::Get { window, offset: offset + at as u64, length };
                self.server.serve(&question, &[], &mut answer)?;
            }
            out.copy_from_slice(&answer);
            return Ok(());
        }
        if let Some(done) = self.direct.get(self, to, window, offset, out, limit) {
            return done;
        }
        let start = out.as_mut_ptr();
        self.in_parts(out.len(), limit, |at, length| {
            let question = Question::Get { window, offset: offset + at as u64, length: length as u64 };
            // SAFETY: the parts do not overlap, and are borrowed until all are over.
            unsafe { self.start(to, &question, &[], Into::Memory(start.wrapping_add(at), length)) }
        })
    }

    /// Changes elements of a window in one piece, for all that change it so, and gives what they were. `old` is as long as the
    /// elements; [`PART`] at most.
    #[allow(clippy::too_many_arguments)] // what an atomic operation is
    pub fn atomic(
        &self,
        to: i32,
        window: Window,
        offset: u64,
        (change, kind): (Change, Kind),
        operands: &[u8],
        old: &mut [u8],
        limit: Limit,
    ) -> Result<(), Trouble> {
        let question = Question::Atomic { window, offset, length: old.len() as u64, change, kind };
        if to == self.me {
            let mut answer = Vec::with_capacity(old.len());
            self.server.serve(&question, operands, &mut answer)?;
            old.get_mut(..answer.len()).ok_or(Trouble::TooLong)?.copy_from_slice(&answer);
            return Ok(());
        }
        // SAFETY: both are borrowed until it is over.
        let asked =
            unsafe { self.start(to, &question, operands, Into::Memory(old.as_mut_ptr(), old.len())) }?;
        asked.finish(limit).map(drop)
    }

    /// Asks the target's interface something; the answer.
    pub fn request(&self, to: i32, question: &[u8], limit: Limit) -> Result<Vec<u8>, Trouble> {
        self.ask(to, &Question::Request, question, limit)
    }

    pub(crate) fn ask(
        &self,
        to: i32,
        question: &Question,
        data: &[u8],
        limit: Limit,
    ) -> Result<Vec<u8>, Trouble> {
        // SAFETY: the data is borrowed until it is over.
        unsafe { self.start(to, question, data, Into::Block) }?.finish(limit)
    }

    /// Starts all parts of something long, a few at a time, and ends them.
    fn in_parts<'a>(
        &'a self,
        length: usize,
        limit: Limit,
        start: impl Fn(usize, usize) -> Result<PendingAnswer<'a>, Trouble>,
    ) -> Result<(), Trouble> {
        let mut under_way = std::collections::VecDeque::with_capacity(WINDOW);
        // Nothing at all is asked as well: whether the window is there.
        for at in (0..length.max(1)).step_by(PART) {
            if under_way.len() == WINDOW
                && let Some(first) = under_way.pop_front()
            {
                PendingAnswer::finish(first, limit)?;
            }
            under_way.push_back(start(at, PART.min(length - at))?);
        }
        under_way.into_iter().try_for_each(|asked| asked.finish(limit).map(drop))
    }

    /// Asks, and does not wait for the answer.
    ///
    /// # Safety
    /// The data must be readable and not change, and the memory for the answer be nobody else's, until what this gives is
    /// finished or dropped.
    unsafe fn start(
        &self,
        to: i32,
        question: &Question,
        data: &[u8],
        into: Into,
    ) -> Result<PendingAnswer<'_>, Trouble> {
        let number = (self.numbers.fetch_add(1, Ordering::Relaxed) & i32::MAX as u32) as i32;
        let mut frame = Box::new(Frame { head: question.encode(), status: [0; STATUS] });
        let pattern = Pattern {
            from: to,
            tags: TagKind::Exactly,
            tag: number,
            other: 0,
            context: i64::from(self.context + 1),
        };
        let expected = match into {
            Into::Block => None,
            Into::Nowhere => Some(0),
            Into::Memory(_, length) => Some(length),
        };
        let status = Space { start: frame.status.as_mut_ptr(), length: STATUS };
        // SAFETY: the frame stays where it is, and so does the caller's memory, until the request is over or cancelled.
        let answer = unsafe {
            match into {
                Into::Block => self.endpoint.post(&pattern, 0),
                Into::Nowhere => self.endpoint.post_into_pieces(&pattern, &[status], 0),
                Into::Memory(start, length) => {
                    self.endpoint.post_into_pieces(&pattern, &[status, Space { start, length }], 0)
                }
            }
        };
        if answer == Request(0) {
            return Err(Trouble::NoService);
        }
        let mut asked =
            PendingAnswer { service: self, to, answer: Some(answer), question: None, frame, expected };
        let how = SendTo {
            to,
            tag: number,
            context: self.context,
            meta: 0,
            buffering: Buffering::BySize,
            completion: Completion::Copied,
        };
        let pieces: &[&[u8]] =
            if data.is_empty() { &[&asked.frame.head] } else { &[&asked.frame.head, data] };
        // SAFETY: as above, for what is sent.
        asked.question = unsafe { self.endpoint.start_pieces(&how, pieces) }.map_err(trouble)?;
        Ok(asked)
    }
}

/// The destination of an answer's data.
enum Into {
    Nowhere,
    Memory(*mut u8, usize),
    Block,
}

/// How long to wait for an answer; `None` as long as it takes.
pub type Limit = Option<Duration>;

impl PendingAnswer<'_> {
    /// Waits for the answer. Its data, unless it went to memory of the caller's.
    pub fn finish(mut self, limit: Limit) -> Result<Vec<u8>, Trouble> {
        let Some(answer) = self.answer else { return Ok(Vec::new()) };
        let message = match self.service.endpoint.wait(answer, &self.notes(limit)) {
            Ok(message) => message,
            Err(Status::Pending) => return Err(Trouble::Late),
            // A death ends the request as well as an answer does.
            Err(other) => {
                self.answer = None;
                return Err(trouble(other));
            }
        };
        self.answer = None;
        let (status, data) = self.taken(&message);
        self.service.endpoint.give_back(&message);
        outcome(status)?;
        Ok(data)
    }

    fn taken(&self, message: &Message) -> ([u8; STATUS], Vec<u8>) {
        if let Some(expected) = self.expected {
            let is_whole = message.length == (STATUS + expected) as u64;
            let is_trouble = self.frame.status != [0; STATUS] && message.length == STATUS as u64;
            let nonsense = crate::question::status(Err(Trouble::Malformed));
            return (if is_whole || is_trouble { self.frame.status } else { nonsense }, Vec::new());
        }
        let bytes = crate::server::bytes_of(message);
        match bytes.split_first_chunk::<STATUS>() {
            Some((status, data)) => (*status, data.to_vec()),
            None => (crate::question::status(Err(Trouble::Malformed)), Vec::new()),
        }
    }

    fn notes(&self, limit: Limit) -> Notes {
        let limit = limit.map_or(-1, |limit| limit.as_nanos().try_into().unwrap_or(i64::MAX));
        Notes { limit, call: call::MACHINE, peer: self.to, tag: -1, context: self.service.context as i32 }
    }
}

impl Drop for PendingAnswer<'_> {
    fn drop(&mut self) {
        let endpoint = &self.service.endpoint;
        if let Some(answer) = self.answer
            && !endpoint.cancel(answer)
            && let Ok(message) = endpoint.wait(answer, &self.notes(None))
        {
            endpoint.give_back(&message);
        }
        // A target that has answered has the request, and a target that is gone does not need it. Otherwise the request
        // is delivered first.
        if let Some(question) = self.question {
            let _ = endpoint.finish(question, &self.notes(None));
        }
    }
}

/// The service's error for a status of the endpoint.
fn trouble(status: Status) -> Trouble {
    match status {
        Status::Unknown | Status::NoMachine => Trouble::NoService,
        Status::Cut => Trouble::TooLong,
        _ => Trouble::Gone,
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let head = Question::Stop.encode();
        let how = SendTo {
            to: self.me,
            tag: 0,
            context: self.context,
            meta: 0,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        let notes = Notes { limit: -1, call: call::MACHINE, peer: ANY_TASK, tag: -1, context: -1 };
        if self.endpoint.send_one(how, &head, &notes).is_ok() {
            self.server.join();
        }
    }
}

impl Service {
    /// Whether a task lives on this host.
    pub(crate) fn is_near(&self, to: i32) -> bool {
        Tid(to).host() == Tid(self.me).host()
    }
}
