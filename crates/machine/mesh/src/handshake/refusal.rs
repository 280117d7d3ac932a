//! Why a connection is refused, at this end or the other.

use quinn::{ConnectionError, VarInt};
use std::fmt;

/// The causes; one code and one remedy each, explained in `docs/errors.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum RefusalKind {
    /// No certificate was shown.
    NoCertificate = 1,
    /// The certificate is another authority's.
    Foreign = 2,
    /// Another host than was dialled, or than the certificate names.
    WrongHost = 4,
    /// A newer incarnation of the host is known.
    Stale = 5,
    /// Another protocol.
    Version = 6,
    /// Bytes that make no sense.
    Garbled = 7,
    /// A host that says it is this one.
    Oneself = 8,
    /// There is a connection between the two already.
    Duplicate = 9,
    /// The daemon is on its way down.
    GoingDown = 10,
}

use RefusalKind::*;

impl RefusalKind {
    const ALL: [RefusalKind; 9] =
        [NoCertificate, Foreign, WrongHost, Stale, Version, Garbled, Oneself, Duplicate, GoingDown];

    /// The code a person can look up.
    pub fn code(self) -> &'static str {
        match self {
            NoCertificate => "E-NOCERT",
            Foreign => "E-FOREIGN",
            WrongHost => "E-WRONGHOST",
            Stale => "E-STALE",
            Version => "E-VERSION",
            Garbled => "E-PROTOCOL",
            Oneself => "E-ONESELF",
            Duplicate => "E-CONNECTED",
            GoingDown => "E-GOINGDOWN",
        }
    }

    /// What to do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            NoCertificate => "only daemons of this machine may connect; see who sends from there",
            Foreign => "the host belongs to another machine: stop its daemon and add it to this one",
            WrongHost => "remove the host and add it again",
            Stale => "stop that daemon; the host has been started anew since",
            Version => "use one release on all hosts",
            Garbled => "use one release on all hosts",
            Oneself => "remove the host and add it again",
            Duplicate => "use the connection there is",
            GoingDown => "start the machine again",
        }
    }
}

/// A refusal, in words that are good at both ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// Which cause.
    pub kind: RefusalKind,
    /// The particulars.
    pub text: String,
    /// The other end has said so, and its certificate was good: what is wrong is wrong here.
    pub by_peer: bool,
}

/// Codes that say why a connection is closed; a connection that was merely dropped says 0.
pub(crate) const ENDED: VarInt = VarInt::from_u32(1);
pub(crate) const REPLACED: VarInt = VarInt::from_u32(2);
pub(crate) const SILENT: VarInt = VarInt::from_u32(3);
const REFUSED: u32 = 0x100;

impl Refusal {
    pub(crate) fn new(kind: RefusalKind, text: impl Into<String>) -> Refusal {
        Refusal { kind, text: text.into(), by_peer: false }
    }

    /// A host of this machine has said that it knows a later life of this host's number, or that this life is over. Nobody
    /// says so but for a change that was agreed: it stays so.
    pub fn says_that_life_is_over(&self) -> bool {
        self.by_peer && self.kind == Stale
    }

    /// Ends the connection and tells the other end why.
    pub(crate) fn close(&self, connection: &quinn::Connection) {
        let cut = self.text.get(..self.text.floor_char_boundary(500)).unwrap_or_default();
        connection.close(VarInt::from_u32(REFUSED.saturating_add(self.kind as u32)), cut.as_bytes());
    }

    /// The refusal in a broken connection, if that is what broke it.
    pub(crate) fn from_quic(error: &ConnectionError) -> Option<Refusal> {
        match error {
            // Checked here.
            ConnectionError::TransportError(error) => {
                let (kind, what) = alert(u64::from(error.code))?;
                Some(Refusal::new(kind, format!("the peer {what}")))
            }
            // Checked at the other end.
            ConnectionError::ConnectionClosed(close) => {
                let (kind, what) = alert(u64::from(close.error_code))?;
                Some(Refusal::new(kind, format!("the peer says that this host {what}")))
            }
            ConnectionError::ApplicationClosed(close) => {
                let number = u64::from(close.error_code).checked_sub(REFUSED.into())?;
                let kind = *RefusalKind::ALL.iter().find(|kind| **kind as u64 == number)?;
                // A peer's words go to logs and terminals.
                let text = String::from_utf8_lossy(&close.reason);
                let text = text.chars().filter(|c| !c.is_control()).take(500).collect::<String>();
                Some(Refusal { kind, text, by_peer: true })
            }
            _ => None,
        }
    }
}

/// What an alert of TLS says. QUIC carries alerts as 0x100 and the alert's number.
fn alert(code: u64) -> Option<(RefusalKind, &'static str)> {
    Some(match code.checked_sub(0x100)? {
        116 => (NoCertificate, "showed no certificate"),
        48 => (Foreign, "showed a certificate of another machine"),
        42 => (WrongHost, "is another host than was dialled"),
        43..=46 | 49 | 51 => (Foreign, "showed a certificate that proves nothing"),
        120 => (Version, "speaks no Parvum, or a later one than this"),
        0..=255 => (Garbled, "cannot be read"),
        _ => return None,
    })
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; help: {}", self.kind.code(), self.text, self.kind.remedy())
    }
}
