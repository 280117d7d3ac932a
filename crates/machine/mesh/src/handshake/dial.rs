//! Finding the way to a peer: all its addresses at once, the first that
//! answers is kept, and what each did is remembered.

use crate::Host;
use crate::handshake::candidates::expand;
use crate::handshake::greet::{self, NoLink};
use crate::handshake::outcome::{ConnectError, Connected, Outcome, Tried};
use crate::handshake::refusal::{Refusal, RefusalKind};
use crate::inner::Inner;
use crate::keys::HostName;
use crate::link::Link;
use crate::socket::plain;
use std::cell::RefCell;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Between one candidate and the next, so that the better one wins a tie.
const STAGGER: Duration = Duration::from_millis(3);
/// Before a candidate that broke is tried again.
const PAUSE: Duration = Duration::from_millis(50);

/// Tries all candidates until one is linked or the deadline has passed.
pub(crate) async fn connect(
    mesh: &Rc<Inner>,
    host: Host,
    candidates: &[SocketAddr],
) -> Result<Connected, ConnectError> {
    if let Some(link) = mesh.up(host) {
        return Ok(connected(mesh, &link));
    }
    let began = Instant::now();
    let addresses = expand(candidates);
    let outcomes = Rc::new(RefCell::new(vec![None; addresses.len()]));
    let turn = Rc::new(Mutex::new(()));
    let mut attempts = JoinSet::new();
    for (at, &address) in addresses.iter().enumerate() {
        let one =
            Attempt { mesh: mesh.clone(), host, address, at, turn: turn.clone(), outcomes: outcomes.clone() };
        attempts.spawn_local(one.run());
    }
    let first = async {
        while let Some(ended) = attempts.join_next().await {
            if let Ok(Some(link)) = ended {
                return Some(link);
            }
        }
        None
    };
    let found = async {
        tokio::select! {
            // The peer may have dialled us meanwhile.
            link = mesh.wait_up(host) => Some(link),
            link = first => link,
        }
    };
    let link = timeout(mesh.settings.deadline, found).await.ok().flatten();
    // Attempts that are still at it are cancelled with the set.
    drop(attempts);
    let silent = Outcome::Silent(began.elapsed());
    let ended = outcomes.take();
    let mut tried: Vec<_> = addresses
        .into_iter()
        .zip(ended)
        .map(|(address, outcome)| Tried { address, outcome: outcome.unwrap_or(silent.clone()) })
        .collect();
    if let Some(link) = &link {
        keep(&mut tried, link.address(), link.carrier.connection.rtt());
    }
    mesh.table.borrow_mut().set_tried(host, tried.clone());
    link.map(|link| connected(mesh, &link)).ok_or(ConnectError { host, tried })
}

fn connected(mesh: &Rc<Inner>, link: &Rc<Link>) -> Connected {
    let tried = mesh.table.borrow().tried(link.host);
    Connected { address: link.address(), rtt: link.carrier.connection.rtt(), tried }
}

/// Marks the address in use; the peer may have come from one that we did not try.
fn keep(tried: &mut Vec<Tried>, address: SocketAddr, rtt: Duration) {
    for one in tried.iter_mut() {
        if one.address == address {
            let time = if let Outcome::Answered(time) = one.outcome { time } else { rtt };
            one.outcome = Outcome::Kept(time);
            return;
        }
    }
    tried.push(Tried { address, outcome: Outcome::Kept(rtt) });
}

struct Attempt {
    mesh: Rc<Inner>,
    host: Host,
    address: SocketAddr,
    at: usize,
    /// Whose turn it is to greet: the first that answered.
    turn: Rc<Mutex<()>>,
    outcomes: Rc<RefCell<Vec<Option<Outcome>>>>,
}

impl Attempt {
    async fn run(self) -> Option<Rc<Link>> {
        sleep(STAGGER.saturating_mul(self.at as u32)).await;
        loop {
            let outcome = tokio::select! {
                result = self.dial() => match result {
                    Ok(link) => return Some(link),
                    // The peer keeps another connection: it is on its way to us, or
                    // the peer is about to notice that it is dead.
                    Err(outcome @ Outcome::Refused(Refusal { kind: RefusalKind::Duplicate, .. }))
                    | Err(outcome @ Outcome::Broken(_)) => {
                        self.record(outcome);
                        None
                    }
                    Err(outcome) => Some(outcome),
                },
                // In memory there is no system to ask.
                outcome = probe(self.address), if self.mesh.settings.network.is_none() => Some(outcome),
            };
            if let Some(outcome) = outcome {
                self.record(outcome);
                return None;
            }
            sleep(PAUSE).await;
        }
    }

    async fn dial(&self) -> Result<Rc<Link>, Outcome> {
        let began = Instant::now();
        let name = HostName::expected(self.mesh.name.machine, self.host);
        let connecting = self.mesh.endpoint.connect(self.address, &name);
        let connecting = connecting.map_err(|error| Outcome::Unreachable(error.to_string()))?;
        let connection = match connecting.await {
            Ok(connection) => connection,
            // Nobody there: the transport gave up before the deadline did.
            Err(quinn::ConnectionError::TimedOut) => return Err(Outcome::Silent(began.elapsed())),
            Err(error) => return Err(outcome(greet::from_quic(&error))),
        };
        self.record(Outcome::Answered(began.elapsed()));
        let _turn = self.turn.lock().await;
        let greeting = greet::dial(&self.mesh, connection, self.host);
        // A dead path must not keep the better ones waiting.
        match timeout(self.mesh.settings.detect, greeting).await {
            Ok(greeted) => greeted.map_err(outcome),
            Err(_) => Err(Outcome::Broken("the greeting was not answered".into())),
        }
    }

    fn record(&self, outcome: Outcome) {
        if let Some(slot) = self.outcomes.borrow_mut().get_mut(self.at) {
            *slot = Some(outcome);
        }
    }
}

fn outcome(why: NoLink) -> Outcome {
    match why {
        NoLink::Refused(refusal) => Outcome::Refused(refusal),
        NoLink::Broken(text) => Outcome::Broken(text),
    }
}

/// Ends only with bad news. QUIC's own socket serves all peers, so the system
/// does not tell it when one of them is not there; a socket connected to one
/// address is told. The byte it sends is no QUIC and is passed over.
async fn probe(address: SocketAddr) -> Outcome {
    let bad = async {
        let any: SocketAddr = if address.is_ipv4() {
            (Ipv4Addr::UNSPECIFIED, 0).into()
        } else {
            (Ipv6Addr::UNSPECIFIED, 0).into()
        };
        let socket = UdpSocket::bind(any).await?;
        socket.connect(address).await?;
        loop {
            socket.send(&[0]).await?;
            // News of the first byte come with an error here or at the next.
            let mut unused = [0; 16];
            if let Ok(received) = timeout(Duration::from_millis(500), socket.recv(&mut unused)).await {
                received?;
            }
            // Whatever answers there, it is no daemon and gets no flood from us.
            sleep(PAUSE).await;
        }
    };
    let error: io::Error = match bad.await {
        Ok(never) => never,
        Err(error) => error,
    };
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Outcome::Closed,
        _ => Outcome::Unreachable(format!("{error} ({})", plain(address).ip())),
    }
}
