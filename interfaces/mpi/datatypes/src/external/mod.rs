//! external32: MPI's representation that any implementation on any machine reads.

pub(crate) mod convert;
pub(crate) mod pack;
