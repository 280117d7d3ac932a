//! Statuses: what they say of a message; and operations that the program does itself.

use crate::calls::arguments::{CountTarget, get, put, put_at};
use crate::calls::messages::requests::GivenRequest;
use crate::calls::objects::types::layout;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::checked_count;
use crate::messages::status::Status;
use crate::objects::numbers::UNDEFINED;
use crate::process::machine::machine_notes;
use crate::process::this::process;
use crate::requests::generalised::Functions;
use crate::requests::handles::keep;
use crate::requests::operations::{Operation, State};
use parvum_api::pointers::Out;
use std::ffi::c_int;
use std::sync::Arc;

pub unsafe fn test_cancelled(status: *const Status, flag: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(flag, c_int::from(get(status)?.is_cancelled())) }
}

unsafe fn change(place: *mut Status, change: impl FnOnce(&mut Status)) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let mut status = get(place)?;
        change(&mut status);
        put_at(place, status)
    }
}

pub unsafe fn status_set_cancelled(status: *mut Status, flag: i32) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { change(status, |status| status.set_cancelled(flag != 0)) }
}

pub unsafe fn status_set_source(status: *mut Status, source: i32) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { change(status, |status| status.source = source) }
}

pub unsafe fn status_set_tag(status: *mut Status, tag: i32) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { change(status, |status| status.tag = tag) }
}

pub unsafe fn status_set_error(status: *mut Status, error: i32) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { change(status, |status| status.error = error) }
}

pub unsafe fn status_get_source(status: *const Status, source: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(source, get(status)?.source) }
}

pub unsafe fn status_get_tag(status: *const Status, tag: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(tag, get(status)?.tag) }
}

pub unsafe fn status_get_error(status: *const Status, error: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(error, get(status)?.error) }
}

pub unsafe fn get_count(status: *const Status, of: i32, count: CountTarget) -> Mpi {
    let layout = layout(of)?;
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = get(status)?.bytes() as i64;
        count.put(layout.count_in(bytes).unwrap_or(i64::from(UNDEFINED)))
    }
}

pub unsafe fn get_elements(status: *const Status, of: i32, count: CountTarget) -> Mpi {
    let layout = layout(of)?;
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = get(status)?.bytes() as i64;
        count.put(layout.elements_in(bytes).unwrap_or(i64::from(UNDEFINED)))
    }
}

pub unsafe fn get_elements_x(status: *const Status, of: i32, count: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { get_elements(status, of, CountTarget::wide(count)) }
}

pub unsafe fn status_set_elements(status: *mut Status, of: i32, count: i64) -> Mpi {
    let layout = layout(of)?;
    checked_count(count)?;
    // SAFETY: the caller's promise.
    unsafe {
        let mut told = get(status)?;
        told.set_bytes(layout.bytes_of(count).unwrap_or(0) as u64);
        put_at(status, told)
    }
}

pub unsafe fn status_set_elements_x(status: *mut Status, of: i32, count: i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { status_set_elements(status, of, count) }
}

/// A generalised request: the program does the operation, and its end is a message to itself, which wakes who waits.
pub unsafe fn grequest_start(
    query: usize,
    free: usize,
    cancel: usize,
    extra: *mut u8,
    place: Out<'_, c_int>,
) -> Mpi {
    let process = process()?;
    let (tag, request) = crate::requests::elsewhere::begin(process);
    let functions = Arc::new(Functions::new(query, free, cancel, extra.addr()));
    let state = State::Elsewhere { request, functions: Some(Arc::clone(&functions)) };
    let operation = Operation::new(state, crate::objects::numbers::COMM_SELF, machine_notes());
    put(place, keep(operation.of_program(tag, functions))?)
}

/// From now on the request's functions are called as Fortran's.
pub fn grequest_set_fortran(handle: i32) -> Mpi {
    let asked = GivenRequest::of(handle)?;
    let functions = asked.operation.as_ref().and_then(|operation| operation.functions_of_program());
    functions.ok_or_else(no_generalised)?.set_fortran();
    Ok(())
}

pub fn grequest_complete(handle: i32) -> Mpi {
    let process = process()?;
    let asked = GivenRequest::of(handle)?;
    let tag = asked.operation.as_ref().and_then(|operation| operation.tag_of_program());
    if let Some(operation) = &asked.operation {
        operation.done();
    }
    crate::requests::elsewhere::complete(process, tag.ok_or_else(no_generalised)?)
}

fn no_generalised() -> Error {
    Error::new(class::REQUEST, "the handle names no generalised request")
}
