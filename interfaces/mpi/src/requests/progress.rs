//! Waiting and testing: whoever does moves everything that is under way.

use crate::comms::comm::Comm;
use crate::comms::{failure, revocation};
use crate::errors::{Mpi, class};
use crate::process::this::{Process, process};
use crate::requests::operations::Operation;
use crate::requests::outcome::Outcome;
use parvum_api::{Notes, Request};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Operations that need their process's help to go on, and those whose requests were freed before they were over.
static MOVING: Mutex<Vec<Arc<Operation>>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// From now on every wait moves this operation as well, until it is over.
pub(crate) fn keep_moving(operation: Arc<Operation>) {
    let mut moving = MOVING.lock().unwrap_or_else(PoisonError::into_inner);
    moving.push(operation);
    // Relaxed: a thread that does not see it yet is woken by the operation's own messages all the same.
    COUNT.store(moving.len(), Ordering::Relaxed);
}

/// Whether there is anything that every wait has to move.
#[inline]
pub(crate) fn is_quiet() -> bool {
    COUNT.load(Ordering::Relaxed) == 0
}

/// Moves all that is under way, and forgets what is over.
pub(crate) fn move_all(process: &Process) {
    revocation::hear(process);
    if is_quiet() {
        return;
    }
    let moving = MOVING.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let over: Vec<_> = moving.iter().filter(|operation| operation.poll(process).is_some()).collect();
    if !over.is_empty() {
        let mut moving = MOVING.lock().unwrap_or_else(PoisonError::into_inner);
        moving.retain(|operation| !over.iter().any(|over| Arc::ptr_eq(over, operation)));
        COUNT.store(moving.len(), Ordering::Relaxed);
    }
}

pub(crate) fn awaited_by_all(requests: &mut Vec<Request>) {
    requests.extend(revocation::news());
    if !is_quiet() {
        let moving = MOVING.lock().unwrap_or_else(PoisonError::into_inner);
        moving.iter().for_each(|operation| operation.awaited(requests));
    }
}

/// So long a wait lasts before it looks again, when another thread is just moving what it waits for, nanoseconds.
const SOON: i64 = 100_000;

/// Waits, as the notes say to onlookers, until `done` gives something. It is called again after anything has moved.
pub(crate) fn wait_until<T>(
    process: &Process,
    notes: &Notes,
    waiting_for: &[Arc<Operation>],
    mut done: impl FnMut() -> Option<T>,
) -> Mpi<T> {
    let mut requests = Vec::new();
    // Partitions come as messages that nothing was posted for.
    let by_arrival = waiting_for.iter().filter(|operation| operation.awaits_arrivals()).count();
    let longest = match waiting_for.iter().any(|operation| failure::concerns(operation)) {
        true => failure::ASKING.as_nanos() as i64,
        false => -1,
    };
    loop {
        let seen = if by_arrival > 0 { process.api.arrivals() } else { u64::MAX };
        move_all(process);
        if let Some(done) = done() {
            return Ok(done);
        }
        requests.clear();
        waiting_for.iter().for_each(|operation| operation.awaited(&mut requests));
        // What another thread holds at this moment has named no request, nor has an agreement.
        let limit = if requests.len() + by_arrival < waiting_for.len() { SOON } else { longest };
        awaited_by_all(&mut requests);
        let call = crate::process::introspect::now(notes.call);
        let over = process.api.wait_any(&requests, seen, &Notes { limit, call, ..*notes });
        if over == -1 && limit == longest && process.api.progress().lost {
            return Err(process.failed(parvum_api::Status::NoMachine, None));
        }
    }
}

/// Waits for one operation.
pub(crate) fn wait(process: &Process, operation: &Arc<Operation>) -> Mpi<Outcome> {
    if let Some(outcome) = operation.poll(process) {
        return Ok(outcome);
    }
    wait_until(process, operation.notes(), std::slice::from_ref(operation), || operation.poll(process))
}

/// Waits for an operation of the program's. A receive that anyone may satisfy hears of deaths, where the program goes on after them.
pub(crate) fn wait_for_message(process: &Process, operation: &Arc<Operation>) -> Mpi<Outcome> {
    hear_of_deaths(process, operation, false)
}

/// The same of one that the program has a request of: what is told may be that it goes on ([`Outcome::goes_on`]).
pub(crate) fn wait_for_request(process: &Process, operation: &Arc<Operation>) -> Mpi<Outcome> {
    hear_of_deaths(process, operation, true)
}

fn hear_of_deaths(process: &Process, operation: &Arc<Operation>, has_request: bool) -> Mpi<Outcome> {
    match operation.awaits_anyone() {
        Some(comm) if comm.is_tolerant() => wait_for_anyone(process, &comm, operation, has_request),
        _ => wait(process, operation),
    }
}

/// Waits for a receive that anyone may satisfy. When somebody dies whose death the program has not acknowledged, it is given up, or
/// goes on and that is told, where the program has a request of it.
fn wait_for_anyone(
    process: &Process,
    comm: &Arc<Comm>,
    operation: &Arc<Operation>,
    has_request: bool,
) -> Mpi<Outcome> {
    loop {
        if let Some(outcome) = operation.poll(process) {
            return Ok(outcome);
        }
        move_all(process);
        let mut requests = Vec::new();
        operation.awaited(&mut requests);
        awaited_by_all(&mut requests);
        let notes = Notes { limit: failure::ASKING.as_nanos() as i64, ..*operation.notes() };
        if process.api.wait_any(&requests, u64::MAX, &notes) != -1 {
            continue;
        }
        if process.api.progress().lost {
            return Err(process.failed(parvum_api::Status::NoMachine, None));
        }
        if let Err(error) = failure::refuse_unknown_deaths(process, comm) {
            if has_request && error.code == class::PROC_FAILED {
                return Ok(Outcome::failed(failure::may_be_lost(&error)));
            }
            if operation.cancel(process) {
                return Err(error);
            }
        }
    }
}

/// Waits for the end of all whose requests were freed.
pub(crate) fn finish_all() -> Mpi {
    let process = process()?;
    loop {
        let first = MOVING.lock().unwrap_or_else(PoisonError::into_inner).first().cloned();
        let Some(first) = first else { return Ok(()) };
        // Its error has nobody to be told to.
        let _ = wait(process, &first)?;
        move_all(process);
    }
}
