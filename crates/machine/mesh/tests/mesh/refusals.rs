//! Who is not let in, and what both ends hear of it.

use crate::{Machine, Node, pair, run, settings};
use parvum_mesh::{ConnectError, Ended, Refusal, RefusalKind, Settings};
use quinn::crypto::rustls::QuicClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The peer dials `host` at the node twice; both hear why, the node once. Then
/// a good one comes in: nothing else happened.
async fn refused(
    machine: &Machine,
    node: &mut Node,
    peer: &Node,
    kind: RefusalKind,
) -> (ConnectError, Refusal) {
    let dialled = node.name().host;
    let first = peer.connect(dialled, &[node.address()]).await.expect_err("let in");
    let second = peer.connect(dialled, &[node.address()]).await.expect_err("let in");
    for error in [&first, &second] {
        assert_eq!(error.refusal().map(|refusal| refusal.kind), Some(kind), "{error}");
    }
    let told = node.refused().await;
    assert_eq!(told.kind, kind, "{told}");
    let good = machine.node(99);
    good.connect(dialled, &[node.address()]).await.expect("connected");
    assert_eq!(node.up().await, (99, 1), "reported twice");
    assert!(node.links().len() == 1 && peer.links().is_empty());
    (first, told)
}

#[test]
fn host_of_another_machine_is_refused() {
    run(async {
        let (machine, other) = (Machine::new(), Machine::new());
        // The dialler finds out first.
        let (mut a, b) = (machine.node(0), other.node(1));
        let error = b.connect(0, &[a.address()]).await.expect_err("let in");
        // Its name for host 0 is another machine's: the certificate fails either way.
        let kind = error.refusal().expect("a refusal").kind;
        assert!(matches!(kind, RefusalKind::Foreign), "{error}");
        assert_eq!(a.refused().await.kind, RefusalKind::Foreign);
    });
}

#[test]
fn host_other_than_dialled_is_refused() {
    run(async {
        let machine = Machine::new();
        let (mut a, mut b) = (machine.node(0), machine.node(1));
        let error = a.connect(7, &[b.address()]).await.expect_err("let in");
        assert_eq!(error.refusal().map(|refusal| refusal.kind), Some(RefusalKind::WrongHost), "{error}");
        assert_eq!(b.refused().await.kind, RefusalKind::WrongHost);
        a.connect(1, &[b.address()]).await.expect("connected");
        assert_eq!((a.up().await, b.up().await), ((1, 1), (0, 1)));
    });
}

#[test]
fn older_incarnation_is_refused() {
    run(async {
        let machine = Machine::new();
        let mut a = machine.node(0);
        let mut newer = Node::open(machine.identity(1, 5), settings());
        newer.connect(0, &[a.address()]).await.expect("connected");
        assert_eq!((a.up().await, newer.up().await), ((1, 5), (0, 1)));
        let older = Node::open(machine.identity(1, 4), settings());
        let error = older.connect(0, &[a.address()]).await.expect_err("let in");
        let why = a.refused().await;
        assert_eq!(
            (why.kind, why.text.as_str()),
            (RefusalKind::Stale, "host 1 shows incarnation 4, and 5 is known")
        );
        let heard = Refusal { by_peer: true, ..why };
        assert_eq!(error.refusal(), Some(&heard), "both ends hear the same");
        assert!(error.says_that_life_is_over());
        assert_eq!(a.links()[0].incarnation, 5);
    });
}

#[test]
fn incarnation_known_as_old_is_refused() {
    run(async {
        let machine = Machine::new();
        let (mut a, mut b) = pair(&machine, settings).await;
        a.require(1, 3);
        assert_eq!(a.down().await, (1, Ended::Restarted));
        assert_eq!(b.down().await.0, 0);
        refused(&machine, &mut a, &b, RefusalKind::Stale).await;
    });
}

#[test]
fn outdated_host_is_refused_also_when_dialled() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = (machine.node(0), machine.node(1));
        a.require(1, 3);
        // Who dials refuses, and only its own log needs to know; who is refused must end.
        let error = a.connect(1, &[b.address()]).await.expect_err("let in");
        assert_eq!(error.refusal().map(|refusal| refusal.kind), Some(RefusalKind::Stale), "{error}");
        assert!(!error.says_that_life_is_over(), "it is the other one's");
        assert!(b.refused().await.says_that_life_is_over());
    });
}

#[test]
fn restarted_host_replaces_its_old_connection() {
    run(async {
        let machine = Machine::new();
        let (mut a, _old) = pair(&machine, settings).await;
        let mut newer = Node::open(machine.identity(1, 2), settings());
        newer.connect(0, &[a.address()]).await.expect("connected");
        assert_eq!(a.down().await, (1, Ended::Restarted));
        assert_eq!((a.up().await, newer.up().await), ((1, 2), (0, 1)));
    });
}

#[test]
fn protocol_mismatch_reports_both_versions_to_both_ends() {
    run(async {
        let machine = Machine::new();
        let later = Settings { protocol: 9, release: "9.9.9".into(), ..settings() };
        let (mut a, b) = (machine.node(0), Node::open(machine.identity(1, 1), later));
        let (error, told) = refused(&machine, &mut a, &b, RefusalKind::Version).await;
        let ours = env!("CARGO_PKG_VERSION");
        let mine = parvum_mesh::PROTOCOL;
        let both =
            format!("host 0 speaks protocol {mine} (release {ours}), host 1 protocol 9 (release 9.9.9)");
        assert_eq!(told.to_string(), format!("E-VERSION: {both}; help: use one release on all hosts"));
        assert!(error.to_string().starts_with("E-VERSION: ") && error.to_string().contains(&both), "{error}");
    });
}

#[test]
fn connection_to_own_host_number_is_refused() {
    run(async {
        let machine = Machine::new();
        let mut a = machine.node(0);
        // Two daemons that were given one number.
        let twin = machine.node(0);
        let error = twin.connect(0, &[a.address()]).await.expect_err("let in");
        assert_eq!(error.refusal().map(|refusal| refusal.kind), Some(RefusalKind::Oneself), "{error}");
        assert_eq!(a.refused().await.kind, RefusalKind::Oneself);
    });
}

/// Believes everybody: what a stranger would write.
#[derive(Debug)]
struct Gullible;

impl ServerCertVerifier for Gullible {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

#[test]
fn stranger_without_certificate_is_refused() {
    run(async {
        let machine = Machine::new();
        let mut a = machine.node(0);
        let mut tls =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_protocol_versions(&[&rustls::version::TLS13])
                .expect("versions")
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Gullible))
                .with_no_client_auth();
        tls.alpn_protocols = vec![b"parvum/1".to_vec()];
        let config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("a config")));
        let stranger = quinn::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).expect("an endpoint");
        for _ in 0..3 {
            let dialling = stranger.connect_with(config.clone(), a.address(), "anybody").expect("dials");
            // A TLS client is done before the listener has seen that it shows nothing.
            if let Ok(connection) = dialling.await {
                connection.closed().await;
            }
        }
        let why = a.refused().await;
        assert_eq!(why.kind, RefusalKind::NoCertificate, "{why}");
        let good = machine.node(2);
        good.connect(0, &[a.address()]).await.expect("connected");
        assert_eq!(a.up().await, (2, 1), "reported twice");
    });
}

#[test]
fn mesh_ignores_noise_packets() {
    run(async {
        let machine = Machine::new();
        let (a, mut b) = (machine.node(0), machine.node(1));
        let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        for length in 0..1500usize {
            let noise: Vec<u8> = (0..length).map(|at| (at * 31 + length * 7) as u8).collect();
            socket.send_to(&noise, b.address()).expect("sent");
        }
        a.connect(1, &[b.address()]).await.expect("connected");
        assert_eq!(b.up().await, (0, 1), "noise is no event");
    });
}
