//! Messages between the daemons of a machine: the shell connects, sends, receives, and answers for hosts out of reach.

use crate::daemon::hosts::network::{Entry, Network, NetworkError, parse_all};
use crate::daemon::shell::Shell;
use crate::daemon::tasks::relay;
use crate::state::Input;
use bytes::Bytes;
use parvum_mesh::{Ended, Events, Farewell, MeshEvent, RefusalKind, StreamSender};
use parvum_wire::control::{Between, ErrorKind, Event, Failure, OutputNews, Reply};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// After that time a host that could not be reached is tried again.
const AGAIN: Duration = Duration::from_millis(200);

/// Whether somebody waits for the answer.
fn is_question(word: &Between) -> bool {
    // The agreement asks again by itself.
    matches!(word, Between::Ask { .. } | Between::Start(_) | Between::Agreement(_))
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
        self.start_to_agree(true);
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
        self.take_steps(&network);
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
                MeshEvent::Doubtful { host } => self.input(Input::HostDoubtful(host)),
                MeshEvent::Refused { why, .. } if why.says_that_life_is_over() => self.end_of_life(),
                MeshEvent::Refused { from, why } => self.log.refusal("stranger", &format!("{from}: {why}")),
                _ => {}
            }
        }
    }

    fn hear(self: &Rc<Shell>, network: &Network, host: u32, mut word: Between) {
        // Where a task of that host listens it knows but for the address that leads there: that is
        // the one over which the daemons talk.
        if let Between::Answer { reply: Ok(Reply::Listener { addr, .. }), .. } = &mut word
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
            return self.on_agreement(host, piece);
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

    /// Watches the hosts that this daemon has to check from now on, and connects with them.
    pub(super) fn watch_hosts(self: &Rc<Shell>, network: &Rc<Network>) {
        if let Some(hosts) = self.take_watched() {
            network.mesh.watch(hosts);
        }
        for host in network.mesh.unconnected() {
            self.connect_again(network, host);
        }
    }

    /// Asks these hosts for a sign of life, as far as they are connected.
    pub(crate) fn probe(&self, hosts: &[u32]) {
        if let Some(network) = self.network() {
            hosts.iter().for_each(|host| network.mesh.probe(*host));
        }
    }

    /// Connects with all hosts of the machine.
    pub(crate) fn call_hosts(self: &Rc<Shell>) {
        let Some(network) = self.network() else { return };
        let (own, _, _) = self.identity();
        for host in self.hosts().into_iter().map(|record| record.number).filter(|host| *host != own) {
            if !network.mesh.is_up(host) {
                self.connect_again(&network, host);
            }
        }
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

    /// The others have gone on without this host, which may never have heard that it was one of them. It can be added again.
    pub(super) fn end_of_life(self: &Rc<Shell>) {
        self.log.line("the others have gone on without this host: it ends");
        self.input(Input::Removed);
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
