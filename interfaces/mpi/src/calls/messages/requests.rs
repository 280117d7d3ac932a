//! Requests: what they are asked without being ended, and giving them up.

use crate::calls::arguments::{array, get, length_of, put, put_at};
use crate::calls::messages::point_to_point::tell;
use crate::calls::messages::waits::{all_asked, all_over, first_over, look, on, tell_all};
use crate::errors::{Error, Mpi, class};
use crate::messages::status::Status;
use crate::objects::numbers::{REQUEST_NULL, UNDEFINED};
use crate::process::this::{Process, process};
use crate::requests::handles::{Named, Persistent, forget, named};
use crate::requests::operations::Operation;
use crate::requests::outcome::Outcome;
use crate::{comms::failure, requests::progress};
use parvum_api::pointers::Out;
use std::ffi::c_int;
use std::sync::Arc;

/// A request of a call: what of it is under way, and whether its handle stays when that is over.
pub(in crate::calls) struct GivenRequest {
    pub(in crate::calls) operation: Option<Arc<Operation>>,
    again: Option<Arc<Persistent>>,
    /// It was over when it began, and its handle is gone as soon as somebody asks.
    pub(in crate::calls) is_done: bool,
}

impl GivenRequest {
    #[inline]
    pub(in crate::calls) fn of(handle: i32) -> Mpi<GivenRequest> {
        let nothing = GivenRequest { operation: None, again: None, is_done: false };
        if handle == REQUEST_NULL {
            return Ok(nothing);
        }
        Ok(match named(handle)? {
            Named::Once(operation) => GivenRequest { operation: Some(operation), ..nothing },
            Named::Done => GivenRequest { is_done: true, ..nothing },
            Named::Again(persistent) => {
                GivenRequest { operation: persistent.active(), again: Some(persistent), is_done: false }
            }
        })
    }

    /// Whether there is anything to wait for, or to tell.
    pub(in crate::calls) fn is_active(&self) -> bool {
        self.operation.is_some() || self.is_done
    }

    /// Forgets an operation that is over; the handle that stays.
    pub(in crate::calls) fn over(&self, handle: i32) -> i32 {
        match &self.again {
            Some(persistent) => {
                persistent.rest();
                handle
            }
            None => {
                if !self.is_done {
                    forget(handle);
                }
                REQUEST_NULL
            }
        }
    }

    /// The same after what was told of it, which may be that it goes on.
    pub(in crate::calls) fn after(&self, handle: i32, outcome: &Outcome) -> i32 {
        if outcome.goes_on() { handle } else { self.over(handle) }
    }

    /// What is told of one that waits for somebody who may have died.
    pub(in crate::calls) fn waits_in_vain(&self, process: &Process) -> Option<Outcome> {
        let operation = self.operation.as_ref()?;
        Some(on(failure::tell_of_deaths(process, operation)?, operation))
    }

    /// How it ended, if there was anything to end.
    pub(in crate::calls) fn ended(&self, process: &Process) -> Option<Outcome> {
        if self.is_active() { self.poll(process) } else { None }
    }

    /// How it ended: nothing that is under way is over.
    pub(in crate::calls) fn poll(&self, process: &Process) -> Option<Outcome> {
        let Some(operation) = &self.operation else { return Some(Outcome::EMPTY) };
        Some(on(operation.poll(process)?, operation))
    }
}

pub unsafe fn request_get_status(handle: i32, flag: Out<'_, c_int>, status: *mut Status) -> Mpi {
    let process = process()?;
    let asked = GivenRequest::of(handle)?;
    look(process);
    let outcome = asked.poll(process);
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(outcome.is_some()))?;
        outcome.map_or(Ok(()), |outcome| tell(Outcome { error: None, ..outcome }, status))
    }
}

pub unsafe fn request_get_status_all(
    count: i32,
    requests: *const c_int,
    flag: Out<'_, c_int>,
    statuses: *mut Status,
) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let asked = all_asked(array(requests, length_of(count)?)?)?;
        look(process);
        let all: Option<Vec<Outcome>> = asked.iter().map(|asked| asked.poll(process)).collect();
        put(flag, c_int::from(all.is_some()))?;
        all.map_or(Ok(()), |all| tell_all(all, statuses))
    }
}

pub unsafe fn request_get_status_any(
    count: i32,
    requests: *const c_int,
    index: Out<'_, c_int>,
    flag: Out<'_, c_int>,
    status: *mut Status,
) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let asked = all_asked(array(requests, length_of(count)?)?)?;
        look(process);
        let nothing = asked.iter().all(|asked| !asked.is_active());
        let found = first_over(process, &asked);
        put(flag, c_int::from(found.is_some() || nothing))?;
        put(index, found.as_ref().map_or(UNDEFINED, |(place, _)| *place as c_int))?;
        match found {
            Some((_, outcome)) => tell(Outcome { error: None, ..outcome }, status),
            None if nothing => tell(Outcome::EMPTY, status),
            None => Ok(()),
        }
    }
}

pub unsafe fn request_get_status_some(
    count: i32,
    requests: *const c_int,
    out_count: Out<'_, c_int>,
    indices: *mut c_int,
    statuses: *mut Status,
) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let asked = all_asked(array(requests, length_of(count)?)?)?;
        if asked.iter().all(|asked| !asked.is_active()) {
            return put(out_count, UNDEFINED);
        }
        look(process);
        let found = all_over(process, &asked);
        put(out_count, found.len() as c_int)?;
        for (at, (place, _)) in found.iter().enumerate() {
            put_at(indices.add(at), *place as c_int)?;
        }
        tell_all(found.into_iter().map(|(_, outcome)| outcome).collect(), statuses)
    }
}

pub unsafe fn request_free(place: *mut c_int) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    unsafe {
        let handle = get(place)?;
        refuse_null(handle)?;
        let asked = GivenRequest::of(handle)?;
        if let Some(operation) = &asked.operation {
            if operation.is_collective {
                return Err(Error::new(
                    class::REQUEST,
                    "a collective operation that is under way cannot be freed",
                ));
            }
            if operation.poll(process).is_none() {
                progress::keep_moving(operation.clone());
            }
        }
        if !asked.is_done {
            forget(handle);
        }
        put_at(place, REQUEST_NULL)
    }
}

fn refuse_null(handle: i32) -> Mpi {
    match handle {
        REQUEST_NULL => Err(Error::new(class::REQUEST, "the request is MPI_REQUEST_NULL")),
        _ => Ok(()),
    }
}

pub unsafe fn cancel(place: *mut c_int) -> Mpi {
    let process = process()?;
    // SAFETY: the caller's promise.
    let handle = unsafe { get(place)? };
    refuse_null(handle)?;
    if let Some(operation) = GivenRequest::of(handle)?.operation {
        if operation.is_collective {
            return Err(Error::new(class::REQUEST, "a collective operation cannot be cancelled"));
        }
        operation.give_up()?;
        operation.cancel(process);
    }
    Ok(())
}
