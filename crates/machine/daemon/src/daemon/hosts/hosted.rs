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

use crate::daemon::hosts::fetch;
use crate::daemon::hosts::invitation::{Acceptance, Joined, Said, TO_JOIN, Ticket};
use crate::daemon::hosts::line::Line;
use crate::daemon::hosts::voice::{LINE, TO_CONNECT, hex, unhex};
use crate::daemon::shell::Shell;
use crate::shown::shown;
use crate::state::{Hosting, Input, Wanted};
use parvum_mesh::keys::{Seal, Sealed, Side};
use parvum_wire::control::{Blob, ErrorKind, Failure, HostRecord};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// A hoster may ask its user for a password.
const TO_START: Duration = Duration::from_secs(300);

/// A host that the hoster has been asked for.
struct HosterRequest {
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

async fn prepare(shell: &Rc<Shell>, wanted: Wanted) -> Result<(HosterRequest, Hosting), Failure> {
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
    Ok((HosterRequest { wanted, seal, listener, answer }, question))
}

impl HosterRequest {
    async fn converse(self, shell: &Rc<Shell>) -> Result<HostRecord, Failure> {
        let HosterRequest { wanted: Wanted { number, life, name, .. }, seal, listener, answer, .. } = self;
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
            return (Line::new(stream, sealed), accepted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_read_from_its_line_only() {
        let line = format!("ddpro<2316> arch<LINUX64> ip<0:0> mtu<4096> parvum<{}>", hex(&[0xa5; 32]));
        assert_eq!(key_in(&line), Some([0xa5; 32]));
        for other in ["PvmCantStart", "ddpro<2316> arch<LINUX64>", "parvum<>", "parvum<a5>", "parvum<zz"] {
            assert_eq!(key_in(other), None, "{other}");
        }
    }
}
