//! Operations under way, and the requests by which programs name them.

use crate::comms::comm::Comm;
use crate::comms::contexts::OwnContext;
use crate::comms::revocation;
use crate::comms::ulfm::{Agreement, Decision};
use crate::errors::{Error, Mpi, class};
use crate::messages::status::Status;
use crate::objects::handles::Objects;
use crate::objects::numbers::{ANY_SOURCE, Kind, PROC_NULL};
use crate::process::this::Process;
use crate::requests::deferred;
use crate::requests::generalised::Functions;
use crate::requests::schedule::Schedule;
use parvum_api::{Message, Notes, Request, Status as Answer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One operation, until it is over.
pub(crate) struct Operation {
    state: Mutex<State>,
    /// Whose errors it has: a communicator's handle.
    pub(crate) on: i32,
    /// What onlookers are told while a task waits for it.
    notes: Notes,
    /// Steps of a collective operation: not to be freed or cancelled.
    pub(crate) is_collective: bool,
    /// The tag of one that the program does itself, and its functions.
    program: Option<(i32, Arc<Functions>)>,
    /// The program has said that it is done.
    is_done: AtomicBool,
}

/// How far an operation is.
pub(crate) enum State {
    /// The engine sends. What it reads lies with the program, or here.
    Sending {
        request: Request,
        peer: i32,
    },
    /// The engine receives.
    Receiving(Receiving),
    /// Steps of a collective operation.
    Stepping(Box<Schedule>),
    /// Another thread finishes it: a receive from itself wakes who waits.
    Elsewhere {
        request: Request,
        functions: Option<Arc<Functions>>,
    },
    /// All of several.
    All(Vec<Arc<Operation>>),
    /// The survivors agree on something, and with what that is done then.
    Agreeing(Box<Agreement>, Option<Then>),
    /// Sent in parts, as the program has them ready.
    Partitions(Arc<crate::messages::partitioned::Transfer>),
    Over(Outcome),
}

/// What is done with what was agreed on.
pub(crate) type Then = Box<dyn FnOnce(Decision, Option<OwnContext>) -> Mpi + Send>;

/// A receive.
pub(crate) struct Receiving {
    pub(crate) request: Request,
    /// How long the buffer is.
    pub(crate) length: usize,
    /// Whom it is from, when that is one.
    pub(crate) source: i32,
    pub(crate) comm: Option<Arc<Comm>>,
}

/// How an operation ended.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) error: Option<Error>,
}

impl Outcome {
    pub(crate) const EMPTY: Outcome = Outcome { status: Status::EMPTY, error: None };

    pub(crate) fn of(status: Status) -> Outcome {
        Outcome { status, error: None }
    }

    pub(crate) fn failed(error: Error) -> Outcome {
        Outcome { status: Status::EMPTY, error: Some(error) }
    }

    /// Whether the operation is not over, though this is what is told of it.
    pub(crate) fn goes_on(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.code == class::PROC_FAILED_PENDING)
    }
}

/// What a program's request names.
pub(crate) enum Named {
    /// One operation; the request is gone when it is over.
    Once(Arc<Operation>),
    /// One that was over at once.
    Done,
    /// One that is begun again and again.
    Again(Arc<Persistent>),
}

/// A persistent request.
pub(crate) struct Persistent {
    start: Box<dyn Fn() -> Mpi<Arc<Operation>> + Send + Sync>,
    /// Whose errors it has: a communicator's handle.
    on: i32,
    active: Mutex<Option<Arc<Operation>>>,
    /// Its partitions, if it has any.
    pub(crate) transfer: Option<Arc<crate::messages::partitioned::Transfer>>,
    pub(crate) is_collective: bool,
}

/// Requests that are gone when their operation is over.
static ONCE: Objects<Operation> = Objects::new(Kind::Request);
/// Those that are begun again and again: another kind of handle tells them apart.
static AGAIN: Objects<Persistent> = Objects::new(Kind::Persistent);

/// The request of every operation that is over when it begins, and has nothing to tell: most sends.
pub(crate) const DONE: i32 = Kind::Request.built_in(1);

impl Persistent {
    /// One of a communicator, which has its errors.
    pub(crate) fn new(
        on: i32,
        start: impl Fn() -> Mpi<Arc<Operation>> + Send + Sync + 'static,
    ) -> Persistent {
        Persistent {
            start: Box::new(start),
            on,
            active: Mutex::new(None),
            transfer: None,
            is_collective: false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Operation>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn start(&self) -> Mpi {
        if self.lock().is_some() {
            return Err(Error::new(
                class::REQUEST,
                "the request is active already; wait for it before you start it again",
            )
            .of_comm(self.on));
        }
        let begun = (self.start)().map_err(|error| error.of_comm(self.on))?;
        *self.lock() = Some(begun);
        Ok(())
    }

    pub(crate) fn active(&self) -> Option<Arc<Operation>> {
        self.lock().clone()
    }

    /// It is over, or was given up.
    pub(crate) fn rest(&self) -> Option<Arc<Operation>> {
        self.lock().take()
    }
}

/// Refuses to begin what could have no request.
#[inline]
pub(crate) fn room_for_one() -> Mpi {
    if ONCE.has_room() && AGAIN.has_room() { Ok(()) } else { Err(too_many()) }
}

/// Gives an operation a request. There is [room](room_for_one): it was asked for before the operation was begun.
#[inline]
pub(crate) fn keep(operation: impl Into<Arc<Operation>>) -> Mpi<i32> {
    let operation = operation.into();
    if let State::Over(Outcome { status: Status::EMPTY, error: None }) = &*operation.lock() {
        return Ok(DONE);
    }
    keep_shared(operation)
}

/// The same of one that others move as well.
pub(crate) fn keep_shared(operation: Arc<Operation>) -> Mpi<i32> {
    ONCE.insert(operation).ok_or_else(too_many)
}

/// The same of a persistent one.
pub(crate) fn keep_persistent(persistent: Persistent) -> Mpi<i32> {
    AGAIN.insert(Arc::new(persistent)).ok_or_else(too_many)
}

#[cold]
fn too_many() -> Error {
    Error::new(class::OTHER, "there are more requests than handles: wait for some first")
}

/// What a request's handle names.
#[inline]
pub(crate) fn named(handle: i32) -> Mpi<Named> {
    if let Some(operation) = ONCE.get(handle) {
        return Ok(Named::Once(operation));
    }
    if handle == DONE {
        return Ok(Named::Done);
    }
    let none = || Error::new(class::REQUEST, "the handle names no request; it may be over or freed");
    if let Some(operation) = deferred::named(handle) {
        return Ok(Named::Once(operation));
    }
    AGAIN.get(handle).map(Named::Again).ok_or_else(none)
}

/// Forgets a request.
pub(crate) fn forget(handle: i32) {
    if ONCE.remove(handle).is_none() && !deferred::forget(handle) {
        AGAIN.remove(handle);
    }
}

impl Operation {
    pub(crate) fn new(state: State, on: i32, notes: Notes) -> Operation {
        let is_collective = matches!(state, State::Stepping(_));
        Operation {
            state: Mutex::new(state),
            on,
            notes,
            is_collective,
            program: None,
            is_done: AtomicBool::new(false),
        }
    }

    /// The same, done by the program.
    pub(crate) fn of_program(mut self, tag: i32, functions: Arc<Functions>) -> Operation {
        self.program = Some((tag, functions));
        self
    }

    /// The tag of one that the program does.
    pub(crate) fn tag_of_program(&self) -> Option<i32> {
        self.program.as_ref().map(|(tag, _)| *tag)
    }

    /// The functions of one that the program does.
    pub(crate) fn functions_of_program(&self) -> Option<&Functions> {
        self.program.as_ref().map(|(_, functions)| &**functions)
    }

    /// The communicator of a receive that anyone may satisfy.
    pub(crate) fn awaits_anyone(&self) -> Option<Arc<Comm>> {
        match &*self.lock() {
            State::Receiving(Receiving { source: ANY_SOURCE, comm, .. }) => comm.clone(),
            _ => None,
        }
    }

    /// One that is over already.
    pub(crate) fn over(outcome: Outcome, on: i32) -> Operation {
        Operation::new(State::Over(outcome), on, crate::process::this::machine_notes())
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves it as far as it can go without waiting; how it ended, when it did.
    pub(crate) fn poll(&self, process: &Process) -> Option<Outcome> {
        // Who holds the state moves it: that another thread does is as good.
        let Ok(mut state) = self.state.try_lock() else { return None };
        if let Some(outcome) = state.poll(process) {
            *state = State::Over(outcome.clone());
            return Some(outcome);
        }
        None
    }

    /// Whether it waits for messages that no receive is posted for.
    pub(crate) fn awaits_arrivals(&self) -> bool {
        matches!(&*self.lock(), State::Partitions(transfer) if transfer.receives())
    }

    /// Adds the requests of the engine that it waits for.
    pub(crate) fn awaited(&self, requests: &mut Vec<Request>) {
        match self.state.try_lock().as_deref() {
            Ok(State::Sending { request, .. } | State::Elsewhere { request, .. }) => requests.push(*request),
            Ok(State::Receiving(receiving)) => requests.push(receiving.request),
            Ok(State::Stepping(schedule)) => requests.extend(schedule.awaited()),
            Ok(State::All(parts)) => parts.iter().for_each(|part| part.awaited(requests)),
            Ok(State::Partitions(transfer)) => transfer.awaited(requests),
            Ok(State::Over(_) | State::Agreeing(..)) | Err(_) => {}
        }
    }

    /// The program has done it.
    pub(crate) fn done(&self) {
        self.is_done.store(true, Ordering::Relaxed);
    }

    /// Has the program give up an operation that it does itself.
    pub(crate) fn give_up(&self) -> Mpi {
        let Some((_, functions)) = &self.program else { return Ok(()) };
        // Relaxed: the program orders the two itself.
        match functions.call_cancel(self.is_done.load(Ordering::Relaxed)) {
            0 => Ok(()),
            code => Err(Error::new(code, "")),
        }
    }

    /// Takes a receive back. Whether its time has not come yet, and now never will.
    pub(crate) fn cancel(&self, process: &Process) -> bool {
        let mut state = self.lock();
        let State::Receiving(receiving) = &*state else { return false };
        if !process.api.cancel(receiving.request) {
            return false;
        }
        let mut status = Status::EMPTY;
        status.set_cancelled(true);
        *state = State::Over(Outcome::of(status));
        true
    }
}

impl State {
    fn poll(&mut self, process: &Process) -> Option<Outcome> {
        match self {
            State::Over(outcome) => Some(outcome.clone()),
            State::Sending { request, peer } => match process.api.wait(*request, &LOOK) {
                Err(Answer::Pending) => None,
                Ok(_) => Some(Outcome::EMPTY),
                Err(status) => Some(Outcome::failed(process.failed(status, Some(*peer as usize)))),
            },
            State::Receiving(receiving) => match process.api.wait_seen(receiving.request, &LOOK) {
                Err(Answer::Pending) if receiving.comm.as_ref().is_some_and(|comm| comm.is_revoked()) => {
                    process.api.cancel(receiving.request);
                    Some(Outcome::failed(revocation::revoked()))
                }
                Err(Answer::Pending) => None,
                outcome => Some(receiving.finish(process, outcome)),
            },
            State::Stepping(schedule) => schedule.advance(process),
            State::All(parts) => {
                let mut ended: Vec<_> = parts.iter().map(|part| part.poll(process)).collect();
                // When one has failed, receives that still wait are taken back: their buffers are the program's again.
                if ended.iter().flatten().any(|outcome| outcome.error.is_some()) {
                    for (part, ended) in parts.iter().zip(&mut ended).filter(|(_, ended)| ended.is_none()) {
                        part.cancel(process);
                        *ended = part.poll(process);
                    }
                }
                let ended = ended.into_iter().collect::<Option<Vec<_>>>()?;
                let status = ended.last().map_or(Status::EMPTY, |last| last.status);
                Some(Outcome { status, error: ended.into_iter().find_map(|outcome| outcome.error) })
            }
            State::Agreeing(agreement, then) => {
                let outcome = agreement.poll(process)?.and_then(|decision| {
                    let own = agreement.context_of(&decision);
                    then.take().map_or(Ok(()), |then| then(decision, own))
                });
                Some(outcome.map_or_else(Outcome::failed, |()| Outcome::EMPTY))
            }
            State::Partitions(transfer) => transfer.poll(process),
            State::Elsewhere { request, functions } => match process.api.wait(*request, &LOOK) {
                Err(Answer::Pending) => None,
                _ => {
                    let mut status = Status::EMPTY;
                    let error =
                        functions.take().and_then(|functions| functions.query_and_free(&mut status).err());
                    Some(Outcome { status, error })
                }
            },
        }
    }
}

/// Look, and do not wait.
pub(crate) const LOOK: Notes = Notes { limit: 0, call: 0, peer: -1, tag: -1, context: -1 };

impl Receiving {
    /// What the engine's answer means. A message that was too long says so itself.
    pub(crate) fn finish(&mut self, process: &Process, outcome: Result<Message, Answer>) -> Outcome {
        let message = match outcome {
            Ok(message) => message,
            Err(Answer::Cancelled) => {
                let mut status = Status::EMPTY;
                status.set_cancelled(true);
                return Outcome::of(status);
            }
            Err(status) => {
                let peer = usize::try_from(self.source).ok();
                return Outcome::failed(process.failed(status, peer));
            }
        };
        outcome_of(&message, self.length)
    }
}

/// How the receive of a message into so many bytes ended.
#[inline]
pub(crate) fn outcome_of(message: &Message, length: usize) -> Outcome {
    outcome_of_bytes(message.meta as i32, message.tag, message.length, length)
}

/// The same of a message of so many bytes from that rank.
#[inline]
pub(crate) fn outcome_of_bytes(source: i32, tag: i32, bytes: u64, length: usize) -> Outcome {
    let status = Status::of(source, tag, bytes.min(length as u64));
    match bytes <= length as u64 {
        true => Outcome::of(status),
        false => Outcome { status, error: Some(too_long(source, tag, bytes, length)) },
    }
}

#[cold]
fn too_long(source: i32, tag: i32, bytes: u64, length: usize) -> Error {
    let text =
        format!("the message from rank {source} with tag {tag} has {bytes} bytes, and the buffer {length}");
    Error::new(class::TRUNCATE, text)
}

/// The outcome of an operation with nobody.
pub(crate) fn with_nobody(receives: bool) -> Outcome {
    match receives {
        true => Outcome::of(Status { source: PROC_NULL, ..Status::EMPTY }),
        false => Outcome::EMPTY,
    }
}
