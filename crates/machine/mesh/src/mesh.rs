//! The mesh itself: one endpoint, its peers, and what a daemon can ask of it.

use crate::events::{Events, MAX_EVENTS, Waiting};
use crate::keys::{HostName, Identity};
use crate::link::Link;
use crate::meeting::dial::{self, ConnectError, Connected, Tried};
use crate::meeting::greet::{self, NoLink};
use crate::meeting::refusal::{ENDED, RefusalKind};
use crate::meeting::table::Table;
use crate::session::Session;
use crate::socket::{self, plain};
use crate::streams::{StreamError, StreamSender};
use crate::{
    Candidate, Ended, Farewell, Host, Incarnation, MeshEvent, Refusal, Settings, local_candidates,
    meeting::tls,
};
use bytes::Bytes;
use quinn::{ClientConfig, Endpoint, EndpointConfig, Incoming, ServerConfig, TokioRuntime};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::timeout;

/// Handshakes at once before an address must prove that it is its own.
const TRUSTING: usize = 32;
/// Handshakes at once at all.
const MAX_HANDSHAKES: usize = 1024;
/// Refusals remembered, so that each is told once.
const MAX_REFUSALS: usize = 4096;

/// What a mesh cannot do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The port cannot be had.
    #[error(
        "E-BIND: the daemon cannot listen at {address} (UDP): {error}; choose an address of this host \
             and a free port"
    )]
    Bind {
        /// Where.
        address: SocketAddr,
        /// The system's reason.
        error: io::Error,
    },
    /// The keys cannot be used.
    #[error("E-KEYS: the host's keys cannot be used: {0}; add this host again")]
    Keys(String),
    /// Nobody there.
    #[error("E-NOLINK: host {0} is not connected; `parvum hosts -v` shows why")]
    NotConnected(Host),
    /// Over the bound.
    #[error(
        "E-TOOLARGE: a control message of {length} bytes is over the bound of {bound}; send it as a stream"
    )]
    TooLarge {
        /// Its length.
        length: usize,
        /// The bound.
        bound: usize,
    },
    /// The peer does not take what was sent.
    #[error(
        "E-BUSY: {waiting} bytes wait for host {host} already, and the bound is {bound}; try again when \
             it has taken some"
    )]
    Busy {
        /// The peer.
        host: Host,
        /// What waits.
        waiting: usize,
        /// What may wait.
        bound: usize,
    },
    /// The stream could not be opened.
    #[error("E-NOLINK: no stream to host {host}: {error}; `parvum hosts -v` shows the connection")]
    Stream {
        /// The peer.
        host: Host,
        /// Why.
        error: StreamError,
    },
}

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

pub(crate) struct Inner {
    pub settings: Settings,
    pub name: HostName,
    pub endpoint: Endpoint,
    pub table: RefCell<Table>,
    /// A link went up or down.
    pub changed: Notify,
    pub closing: Cell<bool>,
    events: mpsc::Sender<Waiting>,
    inbox: Arc<Semaphore>,
    refused: RefCell<HashSet<(IpAddr, RefusalKind, bool)>>,
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
        let inner = Rc::new(Inner {
            name: identity.name(),
            endpoint,
            table: RefCell::default(),
            changed: Notify::new(),
            closing: Cell::new(false),
            events: sender,
            inbox: Arc::new(Semaphore::new(kibibytes(settings.inbox) as usize)),
            refused: RefCell::default(),
            settings,
        });
        spawn_local(inner.clone().listen());
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

    /// The connections there are.
    pub fn links(&self) -> Vec<LinkRow> {
        let links = self.0.table.borrow().links();
        let row = |link: &Rc<Link>| {
            let stats = link.connection.stats();
            LinkRow {
                host: link.host,
                incarnation: link.incarnation,
                name: link.name.clone(),
                address: link.address(),
                rtt: link.connection.rtt(),
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
    let _ = timeout(inner.settings.detect, link.connection.closed()).await;
    link.connection.close(ENDED, b"");
    link.wait_over().await;
}

fn endpoint(identity: &Identity, settings: &Settings) -> Result<Endpoint, MeshError> {
    let keys = |error: Box<dyn std::error::Error + Send + Sync>| MeshError::Keys(error.to_string());
    let mut server = ServerConfig::with_crypto(Arc::new(tls::server(identity).map_err(keys)?));
    server.transport_config(Arc::new(settings.transport(settings.silence())));
    // Hosts do not wander; one whose address changes is dialled anew.
    server.migration(false);
    let mut client = ClientConfig::new(Arc::new(tls::client(identity).map_err(keys)?));
    // While it dials, silence may last as long as the whole attempt.
    client.transport_config(Arc::new(settings.transport(settings.deadline.max(settings.silence()))));

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

fn kibibytes(bytes: usize) -> u32 {
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX)
}

impl Inner {
    pub fn host(&self) -> Host {
        self.name.host
    }

    /// The link with a host, when it is up.
    pub fn up(&self, host: Host) -> Option<Rc<Link>> {
        self.table.borrow().link(host).filter(|link| link.is_up()).cloned()
    }

    fn session(&self, host: Host) -> Result<Rc<Session>, MeshError> {
        let table = self.table.borrow();
        let parting = table.link(host).is_some_and(|link| link.is_parting());
        table.session(host).filter(|_| !parting).ok_or(MeshError::NotConnected(host))
    }

    /// Room for an event that must not be lost on the way.
    pub async fn room_for_event(&self) -> Option<mpsc::Permit<'_, Waiting>> {
        self.events.reserve().await.ok()
    }

    pub async fn wait_up(&self, host: Host) -> Rc<Link> {
        loop {
            let changed = self.changed.notified();
            if let Some(link) = self.up(host) {
                return link;
            }
            changed.await;
        }
    }

    pub async fn emit(&self, event: Waiting) {
        // A daemon that dropped its end wants to know nothing.
        let _ = self.events.send(event).await;
    }

    /// Waits until the inbox has room for a message of that length.
    pub async fn inbox_room(&self, length: usize) -> Option<OwnedSemaphorePermit> {
        // Even one that is longer than the whole inbox passes, alone.
        let share = kibibytes(length).min(kibibytes(self.settings.inbox));
        self.inbox.clone().acquire_many_owned(share).await.ok()
    }

    async fn listen(self: Rc<Self>) {
        let mut handshakes = JoinSet::new();
        loop {
            tokio::select! {
                incoming = self.endpoint.accept() => {
                    let Some(incoming) = incoming else { return };
                    if handshakes.len() >= MAX_HANDSHAKES {
                        incoming.refuse();
                    } else if handshakes.len() >= TRUSTING && incoming.may_retry() {
                        // Under a flood, only who can be answered costs us a handshake.
                        let _ = incoming.retry();
                    } else {
                        let (inner, limit) = (self.clone(), self.settings.deadline);
                        handshakes.spawn_local(async move { timeout(limit, inner.receive(incoming)).await });
                    }
                }
                Some(_) = handshakes.join_next() => {}
            }
        }
    }

    async fn receive(self: Rc<Self>, incoming: Incoming) {
        let from = plain(incoming.remote_address());
        let heard = async {
            let connecting = incoming.accept().map_err(|error| greet::from_quic(&error))?;
            let connection = connecting.await.map_err(|error| greet::from_quic(&error))?;
            greet::listen(&self, connection).await
        };
        if let Err(NoLink::Refused(why)) = heard.await {
            self.report(from, why);
        }
    }

    /// Tells of a refusal, once for each address, reason and end that refuses.
    fn report(&self, from: SocketAddr, why: Refusal) {
        // These are part of an ordinary day.
        if matches!(why.kind, RefusalKind::Duplicate | RefusalKind::GoingDown) {
            return;
        }
        let mut refused = self.refused.borrow_mut();
        let known = (from.ip(), why.kind, why.by_peer);
        if refused.contains(&known) {
            return;
        }
        if refused.len() >= MAX_REFUSALS {
            refused.clear();
        }
        // When many events wait already, its next attempt is told instead.
        if self.events.try_send((MeshEvent::Refused { from, why }, None)).is_ok() {
            refused.insert(known);
        }
    }
}
