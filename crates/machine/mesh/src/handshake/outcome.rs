//! The results of dialling a host: what each of its addresses did.

use crate::Host;
use crate::handshake::refusal::Refusal;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// One address and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The address.
    pub address: SocketAddr,
    /// What it did.
    pub outcome: Outcome,
}

/// What an address did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It answered after so long and is the one in use.
    Kept(Duration),
    /// It answered after so long; another was kept.
    Answered(Duration),
    /// One end refused the other.
    Refused(Refusal),
    /// The host is there and nothing listens at that port.
    Closed,
    /// The system knows no way there; its words.
    Unreachable(String),
    /// It answered, then the connection broke.
    Broken(String),
    /// No answer for so long.
    Silent(Duration),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: &Duration| time.as_secs_f64() * 1e3;
        match self {
            Outcome::Kept(time) => write!(f, "in use, answered in {:.1} ms", ms(time)),
            Outcome::Answered(time) => write!(f, "answered in {:.1} ms", ms(time)),
            Outcome::Refused(refusal) => write!(f, "refused: {}", refusal.text),
            Outcome::Closed => f.write_str("nothing listens there"),
            Outcome::Unreachable(why) => write!(f, "unreachable: {why}"),
            Outcome::Broken(why) => write!(f, "broke: {why}"),
            Outcome::Silent(time) => write!(f, "silent for {:.1} ms", ms(time)),
        }
    }
}

/// The link there is now.
#[derive(Clone, Debug)]
pub struct Connected {
    /// Where the host is reached.
    pub address: SocketAddr,
    /// The round trip, as measured so far.
    pub rtt: Duration,
    /// What each candidate did.
    pub tried: Vec<Tried>,
}

/// No candidate led to the host.
#[derive(Clone, Debug)]
pub struct ConnectError {
    /// The host.
    pub host: Host,
    /// What each candidate did.
    pub tried: Vec<Tried>,
}

impl ConnectError {
    /// The refusal, when somebody answered and one end refused the other.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.tried.iter().find_map(|tried| match &tried.outcome {
            Outcome::Refused(refusal) => Some(refusal),
            _ => None,
        })
    }

    /// Whether the other host has said that this one's life is over: [`Refusal::says_that_life_is_over`].
    pub fn says_that_life_is_over(&self) -> bool {
        let says = |tried: &Tried| matches!(&tried.outcome, Outcome::Refused(refusal) if refusal.says_that_life_is_over());
        self.tried.iter().any(says)
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host;
        let code = self.refusal().map_or("E-UNREACHED", |refusal| refusal.kind.code());
        write!(f, "{code}: no connection with host {host}: ")?;
        if self.tried.is_empty() {
            f.write_str("no address of it is known")?;
        }
        for (at, Tried { address, outcome }) in self.tried.iter().enumerate() {
            write!(f, "{}{address} {outcome}", if at == 0 { "" } else { ", " })?;
        }
        let remedy = "see that the host is up and that firewalls let UDP through both ways";
        write!(f, "; help: {}", self.refusal().map_or(remedy, |refusal| refusal.kind.remedy()))
    }
}

impl std::error::Error for ConnectError {}
