//! The first bytes on a TCP connection between tasks.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_tcp::proof::{self, End};

fuzz_target!(|hello: [u8; parvum_tcp::HELLO]| {
    let (from, nonce, shown) = parvum_tcp::decode_hello(&hello);
    assert!(!proof::holds(End::Caller, &[7; 16], from, &nonce, &shown), "nobody guesses a token");
});
