//! How a stream between daemons begins.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_mesh::wire::header::{BEGINNING, Beginning, MAX_HEADER};

fuzz_target!(|bytes: [u8; BEGINNING]| {
    if let Ok(begin) = Beginning::decode(bytes) {
        assert_eq!(begin.encode(), bytes);
        assert!(begin.length as usize <= MAX_HEADER && begin.number > 0);
    }
});
