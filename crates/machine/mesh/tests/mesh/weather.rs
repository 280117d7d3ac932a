//! Bad networks, in virtual time: a second passes when everybody has waited for it.

use crate::{Machine, Node, run_in_virtual_time as run, settings};
use bytes::Bytes;
use parvum_mesh::{Ended, Farewell, Faults, MemoryNetwork, MeshEvent, Rates, Settings};
use std::time::Duration;
use tokio::time::Instant;

/// The time after which the meshes here call a silent peer lost.
const DETECT: Duration = Duration::from_secs(1);

fn on(network: &MemoryNetwork, detect: Duration, faults: Option<&Faults>) -> Settings {
    Settings { detect, faults: faults.cloned(), network: Some(network.clone()), ..settings() }
}

#[test]
fn messages_survive_loss_delay_and_reordering() {
    run(async {
        let (machine, network) = (Machine::new(), MemoryNetwork::new());
        let faults = [Faults::new(11), Faults::new(22)];
        let rates = Rates { loss: 0.05, delay: Duration::from_millis(1), jitter: Duration::from_millis(3) };
        let [mut a, mut b] = [0, 1].map(|host| {
            faults[host].set(rates);
            let settings = on(&network, settings().detect, Some(&faults[host]));
            Node::open(machine.identity(host as u32, 1), settings)
        });
        a.connect(1, &[b.address()]).await.expect("connected");
        assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
        // Longer than a number, so that it takes many datagrams.
        let message = |n: u32| n.to_le_bytes().repeat(50);
        for n in 0..10_000u32 {
            a.send(1, message(n).into()).expect("sent");
            b.send(0, message(n).into()).expect("sent");
        }
        for n in 0..10_000u32 {
            assert_eq!(b.message().await, (0, message(n)));
            assert_eq!(a.message().await, (1, message(n)));
        }
        for (lost, delayed) in faults.map(|faults| faults.counts()) {
            assert!(
                lost > 20 && delayed > 10 * lost,
                "{lost} lost, {delayed} delayed: that was good weather"
            );
        }
    });
}

#[test]
fn cut_is_noticed_at_both_ends_and_healed() {
    run(async {
        let (mut a, mut b, faults) = cuttable().await;
        for round in 0..3 {
            faults.cut(b.address());
            let began = Instant::now();
            // Whoever notices first dials at once, though the other may still
            // hold the dead connection.
            let (_, why) = if round % 2 == 0 { b.down().await } else { a.down().await };
            assert!(matches!(&why, Ended::Lost(how) if how.contains("no word")), "{why:?}");
            assert!(began.elapsed() <= DETECT, "detected after {:?}", began.elapsed());
            faults.heal(b.address());
            if round % 2 == 0 {
                b.connect(0, &[a.address()]).await.expect("connected");
                assert_eq!((a.down().await.0, a.up().await, b.up().await), (1, (1, 1), (0, 1)));
            } else {
                a.connect(1, &[b.address()]).await.expect("connected");
                assert_eq!((b.down().await.0, b.up().await, a.up().await), (0, (0, 1), (1, 1)));
            }
            a.send(1, Bytes::from_static(b"again")).expect("sent");
            assert_eq!(b.message().await, (0, b"again".to_vec()));
        }
    });
}

/// Two meshes, and what cuts the first off; it notices within a second.
async fn cuttable() -> (Node, Node, Faults) {
    let (machine, network) = (Machine::new(), MemoryNetwork::new());
    let faults = Faults::new(5);
    let mut a = Node::open(machine.identity(0, 1), on(&network, DETECT, Some(&faults)));
    let mut b = Node::open(machine.identity(1, 1), on(&network, DETECT, None));
    a.connect(1, &[b.address()]).await.expect("connected");
    assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
    (a, b, faults)
}

#[test]
fn unwatched_connection_is_quiet_and_is_checked_when_it_is_used() {
    run(async {
        let (mut a, b, faults) = cuttable().await;
        [&a, &b].into_iter().for_each(|node| node.watch(Default::default()));
        // In virtual time: the greeting and its confirmations are over.
        tokio::time::sleep(5 * DETECT).await;
        let bytes = |node: &Node| node.links()[0].bytes;
        let before = (bytes(&a), bytes(&b));
        // The silence itself is tested, for less time than QUIC's own rare packets.
        tokio::time::sleep(10 * DETECT).await;
        assert_eq!((bytes(&a), bytes(&b)), before, "nobody has said anything");
        faults.cut(b.address());
        let silence = tokio::time::timeout(5 * DETECT, a.events.next()).await;
        assert!(silence.is_err(), "{silence:?}");
        // A message owes an answer, and so does a question.
        let began = Instant::now();
        a.send(1, Bytes::from_static(b"there?")).expect("sent");
        let doubt = a.events.next().await;
        assert!(matches!(doubt, Some(MeshEvent::Doubtful { host: 1 })), "{doubt:?}");
        assert!(matches!(a.down().await, (1, Ended::Lost(_))));
        assert!(began.elapsed() <= DETECT, "detected after {:?}", began.elapsed());
    });
}

#[test]
fn probed_host_answers_or_is_lost_in_time() {
    run(async {
        let (mut a, b, faults) = cuttable().await;
        [&a, &b].into_iter().for_each(|node| node.watch(Default::default()));
        a.probe(1);
        a.probe(7);
        let silence = tokio::time::timeout(5 * DETECT, a.events.next()).await;
        assert!(silence.is_err(), "it has answered: {silence:?}");
        faults.cut(b.address());
        let began = Instant::now();
        a.probe(1);
        assert!(matches!(a.down().await, (1, Ended::Lost(how)) if how.contains("no word")));
        assert!(began.elapsed() <= DETECT, "detected after {:?}", began.elapsed());
    });
}

#[test]
fn messages_survive_reconnection_once_and_in_order() {
    run(async {
        let (mut a, mut b, faults) = cuttable().await;
        let mut sent = 0u32;
        let mut heard = [0u32; 2];
        for round in 0..4 {
            // Some are on their way, or told and not acknowledged, when the cut comes; some are sent into it.
            for part in 0..2 {
                for _ in 0..300 {
                    a.send(1, sent.to_le_bytes().to_vec().into()).expect("sent");
                    b.send(0, sent.to_le_bytes().to_vec().into()).expect("sent");
                    sent += 1;
                }
                if part == 0 {
                    tokio::time::sleep(Duration::from_micros(200 * round)).await;
                    faults.cut(b.address());
                }
            }
            let mut downs = 0;
            for (node, heard) in [&mut a, &mut b].into_iter().zip(&mut heard) {
                loop {
                    match node.next().await {
                        MeshEvent::Message { bytes, .. } => {
                            assert_eq!(bytes[..], heard.to_le_bytes(), "round {round}");
                            *heard += 1;
                        }
                        MeshEvent::Down { .. } => break downs += 1,
                        other => panic!("{other:?}"),
                    }
                }
            }
            assert_eq!(downs, 2);
            assert!(heard.iter().any(|heard| *heard < sent), "the cut came too late to matter");
            faults.heal(b.address());
            a.connect(1, &[b.address()]).await.expect("connected");
            assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
            for (node, heard) in [&mut a, &mut b].into_iter().zip(&mut heard) {
                while *heard < sent {
                    assert_eq!(node.message().await.1, heard.to_le_bytes(), "round {round}");
                    *heard += 1;
                }
            }
        }
    });
}

#[test]
fn streams_survive_reconnection_whole() {
    const LENGTH: usize = 6 << 20;
    run(async {
        let (mut a, mut b, faults) = cuttable().await;
        let byte = |at: usize| (at % 251) as u8;
        let mut sender = a.open_stream(1, Bytes::from_static(b"long")).expect("opened");
        let sending = tokio::task::spawn_local(async move {
            for at in (0..LENGTH).step_by(10_000) {
                let piece: Vec<u8> = (at..LENGTH.min(at + 10_000)).map(byte).collect();
                sender.send(piece.into()).await.expect("sent");
            }
            sender.finish();
        });
        let MeshEvent::Stream { header, mut reader, .. } = b.next().await else { panic!("no stream") };
        assert_eq!(&header[..], b"long");
        let reading = tokio::task::spawn_local(async move {
            let mut at = 0;
            while let Some(bytes) = reader.next(50_000).await.expect("whole") {
                bytes.iter().for_each(|got| {
                    assert_eq!(*got, byte(at), "at {at}");
                    at += 1;
                });
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            at
        });
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(!reading.is_finished(), "the cut came too late to matter");
            faults.cut(b.address());
            assert!(matches!((a.down().await, b.down().await), ((1, _), (0, _))));
            faults.heal(b.address());
            b.connect(0, &[a.address()]).await.expect("connected");
            assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
        }
        sending.await.expect("sent");
        assert_eq!(reading.await.expect("read"), LENGTH);
        // Its number is not taken for the old one's.
        a.open_stream(1, Bytes::from_static(b"next")).expect("opened").finish();
        assert!(matches!(b.next().await, MeshEvent::Stream { header, .. } if &header[..] == b"next"));
    });
}

#[test]
fn session_ends_when_newer_incarnation_is_required() {
    run(async {
        let (mut a, mut b, faults) = cuttable().await;
        let mut sender = a.open_stream(1, Bytes::new()).expect("opened");
        faults.cut(b.address());
        assert!(matches!((a.down().await, b.down().await), ((1, _), (0, _))));
        a.send(1, Bytes::from_static(b"kept")).expect("it may come back");
        a.require(1, 2);
        assert!(matches!(a.send(1, Bytes::new()), Err(parvum_mesh::MeshError::NotConnected(1))));
        assert!(matches!(
            sender.send(Bytes::from_static(b"x")).await,
            Err(parvum_mesh::StreamError::Lost(_))
        ));
    });
}

#[test]
fn newer_incarnation_connects_while_older_one_leaves() {
    run(async {
        let (machine, network) = (Machine::new(), MemoryNetwork::new());
        let faults = Faults::new(6);
        let detect = settings().detect;
        let mut a = Node::open(machine.identity(0, 1), on(&network, detect, Some(&faults)));
        let mut earlier = Node::open(machine.identity(1, 1), on(&network, detect, None));
        a.connect(1, &[earlier.address()]).await.expect("connected");
        assert_eq!((a.up().await, earlier.up().await), ((1, 1), (0, 1)));
        // It will not hear the farewell.
        faults.cut(earlier.address());
        let mut later = Node::open(machine.identity(1, 2), on(&network, detect, None));
        let Node { mesh, events } = &mut a;
        let closing = mesh.close(1, Farewell::Removed);
        let coming = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(mesh.links().is_empty(), "nothing can be sent over what is about to end");
            mesh.connect(1, &[later.address()]).await.expect("connected");
            mesh.send(1, Bytes::from_static(b"welcome")).expect("sent");
            assert_eq!(later.up().await, (0, 1));
            assert_eq!(later.message().await, (0, b"welcome".to_vec()));
            while !matches!(events.next().await, Some(MeshEvent::Up { incarnation: 2, .. })) {}
        };
        tokio::join!(closing, coming);
        mesh.send(1, Bytes::from_static(b"still")).expect("its session lives on");
        assert_eq!(later.message().await, (0, b"still".to_vec()));
    });
}

#[test]
fn idle_connection_stays_up() {
    run(async {
        let (mut a, mut b, _) = cuttable().await;
        tokio::time::sleep(100 * DETECT).await;
        a.send(1, Bytes::from_static(b"still")).expect("sent");
        match b.next().await {
            MeshEvent::Message { bytes, .. } => assert_eq!(&bytes[..], b"still"),
            other => panic!("{other:?}"),
        }
        drop(b);
        let (_, Ended::Lost(how)) = a.down().await else { panic!("not lost") };
        assert!(how.contains("without a farewell"), "{how}");
    });
}
