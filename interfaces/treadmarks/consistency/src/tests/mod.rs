//! The protocol among simulated nodes.

mod checks;
mod moving;
mod programs;
mod pushing;
mod races;
mod replicas;
mod simulated;
mod tasks;
mod views;
