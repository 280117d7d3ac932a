//! Slurm: in an allocation the machine has the hosts of the allocation, and Slurm starts the daemons.

mod allocation;
mod step;

pub use allocation::{Allocation, Node};
pub use step::launch;
