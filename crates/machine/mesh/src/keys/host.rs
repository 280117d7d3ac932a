//! A host's own keys, and what the authority says of them.

use super::{HostName, KeyError, file};
use crate::handshake::tls;
use rcgen::{KeyPair, PKCS_ED25519, PublicKeyData, SignatureAlgorithm};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use std::path::Path;

const FILE: &str = "host.key";

/// A host's public key (Ed25519).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKeyData for PublicKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }
    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ED25519
    }
}

/// A host's key pair. There is no way to get the private key out but to save it.
pub struct HostKeys(KeyPair);

impl HostKeys {
    /// Makes new keys.
    pub fn make() -> Result<HostKeys, KeyError> {
        let made = KeyPair::generate_for(&PKCS_ED25519);
        made.map(HostKeys).map_err(|error| KeyError::Unfit(format!("no keys could be made: {error}")))
    }

    /// The public one, to be signed.
    pub fn public(&self) -> PublicKey {
        let mut key = [0; 32];
        key.copy_from_slice(self.0.public_key_raw());
        PublicKey(key)
    }
}

/// A signed public key and the authority's own certificate; nothing secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCertificate {
    pub(super) host: CertificateDer<'static>,
    pub(super) root: CertificateDer<'static>,
}

impl HostCertificate {
    /// To hand to the host.
    pub fn to_bytes(&self) -> Vec<u8> {
        file::encode("certificate", &[("host", &self.host), ("root", &self.root)])
    }

    /// Reads what [`HostCertificate::to_bytes`] gave.
    pub fn from_bytes(bytes: &[u8]) -> Result<HostCertificate, KeyError> {
        let fields = file::decode("certificate", ["host", "root"], bytes);
        let [host, root] =
            fields.map_err(|fault| KeyError::Unfit(format!("the certificate is damaged ({fault})")))?;
        Ok(HostCertificate { host: host.into(), root: root.into() })
    }
}

/// Everything a host needs to show who it is and to know who others are.
pub struct Identity {
    name: HostName,
    keys: HostKeys,
    certificate: HostCertificate,
}

impl Identity {
    /// Puts together a host's keys and the certificate it was given.
    pub fn new(keys: HostKeys, certificate: HostCertificate) -> Result<Identity, KeyError> {
        let name = check(&keys, &certificate).map_err(KeyError::Unfit)?;
        Ok(Identity { name, keys, certificate })
    }

    /// Whom the certificate names.
    pub fn name(&self) -> HostName {
        self.name
    }

    /// Writes it into a directory.
    pub fn save(&self, dir: &Path) -> Result<(), KeyError> {
        let fields: [(&str, &[u8]); 3] = [
            ("key", self.keys.0.serialized_der()),
            ("host", &self.certificate.host),
            ("root", &self.certificate.root),
        ];
        file::write(&dir.join(FILE), &file::encode("host", &fields))
    }

    /// Reads it from a directory.
    pub fn load(dir: &Path) -> Result<Identity, KeyError> {
        let path = dir.join(FILE);
        let bytes = file::read(&path)?;
        let read = || {
            let [key, host, root] = file::decode("host", ["key", "host", "root"], &bytes)?;
            let key = KeyPair::from_pkcs8_der_and_sign_algo(&PrivatePkcs8KeyDer::from(key), &PKCS_ED25519)
                .map_err(|_| "`key` is no key")?;
            let (keys, certificate) =
                (HostKeys(key), HostCertificate { host: host.into(), root: root.into() });
            let name = check(&keys, &certificate)?;
            Ok(Identity { name, keys, certificate })
        };
        read().map_err(|fault: String| file::damaged(&path, fault))
    }

    pub(crate) fn roots(&self) -> Result<RootCertStore, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.root.clone())?;
        Ok(roots)
    }

    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![self.certificate.host.clone()]
    }

    pub(crate) fn private(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.keys.0.serialize_der()).into()
    }
}

/// Whom a certificate names, when it names a host of a machine. It does not
/// say who signed it.
pub(crate) fn named(certificate: &CertificateDer<'_>) -> Option<HostName> {
    let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
    certificate.valid_dns_names().find_map(HostName::parse)
}

/// Keys, certificate and root must belong together.
fn check(keys: &HostKeys, certificate: &HostCertificate) -> Result<HostName, String> {
    let parsed =
        webpki::EndEntityCert::try_from(&certificate.host).map_err(|_| "`host` is no certificate")?;
    let name = parsed.valid_dns_names().find_map(HostName::parse).ok_or("`host` names no host")?;
    let anchor =
        webpki::anchor_from_trusted_cert(&certificate.root).map_err(|_| "`root` is no certificate")?;
    let anchors = [anchor];
    let verified = parsed.verify_for_usage(
        webpki::ALL_VERIFICATION_ALGS,
        &anchors,
        &[],
        tls::MOMENT,
        webpki::KeyUsage::client_auth(),
        None,
        None,
    );
    verified.map_err(|_| "`host` is not signed by `root`")?;
    let expected = HostName::expected(name.machine, name.host);
    let server = ServerName::try_from(expected).map_err(|_| "`host` names no host")?;
    parsed.verify_is_valid_for_subject_name(&server).map_err(|_| "`host` names two hosts")?;
    if parsed.subject_public_key_info().as_ref() != keys.0.subject_public_key_info() {
        return Err("`host` certifies another key".into());
    }
    Ok(name)
}
