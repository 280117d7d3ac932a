//! What a mesh tells its daemon.

use crate::handshake::refusal::Refusal;
use crate::streams::reader::StreamReader;
use crate::wire::frames::Farewell;
use crate::{Host, Incarnation};
use bytes::Bytes;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Something happened. For one host the order is: `Up`, then messages and
/// streams, then `Down`.
#[derive(Debug)]
#[non_exhaustive]
pub enum MeshEvent {
    /// A host is connected; once for each connection.
    Up {
        /// The host.
        host: Host,
        /// Its incarnation.
        incarnation: Incarnation,
        /// Its name, as it says.
        name: String,
        /// Where it is reached.
        address: SocketAddr,
        /// The round trip, as measured so far.
        rtt: Duration,
    },
    /// A control message, in the order sent.
    Message {
        /// Who sent it.
        host: Host,
        /// The message.
        bytes: Bytes,
    },
    /// A stream was opened by the host.
    Stream {
        /// Who opened it.
        host: Host,
        /// What was said first.
        header: Bytes,
        /// The rest.
        reader: StreamReader,
    },
    /// A host has left a question unanswered. The host is `Down` soon, unless it answers. This event has no place in the
    /// order of the others, and may be left out if many events wait.
    Doubtful {
        /// The host.
        host: Host,
    },
    /// The connection ended; once for each `Up`.
    Down {
        /// The host.
        host: Host,
        /// Its incarnation.
        incarnation: Incarnation,
        /// Why.
        why: Ended,
    },
    /// Somebody was refused, or has refused this host; once for each address and reason.
    Refused {
        /// Who.
        from: SocketAddr,
        /// Why.
        why: Refusal,
    },
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// The other end said why.
    Farewell(Farewell),
    /// This end closed it.
    Closed(Farewell),
    /// A newer incarnation of the host has connected.
    Restarted,
    /// It broke; the words say how. The host may be dead or out of reach.
    Lost(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ended::Farewell(Farewell::Leaving) => "it left the machine",
            Ended::Farewell(Farewell::Removed) => "it says that this host was removed from the machine",
            Ended::Farewell(Farewell::Restarting) => "it starts anew",
            Ended::Closed(Farewell::Leaving) => "this host leaves the machine",
            Ended::Closed(Farewell::Removed) => "it was removed from the machine",
            Ended::Closed(Farewell::Restarting) => "this host starts anew",
            Ended::Restarted => "it was started anew",
            Ended::Lost(how) => return write!(f, "it was lost: {how}"),
        })
    }
}

/// The receiving end of a mesh's events.
#[derive(Debug)]
pub struct Events(pub(crate) mpsc::Receiver<Waiting>);

/// An event, and its part of the inbox, which is free again when it is taken.
pub(crate) type Waiting = (MeshEvent, Option<OwnedSemaphorePermit>);

/// How many events may wait; then the peers are slowed.
pub(crate) const MAX_EVENTS: usize = 256;

impl Events {
    /// The next event; none when the mesh is gone. Take them as they come:
    /// while many wait, peers are slowed and their loss is told late.
    pub async fn next(&mut self) -> Option<MeshEvent> {
        self.0.recv().await.map(|(event, _)| event)
    }
}
