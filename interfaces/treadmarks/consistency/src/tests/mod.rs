//! The protocol among simulated nodes.

mod checks;
mod programs;
mod races;
mod simulated;
mod views;
