//! How two daemons come to be connected: addresses, dialling, greeting, refusal.

pub(crate) mod candidates;
pub(crate) mod dial;
pub(crate) mod greet;
pub(crate) mod listening;
pub(crate) mod outcome;
pub(crate) mod refusal;
pub(crate) mod table;
pub(crate) mod tls;
