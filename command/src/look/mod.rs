//! `parvum ps`, `hosts`, `info`: what a person or a program sees of the machine.

pub(crate) mod algorithms;
pub(crate) mod json;
pub(crate) mod task;
pub(crate) mod views;
