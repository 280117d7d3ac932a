//! The state of this task for tools, and its recording.

#[allow(unsafe_code)]
pub(crate) mod account;
#[allow(unsafe_code)]
pub(crate) mod counters;
pub(crate) mod recording;
pub(crate) mod remarks;
#[allow(unsafe_code)]
pub(crate) mod words;
