//! The memory that a program attaches for buffered sends, and the messages that wait in it.
//!
//! What a message takes of the buffer is counted as MPI says, its data and `MPI_BSEND_OVERHEAD`; the data itself is kept by the
//! engine. So a send is refused when the program's own reckoning says so, and never for another reason.

use crate::errors::{Error, Mpi, class};
use crate::objects::numbers::{BSEND_OVERHEAD, BUFFER_AUTOMATIC};
use crate::process::machine::{LOOK, Machine};
use crate::requests::outcome::Outcome;
use parvum_api::{Notes, Request, Status as Answer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The buffer of a communicator, a session, or the process.
#[derive(Default)]
pub(crate) struct Buffer(Mutex<Attached>);

#[derive(Default)]
struct Attached {
    /// Address and size, when one is attached.
    memory: Option<(usize, i64)>,
    /// Messages that were not handed over when they were last looked at, and what each takes.
    waiting: Vec<(Arc<Leaving>, i64)>,
}

impl Buffer {
    fn lock(&self) -> MutexGuard<'_, Attached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn new() -> Buffer {
        Buffer(Mutex::new(Attached { memory: None, waiting: Vec::new() }))
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.lock().memory.is_some()
    }

    pub(crate) fn attach(&self, address: usize, size: i64) -> Mpi {
        if size < 0 {
            return Err(Error::new(class::ARG, format!("the buffer's size is {size}")));
        }
        let mut attached = self.lock();
        if attached.memory.is_some() {
            return Err(Error::new(class::BUFFER, "a buffer is attached already; detach it first"));
        }
        attached.memory = Some((address, size));
        Ok(())
    }

    /// The messages that have not left.
    pub(crate) fn waiting(&self) -> Vec<Arc<Leaving>> {
        self.lock().waiting.iter().map(|(leaving, _)| leaving.clone()).collect()
    }

    /// The same, which are nobody's business from now on but the caller's.
    pub(crate) fn take_waiting(&self) -> Vec<Arc<Leaving>> {
        self.lock().waiting.drain(..).map(|(leaving, _)| leaving).collect()
    }

    /// Gives the memory back: address and size.
    pub(crate) fn take_memory(&self) -> (usize, i64) {
        match self.lock().memory.take() {
            Some((BUFFER_AUTOMATIC, _)) => (BUFFER_AUTOMATIC, 0),
            Some(memory) => memory,
            None => (0, 0),
        }
    }

    /// Makes sure that there is room for a message, and has it sent.
    pub(crate) fn send(
        &self,
        machine: &Machine,
        length: usize,
        send: impl FnOnce() -> Mpi<Option<Leaving>>,
    ) -> Mpi {
        machine.api.progress();
        let needs = length as i64 + BSEND_OVERHEAD;
        let mut attached = self.lock();
        attached.waiting.retain(|(leaving, _)| leaving.poll(machine).is_none());
        let used: i64 = attached.waiting.iter().map(|(_, takes)| takes).sum();
        match attached.memory {
            None => {
                let text = "no buffer is attached; call MPI_Buffer_attach first";
                return Err(Error::new(class::BUFFER, text));
            }
            Some((BUFFER_AUTOMATIC, _)) => {}
            Some((_, size)) if needs <= size - used => {}
            Some((_, size)) => {
                let text = format!(
                    "the message needs {needs} bytes of the attached buffer ({BSEND_OVERHEAD} of them MPI_BSEND_OVERHEAD), of whose {size} {used} are in use"
                );
                return Err(Error::new(class::BUFFER, text));
            }
        }
        if let Some(leaving) = send()? {
            attached.waiting.push((Arc::new(leaving), needs));
        }
        Ok(())
    }
}

/// A message that a buffered send has left with the engine. Its send is over.
pub(crate) struct Leaving {
    request: Request,
    /// The receiver's rank.
    peer: i32,
    /// What onlookers are told while a task waits for it.
    notes: Notes,
    /// How it ended, when it did: several may wait for it.
    outcome: Mutex<Option<Outcome>>,
}

impl Leaving {
    pub(crate) fn new(request: Request, peer: i32, notes: Notes) -> Leaving {
        Leaving { request, peer, notes, outcome: Mutex::new(None) }
    }

    fn outcome(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine's request, until it is over.
    pub(crate) fn request(&self) -> Option<Request> {
        self.outcome().is_none().then_some(self.request)
    }

    pub(crate) fn notes(&self) -> Notes {
        self.notes
    }

    /// How it ended, when it did.
    pub(crate) fn poll(&self, machine: &Machine) -> Option<Outcome> {
        let mut outcome = self.outcome();
        if outcome.is_none() {
            *outcome = match machine.api.wait(self.request, &LOOK) {
                Err(Answer::Pending) => None,
                Ok(_) => Some(Outcome::EMPTY),
                Err(status) => Some(Outcome::failed(machine.failed(status, Some(self.peer as usize)))),
            };
        }
        outcome.clone()
    }
}
