//! Machines of several hosts, on a bed of namespaces: see `parvum_tests::bed`.
//!
//! Each test makes a bed of its own, and is skipped with a word where there can be none.

mod machine;
mod network;
mod programs;
