//! Errors of a mesh and of its streams.

use crate::Host;
use crate::wire::Garbled;
use std::io;
use std::net::SocketAddr;

/// What a mesh cannot do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The port cannot be had.
    #[error(
        "E-BIND: the daemon cannot listen at {address} (UDP): {error}; help: choose an address of this host \
             and a free port"
    )]
    Bind {
        /// Where.
        address: SocketAddr,
        /// The system's reason.
        error: io::Error,
    },
    /// The keys cannot be used.
    #[error("E-KEYS: the host's keys cannot be used: {0}; help: add this host again")]
    Keys(String),
    /// Nobody there.
    #[error("E-NOLINK: host {0} is not connected; help: `parvum hosts -v` shows why")]
    NotConnected(Host),
    /// Over the bound.
    #[error(
        "E-TOOLARGE: a control message of {length} bytes is over the bound of {bound}; help: send it as a stream"
    )]
    TooLarge {
        /// Its length.
        length: usize,
        /// The bound.
        bound: usize,
    },
    /// The peer does not take what was sent.
    #[error(
        "E-BUSY: {waiting} bytes wait for host {host} already, and the bound is {bound}; help: try again when \
             it has taken some"
    )]
    Busy {
        /// The peer.
        host: Host,
        /// What waits.
        waiting: usize,
        /// What may wait.
        bound: usize,
    },
    /// The stream could not be opened.
    #[error("E-NOLINK: no stream to host {host}: {error}; help: `parvum hosts -v` shows the connection")]
    Stream {
        /// The peer.
        host: Host,
        /// Why.
        error: StreamError,
    },
}

/// Why a stream ends before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The other end gave it up.
    #[error("the other end gave the stream up")]
    Abandoned,
    /// The host is gone, or this life of it.
    #[error("the connection is gone: {0}")]
    Lost(String),
    /// The header has too many bytes.
    #[error("E-TOOLARGE: {0}; help: put the data into the stream itself")]
    Header(#[from] Garbled),
}
