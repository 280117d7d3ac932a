//! Operations of groups: what members of an ordered set do together.
//!
//! Five parts, each usable without the next:
//!
//! - [`operators`]: one table of what is done with two elements, for each type of element, on bytes as they lie in memory.
//! - [`plans`]: for each operation, and for each way to do it, the *steps* of one member: send this piece to that member,
//!   receive, combine, copy. A plan is a list made from numbers alone. It sends nothing, so it can be looked at, kept, run
//!   again, or run beside others.
//! - [`Course`]: one run of a plan, without I/O: it does the steps that need nobody, and says which message comes next.
//! - [`run`] is the blocking driver: a course over some [`Exchange`] of messages. [`Members`] is that exchange over the
//!   engine, in a context of its own.
//! - [`segment`] does the same operations without messages, where members on one host show each other their data;
//!   [`exposed`] does long ones where they can also read each other's memory.
//!
//! The order in which contributions are combined is written in the plan: it depends on how many members there are and how
//! long the data is, and never on who came first.
//!
//! When a member dies the others end the operation with [`Fault::Gone`], which names it: see [`Course`].

#![forbid(unsafe_code)]

mod course;
mod driver;
pub mod exposed;
mod memory;
pub mod operators;
pub mod plans;
pub mod segment;
pub mod table;

pub use course::{Combine, Course, Fault, Next};
pub use driver::{Exchange, Failure, Members, broadcast_straight, contribute, none, reduce_of_two, run};
pub use memory::Memory;

#[cfg(test)]
mod tests;
