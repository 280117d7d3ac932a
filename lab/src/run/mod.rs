//! One session from beginning to end: the plan, the rounds, the launches, and what is recorded.

pub mod comparison;
pub mod experiment;
pub mod interrupted;
pub mod launch;
pub mod leftovers;
pub mod options;
pub(crate) mod progress;
pub mod record;
pub(crate) mod rounds;
pub mod runner;
