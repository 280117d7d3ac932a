//! What is compared: the systems, where each lives, and the daemons and programs that they need.

pub mod peers;
pub mod perftest;
pub mod programs;
pub mod sessions;
pub mod system;
