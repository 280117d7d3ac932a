//! A cluster in simulation: up to 32 nodes of 2004, where this machine has a few cores.
//!
//! Nodes run programs ([`Program`]) that compute, touch shared memory, take locks, meet at barriers and send messages. The shared
//! memory is kept by the very machine that Parvum's TreadMarks runs ([`parvum_consistency::Node`]): its messages, their bytes and
//! its diffs are real, of pages whose words really change. What is modelled is time alone: a network of given rate and latency
//! ([`Network`]) and what a processor of then took for a fault, a diff or a message ([`Costs`]).
//!
//! [`programs`] are the three of Werstein, Pethick and Huang (seed 002 of the project), and [`curves`] runs them on the numbers of nodes
//! that they had.

#![forbid(unsafe_code)]

pub mod curves;
mod network;
mod pages;
pub mod programs;
mod station;
mod world;

pub use network::{Network, PAPER};
pub use station::{Costs, PENTIUM};
pub use world::{Outcome, Program, Step, World};
