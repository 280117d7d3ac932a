//! The machine: hosts come, go, are lost, start again and are refused.

pub(crate) mod adding;
pub(crate) mod joining;
pub(crate) mod losing;
pub(crate) mod names;
pub(crate) mod notices;
pub(crate) mod options;
pub(crate) mod refusals;
pub(crate) mod restarts;
pub(crate) mod runs;
pub(crate) mod the_bed;
pub(crate) mod two_machines;
