//! `parvum compare --bisect`: the commit that changed a figure.

pub mod search;
