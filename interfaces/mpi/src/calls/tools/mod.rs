//! The tool interface, MPI_T.

pub(in crate::calls) mod lists;
pub(in crate::calls) mod variables;

pub use lists::*;
pub use variables::*;
