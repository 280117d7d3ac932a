//! What onlookers read of this task, and what is recorded of it.

#[allow(unsafe_code)]
pub(crate) mod account;
#[allow(unsafe_code)]
pub(crate) mod counters;
pub(crate) mod recording;
pub(crate) mod remarks;
#[allow(unsafe_code)]
pub(crate) mod words;
