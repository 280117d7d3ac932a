//! The state of a mesh that its links and handshakes share.

use crate::Host;
use crate::errors::MeshError;
use crate::events::{MeshEvent, Waiting};
use crate::handshake::refusal::{Refusal, RefusalKind};
use crate::handshake::table::Table;
use crate::keys::HostName;
use crate::link::Link;
use crate::session::Session;
use crate::settings::Settings;
use quinn::Endpoint;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};

/// Refusals remembered, so that each is told once.
const MAX_REFUSALS: usize = 4096;

/// Work of the daemon at each step of a mesh.
pub(crate) type Beat = Box<dyn Fn()>;

pub(crate) struct Inner {
    pub settings: Settings,
    pub name: HostName,
    pub endpoint: Endpoint,
    pub table: RefCell<Table>,
    /// A link went up or down.
    pub changed: Notify,
    pub closing: Cell<bool>,
    /// The hosts whose life is checked all the time.
    pub watched: RefCell<BTreeSet<Host>>,
    /// Called at each step.
    pub beat: RefCell<Option<Beat>>,
    events: mpsc::Sender<Waiting>,
    inbox: Arc<Semaphore>,
    refused: RefCell<HashSet<(IpAddr, RefusalKind, bool)>>,
}

impl Inner {
    pub fn new(
        name: HostName,
        endpoint: Endpoint,
        settings: Settings,
        events: mpsc::Sender<Waiting>,
    ) -> Inner {
        Inner {
            name,
            endpoint,
            table: RefCell::default(),
            changed: Notify::new(),
            closing: Cell::new(false),
            watched: RefCell::default(),
            beat: RefCell::default(),
            events,
            inbox: Arc::new(Semaphore::new(kibibytes(settings.inbox) as usize)),
            refused: RefCell::default(),
            settings,
        }
    }

    pub fn host(&self) -> Host {
        self.name.host
    }

    /// The link with a host, when it is up.
    pub fn up(&self, host: Host) -> Option<Rc<Link>> {
        self.table.borrow().link(host).filter(|link| link.is_up()).cloned()
    }

    pub fn session(&self, host: Host) -> Result<Rc<Session>, MeshError> {
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

    /// Emits an event that may be lost if many events wait: the watch over the links must not wait for the daemon.
    pub fn try_emit(&self, event: MeshEvent) -> bool {
        self.events.try_send((event, None)).is_ok()
    }

    /// Waits until the inbox has room for a message of that length.
    pub async fn inbox_room(&self, length: usize) -> Option<OwnedSemaphorePermit> {
        // Even one that is longer than the whole inbox passes, alone.
        let share = kibibytes(length).min(kibibytes(self.settings.inbox));
        self.inbox.clone().acquire_many_owned(share).await.ok()
    }

    /// Tells of a refusal, once for each address, reason and end that refuses.
    pub fn report(&self, from: SocketAddr, why: Refusal) {
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
        if self.try_emit(MeshEvent::Refused { from, why }) {
            refused.insert(known);
        }
    }
}

fn kibibytes(bytes: usize) -> u32 {
    u32::try_from((bytes / 1024).saturating_add(1)).unwrap_or(u32::MAX)
}
