//! Operations under way, and how they are moved on.

use crate::comms::comm::Comm;
use crate::comms::revocation;
use crate::errors::{Error, Mpi};
use crate::messages::status::Status;
use crate::objects::numbers::{ANY_SOURCE, Kind};
use crate::process::machine;
use crate::process::this::Process;
use crate::requests::generalised::Functions;
use crate::requests::outcome::{Outcome, outcome_of};
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

/// What moves an operation on that has several steps: the operation knows nothing else of them.
pub(crate) trait Progress: Send {
    /// Goes on as far as it can without waiting; how it ended, when it did.
    fn poll(&mut self, process: &Process) -> Option<Outcome>;

    /// Adds the requests of the engine that it waits for.
    fn awaited(&self, requests: &mut Vec<Request>);

    /// Whether it waits for messages that no receive is posted for.
    fn awaits_arrivals(&self) -> bool {
        false
    }

    /// Whether it is a collective operation, which is neither freed nor cancelled while it is under way.
    fn is_collective(&self) -> bool {
        false
    }
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
    /// Another thread finishes it: a receive from itself wakes who waits.
    Elsewhere {
        request: Request,
        functions: Option<Arc<Functions>>,
    },
    /// All of several.
    All(Vec<Arc<Operation>>),
    /// Several steps, one after the other.
    Stepping(Box<dyn Progress>),
    Over(Outcome),
}

/// A receive.
pub(crate) struct Receiving {
    pub(crate) request: Request,
    /// How long the buffer is.
    pub(crate) length: usize,
    /// Whom it is from, when that is one.
    pub(crate) source: i32,
    pub(crate) comm: Option<Arc<Comm>>,
}

/// The request of every operation that is over when it begins, and has nothing to tell: most sends.
pub(crate) const DONE: i32 = Kind::Request.built_in(1);

impl Operation {
    pub(crate) fn new(state: State, on: i32, notes: Notes) -> Operation {
        let is_collective = matches!(&state, State::Stepping(steps) if steps.is_collective());
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
        Operation::new(State::Over(outcome), on, machine::machine_notes())
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
        matches!(&*self.lock(), State::Stepping(steps) if steps.awaits_arrivals())
    }

    /// Adds the requests of the engine that it waits for.
    pub(crate) fn awaited(&self, requests: &mut Vec<Request>) {
        match self.state.try_lock().as_deref() {
            Ok(State::Sending { request, .. } | State::Elsewhere { request, .. }) => requests.push(*request),
            Ok(State::Receiving(receiving)) => requests.push(receiving.request),
            Ok(State::Stepping(steps)) => steps.awaited(requests),
            Ok(State::All(parts)) => parts.iter().for_each(|part| part.awaited(requests)),
            Ok(State::Over(_)) | Err(_) => {}
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
            State::Sending { request, peer } => match process.api.wait(*request, &machine::LOOK) {
                Err(Answer::Pending) => None,
                Ok(_) => Some(Outcome::EMPTY),
                Err(status) => Some(Outcome::failed(process.failed(status, Some(*peer as usize)))),
            },
            State::Receiving(receiving) => match process.api.wait_seen(receiving.request, &machine::LOOK) {
                Err(Answer::Pending) if receiving.comm.as_ref().is_some_and(|comm| comm.is_revoked()) => {
                    process.api.cancel(receiving.request);
                    Some(Outcome::failed(revocation::revoked()))
                }
                Err(Answer::Pending) => None,
                outcome => Some(receiving.finish(process, outcome)),
            },
            State::Stepping(steps) => steps.poll(process),
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
            State::Elsewhere { request, functions } => match process.api.wait(*request, &machine::LOOK) {
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
