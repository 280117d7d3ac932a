//! The protocol among simulated nodes.

mod checks;
mod further;
mod moving;
mod neighbours;
mod programs;
mod pushing;
mod races;
mod replicas;
mod simulated;
mod task_views;
mod tasks;
mod views;
