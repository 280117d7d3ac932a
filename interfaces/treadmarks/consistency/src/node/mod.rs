//! One node of the protocol: what it is made of, where calls and messages come in, and each of its duties.

pub(crate) mod ahead;
pub(crate) mod barrier;
pub(crate) mod collect;
pub(crate) mod dispatch;
mod further;
pub(crate) mod intervals;
pub(crate) mod miss;
pub(crate) mod pushing;
pub(crate) mod replicas;
pub(crate) mod serve;
pub(crate) mod survivors;
