//! What MPI's functions do, one Rust function for each, by its name in lower case.
//!
//! Arguments come as a binary interface has checked nothing of them: numbers as in [`crate::objects::numbers`], pointers as the program gave
//! them, counts as 64 bits. A pointer to ignore a status is null. Each function is unsafe for the reason that the C function is:
//! pointers must be to what the standard says they are.

#![allow(clippy::missing_safety_doc, reason = "said once, above")]
#![allow(clippy::too_many_arguments, reason = "they are the standard's")]
#![allow(missing_docs, reason = "they are the standard's functions")]

mod arguments;
mod attributes;
mod collectives;
mod comms;
mod environment;
mod errors;
mod failure;
mod files;
mod groups;
mod infos;
mod messages;
mod neighbours;
mod one_sided;
mod packing;
mod persistent;
mod processes;
mod reductions;
mod requests;
mod sessions;
mod statuses;
mod tool_lists;
mod tools;
mod topologies;
mod transfers;
mod type_facts;
mod types;
mod waits;
mod windows;

pub use arguments::{
    Numbers, Place, known_hints, named_at, put_no_file, put_null_of, room_for_a_request, there, unsupported,
};
pub use attributes::*;
pub use collectives::*;
pub use comms::*;
pub use environment::*;
pub use errors::*;
pub use failure::*;
pub use files::*;
pub use groups::*;
pub use infos::*;
pub use messages::*;
pub use neighbours::*;
pub use one_sided::*;
pub use packing::*;
pub use persistent::*;
pub use processes::*;
pub use reductions::*;
pub use requests::*;
pub use sessions::*;
pub use statuses::*;
pub use tool_lists::*;
pub use tools::*;
pub use topologies::*;
pub use transfers::*;
pub use type_facts::*;
pub use types::*;
pub use waits::*;
pub use windows::*;
