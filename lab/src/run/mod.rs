//! One session from beginning to end: the plan, the rounds, the launches, and what is recorded.

pub mod blocks;
pub mod comparison;
pub mod disturbed;
pub mod experiment;
pub mod interrupted;
pub mod launch;
pub mod leftovers;
#[cfg(test)]
mod noise;
pub mod options;
pub(crate) mod progress;
pub mod record;
pub(crate) mod rounds;
pub mod runner;
pub(crate) mod shell;
