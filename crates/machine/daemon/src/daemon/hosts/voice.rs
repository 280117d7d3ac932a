//! The channel of a daemon that a hoster has started: its messages go over a sealed TCP connection, not over the standard
//! streams.

use crate::daemon::hosts::invitation::{Invitation, TO_JOIN, Ticket};
use parvum_mesh::keys::{Seal, Sealed, Side};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

/// The largest number of bytes in a line of the conversation.
pub(super) const LINE: u64 = 1 << 21;
/// How long one of the adder's addresses is tried.
pub(super) const TO_CONNECT: Duration = Duration::from_secs(2);

/// The joiner's end of the conversation, if a hoster has started this process.
struct Voice {
    stream: BufReader<TcpStream>,
    sealed: Sealed,
}

static VOICE: Mutex<Option<Voice>> = Mutex::new(None);

/// The reason if the other side has closed the connection.
pub(super) const CLOSED: &str = "the other side has closed the connection";

/// Takes part in the conversation of that ticket from now on; gives the invitation.
pub(crate) fn answer(ticket: &str, arch: &str) -> Result<Invitation, String> {
    let ticket = unhex(ticket).and_then(|text| serde_json::from_slice(&text).ok());
    let Ticket { invitation, key, at } = ticket.ok_or("E-PROTOCOL: `--hosted` is for a hoster to pass on")?;
    let seal = Seal::make().map_err(|error| error.to_string())?;
    let line =
        format!("ddpro<2316> arch<{arch}> ip<00000000:0000> mtu<4096> parvum<{}>\n", hex(&seal.public()));
    let mut out = std::io::stdout();
    let told = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    told.map_err(|error| format!("standard output: {error}"))?;
    let sealed = seal.with(&key, Side::Joiner).map_err(|error| error.to_string())?;
    let addresses = at.iter().filter_map(|text| text.parse::<SocketAddr>().ok());
    let mut streams = addresses.filter_map(|address| TcpStream::connect_timeout(&address, TO_CONNECT).ok());
    let stream = streams.next().ok_or_else(|| format!("none of {at:?} can be reached by TCP"))?;
    begin(BufReader::new(stream), sealed);
    Ok(invitation)
}

/// Uses this connection for the conversation from now on.
pub(super) fn begin(stream: BufReader<TcpStream>, sealed: Sealed) {
    // The other side may wait for TO_JOIN before it answers.
    let _ = stream.get_ref().set_read_timeout(Some(2 * TO_JOIN));
    *VOICE.lock().expect("nobody panics with it") = Some(Voice { stream, sealed });
}

/// Says a word if there is such a conversation.
pub(crate) fn say(word: &[u8]) -> bool {
    let mut voice = VOICE.lock().expect("nobody panics with it");
    let Some(Voice { stream, sealed }) = &mut *voice else { return false };
    if let Ok(word) = sealed.seal(word) {
        // Whoever has left hears nothing more.
        let _ = stream.get_mut().write_all((hex(&word) + "\n").as_bytes());
    }
    true
}

/// Hears a word if there is such a conversation.
pub(crate) fn hear() -> Option<Result<Vec<u8>, String>> {
    let mut voice = VOICE.lock().expect("nobody panics with it");
    let Voice { stream, sealed } = voice.as_mut()?;
    let mut text = String::new();
    let read = stream.take(LINE).read_line(&mut text).map_err(|error| error.to_string());
    Some(read.and_then(|_| {
        let word = unhex(text.trim()).ok_or(CLOSED)?;
        sealed.open(&word).map_err(|error| error.to_string())
    }))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Nothing for no digits at all: an empty line is no word.
pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_hex = !text.is_empty()
        && text.len().is_multiple_of(2)
        && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let pairs = (0..text.len()).step_by(2);
    is_hex.then(|| pairs.filter_map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_and_refuses_other_text() {
        assert_eq!(unhex(&hex(b"\x00\xff~")), Some(b"\x00\xff~".to_vec()));
        assert_eq!((unhex(""), unhex("a"), unhex("+1")), (None, None, None));
    }
}
