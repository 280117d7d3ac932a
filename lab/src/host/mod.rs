//! The host itself: its cores, its state, and the factors that are recorded with every result.

pub mod cores;
pub mod factors;
pub mod hosts;
pub(crate) mod memory;
pub mod state;
