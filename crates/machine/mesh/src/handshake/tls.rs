//! How both ends show and check certificates.

use crate::keys::Identity;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256};
use rustls::pki_types::UnixTime;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Names the form of the Hello, which never changes where the versions stand:
/// the protocol's own number is in the Hello, so that a refusal can state both.
const ALPN: &[u8] = b"parvum/1";

/// The time at which certificates are checked.
pub(crate) const MOMENT: UnixTime = UnixTime::since_unix_epoch(Duration::from_secs(1_000_000_000));

/// A clock that stands still: the hosts' own may be years apart.
#[derive(Debug)]
struct Timeless;

impl TimeProvider for Timeless {
    fn current_time(&self) -> Option<UnixTime> {
        Some(MOMENT)
    }
}

fn provider() -> Arc<CryptoProvider> {
    let mut provider = rustls::crypto::ring::default_provider();
    // 128 bits are enough for keys that live as long as a connection, and a
    // third quicker than 256.
    provider.cipher_suites = vec![TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256];
    Arc::new(provider)
}

/// What a listener does: it asks for a certificate of our authority.
pub(crate) fn server(identity: &Identity) -> Result<QuicServerConfig, Box<dyn Error + Send + Sync>> {
    let roots = Arc::new(identity.roots()?);
    let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build()?;
    let mut config = rustls::ServerConfig::builder_with_details(provider(), Arc::new(Timeless))
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(identity.chain(), identity.private())?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    // Every connection proves its keys anew: a ticket would outlive its certificate.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(QuicServerConfig::try_from(config)?)
}

/// What a dialler does: it checks that the authority is ours and the host the
/// one it meant, and shows its own certificate.
pub(crate) fn client(identity: &Identity) -> Result<QuicClientConfig, Box<dyn Error + Send + Sync>> {
    let mut config = rustls::ClientConfig::builder_with_details(provider(), Arc::new(Timeless))
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(identity.roots()?)
        .with_client_auth_cert(identity.chain(), identity.private())?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    Ok(QuicClientConfig::try_from(config)?)
}

/// Random bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let filled = rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(bytes)
}

/// SHA-256.
pub(crate) fn digest(bytes: &[u8]) -> Vec<u8> {
    // The suite's own hash; it saves another crate.
    match TLS13_AES_128_GCM_SHA256.tls13() {
        Some(suite) => suite.common.hash_provider.hash(bytes).as_ref().to_vec(),
        None => unreachable!("a suite of TLS 1.3"),
    }
}
