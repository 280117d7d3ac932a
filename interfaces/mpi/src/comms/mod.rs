//! Communicators and groups: who may speak with whom, how they are made, what is attached to them, and what survivors do.

pub(crate) mod comm;
pub(crate) mod contexts;
#[allow(unsafe_code)]
pub(crate) mod create;
pub(crate) mod failure;
pub(crate) mod group;
pub(crate) mod handles;
pub(crate) mod revocation;
pub(crate) mod topology;
pub(crate) mod ulfm;
