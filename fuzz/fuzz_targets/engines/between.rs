//! What daemons say to each other.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_wire::control::Between;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(word) = postcard::from_bytes::<Between>(bytes) {
        let again = postcard::to_stdvec(&word).expect("plain data");
        assert!(postcard::from_bytes::<Between>(&again).is_ok());
    }
});
