//! How long a control message takes: a look by hand, not a test.

use crate::{Machine, Node, settings};
use bytes::Bytes;
use std::time::Instant;

/// Two threads, each with its own runtime, as two daemons have:
/// `cargo test --release -p parvum-mesh -- --ignored --nocapture half_round_trip`
#[test]
#[ignore = "measures; proves nothing"]
fn half_round_trip() {
    const ROUNDS: u32 = 20_000;
    let machine = Machine::new();
    let (first, second) = (machine.identity(0, 1), machine.identity(1, 1));
    let (tell, hear) = std::sync::mpsc::channel();
    let echo = std::thread::spawn(move || {
        crate::run(async move {
            let mut b = Node::open(second, settings());
            tell.send(b.address()).expect("told");
            b.up().await;
            for _ in 0..2 * ROUNDS {
                let (host, bytes) = b.message().await;
                b.send(host, bytes.into()).expect("sent");
            }
            b.down().await;
        });
    });
    crate::run(async move {
        let mut a = Node::open(first, settings());
        a.connect(1, &[hear.recv().expect("told")]).await.expect("connected");
        a.up().await;
        let message = Bytes::from(vec![1; 64]);
        for round in ["warm", "measured"] {
            let began = Instant::now();
            for _ in 0..ROUNDS {
                a.send(1, message.clone()).expect("sent");
                a.message().await;
            }
            let half = began.elapsed().as_secs_f64() / f64::from(2 * ROUNDS) * 1e6;
            println!("{round}: 64 bytes, half round trip {half:.1} us");
        }
        a.mesh.close(1, parvum_mesh::Farewell::Leaving).await;
    });
    echo.join().expect("the echo ends");
}

/// One stream between two threads.
#[test]
#[ignore = "measures; proves nothing"]
fn bandwidth() {
    const PIECES: usize = 1024;
    let machine = Machine::new();
    let (first, second) = (machine.identity(0, 1), machine.identity(1, 1));
    let (tell, hear) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        crate::run(async move {
            let mut b = Node::open(second, settings());
            tell.send(b.address()).expect("told");
            b.up().await;
            let parvum_mesh::MeshEvent::Stream { mut reader, .. } = b.next().await else {
                panic!("no stream")
            };
            let mut got = 0;
            while let Some(bytes) = reader.next(usize::MAX).await.expect("whole") {
                got += bytes.len();
            }
            assert_eq!(got, PIECES << 20);
            b.down().await;
        });
    });
    crate::run(async move {
        let mut a = Node::open(first, settings());
        a.connect(1, &[hear.recv().expect("told")]).await.expect("connected");
        a.up().await;
        let mut stream = a.open_stream(1, Bytes::new()).await.expect("opened");
        let piece = Bytes::from(vec![1; 1 << 20]);
        let began = Instant::now();
        for _ in 0..PIECES {
            stream.send(piece.clone()).await.expect("sent");
        }
        stream.finish_and_wait().await.expect("arrived");
        println!("1 GiB at {:.2} GB/s", (PIECES << 20) as f64 / began.elapsed().as_secs_f64() / 1e9);
        a.mesh.close(1, parvum_mesh::Farewell::Leaving).await;
    });
    reader.join().expect("the reader ends");
}
