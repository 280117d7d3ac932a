//! Processes and nodes of a run: how they join, what they share on a host, and what others ask of them.

pub(crate) mod desk;
pub(crate) mod far;
#[allow(unsafe_code)]
pub(crate) mod groups;
pub(crate) mod letters;
#[allow(unsafe_code)]
pub(crate) mod near;
pub(crate) mod peers;
pub(crate) mod reduce;
#[allow(unsafe_code)]
pub(crate) mod startup;
