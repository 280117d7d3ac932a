//! The laboratory: compares message-passing systems on real programs, on the machine at hand.
//!
//! [`compare`] runs a session: it looks for installed systems, builds the programs of `apps/` against each, repeats
//! whole launches in random order within a time budget, and leaves a dated folder with raw samples, a summary and a
//! report. It talks to the systems only by starting programs, as any user would.

#![forbid(unsafe_code)]

pub mod against;
pub mod catalogue;
pub mod comparison;
pub mod cores;
pub mod costs;
pub mod error;
pub mod experiment;
pub mod factors;
pub mod fit;
pub mod goals;
pub mod growth;
pub mod hosts;
pub mod kept;
pub mod launch;
pub mod leftovers;
mod memory;
pub mod options;
pub mod paper;
pub mod papers;
pub mod peers;
pub mod perftest;
pub mod programs;
mod progress;
pub mod published;
pub mod random;
pub mod record;
pub mod report;
mod rounds;
pub mod runner;
pub mod samples;
pub mod sessions;
pub mod state;
pub mod statistics;
pub mod suites;
pub mod summary;
pub mod systems;
pub mod table;

pub use comparison::{Report, compare};
pub use error::LabError;
pub use options::CompareOptions;
