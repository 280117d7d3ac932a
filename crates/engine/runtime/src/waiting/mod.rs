//! How a thread waits: it spins (`spin` in [`wait`]), takes turns on its core ([`turns`]), then sleeps ([`sleeping`]). Start at [`wait`].

pub(crate) mod away;
pub(crate) mod deadlock;
pub(crate) mod patience;
#[allow(unsafe_code)]
pub(crate) mod scheduling;
#[allow(unsafe_code)]
pub(crate) mod sleeping;
pub(crate) mod time;
pub(crate) mod turns;
pub(crate) mod wait;
#[allow(unsafe_code)]
pub(crate) mod waiters;
pub(crate) mod waits;
#[allow(unsafe_code)]
pub(crate) mod watching;
