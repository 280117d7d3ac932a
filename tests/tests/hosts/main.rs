//! Machines of several hosts, on a bed of namespaces: see `parvum_tests::bed`.
//!
//! Each test makes a bed of its own, and is skipped with a word where there can be none.

mod adding;
mod losing;
mod messages;
mod notices;
mod refusals;
mod rival;
mod tasks;
mod the_bed;
mod tracing;
