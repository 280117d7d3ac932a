//! Operations under way: what programs wait for, and what moves them on.

#[allow(unsafe_code)]
pub(crate) mod deferred;
pub(crate) mod elsewhere;
#[allow(unsafe_code)]
pub(crate) mod generalised;
pub(crate) mod handles;
pub(crate) mod operations;
pub(crate) mod outcome;
pub(crate) mod progress;
#[allow(unsafe_code)]
pub(crate) mod schedule;
