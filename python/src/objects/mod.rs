//! Python's objects as messages: arrays, buffers, pickles.

#[allow(unsafe_code)]
pub(crate) mod buffers;
#[allow(unsafe_code)]
pub(crate) mod decode;
#[allow(unsafe_code)]
pub(crate) mod encode;
#[allow(unsafe_code)]
pub(crate) mod into;
pub(crate) mod kinds;
#[allow(unsafe_code)]
pub(crate) mod numpy;
pub(crate) mod pickles;
