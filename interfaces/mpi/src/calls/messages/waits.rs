//! Waiting for requests, and testing them: one, all, any or some.

use crate::calls::arguments::{array_mut, get, length_of, put, put_at};
use crate::calls::messages::point_to_point::tell;
use crate::calls::messages::requests::GivenRequest;
use crate::errors::{Error, Mpi, class};
use crate::messages::status::Status;
use crate::objects::numbers::{REQUEST_NULL, UNDEFINED};
use crate::process::machine::machine_notes;
use crate::process::this::{Process, is_running, process, running};
use crate::requests::deferred::{self, Batch};
use crate::requests::operations::{DONE, Operation};
use crate::requests::outcome::Outcome;
use crate::requests::progress;
use parvum_api::pointers::Out;
use parvum_api::{Notes, call};
use std::ffi::c_int;
use std::sync::Arc;

pub unsafe fn wait(place: *mut c_int, status: *mut Status) -> Mpi {
    let process = running()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handle = get(place)?;
        if handle == DONE && is_running() {
            put_at(place, REQUEST_NULL)?;
            return tell(Outcome::EMPTY, status);
        }
        if let Some(mut batch) = deferred::take(std::slice::from_ref(&handle)) {
            batch.wait(process)?;
            let (status_of, error) =
                if batch.names(handle, 0) { batch.ended(0) } else { (Status::EMPTY, None) };
            batch.give_back();
            put_at(place, REQUEST_NULL)?;
            return tell(Outcome { status: status_of, error }, status);
        }
        deferred::post_all(process);
        let asked = GivenRequest::of(handle)?;
        let Some(operation) = &asked.operation else {
            put_at(place, if asked.is_done { REQUEST_NULL } else { handle })?;
            return tell(Outcome::EMPTY, status);
        };
        let outcome = progress::wait_for_request(process, operation)?;
        put_at(place, asked.after(handle, &outcome))?;
        tell(on(outcome, operation), status)
    }
}

/// An outcome whose error is the communicator's of the operation.
pub(in crate::calls) fn on(outcome: Outcome, operation: &Operation) -> Outcome {
    Outcome { error: outcome.error.map(|error| error.of_comm(operation.on)), ..outcome }
}

pub unsafe fn test(place: *mut c_int, flag: Out<'_, c_int>, status: *mut Status) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handle = get(place)?;
        let asked = GivenRequest::of(handle)?;
        look(process);
        let outcome = asked.poll(process).or_else(|| asked.waits_in_vain(process));
        put(flag, c_int::from(outcome.as_ref().is_some_and(|outcome| !outcome.goes_on())))?;
        let Some(outcome) = outcome else { return Ok(()) };
        if asked.operation.is_none() {
            put_at(place, if asked.is_done { REQUEST_NULL } else { handle })?;
            return tell(outcome, status);
        }
        put_at(place, asked.after(handle, &outcome))?;
        tell(outcome, status)
    }
}

/// Moves what there is to move.
pub(in crate::calls) fn look(process: &Process) {
    process.api.progress();
    progress::move_all(process);
}

pub(in crate::calls) fn all_asked(handles: &[c_int]) -> Mpi<Vec<GivenRequest>> {
    handles.iter().map(|&handle| GivenRequest::of(handle)).collect()
}

fn under_way(asked: &[GivenRequest]) -> Vec<Arc<Operation>> {
    asked.iter().filter_map(|asked| asked.operation.clone()).collect()
}

/// Statuses of several, with their errors in them when one has failed; then the call fails.
pub(in crate::calls) unsafe fn tell_all(outcomes: Vec<Outcome>, statuses: *mut Status) -> Mpi {
    // The handler is that of the first that has failed.
    let first = outcomes.iter().find_map(|outcome| outcome.error.as_ref()).map(|error| error.on);
    if !statuses.is_null() {
        for (place, Outcome { status, error }) in outcomes.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                let at = statuses.add(place);
                let error = match first {
                    Some(_) => error.map_or(0, Error::into_code),
                    None => std::ptr::read_unaligned(&raw const (*at).error),
                };
                at.write_unaligned(Status { error, ..status });
            }
        }
    }
    first.map_or(Ok(()), |comm| Err(comm.into_iter().fold(some_failed(), Error::of_comm)))
}

/// Forgets the operations of a call that are over: all but those that go on.
fn forget_over(asked: &[GivenRequest], handles: &mut [c_int], outcomes: &[Outcome]) {
    for ((asked, handle), outcome) in asked.iter().zip(handles).zip(outcomes) {
        if asked.is_active() {
            *handle = asked.after(*handle, outcome);
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
    let Some(comm) = errors.first().map(|(_, error)| error.on) else { return Ok(()) };
    let mut codes = vec![0; handles.len()];
    errors.into_iter().for_each(|(place, error)| codes[place] = error.into_code());
    for (place, code) in codes.into_iter().enumerate().filter(|_| !statuses.is_null()) {
        // SAFETY: the caller's promise.
        unsafe { (&raw mut (*statuses.add(place)).error).write_unaligned(code) };
    }
    Err(comm.into_iter().fold(some_failed(), Error::of_comm))
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
                Some(operation) => on(progress::wait_for_request(process, operation)?, operation),
                None => Outcome::EMPTY,
            });
        }
        forget_over(&asked, handles, &outcomes);
        tell_all(outcomes, statuses)
    }
}

pub unsafe fn testall(count: i32, requests: *mut c_int, flag: Out<'_, c_int>, statuses: *mut Status) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handles = array_mut(requests, length_of(count)?)?;
        let asked = all_asked(handles)?;
        look(process);
        let outcome = |asked: &GivenRequest| asked.poll(process).or_else(|| asked.waits_in_vain(process));
        let all: Option<Vec<Outcome>> = asked.iter().map(outcome).collect();
        put(flag, c_int::from(all.is_some()))?;
        let Some(all) = all else { return Ok(()) };
        forget_over(&asked, handles, &all);
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
pub(in crate::calls) fn first_over(process: &Process, asked: &[GivenRequest]) -> Option<(usize, Outcome)> {
    asked.iter().enumerate().find_map(|(place, asked)| Some((place, asked.ended(process)?)))
}

pub(in crate::calls) fn all_over(process: &Process, asked: &[GivenRequest]) -> Vec<(usize, Outcome)> {
    asked.iter().enumerate().filter_map(|(place, asked)| Some((place, asked.ended(process)?))).collect()
}

/// The first that there is something to tell of: where none is over, one that waits for somebody who may have died.
fn first_told(process: &Process, asked: &[GivenRequest]) -> Option<(usize, Outcome)> {
    first_over(process, asked).or_else(|| {
        asked.iter().enumerate().find_map(|(place, asked)| Some((place, asked.waits_in_vain(process)?)))
    })
}

/// Likewise all of them.
fn all_told(process: &Process, asked: &[GivenRequest]) -> Vec<(usize, Outcome)> {
    let over = all_over(process, asked);
    if !over.is_empty() {
        return over;
    }
    let in_vain = |(place, asked): (usize, &GivenRequest)| Some((place, asked.waits_in_vain(process)?));
    asked.iter().enumerate().filter_map(in_vain).collect()
}

unsafe fn tell_one(
    handles: &mut [c_int],
    asked: &[GivenRequest],
    found: Option<(usize, Outcome)>,
    index: *mut c_int,
    status: *mut Status,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let Some((place, outcome)) = found else {
            put_at(index, UNDEFINED)?;
            return tell(Outcome::EMPTY, status);
        };
        handles[place] = asked[place].after(handles[place], &outcome);
        put_at(index, place as c_int)?;
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
            None => first_told(process, &asked),
            Some(first) => {
                let notes = of_any(first, &waiting);
                Some(progress::wait_until(process, &notes, &waiting, || first_told(process, &asked))?)
            }
        };
        tell_one(handles, &asked, found, index, status)
    }
}

pub unsafe fn testany(
    count: i32,
    requests: *mut c_int,
    index: *mut c_int,
    flag: Out<'_, c_int>,
    status: *mut Status,
) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handles = array_mut(requests, length_of(count)?)?;
        let asked = all_asked(handles)?;
        look(process);
        let found = first_told(process, &asked);
        let nothing = asked.iter().all(|asked| !asked.is_active());
        put(flag, c_int::from(found.is_some() || nothing))?;
        if found.is_none() && !nothing {
            return put_at(index, UNDEFINED);
        }
        tell_one(handles, &asked, found, index, status)
    }
}

unsafe fn tell_some(
    handles: &mut [c_int],
    asked: &[GivenRequest],
    found: Vec<(usize, Outcome)>,
    (count, indices): (*mut c_int, *mut c_int),
    statuses: *mut Status,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        put_at(count, found.len() as c_int)?;
        for (at, (place, outcome)) in found.iter().enumerate() {
            handles[*place] = asked[*place].after(handles[*place], outcome);
            put_at(indices.add(at), *place as c_int)?;
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
        let at_once = all_told(process, &asked);
        let Some(first) = waiting.first().filter(|_| at_once.is_empty()) else {
            return match at_once.is_empty() {
                true => put_at(out_count, UNDEFINED),
                false => tell_some(handles, &asked, at_once, (out_count, indices), statuses),
            };
        };
        let some = || Some(all_told(process, &asked)).filter(|found| !found.is_empty());
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
            return put_at(out_count, UNDEFINED);
        }
        look(process);
        let found = all_told(process, &asked);
        tell_some(handles, &asked, found, (out_count, indices), statuses)
    }
}
