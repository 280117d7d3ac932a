//! The terminal: how text fits, what may be written, and signals.

pub(crate) mod layout;
pub(crate) mod out;
pub(crate) mod signal_names;
#[allow(unsafe_code)]
pub(crate) mod signals;
