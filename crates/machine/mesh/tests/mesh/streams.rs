//! Bulk streams beside each other and beside control.

use crate::{Machine, Node, pair, run, settings};
use bytes::Bytes;
use parvum_mesh::{Ended, Farewell, MeshEvent, StreamError, StreamReader};
use std::time::Duration;

async fn stream(node: &mut Node) -> (Bytes, StreamReader) {
    match node.next().await {
        MeshEvent::Stream { header, reader, .. } => (header, reader),
        other => panic!("no stream: {other:?}"),
    }
}

#[test]
fn slow_reader_slows_its_own_stream_only() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = pair(&machine, settings).await;
        let mut slow = a.open_stream(1, Bytes::from_static(b"slow")).expect("opened");
        let (header, mut sleeper) = stream(&mut b).await;
        assert_eq!(&header[..], b"slow");
        // Nobody reads: what fits into the window goes, then the sender waits.
        let piece = Bytes::from(vec![7; 1 << 20]);
        let mut went = 0usize;
        while tokio::time::timeout(Duration::from_millis(500), slow.send(piece.clone())).await.is_ok() {
            went += 1;
            assert!(went < 64, "64 MiB went into a stream that nobody reads");
        }
        // Meanwhile another stream carries much more, and control passes.
        let mut quick = a.open_stream(1, Bytes::from_static(b"quick")).expect("opened");
        let (header, mut reader) = stream(&mut b).await;
        assert_eq!(&header[..], b"quick");
        let writing = async {
            for n in 0..32u8 {
                quick.send(vec![n; 1 << 20].into()).await.expect("sent");
            }
            quick.finish_and_wait().await.expect("arrived");
        };
        let reading = async {
            let mut at = 0usize;
            while let Some(bytes) = reader.next(1 << 16).await.expect("whole") {
                for byte in bytes {
                    assert_eq!(usize::from(byte), at >> 20);
                    at += 1;
                }
            }
            assert_eq!(at, 32 << 20);
        };
        tokio::join!(writing, reading);
        a.send(1, Bytes::from_static(b"control")).expect("sent");
        assert_eq!(b.message().await, (0, b"control".to_vec()));
        // The slow one wakes up and gets all that went.
        drop(slow);
        let mut got = 0;
        let ended = loop {
            match sleeper.next(1 << 20).await {
                Ok(Some(bytes)) => got += bytes.len(),
                other => break other,
            }
        };
        assert_eq!(ended, Err(StreamError::Abandoned), "dropped is not finished, after {got} bytes");
    });
}

#[test]
fn sender_fails_when_reader_gives_up() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = pair(&machine, settings).await;
        let mut sender = a.open_stream(1, Bytes::new()).expect("opened");
        drop(stream(&mut b).await);
        let piece = Bytes::from(vec![0; 1 << 20]);
        let refused = loop {
            if let Err(error) = sender.send(piece.clone()).await {
                break error;
            }
        };
        assert_eq!(refused, StreamError::Abandoned);
    });
}

#[test]
fn streams_beyond_limit_wait_and_all_arrive() {
    run(async {
        let machine = Machine::new();
        let few = || parvum_mesh::Settings { streams: 4, ..settings() };
        let (a, mut b) = pair(&machine, few).await;
        let writing = async {
            for n in 0..100u32 {
                let header = Bytes::copy_from_slice(&n.to_le_bytes());
                let mut sender = a.open_stream(1, header).expect("opened");
                sender.send(vec![n as u8; 1000].into()).await.expect("sent");
                sender.finish();
            }
        };
        let reading = async {
            let mut seen = Vec::new();
            for _ in 0..100 {
                let (header, mut reader) = stream(&mut b).await;
                let mut got = Vec::new();
                while let Some(bytes) = reader.next(usize::MAX).await.expect("whole") {
                    got.extend_from_slice(&bytes);
                }
                let n = u32::from_le_bytes(header[..].try_into().expect("a number"));
                assert_eq!(got, vec![n as u8; 1000]);
                seen.push(n);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..100).collect::<Vec<_>>());
        };
        tokio::join!(writing, reading);
    });
}

#[test]
fn streams_that_arrived_outlive_a_farewell() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = pair(&machine, settings).await;
        for n in 0..20u8 {
            let mut sender = a.open_stream(1, vec![n].into()).expect("opened");
            sender.send(vec![n; 50_000].into()).await.expect("sent");
            sender.finish_and_wait().await.expect("arrived");
        }
        let taken = async {
            let mut readers = Vec::new();
            loop {
                match b.next().await {
                    MeshEvent::Stream { header, reader, .. } => readers.push((header[0], reader)),
                    MeshEvent::Down { why, .. } => {
                        assert_eq!(why, Ended::Farewell(Farewell::Leaving));
                        return readers;
                    }
                    other => panic!("{other:?}"),
                }
            }
        };
        let ((), mut readers) = tokio::join!(a.mesh.close(1, Farewell::Leaving), taken);
        assert_eq!(readers.len(), 20);
        // Nobody had read a byte when the connection ended.
        for (n, reader) in &mut readers {
            let mut got = Vec::new();
            while let Some(bytes) = reader.next(usize::MAX).await.expect("whole") {
                got.extend_from_slice(&bytes);
            }
            assert_eq!(got, vec![*n; 50_000]);
        }
    });
}

#[test]
fn stream_header_beyond_bound_is_refused() {
    run(async {
        let machine = Machine::new();
        let (a, _b) = pair(&machine, settings).await;
        let error = a.open_stream(1, vec![0; 65537].into()).expect_err("too long");
        assert!(error.to_string().contains("65537 bytes is over the bound of 65536"), "{error}");
    });
}
