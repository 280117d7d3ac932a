//! Two meshes, and nothing goes wrong.

use crate::{Machine, Node, pair, run, settings};
use bytes::Bytes;
use parvum_mesh::{Ended, Farewell, MeshError, Settings};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

#[test]
fn meshes_exchange_messages_both_ways() {
    run(async {
        let machine = Machine::new();
        let (mut a, mut b) = pair(&machine, settings).await;
        for n in 0..1000u32 {
            a.send(1, n.to_le_bytes().to_vec().into()).expect("sent");
            b.send(0, Bytes::copy_from_slice(&n.to_be_bytes())).expect("sent");
        }
        b.send(0, Bytes::new()).expect("sent");
        for n in 0..1000u32 {
            assert_eq!(b.message().await, (0, n.to_le_bytes().to_vec()));
            assert_eq!(a.message().await, (1, n.to_be_bytes().to_vec()));
        }
        assert_eq!(a.message().await, (1, Vec::new()));
        let row = &a.links()[0];
        assert_eq!((row.host, row.address), (1, b.address()));
        assert!(row.bytes.0 > 4000 && row.bytes.1 > 4000, "{row:?}");
    });
}

#[test]
fn endpoint_serves_ipv4_and_ipv6() {
    run(async {
        let machine = Machine::new();
        let everywhere = || Settings { bind: Ipv6Addr::UNSPECIFIED.into(), ..settings() };
        for (host, ip) in [(1, Ipv6Addr::LOCALHOST.into()), (2, Ipv4Addr::LOCALHOST.into())] {
            let mut a = Node::open(machine.identity(0, 1), everywhere());
            let mut b = Node::open(machine.identity(host, 1), everywhere());
            let address = SocketAddr::new(ip, b.port());
            let connected = a.connect(host, &[address]).await.expect("connected");
            assert_eq!(connected.address, address);
            assert_eq!((a.up().await.0, b.up().await.0), (host, 0));
            assert!(b.links()[0].address.ip() == ip, "{:?}", b.links());
        }
    });
}

#[test]
fn simultaneous_dials_keep_one_connection() {
    run(async {
        let machine = Machine::new();
        for round in 0..20u32 {
            let (mut a, mut b) = (machine.node(0), machine.node(1));
            let (at_a, at_b) = ([a.address()], [b.address()]);
            let (there, back) = tokio::join!(a.connect(1, &at_b), b.connect(0, &at_a));
            there.expect("connected");
            back.expect("connected");
            a.send(1, Bytes::from_static(b"there")).expect("sent");
            b.send(0, Bytes::from_static(b"back")).expect("sent");
            // One link: up once, and the messages follow on it.
            assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)), "round {round}");
            assert_eq!(b.message().await, (0, b"there".to_vec()), "round {round}");
            assert_eq!(a.message().await, (1, b"back".to_vec()), "round {round}");
            assert_eq!((a.links().len(), b.links().len()), (1, 1));
        }
    });
}

#[test]
fn hosts_that_all_dial_at_once_connect() {
    run(async {
        let machine = Machine::new();
        let mut nodes: Vec<_> = (0..8).map(|host| machine.node(host)).collect();
        let addresses: Vec<_> = nodes.iter().map(Node::address).collect();
        let mut dials = Vec::new();
        for (host, node) in nodes.iter().enumerate() {
            for (peer, address) in addresses.iter().enumerate().filter(|(peer, _)| *peer != host) {
                dials.push(async move { node.connect(peer as u32, &[*address]).await.map(drop) });
            }
        }
        // All in this task, each polled in turn.
        let mut dials: Vec<_> = dials.into_iter().map(Box::pin).collect();
        std::future::poll_fn(|cx| {
            dials.retain_mut(|dial| match dial.as_mut().poll(cx) {
                std::task::Poll::Ready(done) => done.is_err() && panic!("{}", done.unwrap_err()),
                std::task::Poll::Pending => true,
            });
            if dials.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        drop(dials);
        for (host, node) in nodes.iter_mut().enumerate() {
            let mut up = Vec::new();
            for _ in 0..7 {
                up.push(node.up().await.0 as usize);
            }
            up.sort_unstable();
            assert_eq!(up, (0..8).filter(|peer| *peer != host).collect::<Vec<_>>());
            assert_eq!(node.links().len(), 7);
        }
    });
}

#[test]
fn second_connect_reuses_connection() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = pair(&machine, settings).await;
        let again = a.connect(1, &[b.address()]).await.expect("connected");
        assert_eq!(again.address, b.address());
        a.send(1, Bytes::from_static(b"x")).expect("sent");
        assert_eq!(b.message().await, (0, b"x".to_vec()), "no second Up before it");
    });
}

#[test]
fn farewell_follows_messages_with_its_reason() {
    run(async {
        let machine = Machine::new();
        for why in [Farewell::Leaving, Farewell::Removed, Farewell::Restarting] {
            let (mut a, mut b) = pair(&machine, settings).await;
            for n in 0..100u8 {
                a.send(1, vec![n; 10_000].into()).expect("sent");
            }
            let taken = async {
                for n in 0..100u8 {
                    assert_eq!(b.message().await, (0, vec![n; 10_000]));
                }
                assert_eq!(b.down().await, (0, Ended::Farewell(why)));
            };
            tokio::join!(a.mesh.close(1, why), taken);
            assert_eq!(a.down().await, (1, Ended::Closed(why)));
            assert!(matches!(a.send(1, Bytes::new()), Err(MeshError::NotConnected(1))));
            // And again.
            b.connect(0, &[a.address()]).await.expect("connected");
            assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
        }
    });
}

#[test]
fn shutdown_sends_farewell_to_all_peers() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = pair(&machine, settings).await;
        a.mesh.shut_down(Farewell::Leaving).await;
        assert_eq!(b.down().await, (0, Ended::Farewell(Farewell::Leaving)));
    });
}

#[test]
fn messages_beyond_the_bound_are_refused() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = pair(&machine, settings).await;
        let limit = 64 << 20;
        let refused = a.send(1, vec![0; limit + 1].into()).expect_err("too long");
        assert_eq!(
            refused.to_string(),
            "E-TOOLARGE: a control message of 67108865 bytes is over the bound of 67108864; help: send it as a stream"
        );
        let long: Bytes = (0..limit).map(|n| (n % 251) as u8).collect::<Vec<_>>().into();
        a.send(1, long.clone()).expect("sent");
        let (_, got) = b.message().await;
        assert!(got == long, "{} bytes, or others than sent", got.len());
    });
}

#[test]
fn message_beyond_receiver_limit_ends_connection() {
    run(async {
        let machine = Machine::new();
        let mut a = machine.node(0);
        let mut b = Node::open(machine.identity(1, 1), Settings { max_message: 1000, ..settings() });
        a.connect(1, &[b.address()]).await.expect("connected");
        assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
        a.send(1, vec![0; 1001].into()).expect("sent");
        for node in [&mut a, &mut b] {
            let (_, Ended::Lost(how)) = node.down().await else { panic!("not lost") };
            assert!(how.contains("1001 bytes is over the bound of 1000"), "{how}");
        }
    });
}

#[test]
fn outbox_for_slow_peer_is_bounded() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = pair(&machine, || Settings { outbox: 1 << 20, inbox: 1 << 20, ..settings() }).await;
        let (mut sent, mut refused) = (0u32, 0);
        // b takes nothing: its inbox, the windows and the outbox fill up.
        while refused < 3 {
            match a.send(1, vec![0; 100_000].into()) {
                Ok(()) => sent += 1,
                Err(MeshError::Busy { host: 1, waiting, bound }) => {
                    assert!(waiting <= bound && bound == 1 << 20);
                    refused += 1;
                    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                }
                Err(other) => panic!("{other}"),
            }
            assert!(sent < 10_000, "a gigabyte went nowhere");
            tokio::task::yield_now().await;
        }
        // What was accepted arrives.
        for _ in 0..sent {
            assert_eq!(b.message().await.1.len(), 100_000);
        }
    });
}
