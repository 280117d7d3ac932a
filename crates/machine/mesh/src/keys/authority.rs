//! The one that signs.

use super::file;
use super::host::{HostCertificate, PublicKey};
use super::{HostName, KeyError, MachineId};
use crate::{Host, Incarnation};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, PKCS_ED25519, SanType, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::path::Path;

const FILE: &str = "authority.key";

/// What a host asks to have signed, or its adder for it.
#[derive(Clone, Debug)]
pub struct SignRequest {
    /// The host's public key.
    pub key: PublicKey,
    /// Its number.
    pub host: Host,
    /// Its incarnation.
    pub incarnation: Incarnation,
    /// Its name, for people.
    pub name: String,
}

impl SignRequest {
    /// A request.
    pub fn new(key: PublicKey, host: Host, incarnation: Incarnation, name: &str) -> SignRequest {
        SignRequest { key, host, incarnation, name: name.to_owned() }
    }
}

/// The machine's authority: its private key and its own certificate.
pub struct Authority {
    machine: MachineId,
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

impl Authority {
    /// Makes the authority of a new machine.
    pub fn make() -> Result<Authority, KeyError> {
        let machine = MachineId::make()?;
        let key = KeyPair::generate_for(&PKCS_ED25519).map_err(unfit)?;
        let root = params(machine)?.self_signed(&key).map_err(unfit)?;
        Authority::assemble(machine, key, root.der().clone())
    }

    fn assemble(
        machine: MachineId,
        key: KeyPair,
        root: CertificateDer<'static>,
    ) -> Result<Authority, KeyError> {
        let issuer = Issuer::new(params(machine)?, key);
        Ok(Authority { machine, issuer, root })
    }

    /// The machine.
    pub fn machine(&self) -> MachineId {
        self.machine
    }

    /// Signs a host's key.
    pub fn sign(&self, request: &SignRequest) -> Result<HostCertificate, KeyError> {
        let name = HostName { machine: self.machine, host: request.host, incarnation: request.incarnation };
        let mut params = bare(&request.name);
        params.subject_alt_names = [HostName::expected(self.machine, request.host), name.full()]
            .into_iter()
            .map(|text| Ok(SanType::DnsName(text.try_into()?)))
            .collect::<Result<_, rcgen::Error>>()
            .map_err(unfit)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let signed = params.signed_by(&request.key, &self.issuer).map_err(unfit)?;
        Ok(HostCertificate { host: signed.der().clone(), root: self.root.clone() })
    }

    /// Everything, the private key too: for a daemon that may sign, over a
    /// link of the mesh only.
    pub fn to_bytes(&self) -> Vec<u8> {
        let machine = file::from_hex(&self.machine.to_string()).unwrap_or_default();
        let fields: [(&str, &[u8]); 3] =
            [("machine", &machine), ("key", self.issuer.key().serialized_der()), ("root", &self.root)];
        file::encode("authority", &fields)
    }

    /// Reads what [`Authority::to_bytes`] gave.
    pub fn from_bytes(bytes: &[u8]) -> Result<Authority, KeyError> {
        Authority::read(bytes).map_err(|fault| KeyError::Unfit(format!("the authority is damaged ({fault})")))
    }

    fn read(bytes: &[u8]) -> Result<Authority, String> {
        let [machine, key, root] = file::decode("authority", ["machine", "key", "root"], bytes)?;
        let machine: String = machine.iter().map(|byte| format!("{byte:02x}")).collect();
        let machine = machine.parse().map_err(|()| "`machine` cannot be read")?;
        let key = KeyPair::from_pkcs8_der_and_sign_algo(&PrivatePkcs8KeyDer::from(key), &PKCS_ED25519)
            .map_err(|_| "`key` is no key")?;
        let authority = Authority::assemble(machine, key, root.into()).map_err(|error| error.to_string())?;
        // A key of another authority would sign what nobody accepts: try it.
        let probe = super::HostKeys::make().map_err(|error| error.to_string())?;
        let signed = authority.sign(&SignRequest::new(probe.public(), 0, 0, "probe"));
        let joined = signed.and_then(|certificate| super::Identity::new(probe, certificate));
        match joined {
            Ok(_) => Ok(authority),
            Err(_) => Err("`key` and `root` do not belong together".into()),
        }
    }

    /// Writes it into a directory.
    pub fn save(&self, dir: &Path) -> Result<(), KeyError> {
        file::write(&dir.join(FILE), &self.to_bytes())
    }

    /// Reads it from a directory.
    pub fn load(dir: &Path) -> Result<Authority, KeyError> {
        let path = dir.join(FILE);
        Authority::read(&file::read(&path)?).map_err(|fault| file::damaged(&path, fault))
    }
}

fn bare(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    // X.509 wants two dates; `tls::MOMENT` lies between them.
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(9999, 12, 31);
    params.distinguished_name = DistinguishedName::new();
    // X.509 allows 64 characters.
    params.distinguished_name.push(DnType::CommonName, name.chars().take(64).collect::<String>());
    params
}

fn params(machine: MachineId) -> Result<CertificateParams, KeyError> {
    let mut params = bare(&format!("parvum {machine}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    Ok(params)
}

fn unfit(error: rcgen::Error) -> KeyError {
    KeyError::Unfit(format!("the certificate could not be made: {error}"))
}
