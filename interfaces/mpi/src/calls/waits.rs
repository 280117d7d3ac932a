//! Waiting for requests, and testing them: one, all, any or some.

use super::requests::Asked;
use super::{array_mut, get, length_of, messages::tell, put};
use crate::deferred::{self, Batch};
use crate::errors::{Error, Mpi, class};
use crate::numbers::{REQUEST_NULL, UNDEFINED};
use crate::operations::{DONE, Operation, Outcome};
use crate::process::{Process, is_running, machine_notes, process, running};
use crate::progress;
use crate::status::Status;
use parvum_waist::{Notes, call};
use std::ffi::c_int;
use std::sync::Arc;

pub unsafe fn wait(place: *mut c_int, status: *mut Status) -> Mpi {
    let process = running()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handle = get(place)?;
        if handle == DONE && is_running() {
            put(place, REQUEST_NULL)?;
            return tell(Outcome::EMPTY, status);
        }
        if let Some(mut batch) = deferred::take(std::slice::from_ref(&handle)) {
            batch.wait(process)?;
            let (status_of, error) =
                if batch.names(handle, 0) { batch.ended(0) } else { (Status::EMPTY, None) };
            batch.give_back();
            put(place, REQUEST_NULL)?;
            return tell(Outcome { status: status_of, error }, status);
        }
        deferred::post_all(process);
        let asked = Asked::of(handle)?;
        let Some(operation) = &asked.operation else {
            put(place, if asked.is_done { REQUEST_NULL } else { handle })?;
            return tell(Outcome::EMPTY, status);
        };
        let outcome = progress::wait_for_message(process, operation)?;
        put(place, asked.over(handle))?;
        tell(on(outcome, operation), status)
    }
}

/// An outcome whose error is the communicator's of the operation.
fn on(outcome: Outcome, operation: &Operation) -> Outcome {
    Outcome { error: outcome.error.map(|error| error.of_comm(operation.on)), ..outcome }
}

pub unsafe fn test(place: *mut c_int, flag: *mut c_int, status: *mut Status) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handle = get(place)?;
        let asked = Asked::of(handle)?;
        look(process);
        let outcome = asked.poll(process);
        put(flag, c_int::from(outcome.is_some()))?;
        let Some(outcome) = outcome else { return Ok(()) };
        let Some(operation) = &asked.operation else {
            put(place, if asked.is_done { REQUEST_NULL } else { handle })?;
            return tell(outcome, status);
        };
        put(place, asked.over(handle))?;
        tell(on(outcome, operation), status)
    }
}

/// Moves what there is to move.
pub(super) fn look(process: &Process) {
    process.waist.progress();
    progress::move_all(process);
}

pub(super) fn all_asked(handles: &[c_int]) -> Mpi<Vec<Asked>> {
    handles.iter().map(|&handle| Asked::of(handle)).collect()
}

fn under_way(asked: &[Asked]) -> Vec<Arc<Operation>> {
    asked.iter().filter_map(|asked| asked.operation.clone()).collect()
}

/// Statuses of several, with their errors in them when one has failed; then the call fails.
pub(super) unsafe fn tell_all(outcomes: Vec<Outcome>, statuses: *mut Status) -> Mpi {
    let failed = outcomes.iter().any(|outcome| outcome.error.is_some());
    if !statuses.is_null() {
        for (place, Outcome { status, error }) in outcomes.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                let at = statuses.add(place);
                let error = match failed {
                    true => error.map_or(0, Error::into_code),
                    false => std::ptr::read_unaligned(&raw const (*at).error),
                };
                at.write_unaligned(Status { error, ..status });
            }
        }
    }
    match failed {
        true => Err(some_failed()),
        false => Ok(()),
    }
}

/// Forgets all operations of a call, which are over.
fn all_are_over(asked: &[Asked], handles: &mut [c_int]) {
    for (asked, handle) in asked.iter().zip(handles) {
        if asked.is_active() {
            *handle = asked.over(*handle);
        }
    }
}

/// Waits for receives that were deferred, and are all there is to wait for.
unsafe fn wait_for_batch(
    process: &Process,
    mut batch: Batch,
    handles: &mut [c_int],
    statuses: *mut Status,
) -> Mpi {
    batch.wait(process)?;
    let (mut received, mut errors) = (0, Vec::new());
    for (place, handle) in handles.iter_mut().enumerate() {
        let mut of = Status::EMPTY;
        if batch.names(std::mem::replace(handle, REQUEST_NULL), received) {
            let (ended, error) = batch.ended(received);
            of = ended;
            errors.extend(error.map(|error| (place, error)));
            received += 1;
        }
        // SAFETY: the caller's promise.
        unsafe { tell_nothing_wrong(of, statuses, place) };
    }
    batch.give_back();
    if errors.is_empty() {
        return Ok(());
    }
    let mut codes = vec![0; handles.len()];
    errors.into_iter().for_each(|(place, error)| codes[place] = error.into_code());
    for (place, code) in codes.into_iter().enumerate().filter(|_| !statuses.is_null()) {
        // SAFETY: the caller's promise.
        unsafe { (&raw mut (*statuses.add(place)).error).write_unaligned(code) };
    }
    Err(some_failed())
}

/// Tells how one of several ended, and leaves the error in its status as it is.
#[inline]
unsafe fn tell_nothing_wrong(of: Status, statuses: *mut Status, place: usize) {
    if !statuses.is_null() {
        // SAFETY: the caller's promise.
        unsafe {
            let at = statuses.add(place);
            let error = std::ptr::read_unaligned(&raw const (*at).error);
            at.write_unaligned(Status { error, ..of });
        }
    }
}

fn some_failed() -> Error {
    Error::new(class::IN_STATUS, "some operations have failed: see the statuses")
}

pub unsafe fn waitall(count: i32, requests: *mut c_int, statuses: *mut Status) -> Mpi {
    let process = running()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handles = array_mut(requests, length_of(count)?)?;
        if let Some(batch) = deferred::take(handles) {
            return wait_for_batch(process, batch, handles, statuses);
        }
        deferred::post_all(process);
        let asked = all_asked(handles)?;
        let mut outcomes = Vec::with_capacity(asked.len());
        for asked in &asked {
            outcomes.push(match &asked.operation {
                Some(operation) => progress::wait_for_message(process, operation)?,
                None => Outcome::EMPTY,
            });
        }
        all_are_over(&asked, handles);
        tell_all(outcomes, statuses)
    }
}

pub unsafe fn testall(count: i32, requests: *mut c_int, flag: *mut c_int, statuses: *mut Status) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handles = array_mut(requests, length_of(count)?)?;
        let asked = all_asked(handles)?;
        look(process);
        let all: Option<Vec<Outcome>> = asked.iter().map(|asked| asked.poll(process)).collect();
        put(flag, c_int::from(all.is_some()))?;
        let Some(all) = all else { return Ok(()) };
        all_are_over(&asked, handles);
        tell_all(all, statuses)
    }
}

/// What onlookers are told of a wait that any of several operations ends: only what is true of all of them.
fn of_any(first: &Operation, all: &[Arc<Operation>]) -> Notes {
    let mut said = *first.notes();
    for notes in all.iter().map(|operation| operation.notes()) {
        if notes.call == call::MACHINE {
            return machine_notes();
        }
        let same = |one: i32, other: i32| if one == other { one } else { -1 };
        if notes.call != said.call {
            said.call = call::WAIT;
        }
        (said.peer, said.tag) = (same(said.peer, notes.peer), same(said.tag, notes.tag));
        said.context = same(said.context, notes.context);
    }
    said
}

/// The first operation that is over, by its place.
pub(super) fn first_over(process: &Process, asked: &[Asked]) -> Option<(usize, Outcome)> {
    asked.iter().enumerate().find_map(|(place, asked)| Some((place, asked.ended(process)?)))
}

pub(super) fn all_over(process: &Process, asked: &[Asked]) -> Vec<(usize, Outcome)> {
    asked.iter().enumerate().filter_map(|(place, asked)| Some((place, asked.ended(process)?))).collect()
}

unsafe fn tell_one(
    handles: &mut [c_int],
    asked: &[Asked],
    found: Option<(usize, Outcome)>,
    index: *mut c_int,
    status: *mut Status,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let Some((place, outcome)) = found else {
            put(index, UNDEFINED)?;
            return tell(Outcome::EMPTY, status);
        };
        handles[place] = asked[place].over(handles[place]);
        put(index, place as c_int)?;
        tell(outcome, status)
    }
}

pub unsafe fn waitany(count: i32, requests: *mut c_int, index: *mut c_int, status: *mut Status) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handles = array_mut(requests, length_of(count)?)?;
        let asked = all_asked(handles)?;
        let waiting = under_way(&asked);
        let found = match waiting.first() {
            None => first_over(process, &asked),
            Some(first) => {
                let notes = of_any(first, &waiting);
                Some(progress::wait_until(process, &notes, &waiting, || first_over(process, &asked))?)
            }
        };
        tell_one(handles, &asked, found, index, status)
    }
}

pub unsafe fn testany(
    count: i32,
    requests: *mut c_int,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handles = array_mut(requests, length_of(count)?)?;
        let asked = all_asked(handles)?;
        look(process);
        let found = first_over(process, &asked);
        let nothing = asked.iter().all(|asked| !asked.is_active());
        put(flag, c_int::from(found.is_some() || nothing))?;
        if found.is_none() && !nothing {
            return put(index, UNDEFINED);
        }
        tell_one(handles, &asked, found, index, status)
    }
}

unsafe fn tell_some(
    handles: &mut [c_int],
    asked: &[Asked],
    found: Vec<(usize, Outcome)>,
    (count, indices): (*mut c_int, *mut c_int),
    statuses: *mut Status,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        put(count, found.len() as c_int)?;
        for (at, (place, _)) in found.iter().enumerate() {
            handles[*place] = asked[*place].over(handles[*place]);
            put(indices.add(at), *place as c_int)?;
        }
        tell_all(found.into_iter().map(|(_, outcome)| outcome).collect(), statuses)
    }
}

pub unsafe fn waitsome(
    count: i32,
    requests: *mut c_int,
    out_count: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handles = array_mut(requests, length_of(count)?)?;
        let asked = all_asked(handles)?;
        let waiting = under_way(&asked);
        let at_once = all_over(process, &asked);
        let Some(first) = waiting.first().filter(|_| at_once.is_empty()) else {
            return match at_once.is_empty() {
                true => put(out_count, UNDEFINED),
                false => tell_some(handles, &asked, at_once, (out_count, indices), statuses),
            };
        };
        let some = || Some(all_over(process, &asked)).filter(|found| !found.is_empty());
        let found = progress::wait_until(process, &of_any(first, &waiting), &waiting, some)?;
        tell_some(handles, &asked, found, (out_count, indices), statuses)
    }
}

pub unsafe fn testsome(
    count: i32,
    requests: *mut c_int,
    out_count: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handles = array_mut(requests, length_of(count)?)?;
        let asked = all_asked(handles)?;
        if asked.iter().all(|asked| !asked.is_active()) {
            return put(out_count, UNDEFINED);
        }
        look(process);
        let found = all_over(process, &asked);
        tell_some(handles, &asked, found, (out_count, indices), statuses)
    }
}
