//! Statuses, and operations that the program does itself.

use super::{get, put, requests::Asked};
use crate::calling::calling;
use crate::errors::{Error, Mpi, class};
use crate::operations::{Operation, Query, State, keep};
use crate::process::{machine_notes, process};
use crate::status::Status;
use std::ffi::{c_int, c_void};

pub unsafe fn test_cancelled(status: *const Status, flag: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(flag, c_int::from(get(status)?.is_cancelled())) }
}

unsafe fn change(place: *mut Status, change: impl FnOnce(&mut Status)) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let mut status = get(place)?;
        change(&mut status);
        put(place, status)
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

pub unsafe fn status_get_source(status: *const Status, source: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(source, get(status)?.source) }
}

pub unsafe fn status_get_tag(status: *const Status, tag: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(tag, get(status)?.tag) }
}

pub unsafe fn status_get_error(status: *const Status, error: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(error, get(status)?.error) }
}

type FreeFunction = unsafe extern "C" fn(*mut c_void) -> c_int;
type CancelFunction = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// A generalised request: the program does the operation, and its end is a message to itself, which wakes who waits.
pub unsafe fn grequest_start(
    query: usize,
    free: usize,
    cancel: usize,
    extra: *mut u8,
    place: *mut c_int,
) -> Mpi {
    let process = process()?;
    let (tag, request) = crate::elsewhere::begin(process);
    let extra = extra.addr();
    let asks: Query = Box::new(move |status| {
        let mut code = 0;
        // SAFETY: the program gave these functions for a generalised request.
        unsafe {
            if query != 0 {
                code = (calling().query)(query, extra as *mut c_void, status);
            }
            if free != 0 {
                let freed = std::mem::transmute::<usize, FreeFunction>(free)(extra as *mut c_void);
                code = if code == 0 { (calling().code_given)(freed) } else { code };
            }
        }
        match code {
            0 => Ok(()),
            code => Err(Error {
                code,
                text: format!("the program's function for its request gave {code}"),
                on: None,
            }),
        }
    });
    let cancels = move |is_over: bool| match cancel {
        0 => 0,
        // SAFETY: as above.
        cancel => unsafe {
            let cancel = std::mem::transmute::<usize, CancelFunction>(cancel);
            (calling().code_given)(cancel(extra as *mut c_void, c_int::from(is_over)))
        },
    };
    let state = State::Elsewhere { request, query: Some(asks) };
    let operation = Operation::new(state, crate::numbers::COMM_SELF, machine_notes());
    // SAFETY: the caller's promise.
    unsafe { put(place, keep(operation.of_program(tag, Box::new(cancels)))?) }
}

pub unsafe fn grequest_complete(handle: i32) -> Mpi {
    let process = process()?;
    let asked = Asked::of(handle)?;
    let tag = asked.operation.as_ref().and_then(|operation| operation.tag_of_program());
    if let Some(operation) = &asked.operation {
        operation.done();
    }
    let none = || Error::new(class::REQUEST, "the handle names no generalised request");
    crate::elsewhere::complete(process, tag.ok_or_else(none)?)
}
