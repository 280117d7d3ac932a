//! Bad networks.

use crate::{Machine, Node, run, settings};
use bytes::Bytes;
use parvum_mesh::{Ended, Faults, MeshEvent, Rates, Settings};
use std::time::Duration;

#[test]
fn ten_thousand_messages_through_loss_delay_and_reordering() {
    run(async {
        let machine = Machine::new();
        let faults = [Faults::new(11), Faults::new(22)];
        let rates = Rates { loss: 0.05, delay: Duration::from_millis(1), jitter: Duration::from_millis(3) };
        let [mut a, mut b] = [0, 1].map(|host| {
            faults[host].set(rates);
            let settings = Settings { faults: Some(faults[host].clone()), ..settings() };
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
fn a_cut_is_noticed_at_both_ends_and_healed() {
    run(async {
        let machine = Machine::new();
        let faults = Faults::new(3);
        let quick = |faults| Settings { detect: Duration::from_secs(1), faults, ..settings() };
        let mut a = Node::open(machine.identity(0, 1), quick(Some(faults.clone())));
        let mut b = Node::open(machine.identity(1, 1), quick(None));
        a.connect(1, &[b.address()]).await.expect("connected");
        assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
        for round in 0..3 {
            faults.cut(b.address());
            let began = std::time::Instant::now();
            // Whoever notices first dials at once, though the other may still
            // hold the dead connection.
            let (_, why) = if round % 2 == 0 { b.down().await } else { a.down().await };
            assert!(matches!(&why, Ended::Lost(how) if how.contains("no word")), "{why:?}");
            assert!(began.elapsed() < Duration::from_secs(10), "detected after {:?}", began.elapsed());
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

#[test]
fn an_idle_connection_stays_up() {
    run(async {
        let machine = Machine::new();
        // Many times the bound; generous beside a busy machine.
        let quick = || Settings { detect: Duration::from_secs(1), ..settings() };
        let (mut a, mut b) = crate::pair(&machine, quick).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
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
