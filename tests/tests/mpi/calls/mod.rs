//! What MPI's functions promise, and what they refuse.

pub(crate) mod arguments;
pub(crate) mod constants;
pub(crate) mod core;
pub(crate) mod customs;
pub(crate) mod errors;
pub(crate) mod fabric;
pub(crate) mod promises;
pub(crate) mod rules;
pub(crate) mod windows;
