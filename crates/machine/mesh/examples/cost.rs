//! The cost of a connection between two silent daemons: memory, and processor time with and without checks of the other
//! end's life.
//!
//! `cargo run --release -p parvum-mesh --example cost [MESHES]` connects so many meshes of one process, each with each, and
//! prints what one end of a connection takes; `docs/explanation/large-machines.md` quotes it.

use parvum_mesh::keys::{Authority, HostKeys, Identity, SignRequest};
use parvum_mesh::{Events, Mesh, Settings};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use tokio::runtime::LocalOptions;

const IDLE: Duration = Duration::from_secs(10);
/// Endpoints tell nobody when they have settled; what they take is not to count as a connection's.
const SETTLING: Duration = Duration::from_millis(200);

fn main() {
    let most = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(48);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build_local(LocalOptions::default()).expect("a runtime");
    runtime.block_on(async move {
        let authority = Authority::make().expect("an authority");
        let mut meshes: Vec<Mesh> = (0..most).map(|host| open(&authority, host)).collect();
        // Their endpoints and tasks are there before the first connection.
        tokio::time::sleep(SETTLING).await;
        let (memory, began) = (resident(), Instant::now());
        for at in 0..meshes.len() {
            for other in 0..at {
                let address = (Ipv4Addr::LOCALHOST, meshes[other].port()).into();
                meshes[at].connect(other as u32, &[address]).await.expect("a connection");
            }
        }
        let ends = (most * (most - 1)) as f64;
        let greeting = began.elapsed().as_secs_f64() * 1e6 / ends;
        let memory = (resident() - memory) / ends / 1024.0;
        println!("{ends} ends: {memory:.1} KiB each; {greeting:.0} us to connect");
        println!("nobody watches: {:.1} us of processor in a second for each end", idle_cost(ends).await);
        for (at, mesh) in meshes.iter().enumerate() {
            mesh.watch((0..at as u32).collect());
        }
        println!("one of two watches: {:.1} us of processor in a second for each end", idle_cost(ends).await);
        meshes.clear();
    });
}

/// Microseconds of processor time in a second for each end, while all ends are silent.
async fn idle_cost(ends: f64) -> f64 {
    let busy = processor();
    // The time that is measured.
    tokio::time::sleep(IDLE).await;
    (processor() - busy) / IDLE.as_secs_f64() / ends * 1e6
}

fn open(authority: &Authority, host: u32) -> Mesh {
    let keys = HostKeys::make().expect("keys");
    let certificate =
        authority.sign(&SignRequest::new(keys.public(), host, 1, "host")).expect("a certificate");
    let identity = Identity::new(keys, certificate).expect("an identity");
    let settings = Settings { bind: Ipv4Addr::LOCALHOST.into(), ..Settings::default() };
    let (mesh, events) = Mesh::open(identity, settings).expect("a mesh");
    tokio::task::spawn_local(ignore(events));
    mesh
}

async fn ignore(mut events: Events) {
    while events.next().await.is_some() {}
}

/// Bytes of this process in memory.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: f64 = text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number");
    pages * 4096.0
}

/// Seconds of processor that this process has used.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = text.rsplit(')').next().expect("a name").split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
    // User and system time, in hundredths.
    (ticks(11) + ticks(12)) / 100.0
}
