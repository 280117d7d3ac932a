//! Starting daemons through a hoster: pvm_reg_hoster(3).
//!
//! PVM's hoster gets a command for each new host, runs it there in whatever way it likes, and brings back the one line that
//! the command prints. That is enough to exchange public keys. The new daemon then calls the one that adds it, and the two
//! speak as in `fetch`, over a connection that is sealed with keys from those:
//!
//! ```text
//! adder                    hoster                  joiner
//!   command with a ticket --->  runs it  --->        makes its key
//!        <--- result          <--- one line: ddpro<...> ... parvum<KEY>
//!        <------------------------------- connects; Acceptance, sealed
//!   Admission, sealed ------------------------------>
//!        <------------------------------- Joined, sealed
//! ```

use crate::daemon::hosts::fetch::{self, Acceptance, Invitation, Joined, Said};
use crate::daemon::shell::Shell;
use crate::shown::shown;
use crate::state::{Hosting, Input, Wanted};
use parvum_mesh::keys::{Seal, Sealed, Side};
use parvum_wire::control::{Blob, ErrorKind, Failure, HostRecord};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::Mutex;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// A hoster may ask its user for a password.
const TO_START: Duration = Duration::from_secs(300);
/// How long each further step may take.
const TO_JOIN: Duration = Duration::from_secs(10);
/// How long one of the adder's addresses is tried.
const TO_CONNECT: Duration = Duration::from_secs(2);
/// The longest line.
const LINE: u64 = 1 << 21;

/// What the command's argument says to the new daemon.
#[derive(Serialize, Deserialize)]
struct Ticket {
    invitation: Invitation,
    /// The adder's public key for this conversation.
    key: [u8; 32],
    /// Where the adder listens.
    at: Vec<String>,
}

/// A host that the hoster has been asked for.
struct Asked {
    wanted: Wanted,
    seal: Seal,
    listener: TcpListener,
    answer: oneshot::Receiver<Blob>,
}

/// Asks the hoster for these hosts, and feeds the machine with what comes of each.
pub(crate) async fn fetch_all(shell: Rc<Shell>, hosts: Vec<Wanted>) {
    let mut questions = Vec::new();
    for wanted in hosts {
        let (number, life, name) = (wanted.number, wanted.life, wanted.name.clone());
        match prepare(&shell, wanted).await {
            Ok((asked, question)) => {
                questions.push(question);
                let shell = shell.clone();
                tokio::task::spawn_local(async move {
                    let result = asked.converse(&shell).await;
                    fetch::came(&shell, number, life, &name, result);
                });
            }
            Err(why) => fetch::came(&shell, number, life, &name, Err(why)),
        }
    }
    if !questions.is_empty() {
        shell.input(Input::Hosting(questions));
    }
}

async fn prepare(shell: &Rc<Shell>, wanted: Wanted) -> Result<(Asked, Hosting), Failure> {
    let Wanted { number, life, name, start } = &wanted;
    let failed = |why: &dyn std::fmt::Display| {
        Failure::new(ErrorKind::CannotStart, format!("{name}: this host: {why}"))
    };
    let options = fetch::options_of(name, start, true)?;
    let network = shell.need_network().map_err(|error| failed(&error))?;
    let listener = match TcpListener::bind("[::]:0").await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind("0.0.0.0:0").await.map_err(|error| failed(&error))?,
    };
    let port = listener.local_addr().map_err(|error| failed(&error))?.port();
    let addresses = network.addresses();
    let at = addresses.iter().filter_map(|text| text.parse::<SocketAddr>().ok());
    let at = at.map(|address| SocketAddr::new(address.ip(), port).to_string()).collect();
    let seal = Seal::make().map_err(|error| failed(&error))?;
    let invitation = fetch::invitation(&network, *number, *life, name, options.clone());
    let ticket = Ticket { invitation, key: seal.public(), at };
    let ticket = serde_json::to_vec(&ticket).map_err(|error| failed(&error))?;
    let command = format!("{} join --hosted {}", fetch::program_of(&options), hex(&ticket));
    let address = options.address.as_deref().unwrap_or(name);
    let login =
        options.login.as_ref().map_or_else(|| address.to_owned(), |login| format!("{login}@{address}"));
    let start = options.start.clone().unwrap_or_default();
    let (said, answer) = oneshot::channel();
    shell.hosted.borrow_mut().insert(*number, said);
    let other = if options.daemon.is_some() { String::new() } else { command.clone() };
    let machine = options.machine.clone().or_else(|| std::env::var("PVM_VMID").ok()).unwrap_or_default();
    let question = Hosting { number: *number, start, login, command, other, machine };
    Ok((Asked { wanted, seal, listener, answer }, question))
}

impl Asked {
    async fn converse(self, shell: &Rc<Shell>) -> Result<HostRecord, Failure> {
        let Asked { wanted: Wanted { number, life, name, .. }, seal, listener, answer, .. } = self;
        let failed = |kind, why: &str| Failure::new(kind, format!("{name}: {why}"));
        let cannot = |why: &str| failed(ErrorKind::CannotStart, why);
        let said = timeout(TO_START, answer).await;
        shell.hosted.borrow_mut().remove(&number);
        let said = match said {
            Err(_) => return Err(cannot(&format!("the hoster gave no result within {TO_START:?}"))),
            Ok(Err(_)) => return Err(cannot("the hoster has ended without a result")),
            Ok(Ok(said)) => said,
        };
        let text = shown(&said.0).trim().to_owned();
        let Some(key) = key_in(&text) else {
            let kind = match text.as_str() {
                "PvmDupHost" => ErrorKind::DuplicateHost,
                "PvmNoHost" => ErrorKind::NoSuchHost,
                _ => ErrorKind::CannotStart,
            };
            return Err(failed(kind, &format!("the hoster's result is {text:?}")));
        };
        let sealed = seal.with(&key, Side::Adder).map_err(|error| cannot(&error.to_string()))?;
        let step = "the new daemon did not call this host";
        let called = timeout(TO_JOIN, called(&listener, sealed)).await;
        let (mut line, accepted) = called.map_err(|_| cannot(&format!("{step} within {TO_JOIN:?}")))?;
        let accepted = accepted.map_err(|why| cannot(&why))?;
        let network = shell.need_network().map_err(|error| cannot(&error.to_string()))?;
        let admission = fetch::admission(shell, &network, &accepted, (number, life), &name)
            .map_err(|error| cannot(&error.to_string()))?;
        let joined = timeout(TO_JOIN, async {
            line.say(&admission).await?;
            line.hear::<Said<Joined>>().await?
        });
        let joined = joined.await.map_err(|_| cannot(&format!("no answer within {TO_JOIN:?}")))?;
        Ok(fetch::record(accepted, joined.map_err(|why| cannot(&why))?, (number, life), &name))
    }
}

/// The public key in the line of a new daemon.
fn key_in(text: &str) -> Option<[u8; 32]> {
    let (_, rest) = text.split_once("parvum<")?;
    unhex(rest.split('>').next()?)?.try_into().ok()
}

/// Waits for the daemon that has the key; others that call are not answered.
async fn called(listener: &TcpListener, mut sealed: Sealed) -> (Line, Said<Acceptance>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let mut stream = tokio::io::BufReader::new(stream);
        let mut text = String::new();
        let read = timeout(TO_CONNECT, (&mut stream).take(LINE).read_line(&mut text)).await;
        let word = read.ok().and_then(Result::ok).and_then(|_| sealed.open(&unhex(text.trim())?).ok());
        if let Some(word) = word
            && let Ok(accepted) = serde_json::from_slice(&word)
        {
            return (Line { stream, sealed }, accepted);
        }
    }
}

/// The adder's end of the conversation.
struct Line {
    stream: tokio::io::BufReader<tokio::net::TcpStream>,
    sealed: Sealed,
}

impl Line {
    async fn say(&mut self, word: &impl Serialize) -> Result<(), String> {
        let text = serde_json::to_vec(word).map_err(|error| error.to_string())?;
        let text = hex(&self.sealed.seal(&text).map_err(|error| error.to_string())?) + "\n";
        self.stream.write_all(text.as_bytes()).await.map_err(|error| error.to_string())
    }

    async fn hear<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T, String> {
        let mut text = String::new();
        let read = (&mut self.stream).take(LINE).read_line(&mut text).await;
        read.map_err(|error| error.to_string())?;
        let word = unhex(text.trim()).ok_or("its daemon has ended without an answer")?;
        let word = self.sealed.open(&word).map_err(|error| error.to_string())?;
        serde_json::from_slice(&word).map_err(|error| error.to_string())
    }
}

/// The joiner's end of the conversation, if a hoster has started this process.
struct Voice {
    stream: BufReader<TcpStream>,
    sealed: Sealed,
}

static VOICE: Mutex<Option<Voice>> = Mutex::new(None);

/// Takes part in the conversation of that ticket from now on; gives the invitation.
pub(crate) fn answer(ticket: &str) -> Result<Invitation, String> {
    let ticket = unhex(ticket).and_then(|text| serde_json::from_slice(&text).ok());
    let Ticket { invitation, key, at } = ticket.ok_or("E-PROTOCOL: `--hosted` is for a hoster to pass on")?;
    let seal = Seal::make().map_err(|error| error.to_string())?;
    let arch = crate::daemon::life::start::arch();
    let line =
        format!("ddpro<2316> arch<{arch}> ip<00000000:0000> mtu<4096> parvum<{}>\n", hex(&seal.public()));
    let mut out = std::io::stdout();
    let told = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    told.map_err(|error| format!("standard output: {error}"))?;
    let sealed = seal.with(&key, Side::Joiner).map_err(|error| error.to_string())?;
    let addresses = at.iter().filter_map(|text| text.parse::<SocketAddr>().ok());
    let mut streams = addresses.filter_map(|address| TcpStream::connect_timeout(&address, TO_CONNECT).ok());
    let stream = streams.next().ok_or_else(|| format!("none of {at:?} can be reached by TCP"))?;
    let _ = stream.set_read_timeout(Some(TO_JOIN));
    *VOICE.lock().expect("nobody panics with it") = Some(Voice { stream: BufReader::new(stream), sealed });
    Ok(invitation)
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
    let read = stream.read_line(&mut text).map_err(|error| error.to_string());
    Some(read.and_then(|_| {
        let word = unhex(text.trim()).ok_or("the one who invites has ended")?;
        sealed.open(&word).map_err(|error| error.to_string())
    }))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Nothing for no digits at all: an empty line is no word.
fn unhex(text: &str) -> Option<Vec<u8>> {
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
    fn the_key_is_found_in_the_line_and_in_no_other() {
        let line = format!("ddpro<2316> arch<LINUX64> ip<0:0> mtu<4096> parvum<{}>", hex(&[0xa5; 32]));
        assert_eq!(key_in(&line), Some([0xa5; 32]));
        for other in ["PvmCantStart", "ddpro<2316> arch<LINUX64>", "parvum<>", "parvum<a5>", "parvum<zz"] {
            assert_eq!(key_in(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_written_in_hex_is_read_again() {
        assert_eq!(unhex(&hex(b"\x00\xff~")), Some(b"\x00\xff~".to_vec()));
        assert_eq!((unhex(""), unhex("a"), unhex("+1")), (None, None, None));
    }
}
