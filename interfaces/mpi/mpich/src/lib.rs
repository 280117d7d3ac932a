//! MPI with MPICH's binary interface: `libmpi.so.12`.
//!
//! The core's numbers are MPICH's, so nothing is converted but pointers that stand for "not wanted". The functions are made from the
//! description of MPI's functions by `faces.rs`; what is not of that pattern is here.

#![deny(unsafe_code)]
#![allow(clippy::missing_safety_doc, missing_docs, reason = "they are the standard's functions")]
#![allow(clippy::too_many_arguments, reason = "they are the standard's")]

#[allow(unsafe_code)]
mod fortran;
#[allow(unsafe_code)]
mod rest;
#[allow(unsafe_code)]
mod statuses;
#[allow(unsafe_code)]
mod version;

use parvum_mpi::callbacks::answers::{On, answer};
use parvum_mpi::calls::{self, CallForm, CountTarget, Numbers};
use parvum_mpi::messages::status::Status;
use parvum_mpi::process::introspect::{enter, number};
use std::ffi::{c_char, c_int, c_void};

/// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
const IGNORE: usize = 1;

/// Null, when the program does not want the status.
#[inline]
fn wanted_status(status: *mut Status) -> *mut Status {
    if status.addr() == IGNORE { std::ptr::null_mut() } else { status }
}

#[inline]
fn known_status(status: *const Status) -> *const Status {
    if status.addr() == IGNORE { std::ptr::null() } else { status }
}

/// The number of a file, whose handle is a pointer for historical reasons.
#[inline]
fn number_of(file: *mut c_void) -> c_int {
    file.addr() as c_int
}

/// The functions, made from their description.
#[allow(unsafe_code)]
#[expect(
    unused_unsafe,
    reason = "what is given numbers alone is safe to call, which the description does not say"
)]
mod face {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/face.rs"));
}
