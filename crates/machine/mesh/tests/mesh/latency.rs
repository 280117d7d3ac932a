//! How long a control message takes: a look by hand, not a test.

use crate::{Machine, Node, settings};
use bytes::Bytes;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

/// Two threads, each with its own runtime, as two daemons have:
/// `cargo test --release -p parvum-mesh -- --ignored --nocapture mesh_half_round_trip`
#[test]
#[ignore = "measures; proves nothing"]
fn mesh_half_round_trip() {
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

/// The same with quinn alone: what the mesh adds is the difference.
#[test]
#[ignore = "measures; proves nothing"]
fn quinn_half_round_trip() {
    const ROUNDS: u32 = 20_000;
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
    let params = rcgen::CertificateParams::new(vec!["x".to_owned()]).expect("params");
    let certificate = params.self_signed(&key).expect("signed").der().clone();
    let provider = || Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).expect("a root");
    let server = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
        .expect("a config");
    let client = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server =
        quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(server).expect("fits")));
    let client = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(client).expect("fits")));
    let (tell, hear) = std::sync::mpsc::channel();
    let echo = std::thread::spawn(move || {
        crate::run(async move {
            let endpoint = quinn::Endpoint::server(server, (Ipv4Addr::LOCALHOST, 0).into()).expect("opened");
            tell.send(endpoint.local_addr().expect("an address")).expect("told");
            let connection = endpoint.accept().await.expect("dialled").await.expect("connected");
            let (mut send, mut recv) = connection.accept_bi().await.expect("a stream");
            let mut message = [0; 64];
            while recv.read_exact(&mut message).await.is_ok() {
                send.write_all(&message).await.expect("sent");
            }
        });
    });
    crate::run(async move {
        let endpoint = quinn::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).expect("opened");
        let dialling = endpoint.connect_with(client, hear.recv().expect("told"), "x").expect("dials");
        let (mut send, mut recv) = dialling.await.expect("connected").open_bi().await.expect("a stream");
        let mut message = [1; 64];
        for round in ["warm", "measured"] {
            let began = Instant::now();
            for _ in 0..ROUNDS {
                send.write_all(&message).await.expect("sent");
                recv.read_exact(&mut message).await.expect("answered");
            }
            let half = began.elapsed().as_secs_f64() / f64::from(2 * ROUNDS) * 1e6;
            println!("plain quinn, {round}: 64 bytes, half round trip {half:.1} us");
        }
    });
    echo.join().expect("the echo ends");
}

/// One stream between two threads.
#[test]
#[ignore = "measures; proves nothing"]
fn mesh_bandwidth() {
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
        let mut stream = a.open_stream(1, Bytes::new()).expect("opened");
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
