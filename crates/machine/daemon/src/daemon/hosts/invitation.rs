//! The messages by which a host is invited to a machine and joins it.

use parvum_wire::control::{HostOptions, HostRecord};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long each further step may take.
pub(super) const TO_JOIN: Duration = Duration::from_secs(10);
/// Begins what a host says that is in the machine already.
pub(super) const TWICE: &str = "E-DUPHOST: ";

/// The first message to a host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Invitation {
    pub(super) release: String,
    pub(super) protocol: u8,
    pub(super) number: u32,
    pub(super) life: u64,
    pub(super) name: String,
    /// Another release may not say it.
    #[serde(default)]
    pub(super) machine: String,
    /// What was said of the host: it takes over what is for itself.
    #[serde(default)]
    pub(super) options: HostOptions,
}

/// The answer: the key of the host, and what the host is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Acceptance {
    pub(super) key: [u8; 32],
    pub(super) arch: String,
    pub(super) cpus: u32,
    pub(super) speed: i32,
}

/// The certificate of the host, and the hosts that it connects with.
#[derive(Serialize, Deserialize)]
pub(crate) struct Admission {
    pub(super) encrypt: bool,
    pub(super) certificate: Vec<u8>,
    pub(super) authority: Vec<u8>,
    pub(super) home: u32,
    pub(super) hosts: Vec<HostRecord>,
}

/// The addresses of the host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Joined {
    pub(super) addresses: Vec<String>,
}

/// The first word of a host that joins by a token, in clear.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Knock {
    pub(super) release: String,
    pub(super) protocol: u8,
    /// The public number of the token.
    pub(super) token: [u8; 8],
    /// The public key of the host for this conversation.
    pub(super) key: [u8; 32],
}

/// The second word of that host, sealed: it proves the token.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Introduction {
    pub(super) name: String,
}

/// One line from the joiner: what was asked for, or why not.
pub(crate) type Said<T> = Result<T, String>;

/// What the command's argument says to the new daemon.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub(super) invitation: Invitation,
    /// The adder's public key for this conversation.
    pub(super) key: [u8; 32],
    /// Where the adder listens.
    pub(super) at: Vec<String>,
}
