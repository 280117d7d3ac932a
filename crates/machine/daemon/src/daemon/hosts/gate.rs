//! The gate: a host joins the machine by itself, with a token that `parvum invite` has made.
//!
//! The host connects by TCP. Both sides make their keys from two new public keys and from the token. Only a side that has the token
//! can read or write the rest of the conversation. The token itself stays where it is. A recorded conversation cannot be read
//! later. The gate is open only while a token is valid.
//!
//! ```text
//! gate                                       host that joins
//!                                     <---   Knock: the number of the token, a public key
//!   its public key or a refusal       --->
//!                                     <---   Introduction, sealed
//!   Invitation, sealed                --->
//!                                     <---   Acceptance, sealed
//!   Admission, sealed                 --->
//!                                     <---   Joined, sealed
//! ```

use crate::daemon::hosts::fetch;
use crate::daemon::hosts::invitation::{Acceptance, Introduction, Invitation, Joined, Knock, Said, TO_JOIN};
use crate::daemon::hosts::line::Line;
use crate::daemon::shell::Shell;
use crate::state::Admitted;
use parvum_mesh::keys::{Seal, Side, Token};
use parvum_wire::control::{ErrorKind, Failure, HostOptions, HostRecord, PROTOCOL, Reply, Request};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

/// A connection that shows no token ends after this time.
const TO_KNOCK: Duration = Duration::from_secs(5);
/// The largest number of connections at a time that have not shown a token yet.
const STRANGERS: usize = 64;
/// The largest number of bytes in the first line.
const FIRST_LINE: u64 = 4096;
/// No token is valid for a longer time: ten years.
const LONGEST: u64 = 315_360_000;

/// The tokens of this daemon, and the hosts that join with them.
#[derive(Default)]
pub(crate) struct Gate {
    port: Cell<Option<u16>>,
    valid: RefCell<HashMap<[u8; 8], Valid>>,
    guests: RefCell<HashMap<u64, oneshot::Sender<Result<Admitted, Failure>>>>,
    last_guest: Cell<u64>,
    strangers: Cell<usize>,
    changed: Notify,
}

/// A token that is valid.
struct Valid {
    token: Token,
    until: Instant,
    uses: u32,
    /// Hosts that are joining with it. If a host fails, its use counts again.
    joining: u32,
}

impl Gate {
    fn token(&self, number: [u8; 8]) -> Option<Token> {
        let valid = self.valid.borrow();
        let found = valid.get(&number).filter(|valid| valid.until > Instant::now() && valid.uses > 0);
        found.map(|valid| valid.token.clone())
    }

    /// Takes one use of a token. Two hosts may have shown the token at the same time.
    fn take(&self, number: [u8; 8]) -> bool {
        let mut valid = self.valid.borrow_mut();
        let Some(valid) = valid.get_mut(&number).filter(|valid| valid.uses > 0) else { return false };
        valid.uses -= 1;
        valid.joining += 1;
        true
    }

    /// A host that has taken a use has joined or has failed.
    fn settle(&self, number: [u8; 8], has_joined: bool) {
        if let Some(valid) = self.valid.borrow_mut().get_mut(&number) {
            valid.joining -= 1;
            valid.uses += u32::from(!has_joined);
        }
        self.changed.notify_one();
    }

    /// Forgets tokens that are no longer valid. Returns the time when the next token ends.
    fn tidy(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut valid = self.valid.borrow_mut();
        valid.retain(|_, valid| valid.until > now && valid.uses + valid.joining > 0);
        valid.values().map(|valid| valid.until).min()
    }

    /// Makes all tokens invalid.
    pub fn revoke(&self) {
        self.valid.borrow_mut().clear();
        self.changed.notify_one();
    }

    /// The machine has decided about a host. Returns false if the host is gone.
    fn decide(&self, guest: u64, decision: Result<Admitted, Failure>) -> bool {
        let waiting = self.guests.borrow_mut().remove(&guest);
        waiting.is_some_and(|waiting| waiting.send(decision).is_ok())
    }
}

/// Makes a token, and opens the gate.
pub(crate) fn invite(shell: &Rc<Shell>, seconds: u64, uses: u32) -> Result<Reply, Failure> {
    let system = |error: &dyn Display| Failure::new(ErrorKind::System, error.to_string());
    if uses == 0 || seconds == 0 || seconds > LONGEST {
        let why = format!("a token has at least one use, and is valid for 1 to {LONGEST} seconds");
        return Err(Failure::new(ErrorKind::BadParameter, why));
    }
    let network = shell.need_network().map_err(|error| system(&error))?;
    let gate = &shell.gate;
    let token = Token::make().map_err(|error| system(&error))?;
    let port = match gate.port.get() {
        Some(port) => port,
        None => {
            let listener = listen(network.mesh.port()).map_err(|error| system(&error))?;
            let port = listener.local_addr().map_err(|error| system(&error))?.port();
            gate.port.set(Some(port));
            shell.log.line(&format!("the gate for hosts with a token is open at TCP port {port}"));
            tokio::task::spawn_local(serve(shell.clone(), listener));
            port
        }
    };
    let until = Instant::now() + Duration::from_secs(seconds);
    let valid = Valid { token: token.clone(), until, uses, joining: 0 };
    gate.valid.borrow_mut().insert(token.number(), valid);
    gate.changed.notify_one();
    let at = network.addresses().into_iter().filter_map(|text| text.parse::<SocketAddr>().ok());
    let addresses = at.map(|address| SocketAddr::new(address.ip(), port).to_string()).collect();
    Ok(Reply::Invited { token: token.to_string(), addresses })
}

/// Listens at the number of the machine's UDP port, so that a firewall needs one rule. Another port if that port is in use.
fn listen(port: u16) -> std::io::Result<TcpListener> {
    let bind = |port| {
        std::net::TcpListener::bind(("::", port)).or_else(|_| std::net::TcpListener::bind(("0.0.0.0", port)))
    };
    let listener = bind(port).or_else(|_| bind(0))?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

async fn serve(shell: Rc<Shell>, listener: TcpListener) {
    while let Some(until) = shell.gate.tidy() {
        tokio::select! {
            // Others wait in the backlog.
            accepted = listener.accept(), if shell.gate.strangers.get() < STRANGERS => match accepted {
                Ok((stream, from)) => {
                    shell.gate.strangers.set(shell.gate.strangers.get() + 1);
                    tokio::task::spawn_local(attend(shell.clone(), stream, from));
                }
                // No descriptor is free, and another accept would fail at once: other connections must end first.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            () = sleep_until(until) => {}
            () = shell.gate.changed.notified() => {}
        }
    }
    shell.gate.port.set(None);
    shell.log.line("the gate for hosts with a token is closed: no token is valid");
}

async fn attend(shell: Rc<Shell>, stream: TcpStream, from: SocketAddr) {
    let greeted = timeout(TO_KNOCK, greet(&shell, stream)).await;
    shell.gate.strangers.set(shell.gate.strangers.get() - 1);
    shell.gate.changed.notify_one();
    match greeted {
        Ok(Ok((line, number, name))) => {
            let has_joined = admit(&shell, line, name).await;
            shell.gate.settle(number, has_joined);
        }
        Ok(Err(why)) => shell.log.refusal("host at the gate", &format!("{from}: {why}")),
        Err(_) => shell.log.refusal("host at the gate", &format!("{from}: silent for {TO_KNOCK:?}")),
    }
}

/// Hears which token a host has, and makes it prove the token. Takes one use of the token.
async fn greet(shell: &Shell, stream: TcpStream) -> Result<(Line, [u8; 8], String), String> {
    let mut stream = BufReader::new(stream);
    let mut text = String::new();
    let read = (&mut stream).take(FIRST_LINE).read_line(&mut text).await;
    read.map_err(|error| error.to_string())?;
    let knock: Knock = serde_json::from_str(&text).map_err(|_| "the first line is not Parvum's")?;
    let begun = begin(&shell.gate, &knock);
    let answer: Said<[u8; 32]> =
        begun.as_ref().map(|(seal, _)| seal.public()).map_err(|why: &String| why.clone());
    let mut answer = serde_json::to_string(&answer).map_err(|error| error.to_string())?;
    answer.push('\n');
    stream.write_all(answer.as_bytes()).await.map_err(|error| error.to_string())?;
    let (seal, token) = begun?;
    let sealed = seal.with_token(&knock.key, Side::Adder, &token).map_err(|error| error.to_string())?;
    let mut line = Line::new(stream, sealed);
    let Introduction { name } =
        line.hear_at_most(FIRST_LINE).await.map_err(|_| "the host does not have the token")?;
    if !shell.gate.take(knock.token) {
        // The host has proved the token, so it may hear the reason.
        let _ = line.say(&Said::<Invitation>::Err(unknown())).await;
        return Err(unknown());
    }
    Ok((line, knock.token, name))
}

fn begin(gate: &Gate, knock: &Knock) -> Result<(Seal, Token), String> {
    if knock.protocol != PROTOCOL {
        let own = env!("CARGO_PKG_VERSION");
        return Err(format!(
            "E-VERSION: the machine has release {own} (protocol {PROTOCOL}), and the host that joins has {} \
             (protocol {}); help: install one release on both",
            one_line(&knock.release),
            knock.protocol
        ));
    }
    let token = gate.token(knock.token).ok_or_else(unknown)?;
    Ok((Seal::make().map_err(|error| error.to_string())?, token))
}

/// A text of another program, without the characters that change a terminal or a log.
pub(super) fn one_line(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(1000).collect()
}

fn unknown() -> String {
    "E-TOKEN: the token is not valid here: it has expired, was used, or is another machine's; help: \
     `parvum invite` makes another token"
        .into()
}

/// Has the machine decide about a host, and tells the host. Returns whether the host has joined.
async fn admit(shell: &Rc<Shell>, mut line: Line, name: String) -> bool {
    let gate = &shell.gate;
    let guest = gate.last_guest.get() + 1;
    gate.last_guest.set(guest);
    let (sender, decision) = oneshot::channel();
    gate.guests.borrow_mut().insert(guest, sender);
    let (_, by, _) = shell.identity();
    shell.ask_for_itself(Request::Admit { name, guest, by });
    let why = match timeout(TO_JOIN, decision).await {
        Ok(Ok(Ok(admitted))) => {
            let (number, life, name) = (admitted.number, admitted.life, admitted.name.clone());
            let result = converse(shell, &mut line, admitted).await;
            let has_joined = result.is_ok();
            fetch::came(shell, number, life, &name, result);
            return has_joined;
        }
        Ok(Ok(Err(why))) => why.to_string(),
        // The machine ends, or most of its hosts do not answer.
        Ok(Err(_)) | Err(_) => {
            gate.guests.borrow_mut().remove(&guest);
            format!(
                "the hosts of the machine did not decide within {TO_JOIN:?}; help: `parvum hosts` there shows them"
            )
        }
    };
    shell.log.line(&format!("a host with a token was not admitted: {why}"));
    let _ = timeout(TO_KNOCK, line.say(&Said::<Invitation>::Err(why))).await;
    false
}

async fn converse(shell: &Rc<Shell>, line: &mut Line, admitted: Admitted) -> Result<HostRecord, Failure> {
    let Admitted { number, life, name, .. } = admitted;
    let failed = |why: &dyn Display| Failure::new(ErrorKind::CannotStart, format!("{name}: {why}"));
    let network = shell.need_network().map_err(|error| failed(&error))?;
    let invitation = fetch::invitation(&network, number, life, &name, HostOptions::default());
    let accepted = timeout(TO_JOIN, async {
        line.say(&Said::Ok(invitation)).await?;
        line.hear::<Said<Acceptance>>().await?
    });
    let late = |_| failed(&format_args!("no answer within {TO_JOIN:?}"));
    let accepted = accepted.await.map_err(late)?.map_err(|why| failed(&why))?;
    let admission = fetch::admission(shell, &network, &accepted, (number, life), &name);
    let admission = admission.map_err(|error| failed(&error))?;
    let joined = timeout(TO_JOIN, async {
        line.say(&admission).await?;
        line.hear::<Said<Joined>>().await?
    });
    let joined = joined.await.map_err(late)?.map_err(|why| failed(&why))?;
    Ok(fetch::record(accepted, joined, (number, life), &name))
}

/// The machine admits a host.
pub(crate) fn admitted(shell: &Rc<Shell>, admitted: Admitted) {
    let Admitted { guest, number, life, ref name } = admitted;
    let name = name.clone();
    if !shell.gate.decide(guest, Ok(admitted)) {
        let why = Failure::new(ErrorKind::CannotStart, format!("{name}: the host is gone"));
        fetch::came(shell, number, life, &name, Err(why));
    }
}

/// The machine does not admit a host.
pub(crate) fn turn_away(shell: &Shell, guest: u64, why: Failure) {
    shell.gate.decide(guest, Err(why));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate_with(uses: u32, seconds: u64) -> (Gate, [u8; 8]) {
        let (gate, token) = (Gate::default(), Token::make().expect("random"));
        let number = token.number();
        let until = Instant::now() + Duration::from_secs(seconds);
        gate.valid.borrow_mut().insert(number, Valid { token, until, uses, joining: 0 });
        (gate, number)
    }

    #[test]
    fn token_has_as_many_uses_as_hosts_that_join() {
        let (gate, number) = gate_with(2, 60);
        assert!(gate.take(number) && gate.take(number) && !gate.take(number), "two at a time");
        assert!(gate.token(number).is_none() && gate.tidy().is_some(), "both are still joining");
        gate.settle(number, false);
        assert!(gate.token(number).is_some() && gate.take(number), "a failed host gives its use back");
        gate.settle(number, true);
        gate.settle(number, true);
        assert!(gate.tidy().is_none(), "the token is used up, and the gate closes");
    }

    #[test]
    fn expired_revoked_and_unknown_tokens_are_not_valid() {
        let (gate, number) = gate_with(9, 0);
        assert!(gate.token(number).is_none() && gate.tidy().is_none());
        let (gate, number) = gate_with(9, 60);
        assert!(gate.token([0; 8]).is_none() && !gate.take([0; 8]) && gate.take(number));
        gate.revoke();
        assert!(gate.token(number).is_none());
        // The host that was joining ends later.
        gate.settle(number, false);
        assert!(gate.tidy().is_none());
    }

    #[test]
    fn host_of_another_release_hears_both_releases() {
        let (gate, token) = gate_with(1, 60);
        let knock = Knock { release: "9.9\n".into(), protocol: PROTOCOL + 1, token, key: [0; 32] };
        let why = begin(&gate, &knock).err().expect("refused");
        assert!(why.starts_with("E-VERSION") && why.contains("9.9") && !why.contains('\n'), "{why}");
    }
}
