//! The daemon's connections with the daemons of other hosts.
//!
//! There are none, and nothing listens, until the first host is added. Words to a host that is not
//! connected wait until it is; when it cannot be reached its questions are answered with that. What is on its way when
//! a connection breaks goes on over the next one (`crates/machine/mesh/src/session.rs`), which is made at once.

use crate::daemon::hosts::fetch::AT_ONCE;
use crate::daemon::life::options::Options;
use crate::daemon::shell::Shell;
use crate::daemon::tasks::relay;
use crate::state::Input;
use bytes::Bytes;
use parvum_mesh::keys::{Authority, HostKeys, Identity, KeyError, SignRequest};
use parvum_mesh::{Ended, Events, Farewell, Mesh, MeshError, MeshEvent, RefusalKind, Settings, StreamSender};
use parvum_wire::Tid;
use parvum_wire::control::{Between, ErrorKind, Event, Failure, LinkRow, OutputNews, Reply};
use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// After that time a host that could not be reached is tried again.
const AGAIN: Duration = Duration::from_millis(200);

/// So long a host whose adder does not answer waits for another to take it in.
const TO_BE_TAKEN_IN: Duration = Duration::from_secs(10);

/// Why there is no network.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NetworkError {
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// What opens the network of a daemon.
pub(crate) struct Entry {
    pub authority: Authority,
    pub identity: Identity,
}

impl Entry {
    /// The first daemon of a machine makes the authority.
    pub fn first(host: u32, life: u64, name: &str) -> Result<Entry, KeyError> {
        let authority = Authority::make()?;
        let keys = HostKeys::make()?;
        let certificate = authority.sign(&SignRequest::new(keys.public(), host, life, name))?;
        Ok(Entry { identity: Identity::new(keys, certificate)?, authority })
    }
}

pub(crate) struct Network {
    pub mesh: Mesh,
    pub authority: Authority,
    /// Words for hosts that are being connected.
    waiting: RefCell<HashMap<u32, Vec<Between>>>,
    /// Room for daemons that are being started on other hosts.
    pub starts: Semaphore,
}

impl Network {
    /// Opens the endpoint.
    pub fn open(entry: Entry, name: &str, options: &Options) -> Result<(Rc<Network>, Events), NetworkError> {
        let Options { detect, port, .. } = *options;
        let settings = Settings { detect, port, name: name.to_owned(), ..Settings::default() };
        let (mesh, events) = Mesh::open(entry.identity, settings)?;
        let (authority, waiting) = (entry.authority, Default::default());
        Ok((Rc::new(Network { mesh, authority, waiting, starts: Semaphore::new(AT_ONCE) }), events))
    }

    /// Where others reach this host, likeliest first.
    pub fn addresses(&self) -> Vec<String> {
        let candidates = self.mesh.candidates().unwrap_or_default();
        candidates.iter().map(|candidate| without_scope(candidate.address).to_string()).collect()
    }

    /// How this host reaches the others.
    pub fn rows(&self) -> Vec<LinkRow> {
        let row = |link: parvum_mesh::LinkRow| {
            let tried = self.mesh.tried(link.host).into_iter();
            Some(LinkRow {
                host: Tid::new(link.host, 0)?,
                address: link.address.to_string(),
                round_trip: link.rtt.as_micros() as u64,
                sent: link.bytes.0,
                received: link.bytes.1,
                lost: link.lost,
                tried: tried.map(|one| (one.address.to_string(), one.outcome.to_string())).collect(),
            })
        };
        self.mesh.links().into_iter().filter_map(row).collect()
    }
}

/// The scope of a link-local address means something on one host only.
fn without_scope(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(mut address) => {
            address.set_scope_id(0);
            address.into()
        }
        other => other,
    }
}

/// Whether somebody waits for the answer.
fn is_question(word: &Between) -> bool {
    // The agreement asks again by itself.
    matches!(word, Between::Ask { .. } | Between::Start(_) | Between::Agreement(_))
}

/// Addresses as they were written down.
pub(crate) fn parse_all(addresses: &[String]) -> Vec<SocketAddr> {
    addresses.iter().filter_map(|text| text.parse().ok()).collect()
}

impl Shell {
    /// The network, if it is open.
    pub fn network(&self) -> Option<Rc<Network>> {
        self.network.borrow().clone()
    }

    /// Opens the network of this machine's first host, if it is not open yet.
    pub fn need_network(self: &Rc<Shell>) -> Result<Rc<Network>, NetworkError> {
        if let Some(network) = self.network() {
            return Ok(network);
        }
        let (host, life, name) = self.identity();
        let network = self.enter_network(Entry::first(host, life, &name)?)?;
        self.begin_to_agree(true);
        Ok(network)
    }

    /// Opens the network with what this host was given.
    pub fn enter_network(self: &Rc<Shell>, entry: Entry) -> Result<Rc<Network>, NetworkError> {
        let (_, _, name) = self.identity();
        let (network, events) = Network::open(entry, &name, self.options())?;
        *self.network.borrow_mut() = Some(network.clone());
        self.log.line(&format!("listens for other hosts at UDP port {}", network.mesh.port()));
        // For those who would add this host by another name. Without room for it they hear less.
        let names = format!("{} {name}\n", network.authority.machine());
        let _ = std::fs::write(self.place.machine(), names);
        self.set_addresses(network.addresses());
        tokio::task::spawn_local(self.clone().attend_network(network.clone(), events));
        tokio::task::spawn_local(self.clone().measure_load());
        tokio::task::spawn_local(self.clone().measure_lateness());
        Ok(network)
    }

    async fn attend_network(self: Rc<Shell>, network: Rc<Network>, mut events: Events) {
        while let Some(event) = events.next().await {
            match event {
                MeshEvent::Up { host, address, .. } => {
                    self.log.line(&format!("host {host} is connected over {address}"));
                    self.flush_words(&network, host);
                    self.find_host(host);
                }
                MeshEvent::Message { host, bytes } => match postcard::from_bytes::<Between>(&bytes) {
                    Ok(word) => self.hear(&network, host, word),
                    Err(error) => self.log.refusal("bad word", &format!("host {host}: {error}")),
                },
                MeshEvent::Stream { host, header, reader } => {
                    tokio::task::spawn_local(relay::receive(self.clone(), host, header, reader));
                }
                MeshEvent::Down { host, why: Ended::Farewell(Farewell::Removed), .. } => {
                    self.log.line(&format!("host {host} has taken this host out of the machine"));
                    self.input(Input::Removed);
                }
                MeshEvent::Down { host, why, .. } => {
                    self.log.line(&format!("host {host} is disconnected: {why}"));
                    self.lose_host(host);
                    self.release_output();
                    if matches!(why, Ended::Lost(_)) {
                        self.connect_again(&network, host);
                    }
                }
                MeshEvent::Refused { why, .. } if why.says_that_life_is_over() => self.end_of_life(),
                MeshEvent::Refused { from, why } => self.log.refusal("stranger", &format!("{from}: {why}")),
                _ => {}
            }
        }
    }

    fn hear(self: &Rc<Shell>, network: &Network, host: u32, mut word: Between) {
        // Where a task of that host listens it knows but for the address that leads there: that is
        // the one over which the daemons talk.
        if let Between::Answer { reply: Ok(Reply::TcpAddress { addr, .. }), .. } = &mut word
            && let Some(mut reached) = self.address_of(network, host)
            && let Ok(listener) = addr.parse::<SocketAddr>()
        {
            reached.set_port(listener.port());
            *addr = reached.to_string();
        }
        if let Between::Took { tid, bytes } = word {
            return self.output_taken(tid, bytes);
        }
        if let Between::Agreement(piece) = word {
            return self.hear_of_agreement(host, piece);
        }
        let written = match &word {
            Between::Event {
                tid: reader,
                event:
                    Event::Output { tid, data, .. } | Event::TaskOutput { tid, news: OutputNews::Wrote(data), .. },
            } => Some((*reader, *tid, data.0.len() as u64)),
            _ => None,
        };
        if let Some((reader, tid, bytes)) = written {
            self.input(Input::Heard { host, word: Box::new(word) });
            return self.acknowledge_output(host, reader, tid, bytes);
        }
        self.input(Input::Heard { host, word: Box::new(word) });
    }

    /// Where a host is reached; when the connection has just broken, where it says that it is.
    fn address_of(&self, network: &Network, host: u32) -> Option<SocketAddr> {
        let link = network.mesh.links().into_iter().find(|link| link.host == host);
        let listed = || parse_all(&self.record_of(host)?.addresses).first().copied();
        link.map(|link| link.address).or_else(listed)
    }

    /// Says something to the daemon of another host; connects with it first if need be.
    pub fn say(self: &Rc<Shell>, host: u32, mut word: Between) {
        if let Between::Answer { reply: Ok(reply), .. } = &mut word {
            self.fill_in(reply);
        }
        let Some(network) = self.network() else { return self.give_up(host, vec![word]) };
        if let Some(words) = network.waiting.borrow_mut().get_mut(&host) {
            return words.push(word);
        }
        if network.mesh.is_up(host) {
            return self.send_word(&network, host, word);
        }
        network.waiting.borrow_mut().insert(host, vec![word]);
        tokio::task::spawn_local(self.clone().connect_with(network, host));
    }

    /// What a host of the machine has not heard when its connection broke is waiting for another.
    fn connect_again(self: &Rc<Shell>, network: &Rc<Network>, host: u32) {
        if self.record_of(host).is_some() && !network.waiting.borrow().contains_key(&host) {
            network.waiting.borrow_mut().insert(host, Vec::new());
            tokio::task::spawn_local(self.clone().connect_with(network.clone(), host));
        }
    }

    /// Connects with a host for which words wait, for as long as it is in the machine.
    async fn connect_with(self: Rc<Shell>, network: Rc<Network>, host: u32) {
        while let Some(record) = self.record_of(host) {
            let Err(error) = network.mesh.connect(host, &parse_all(&record.addresses)).await else {
                return self.flush_words(&network, host);
            };
            self.log.line(&format!("host {host} cannot be reached: {error}"));
            // Who asks gets an answer now; the rest is news, and must come when the host can be reached again.
            let mut unanswered = Vec::new();
            if let Some(words) = network.waiting.borrow_mut().get_mut(&host) {
                unanswered = words.extract_if(.., |word| is_question(word)).collect();
            }
            self.give_up(host, unanswered);
            self.lose_host(host);
            if error.says_that_life_is_over() {
                self.end_of_life();
            }
            if error.refusal().is_some_and(|refusal| refusal.kind == RefusalKind::Stale) {
                // One of the two lives is over.
                break;
            }
            tokio::time::sleep(AGAIN).await;
        }
        let words = network.waiting.borrow_mut().remove(&host).unwrap_or_default();
        self.give_up(host, words);
    }

    fn flush_words(self: &Rc<Shell>, network: &Network, host: u32) {
        let words = network.waiting.borrow_mut().remove(&host).unwrap_or_default();
        for word in words {
            self.send_word(network, host, word);
        }
    }

    fn send_word(self: &Rc<Shell>, network: &Network, host: u32, word: Between) {
        let bytes = match postcard::to_stdvec(&word) {
            Ok(bytes) => bytes,
            Err(error) => return self.log.line(&format!("a word that cannot be written: {error}")),
        };
        if let Err(error) = network.mesh.send(host, bytes.into()) {
            self.log.line(&format!("host {host}: {error}"));
            self.give_up(host, vec![word]);
        }
    }

    /// These words will not arrive: whoever waits for an answer gets one.
    fn give_up(self: &Rc<Shell>, host: u32, words: Vec<Between>) {
        for word in words {
            let why = || Failure::new(ErrorKind::HostLost, format!("host {host}"));
            let answer = match word {
                Between::Ask { client, id, .. } => Between::Answer { client, id, reply: Err(why()) },
                Between::Start(part) => {
                    let results = vec![Err(why()); part.plan.count as usize];
                    Between::Started { batch: part.batch, results }
                }
                Between::Watch(tid) => Between::Over { tid, runner: false },
                _ => continue,
            };
            // Later: this is called while effects are carried out.
            let shell = self.clone();
            tokio::task::spawn_local(async move {
                shell.input(Input::Heard { host, word: Box::new(answer) });
            });
        }
    }

    /// What waits for a host that is out of the machine will not arrive.
    pub fn give_up_words(self: &Rc<Shell>, network: &Network, host: u32) {
        let words = network.waiting.borrow_mut().remove(&host).unwrap_or_default();
        self.give_up(host, words);
    }

    /// Tells the machine now and then how busy this host is.
    async fn measure_load(self: Rc<Shell>) {
        // Load changes slowly, and a word to each host for every change is enough.
        let mut clock = tokio::time::interval(Duration::from_secs(1));
        let mut alone_since = None;
        loop {
            clock.tick().await;
            // In steps of a quarter, so that an idle machine is silent.
            self.input(Input::Load((load() * 4.0).round() as u32 * 25));
            self.look_for_the_silent().await;
            self.look_for_home(&mut alone_since).await;
        }
    }

    /// One that is being added may lose its home before it knows any other host that lives: then nobody would tell it what
    /// became of it, unless another takes it in.
    async fn look_for_home(self: &Rc<Shell>, alone_since: &mut Option<Instant>) {
        let Some((network, home)) = self.network().zip(self.home()) else { return };
        let Err(error) = network.mesh.connect(home.number, &parse_all(&home.addresses)).await else {
            *alone_since = None;
            return;
        };
        if error.says_that_life_is_over() {
            return self.end_of_life();
        }
        let since = *alone_since.get_or_insert_with(Instant::now);
        if since.elapsed() > TO_BE_TAKEN_IN && self.home().is_some() {
            self.log
                .line("the host that was adding this one does not answer, and no other takes it in: it ends");
            self.input(Input::Removed);
        }
    }

    /// The others have gone on without this host, which may never have heard that it was one of them. It can be added again.
    fn end_of_life(self: &Rc<Shell>) {
        self.log.line("the others have gone on without this host: it ends");
        self.input(Input::Removed);
    }

    /// Hosts that do not answer may do so again, or say that they have gone on without this one.
    async fn look_for_the_silent(self: &Rc<Shell>) {
        let Some(network) = self.network() else { return };
        for record in self.silent_hosts() {
            let tried = network.mesh.connect(record.number, &parse_all(&record.addresses)).await;
            if tried.is_err_and(|error| error.says_that_life_is_over()) {
                return self.end_of_life();
            }
        }
    }

    /// A stream for the routed frames of a task to another host; none when that is out of the machine.
    pub async fn open_stream(self: &Rc<Shell>, host: u32, header: Bytes) -> Option<StreamSender> {
        let network = self.network()?;
        loop {
            if let Ok(stream) = network.mesh.open_stream(host, header.clone()) {
                return Some(stream);
            }
            let record = self.record_of(host)?;
            if network.mesh.connect(host, &parse_all(&record.addresses)).await.is_err() {
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

/// How many processes of this host run or wait for a processor, over the last minute.
pub(crate) fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}
