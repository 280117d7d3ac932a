//! `parvum up`, `down`, `add`, `remove`, `invite`, `join`, `leave`: hosts that come and go.

pub(crate) mod expect;
pub(crate) mod guest;
pub(crate) mod invite;
pub(crate) mod membership;
pub(crate) mod power;
pub(crate) mod push;
pub(crate) mod pvmd;
pub(crate) mod slurm;
