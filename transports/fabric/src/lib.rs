//! Messages over the fabrics that libfabric reaches: EFA, Slingshot, Omni-Path, InfiniBand, RoCE, and TCP.
//!
//! `libfabric.so.1` is loaded when the first link is made; nothing is linked to it. Two tasks meet over TCP, as by the transport `tcp`,
//! and switch to the fabric ([`link`]). All links of a process share one endpoint ([`domain`]). A window of frames for each link keeps
//! messages from waiting inside the fabric ([`flow`]).
//!
//! Only [`ofi`] and one call of the system have unsafe code. `ofi` gives the rest an endpoint whose buffers belong either to the caller or to the library.

#![deny(unsafe_code)]

mod called;
pub mod card;
pub mod domain;
pub mod flow;
pub mod link;
#[allow(unsafe_code)]
pub mod ofi;
mod secret;
#[allow(unsafe_code)]
mod unacknowledged;

pub use called::Fabric;
pub use domain::PROVIDER;
use parvum_transport::{Needs, Route, Transport};

/// The transport.
pub const TRANSPORT: Transport = Transport {
    route: Route::new(4),
    name: "fabric",
    limits: link::LIMITS,
    needs: Needs { one_host: false, daemons: false },
};

#[cfg(test)]
mod tests;
