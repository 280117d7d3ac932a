//! The first words of a daemon.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_mesh::wire::hello::Hello;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(hello) = Hello::decode(bytes, 1)
        && hello.body.is_some()
    {
        assert_eq!(hello.encode(), bytes);
    }
});
