//! Errors and their handlers.

use crate::calls::arguments::{get, give_text, put, put_at, text};
use crate::comms::handles::comm;
use crate::errors::{self, Error, Mpi, class};
use crate::objects::errhandlers::{ERRHANDLERS, ErrhandlerProxy, Handler, free, make};
use crate::objects::numbers::{
    ERRHANDLER_NULL, ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN, Kind, MAX_ERROR_STRING,
};
use parvum_api::pointers::{Out, Text};
use std::ffi::{c_char, c_int};

pub fn error_class(code: i32, class_place: Out<'_, c_int>) -> Mpi {
    let class = errors::class_of(code).ok_or_else(|| no_code(code))?;
    put(class_place, class)
}

pub unsafe fn error_string(code: i32, string: *mut c_char, length: Out<'_, c_int>) -> Mpi {
    let text = errors::text_of(code).ok_or_else(|| no_code(code))?;
    // SAFETY: the caller's promise.
    unsafe {
        let written = give_text(string, MAX_ERROR_STRING, &text)?;
        put(length, written)
    }
}

fn no_code(code: i32) -> Error {
    Error::new(class::ARG, format!("{code} is no error code"))
}

pub fn add_error_class(class_place: Out<'_, c_int>) -> Mpi {
    put(class_place, errors::add(None)?)
}

pub fn add_error_code(class: i32, code: Out<'_, c_int>) -> Mpi {
    put(code, errors::add(Some(class))?)
}

pub fn add_error_string(code: i32, string: Text<'_>) -> Mpi {
    errors::set_text(code, text(string)?)
}

pub fn remove_error_class(class: i32) -> Mpi {
    errors::remove(class)
}

pub fn remove_error_code(code: i32) -> Mpi {
    errors::remove(code)
}

pub fn remove_error_string(code: i32) -> Mpi {
    errors::set_text(code, Vec::new())
}

fn create(kind: Kind, function: usize, errhandler: Out<'_, c_int>) -> Mpi {
    if function == 0 {
        return Err(Error::new(class::ARG, "the error handler's function is a null pointer"));
    }
    put(errhandler, make(kind, function)?)
}

/// From now on the error handler is called by another language's library.
pub fn errhandler_set_proxy(handle: i32, proxy: ErrhandlerProxy) -> Mpi {
    let none = || Error::new(class::ERRHANDLER, "the handle names no error handler");
    // Set once, right after it was made.
    let _ = ERRHANDLERS.get(handle).ok_or_else(none)?.proxy.set(proxy);
    Ok(())
}

pub unsafe fn comm_create_errhandler(function: usize, errhandler: Out<'_, c_int>) -> Mpi {
    create(Kind::Comm, function, errhandler)
}

pub unsafe fn errhandler_create(function: usize, errhandler: Out<'_, c_int>) -> Mpi {
    create(Kind::Comm, function, errhandler)
}

pub unsafe fn win_create_errhandler(function: usize, errhandler: Out<'_, c_int>) -> Mpi {
    create(Kind::Win, function, errhandler)
}

pub unsafe fn file_create_errhandler(function: usize, errhandler: Out<'_, c_int>) -> Mpi {
    create(Kind::File, function, errhandler)
}

pub unsafe fn session_create_errhandler(function: usize, errhandler: Out<'_, c_int>) -> Mpi {
    create(Kind::Session, function, errhandler)
}

pub unsafe fn errhandler_free(errhandler: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        match get(errhandler)? {
            // Handles of these may be given out, and are given back.
            ERRORS_ARE_FATAL | ERRORS_RETURN | ERRORS_ABORT => {}
            handle => free(handle)?,
        }
        put_at(errhandler, ERRHANDLER_NULL)
    }
}

pub fn comm_set_errhandler(handle: i32, errhandler: i32) -> Mpi {
    comm(handle)?.choose_errhandler(Handler::of(errhandler, Kind::Comm)?);
    Ok(())
}

pub fn comm_get_errhandler(handle: i32, errhandler: Out<'_, c_int>) -> Mpi {
    put(errhandler, comm(handle)?.errhandler().give())
}

pub fn errhandler_set(handle: i32, errhandler: i32) -> Mpi {
    comm_set_errhandler(handle, errhandler)
}

pub fn errhandler_get(handle: i32, errhandler: Out<'_, c_int>) -> Mpi {
    comm_get_errhandler(handle, errhandler)
}

pub fn comm_call_errhandler(handle: i32, code: i32) -> Mpi {
    comm(handle)?.errhandler().call(handle, code)
}
