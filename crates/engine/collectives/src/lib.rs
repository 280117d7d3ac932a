//! Operations of groups: what members of an ordered set do together.
//!
//! Five parts, each usable without the next:
//!
//! - [`operators`]: one table of operations on two elements, for each type of element, on bytes in memory.
//! - [`plans`]: for each operation and each algorithm, the *steps* of one member: send this piece to that member,
//!   receive, combine, copy. A plan is a list made from numbers alone. A plan sends nothing itself, so code can
//!   inspect, keep and repeat it, and run it beside other plans.
//! - [`Course`]: one run of a plan, without I/O. It does the local steps, and returns the next message.
//! - [`run`] is the blocking driver: a course over some [`Exchange`] of messages. [`Members`] is that exchange over the
//!   engine, in a context of its own.
//! - [`segment`] does the same operations without messages, where members on one host show each other their data;
//!   [`exposed`] does long ones where they can also read each other's memory.
//!
//! The plan fixes the order in which contributions are combined. The order depends on the number of members and the
//! length of the data, and never on the order of arrival.
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
