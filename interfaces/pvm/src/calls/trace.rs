//! Tracing: pvm_settmask(3), and the variables that PVM's tracing lives by.

use std::ffi::{c_char, c_int};

/// Bytes of a mask of events, its end included.
const MASK: usize = 36;

/// `struct Pvmtracer`: where traces and output go, and which events are traced.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Tracer {
    trace_tid: c_int,
    trace_context: c_int,
    trace_tag: c_int,
    output_tid: c_int,
    output_context: c_int,
    output_tag: c_int,
    buffer: c_int,
    options: c_int,
    mask: [c_char; MASK],
}

/// Memory that a program may read as it likes.
#[repr(transparent)]
pub struct Shown<T>(std::cell::UnsafeCell<T>);

// SAFETY: written under the lock of the calls; a program that reads it at the same time from
// another thread reads what PVM's library would let it read.
unsafe impl<T> Sync for Shown<T> {}

const NOTHING: Tracer = Tracer {
    trace_tid: 0,
    trace_context: 0,
    trace_tag: 0,
    output_tid: 0,
    output_context: 0,
    output_tag: 0,
    buffer: 0,
    options: 0,
    // Six bits in each byte, of which four are used: none is set.
    mask: {
        let mut mask = [b'@' as c_char; MASK];
        mask[MASK - 1] = 0;
        mask
    },
};

/// What children are started with.
#[unsafe(export_name = "pvmctrc")]
pub static CHILDREN: Shown<Tracer> = Shown(std::cell::UnsafeCell::new(NOTHING));

/// What this task was started with.
#[unsafe(export_name = "pvmtrc")]
pub static OWN: Shown<Tracer> = Shown(std::cell::UnsafeCell::new(NOTHING));
