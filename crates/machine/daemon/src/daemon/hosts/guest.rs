//! The host that joins by itself: the other side of `gate`.

use crate::daemon::hosts::gate::one_line;
use crate::daemon::hosts::invitation::{Introduction, Invitation, Knock, Said};
use crate::daemon::hosts::voice::{self, CLOSED, TO_CONNECT};
use crate::daemon::life::starter::{detach, notify_starter};
use crate::daemon::shell::Shell;
use parvum_mesh::keys::{Seal, Sealed, Side, Token};
use parvum_wire::Tid;
use parvum_wire::control::PROTOCOL;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// The machine that a host wants to join.
#[derive(Debug)]
pub struct Asked {
    /// The addresses of a daemon with an open gate: `HOST:PORT,HOST:PORT`.
    pub address: String,
    /// The token that this daemon has made.
    pub token: Token,
    /// The name of this host.
    pub name: String,
    /// How long a connection is tried.
    pub patience: Duration,
}

/// The line of a daemon that has joined begins with this text.
pub const IN: &str = "joined: ";
/// All hosts must know of this host within this time.
const TO_ARRIVE: Duration = Duration::from_secs(20);
/// The gate must answer within this time.
const TO_GREET: Duration = Duration::from_secs(10);
/// The time between two attempts to connect. The gate of another host cannot tell that it opens.
const PAUSE: Duration = Duration::from_millis(200);
/// The largest number of bytes in the answer.
const FIRST_LINE: u64 = 4096;

/// Shows the token at the gate. Returns the invitation, and the address of the gate. Tries again until the time is over: the daemon
/// with the gate may start later than this host, or many hosts may join at the same time.
pub(crate) fn knock(asked: &Asked) -> Result<(Invitation, SocketAddr), String> {
    let until = Instant::now() + asked.patience;
    let (stream, at, sealed) = loop {
        match greet(asked) {
            Ok(met) => break met,
            Err(Miss::Final(why)) => return Err(why),
            Err(Miss::NotYet(why)) if Instant::now() + PAUSE >= until => return Err(why),
            Err(Miss::NotYet(_)) => std::thread::sleep(PAUSE),
        }
    };
    voice::begin(stream, sealed);
    let introduction = Introduction { name: asked.name.clone() };
    voice::say(&serde_json::to_vec(&introduction).map_err(|error| error.to_string())?);
    let word = match voice::hear() {
        Some(Ok(word)) => word,
        // The gate closes the connection of a host that does not have the token.
        Some(Err(why)) if why == CLOSED => {
            return Err("E-TOKEN: the secret of the token is wrong; help: copy the whole token that `parvum invite` has \
                        printed"
                .into());
        }
        Some(Err(why)) => {
            return Err(format!("E-UNREACHED: {} does not answer: {why}; help: try again", asked.address));
        }
        None => return Err("E-UNREACHED: there is no connection".into()),
    };
    let invitation = serde_json::from_slice::<Said<Invitation>>(&word).map_err(|error| error.to_string())?;
    Ok((invitation?, at))
}

/// Why there is no conversation with the gate.
enum Miss {
    /// Another attempt may succeed.
    NotYet(String),
    /// No attempt will succeed.
    Final(String),
}

/// Connects, and exchanges public keys.
fn greet(asked: &Asked) -> Result<(BufReader<TcpStream>, SocketAddr, Sealed), Miss> {
    let Asked { address, token, .. } = asked;
    let last = |error: &dyn std::fmt::Display| Miss::Final(error.to_string());
    let broken = |error: io::Error| {
        Miss::NotYet(format!("E-UNREACHED: the connection to {address} has ended: {error}; help: try again"))
    };
    let stream = connect(address)?;
    let at = stream.peer_addr().map_err(broken)?;
    stream.set_read_timeout(Some(TO_GREET)).map_err(broken)?;
    let mut stream = BufReader::new(stream);
    let seal = Seal::make().map_err(|error| last(&error))?;
    let release = env!("CARGO_PKG_VERSION").into();
    let knock = Knock { release, protocol: PROTOCOL, token: token.number(), key: seal.public() };
    let text = serde_json::to_string(&knock).map_err(|error| last(&error))? + "\n";
    stream.get_mut().write_all(text.as_bytes()).map_err(broken)?;
    let mut text = String::new();
    if (&mut stream).take(FIRST_LINE).read_line(&mut text).map_err(broken)? == 0 {
        return Err(broken(io::ErrorKind::UnexpectedEof.into()));
    }
    let key = serde_json::from_str::<Said<[u8; 32]>>(&text).map_err(|_| {
        Miss::Final(format!(
            "E-PROTOCOL: {address} is not a daemon of Parvum; help: use the address that `parvum invite` prints"
        ))
    })?;
    // The text comes from a host that has proved nothing yet.
    let key = key.map_err(|why| Miss::Final(one_line(&why)))?;
    let sealed = seal.with_token(&key, Side::Joiner, token).map_err(|error| last(&error))?;
    Ok((stream, at, sealed))
}

/// Tells the starter of this daemon that this host is in the machine, as soon as all hosts know.
pub(crate) async fn announce(shell: Rc<Shell>, detaches: bool) {
    let until = tokio::time::Instant::now() + TO_ARRIVE;
    loop {
        // Before the look: a change after the look must wake this function.
        let changed = shell.members_changed.notified();
        if shell.home().is_none() {
            break;
        }
        if timeout_at(until, changed).await.is_err() {
            notify_starter(&format!(
                "E-HOSTLOST: the hosts of the machine did not take this host in within {TO_ARRIVE:?}; help: \
                 `parvum hosts` there shows them\n"
            ));
            return shell.leave_at_once();
        }
    }
    let (number, _, name) = shell.identity();
    let tid = Tid::new(number, 0).map(|tid| tid.to_string()).unwrap_or_default();
    // A command reads the line of a daemon that detaches, and people read the other.
    let mark = if detaches { IN } else { "" };
    notify_starter(&format!("{mark}{name} is in the machine as {tid}\n"));
    if detaches {
        detach(&shell.place);
    }
}

/// Connects with the first of these addresses that answers: `HOST:PORT,HOST:PORT`.
fn connect(addresses: &str) -> Result<TcpStream, Miss> {
    let mut reasons = Vec::new();
    for address in addresses.split(',') {
        match attempt(address) {
            Ok(stream) => return Ok(stream),
            Err(error) => reasons.push(format!("{address}: {error}")),
        }
    }
    Err(Miss::NotYet(format!(
        "E-UNREACHED: no connection to {}; help: the address and port are those that `parvum invite` prints; the port is closed \
         when no token is valid; firewalls must let TCP and UDP through",
        reasons.join(", ")
    )))
}

fn attempt(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TO_CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
