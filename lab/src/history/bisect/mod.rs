//! `parvum compare --bisect`: the commit that changed a figure.

pub mod builds;
pub mod search;
pub mod sources;
pub mod target;
