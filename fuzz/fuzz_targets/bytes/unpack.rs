//! Unpacking a PVM message: typed, with its table, or XDR.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_api::Message;
use parvum_wire::xdr;

#[allow(dead_code)]
#[path = "../../../interfaces/pvm/src/buffers"]
mod buffers {
    pub(crate) mod buffer;
    pub(crate) mod memory;
}
#[allow(dead_code)]
#[path = "../../../interfaces/pvm/src/errors.rs"]
mod errors;

/// What the buffer asks of the calls.
mod calls {
    use parvum_api::Message;

    /// The bytes of a message, as the calls find them.
    pub(crate) fn bytes_of(message: &Message) -> &[u8] {
        // SAFETY: the target below lets the message point to its input, which outlives it.
        unsafe { std::slice::from_raw_parts(message.data, message.length as usize) }
    }
}

use buffers::buffer::{Arrived, Class};

const CLASSES: [Class; 6] = [Class::Byte, Class::Int, Class::Long, Class::Float, Class::Double, Class::Text];

// The word about the data, so many takes, the takes, the data.
fuzz_target!(|input: &[u8]| {
    let Some((meta, rest)) = input.split_first_chunk::<4>() else { return };
    let Some((takes, bytes)) = rest.split_at_checked(16) else { return };
    let message = Message { meta: u32::from_le_bytes(*meta), length: bytes.len() as u64, data: bytes.as_ptr(), ..Message::NONE };
    if message.is_remote() {
        return;
    }
    let mut arrived = Arrived::new(message);
    for take in takes {
        let class = CLASSES[usize::from(take & 7) % CLASSES.len()];
        let count = usize::from(take >> 3) * 4;
        let before = arrived.cursor;
        if let Ok(at) = arrived.take(class, count) {
            let data = &bytes[at..at + count];
            assert!(arrived.cursor <= arrived.length);
            let _ = xdr::decode::<i16>(data).chain(xdr::decode::<i16>(data)).count();
            let _ = xdr::decode::<i64>(data).chain(xdr::decode::<i64>(data)).count();
            let _ = xdr::decode::<f64>(data).fold(0.0, |sum, item| sum + item);
            let _ = xdr::decode::<u8>(data).fold(0u8, |sum, item| sum ^ item);
        } else {
            assert_eq!(arrived.cursor, before, "nothing is taken on an error");
        }
    }
});
