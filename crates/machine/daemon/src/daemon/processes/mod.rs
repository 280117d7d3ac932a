//! Processes of this host: how they start, what they print, and how they end.

#[allow(unsafe_code)]
pub(crate) mod child;
#[allow(unsafe_code)]
pub(crate) mod exec;
pub(crate) mod foreign;
pub(crate) mod manner;
pub(crate) mod on_its_way;
pub(crate) mod output;
pub(crate) mod programs;
pub(crate) mod repeats;
