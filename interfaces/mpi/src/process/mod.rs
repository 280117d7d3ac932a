//! This process and others: how a program starts and ends, processes that it spawns, and what onlookers see.

#[allow(unsafe_code)]
pub(crate) mod abort;
#[allow(unsafe_code)]
pub(crate) mod ending;
pub mod functions;
#[allow(unsafe_code)]
pub(crate) mod inherited;
pub mod introspect;
#[allow(unsafe_code)]
pub(crate) mod launcher;
pub(crate) mod life;
pub(crate) mod machine;
#[allow(unsafe_code)]
pub(crate) mod rivals;
pub(crate) mod sessions;
pub(crate) mod spawned;
pub(crate) mod this;
