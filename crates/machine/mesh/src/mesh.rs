//! The mesh itself: one endpoint, its peers, and what a daemon can ask of it.

use crate::errors::MeshError;
use crate::events::{Ended, Events, MAX_EVENTS};
use crate::handshake::candidates::{Candidate, local_candidates};
use crate::handshake::dial;
use crate::handshake::listening::listen;
use crate::handshake::outcome::{ConnectError, Connected, Tried};
use crate::handshake::refusal::ENDED;
use crate::handshake::tls;
use crate::inner::Inner;
use crate::keys::{HostName, Identity};
use crate::link::Link;
use crate::settings::Settings;
use crate::socket::{self, plain};
use crate::streams::sender::StreamSender;
use crate::watching::watch;
use crate::wire::frames::Farewell;
use crate::{Host, Incarnation};
use bytes::Bytes;
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_local};
use tokio::time::timeout;

/// One line of the table of connections.
#[derive(Clone, Debug)]
pub struct LinkRow {
    /// The host.
    pub host: Host,
    /// Its incarnation.
    pub incarnation: Incarnation,
    /// Its name, as it says.
    pub name: String,
    /// Where it is reached.
    pub address: SocketAddr,
    /// The round trip now.
    pub rtt: Duration,
    /// Bytes sent and received, everything included.
    pub bytes: (u64, u64),
    /// Datagrams that were lost on the way there.
    pub lost: u64,
}

/// The daemon's end of all its connections. Dropping it ends them without a
/// farewell; [`Mesh::shut_down`] is the polite way.
pub struct Mesh(Rc<Inner>);

impl Mesh {
    /// Opens the endpoint and listens. Call it inside a `LocalSet` or local runtime.
    pub fn open(identity: Identity, mut settings: Settings) -> Result<(Mesh, Events), MeshError> {
        settings.max_message = settings.max_message.min(u32::MAX as usize);
        let endpoint = endpoint(&identity, &settings)?;
        let (sender, receiver) = mpsc::channel(MAX_EVENTS);
        let inner = Rc::new(Inner::new(identity.name(), endpoint, settings, sender));
        spawn_local(listen(inner.clone()));
        spawn_local(watch(Rc::downgrade(&inner), inner.settings.step()));
        Ok((Mesh(inner), Events(receiver)))
    }

    /// The name in our certificate.
    pub fn name(&self) -> HostName {
        self.0.name
    }

    /// The UDP port.
    pub fn port(&self) -> u16 {
        self.0.endpoint.local_addr().map_or(0, |address| address.port())
    }

    /// The addresses under which peers may reach this mesh, best first. The
    /// scope of link-local ones is to be left out when they go to a peer.
    pub fn candidates(&self) -> io::Result<Vec<Candidate>> {
        let mut all = local_candidates(self.port())?;
        let bound = plain(self.0.endpoint.local_addr()?).ip();
        all.retain(|one| match bound {
            IpAddr::V6(ip) if ip.is_unspecified() => true,
            IpAddr::V4(ip) if ip.is_unspecified() => one.address.is_ipv4(),
            ip => one.address.ip() == ip,
        });
        Ok(all)
    }

    /// Connects with a host, over whichever candidate answers first. When
    /// there is a connection already, that one is returned.
    pub async fn connect(&self, host: Host, candidates: &[SocketAddr]) -> Result<Connected, ConnectError> {
        dial::connect(&self.0, host, candidates).await
    }

    /// Whether a host is connected.
    pub fn is_up(&self, host: Host) -> bool {
        self.0.up(host).is_some()
    }

    /// What each candidate of a host did when it was last dialled.
    pub fn tried(&self, host: Host) -> Vec<Tried> {
        self.0.table.borrow().tried(host)
    }

    /// Sends a control message; it does not wait. Messages to one life of a host arrive in order, once, over as many
    /// connections as it takes: what was sent and not told there is sent again when the host, if it lives, is
    /// connected again. They are gone with a farewell, or when a later life is required.
    pub fn send(&self, host: Host, bytes: Bytes) -> Result<(), MeshError> {
        let (length, bound) = (bytes.len(), self.0.settings.max_message);
        if length > bound {
            return Err(MeshError::TooLarge { length, bound });
        }
        self.0.session(host)?.send(bytes, self.0.settings.outbox)
    }

    /// Opens a stream for bulk data; `header` is what the peer gets with
    /// [`MeshEvent::Stream`]. While the peer has all the streams open that it allows, nothing is sent.
    /// Like messages, a stream goes on where it was when a connection is replaced by another.
    pub fn open_stream(&self, host: Host, header: Bytes) -> Result<StreamSender, MeshError> {
        let session = self.0.session(host)?;
        let opened = StreamSender::begin(&session, header, self.0.settings.stream_window);
        opened.map_err(|error| MeshError::Stream { host, error })
    }

    /// Refuses incarnations of a host below this one from now on, and drops a
    /// connection with one: for hosts of which others brought news.
    pub fn require(&self, host: Host, incarnation: Incarnation) {
        if let Some(old) = self.0.table.borrow_mut().require(host, incarnation) {
            old.replace(Ended::Restarted);
        }
    }

    /// Ends the connection with a host: control messages sent before arrive,
    /// and streams that ended with [`StreamSender::finish_and_wait`]; then the
    /// reason. Others are cut, and their readers see it. Returns when [`MeshEvent::Down`] has been queued; the events
    /// must be taken meanwhile.
    pub async fn close(&self, host: Host, why: Farewell) {
        // Of this life: a later one may connect meanwhile.
        let session = self.0.table.borrow().session(host);
        let link = self.0.table.borrow().link(host).cloned();
        if let Some(link) = link {
            part(&self.0, link, why).await;
        }
        if let Some(session) = session {
            session.end();
        }
    }

    /// Checks the life of these hosts all the time from now on, as far as they are connected, and of no others.
    pub fn watch(&self, hosts: BTreeSet<Host>) {
        *self.0.watched.borrow_mut() = hosts;
    }

    /// The watched hosts that are not connected.
    pub fn unconnected(&self) -> Vec<Host> {
        self.0.watched.borrow().iter().copied().filter(|host| self.0.up(*host).is_none()).collect()
    }

    /// Asks a host for a sign of life now, if it is connected: it answers, or is [`crate::MeshEvent::Down`] soon.
    pub fn probe(&self, host: Host) {
        if let Some(link) = self.0.up(host) {
            link.probe(self.0.host());
        }
    }

    /// The time between two steps: a fifth of [`Settings::detect`].
    pub fn step(&self) -> Duration {
        self.0.settings.step()
    }

    /// Calls this five times in each [`Settings::detect`] from now on: a daemon needs no second clock.
    pub fn at_each_step(&self, beat: impl Fn() + 'static) {
        *self.0.beat.borrow_mut() = Some(Box::new(beat));
    }

    /// The connections there are.
    pub fn links(&self) -> Vec<LinkRow> {
        let links = self.0.table.borrow().links();
        let row = |link: &Rc<Link>| {
            let stats = link.carrier.connection.stats();
            LinkRow {
                host: link.host,
                incarnation: link.incarnation,
                name: link.name.clone(),
                address: link.address(),
                rtt: link.carrier.connection.rtt(),
                bytes: (stats.udp_tx.bytes, stats.udp_rx.bytes),
                lost: stats.path.lost_packets,
            }
        };
        links.iter().filter(|link| link.is_up()).map(row).collect()
    }

    /// Says farewell to everybody and closes the endpoint. The events must be
    /// taken meanwhile.
    pub async fn shut_down(self, why: Farewell) {
        self.0.closing.set(true);
        let mut parting = JoinSet::new();
        for link in self.0.table.borrow().links() {
            let inner = self.0.clone();
            parting.spawn_local(async move { part(&inner, link, why).await });
        }
        while parting.join_next().await.is_some() {}
        self.0.table.borrow().end_sessions();
        self.0.endpoint.close(ENDED, b"");
        let _ = timeout(self.0.settings.detect, self.0.endpoint.wait_idle()).await;
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.0.closing.set(true);
        self.0.endpoint.close(ENDED, b"");
        self.0.table.borrow().end_sessions();
    }
}

/// The peer ends the connection when it has read everything; one that does
/// not is left.
async fn part(inner: &Rc<Inner>, link: Rc<Link>, why: Farewell) {
    link.say_farewell(why);
    let _ = timeout(inner.settings.detect, link.carrier.connection.closed()).await;
    link.carrier.connection.close(ENDED, b"");
    link.wait_over().await;
}

fn endpoint(identity: &Identity, settings: &Settings) -> Result<Endpoint, MeshError> {
    let keys = |error: Box<dyn std::error::Error + Send + Sync>| MeshError::Keys(error.to_string());
    let mut server = ServerConfig::with_crypto(Arc::new(tls::server(identity).map_err(keys)?));
    server.transport_config(Arc::new(settings.transport()));
    // Hosts do not wander; one whose address changes is dialled anew.
    server.migration(false);
    let mut client = ClientConfig::new(Arc::new(tls::client(identity).map_err(keys)?));
    client.transport_config(Arc::new(settings.transport()));

    let address = SocketAddr::new(settings.bind, settings.port);
    let bind = |error| MeshError::Bind { address, error };
    let runtime = Arc::new(TokioRuntime);
    let mut socket = match &settings.network {
        Some(network) => network.open(),
        None => socket::open(settings.bind, settings.port).and_then(socket::watched),
    }
    .map_err(bind)?;
    if let Some(faults) = &settings.faults {
        socket = faults.wrap(socket);
    }
    let config = EndpointConfig::default();
    let mut endpoint =
        Endpoint::new_with_abstract_socket(config, Some(server), socket, runtime).map_err(bind)?;
    endpoint.set_default_client_config(client);
    Ok(endpoint)
}
