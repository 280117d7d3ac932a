//! Routed frames of a task, and runs of them from another daemon.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_wire::routed::{BARE, RUN_HEADER, Share, frame_at, run_at};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(Some(frame)) = frame_at(rest) {
        assert!(frame.length > 8);
        if frame.share != Share::No {
            assert!(frame.length >= BARE);
        }
        rest = &rest[frame.length..];
    }
    let mut rest = bytes;
    while let Ok(Some(run)) = run_at(rest, 1 << 20) {
        rest = &rest[RUN_HEADER + run.length..];
    }
});
