//! Meshes that talk over real UDP, on 127.0.0.1 and ::1, at ports the system chooses; in bad weather over memory.

mod keys;
mod latency;
mod refusals;
mod streams;
mod talk;
mod ways;
mod weather;

use parvum_mesh::keys::{Authority, HostKeys, Identity, SignRequest};
use parvum_mesh::{Events, Mesh, MeshEvent, Settings};
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::time::Duration;
use tokio::runtime::LocalOptions;
use tokio::time::timeout;

/// Longer than anything takes on a busy machine: only what hangs meets it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a test on one thread, as the daemon runs. A `LocalSet` would do; a
/// local runtime spares the wake-ups between the set and its runtime.
fn run(test: impl Future<Output = ()> + 'static) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build_local(LocalOptions::default()).expect("a runtime");
    runtime.block_on(async {
        let test = tokio::task::spawn_local(test);
        timeout(PATIENCE, test).await.expect("the test hangs").expect("the test passes");
    });
}

/// As [`run`], but in virtual time: the clock goes on only when nobody has anything to do, and then straight to the
/// next moment at which somebody has. Nothing depends on how busy the machine is. The meshes must be on a
/// [`MemoryNetwork`], whose datagrams take no time of the kernel's.
fn run_in_virtual_time(test: impl Future<Output = ()> + 'static) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime =
        runtime.enable_time().start_paused(true).build_local(LocalOptions::default()).expect("a runtime");
    runtime.block_on(async {
        let test = tokio::task::spawn_local(test);
        timeout(60 * PATIENCE, test).await.expect("the test hangs").expect("the test passes");
    });
}

/// Meshes of one machine.
struct Machine(Authority);

impl Machine {
    fn new() -> Machine {
        Machine(Authority::make().expect("an authority"))
    }

    fn identity(&self, host: u32, incarnation: u64) -> Identity {
        let keys = HostKeys::make().expect("keys");
        let request = SignRequest::new(keys.public(), host, incarnation, "host");
        Identity::new(keys, self.0.sign(&request).expect("a certificate")).expect("an identity")
    }

    fn node(&self, host: u32) -> Node {
        Node::open(self.identity(host, 1), settings())
    }
}

/// On 127.0.0.1, and patient: nobody is to be down because the machine is busy.
fn settings() -> Settings {
    Settings {
        bind: Ipv4Addr::LOCALHOST.into(),
        detect: Duration::from_secs(20),
        deadline: Duration::from_secs(20),
        ..Settings::default()
    }
}

/// A mesh and its events.
struct Node {
    mesh: Mesh,
    events: Events,
}

impl Deref for Node {
    type Target = Mesh;
    fn deref(&self) -> &Mesh {
        &self.mesh
    }
}

impl Node {
    fn open(identity: Identity, settings: Settings) -> Node {
        let (mesh, events) = Mesh::open(identity, settings).expect("a mesh");
        // The tests have no more hosts.
        mesh.watch((0..10).collect());
        Node { mesh, events }
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port()).into()
    }

    /// The next event, without the doubts that come before each loss.
    async fn next(&mut self) -> MeshEvent {
        loop {
            match self.events.next().await.expect("an event") {
                MeshEvent::Doubtful { .. } => {}
                other => return other,
            }
        }
    }

    async fn up(&mut self) -> (u32, u64) {
        match self.next().await {
            MeshEvent::Up { host, incarnation, .. } => (host, incarnation),
            other => panic!("not up: {other:?}"),
        }
    }

    async fn message(&mut self) -> (u32, Vec<u8>) {
        match self.next().await {
            MeshEvent::Message { host, bytes } => (host, bytes.to_vec()),
            other => panic!("no message: {other:?}"),
        }
    }

    async fn down(&mut self) -> (u32, parvum_mesh::Ended) {
        match self.next().await {
            MeshEvent::Down { host, why, .. } => (host, why),
            other => panic!("not down: {other:?}"),
        }
    }

    async fn refused(&mut self) -> parvum_mesh::Refusal {
        match self.next().await {
            MeshEvent::Refused { why, .. } => why,
            other => panic!("nobody refused: {other:?}"),
        }
    }
}

/// Two meshes that are connected; host 0 dialled.
async fn pair(machine: &Machine, settings: impl Fn() -> Settings) -> (Node, Node) {
    let mut a = Node::open(machine.identity(0, 1), settings());
    let mut b = Node::open(machine.identity(1, 1), settings());
    a.connect(1, &[b.address()]).await.expect("connected");
    assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
    (a, b)
}
