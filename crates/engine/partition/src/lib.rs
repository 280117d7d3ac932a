//! The tasks of one run as numbered nodes, and what all of them do together.
//!
//! NX, CMMD and similar interfaces number the processes of a program from 0, and have collectives of all processes.
//! This crate has the list of nodes ([`Partition`]), and runs the plans of `parvum-collectives` among the nodes. The
//! plans use a separate context, so that their messages never meet the program's. On one host they show each other
//! their data at a segment instead, where that is quicker ([`Partition::segment`]).
//!
//! [`Sharing`] does the latter for any ordered tasks: MPI's communicators have a segment each.
//!
//! All nodes must call the same operations in the same order, as those systems ask. Messages of one pair keep their order,
//! so an operation needs no number to tell it from the one before.

#![forbid(unsafe_code)]

mod members;
mod sharing;

pub use members::{Partition, tag};
pub use sharing::{Ahead, AtSegment, Attend, Sharing};
