//! Messages between two processes: MPI's modes, buffered and partitioned sends, and the program's data.

pub(crate) mod attached;
pub(crate) mod bsend;
#[allow(unsafe_code)]
pub(crate) mod buffers;
pub(crate) mod pairs;
#[allow(unsafe_code)]
pub(crate) mod partitioned;
#[allow(unsafe_code)]
pub(crate) mod send;
pub mod status;
