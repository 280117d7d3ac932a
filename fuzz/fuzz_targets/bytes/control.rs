//! What a task says to its daemon, and the daemon to a task.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_wire::control::{Call, FromDaemon, HEADER_BYTES, decode, frame, header};

fuzz_target!(|bytes: &[u8]| {
    let _ = header(bytes);
    if let Ok(call) = decode::<Call>(bytes) {
        let again = frame(&call, 0).expect("it was short");
        assert!(decode::<Call>(&again[HEADER_BYTES..]).is_ok());
    }
    let _ = decode::<FromDaemon>(bytes);
});
