//! MPI with the binary interface of the MPI-5.0 standard: `libmpi_abi.so.1`.
//!
//! Its handles are as wide as pointers and its numbers its own, so each argument is converted to the core's and each result back:
//! [`handles`], [`statuses`] and [`numbers`] do that, and [`programs`] for what the program's functions are called with. The
//! functions are made from the description of MPI's functions by `face.rs`, the tables of numbers from the two headers by
//! `names.rs`; what is not of those patterns is in `special` and `rest`.

#![deny(unsafe_code)]
#![allow(clippy::missing_safety_doc, missing_docs, reason = "they are the standard's functions")]
#![allow(clippy::too_many_arguments, reason = "they are the standard's")]

#[allow(unsafe_code)]
mod handles;
#[allow(unsafe_code)]
mod numbers;
#[allow(unsafe_code)]
mod programs;
#[allow(unsafe_code)]
mod rest;
#[allow(unsafe_code)]
mod special;
#[allow(unsafe_code)]
mod statuses;

use handles::{Handle, Handles, narrow, no_comm};
use numbers::*;
use parvum_mpi::callbacks::answers::{On, answer};
use parvum_mpi::calls::{self, CallForm, CountTarget, Numbers};
use parvum_mpi::process::introspect::{enter, number};
use statuses::{MpiStatus, Statuses};
use std::ffi::{c_char, c_int};

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
