//! Candidates: what answers is kept, and what every one did is remembered.

use crate::{Machine, Node, run, settings};
use parvum_mesh::{Outcome, Settings};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}

/// Nobody listens there any more.
fn closed() -> SocketAddr {
    socket().1
}

#[test]
fn working_address_is_kept_after_dead_ones() {
    run(async {
        let machine = Machine::new();
        let (mut a, mut b) = (machine.node(0), machine.node(1));
        let (_mute, silent) = socket();
        // a listens on IPv4 only: it has no way there.
        let unreachable = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), b.port());
        let candidates = [silent, unreachable, closed(), b.address()];
        let connected = a.connect(1, &candidates).await.expect("connected");
        assert_eq!(connected.address, b.address());
        let tried = connected.tried;
        assert_eq!(tried.iter().map(|one| one.address).collect::<Vec<_>>(), candidates);
        assert!(matches!(tried[0].outcome, Outcome::Silent(_)), "{tried:?}");
        assert!(matches!(tried[1].outcome, Outcome::Unreachable(_)), "{tried:?}");
        assert_eq!(tried[2].outcome, Outcome::Closed);
        assert!(matches!(tried[3].outcome, Outcome::Kept(_)), "{tried:?}");
        assert_eq!(a.tried(1), tried);
        assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
    });
}

#[test]
fn connect_error_names_each_dead_address() {
    run(async {
        let machine = Machine::new();
        let deadline = Duration::from_millis(700);
        let a = Node::open(machine.identity(0, 1), Settings { deadline, ..settings() });
        let ((_mute, silent), closed) = (socket(), closed());
        let error = a.connect(1, &[silent, closed]).await.expect_err("nobody is there");
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("E-UNREACHED: no connection with host 1: {silent} silent for ")),
            "{text}"
        );
        assert!(
            text.contains(&format!(", {closed} nothing listens there; help: see that the host is up")),
            "{text}"
        );
        assert_eq!(a.tried(1), error.tried);
        let none = a.connect(1, &[]).await.expect_err("nowhere");
        assert!(none.to_string().contains("no address of it is known"), "{none}");
    });
}

#[test]
fn connect_to_closed_ports_fails_without_wait() {
    run(async {
        let machine = Machine::new();
        // The test would hang at this deadline.
        let deadline = Duration::from_secs(3600);
        let a = Node::open(machine.identity(0, 1), Settings { deadline, ..settings() });
        let error = a.connect(1, &[closed()]).await.expect_err("nobody is there");
        assert_eq!(error.tried[0].outcome, Outcome::Closed);
    });
}

#[test]
fn host_is_reachable_at_each_of_its_addresses() {
    run(async {
        let machine = Machine::new();
        let everywhere = || Settings { bind: Ipv6Addr::UNSPECIFIED.into(), ..settings() };
        let b = Node::open(machine.identity(1, 1), everywhere());
        for (host, candidate) in b.candidates().expect("listed").into_iter().enumerate() {
            let a = Node::open(machine.identity(host as u32 + 2, 1), everywhere());
            let connected = a.connect(1, &[candidate.address]).await;
            assert_eq!(connected.expect("connected").address, candidate.address, "{candidate:?}");
        }
    });
}
