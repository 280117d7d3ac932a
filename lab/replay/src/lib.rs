//! Replays: what the tasks of a run computed and whom they sent what, played again on a machine of given costs.
//!
//! A [`Trace`] says of each task what it did, in order: computed so long, sent so many bytes to that task, received what that one
//! sent. It has no times of waiting in it: those follow from the machine. It is written by `parvum trace --replay`, in the form that
//! SimGrid replays as well, or made of the very plans of Parvum's group operations ([`group`]), for more tasks than any machine at hand.
//!
//! A [`Machine`] has the costs of LogGP (Alexandrov, Ionescu, Schauser and Scheiman 1995: L, o, g, G), of a processor's time for each byte
//! besides, and processors that tasks share. [`play`] tells how long the trace takes there; [`fit`] has the costs from
//! what was measured.

#![forbid(unsafe_code)]

pub mod fit;
pub mod group;
mod machine;
mod play;
pub mod simgrid;
mod trace;

pub use machine::{FRAME, Machine, Overhead, Route};
pub use play::{Played, play};
pub use trace::{Action, Trace, TraceError};
