//! Certificates and authorities, as files and as words of another daemon.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_mesh::keys::{Authority, HostCertificate};

fuzz_target!(|bytes: &[u8]| {
    let _ = Authority::from_bytes(bytes);
    if let Ok(certificate) = HostCertificate::from_bytes(bytes) {
        let again = HostCertificate::from_bytes(&certificate.to_bytes()).expect("what was written is read");
        assert_eq!(again.to_bytes(), certificate.to_bytes());
    }
});
