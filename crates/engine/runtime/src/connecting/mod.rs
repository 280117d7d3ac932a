//! How this task is joined to others: which route leads to a task ([`reach`]), the links, and how both end.

pub(crate) mod callers;
pub(crate) mod connect;
pub(crate) mod connections;
pub(crate) mod daemon;
pub(crate) mod departing;
pub(crate) mod events;
pub(crate) mod farewells;
pub(crate) mod links;
pub(crate) mod reach;
pub(crate) mod routes;
pub(crate) mod transports;
pub(crate) mod wakeups;
