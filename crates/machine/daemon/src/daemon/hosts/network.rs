//! The daemon's connections with the daemons of other hosts.
//!
//! There are none, and nothing listens, until the first host is added. Words to a host that is not
//! connected wait until it is; when it cannot be reached its questions are answered with that. What is on its way when
//! a connection breaks goes on over the next one (`crates/machine/mesh/src/session.rs`), which is made at once.

use crate::daemon::life::options::Options;
use parvum_mesh::keys::{Authority, HostKeys, Identity, KeyError, SignRequest};
use parvum_mesh::{Events, Mesh, MeshError, Settings};
use parvum_wire::Tid;
use parvum_wire::control::{Between, LinkRow};
use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use tokio::sync::Semaphore;

/// So many are started at the same time: each takes a process and its memory here.
const AT_ONCE: usize = 128;

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
    pub(super) waiting: RefCell<HashMap<u32, Vec<Between>>>,
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

/// Addresses as they were written down.
pub(crate) fn parse_all(addresses: &[String]) -> Vec<SocketAddr> {
    addresses.iter().filter_map(|text| text.parse().ok()).collect()
}
