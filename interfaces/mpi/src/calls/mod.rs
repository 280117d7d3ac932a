//! What MPI's functions do, one Rust function for each, by its name in lower case.
//!
//! Arguments come as a binary interface has checked nothing of them: numbers as in [`crate::objects::numbers`], pointers as the program gave
//! them, counts as 64 bits. A pointer to ignore a status is null. Each function is unsafe for the reason that the C function is:
//! pointers must be to what the standard says they are.

#![allow(clippy::missing_safety_doc, reason = "said once, above")]
#![allow(clippy::too_many_arguments, reason = "they are the standard's")]
#![allow(missing_docs, reason = "they are the standard's functions")]

mod arguments;
mod collective;
mod comms;
mod files;
mod messages;
mod objects;
mod processes;
mod tools;
mod windows;

pub use parvum_api::pointers::Out;

pub use arguments::{
    CountTarget, Numbers, given, known_hints, named_at, put_no_file, put_null_of, room_for_a_request, there,
    unsupported,
};
pub use collective::*;
pub use comms::*;
pub use files::*;
pub use messages::*;
pub use objects::*;
pub use processes::*;
pub use tools::*;
pub use windows::*;
