//! The tasks of one run as numbered nodes, and what all of them do together.
//!
//! NX, CMMD and their kin number the processes of a program from 0 and have operations in which all take part. This crate
//! knows who is who ([`Partition`]), and runs the plans of `parvum-collectives` among the nodes, in a context of their own,
//! so that their messages never meet the program's. On one host they show each other their data at a segment instead, where
//! that is quicker ([`Partition::segment`]).
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
