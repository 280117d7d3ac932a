//! Machines of several hosts, on a bed of namespaces: see `parvum_tests::bed`.
//!
//! Each test makes a bed of its own, and is skipped with a word where there can be none.

mod adding;
mod clocks;
mod disks;
mod firewall;
mod interfaces;
mod losing;
mod messages;
mod names;
mod networks;
mod notices;
mod npb;
mod options;
mod players;
mod pvmtime;
mod python;
mod refusals;
mod restarts;
mod rival;
mod runs;
mod tasks;
mod the_bed;
mod tracing;
mod two_machines;
