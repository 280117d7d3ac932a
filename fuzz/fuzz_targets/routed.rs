//! Routed frames of a task, and runs of them from another daemon.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_wire::routed::{RUN_HEADER, frame_at, run_at};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(Some((_, length))) = frame_at(rest) {
        assert!(length > 8);
        rest = &rest[length..];
    }
    let mut rest = bytes;
    while let Ok(Some((_, length))) = run_at(rest, 1 << 20) {
        rest = &rest[RUN_HEADER + length..];
    }
});
