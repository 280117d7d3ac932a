//! `parvum up`, `down`, `add`, `remove`, `join`: hosts that come and go.

pub(crate) mod membership;
pub(crate) mod power;
pub(crate) mod push;
pub(crate) mod pvmd;
