//! The laboratory: compares message-passing systems on real programs, on the machine at hand.
//!
//! [`compare`] runs a session: it looks for installed systems, builds the programs of `apps/` against each, repeats
//! whole launches in random order within a time budget, and leaves a dated folder with raw samples, a summary and a
//! report. It talks to the systems only by starting programs, as any user would.

#![forbid(unsafe_code)]

pub mod against;
pub mod artifacts;
pub mod catalogue;
pub mod error;
pub mod history;
pub mod host;
pub mod lessons;
pub mod papers;
pub mod program;
pub mod published;
pub mod report;
pub mod run;
pub mod stats;
pub mod suites;
pub mod systems;
pub mod table;

pub use error::LabError;
pub use run::comparison::{Report, compare};
pub use run::options::CompareOptions;
