//! The name in a certificate.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_mesh::keys::HostName;

fuzz_target!(|text: &str| {
    if let Some(name) = HostName::parse(text) {
        assert_eq!(HostName::parse(&name.full()), Some(name));
    }
});
