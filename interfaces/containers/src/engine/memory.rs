//! The data of received messages, which lies in memory that the engine lends, or is still with its sender.

use parvum_api::{CoreApi, Message, Status};

/// The bytes of a received message that is here.
pub(super) fn bytes_of(message: &Message) -> &[u8] {
    if message.data.is_null() {
        let length = (message.length as usize).min(message.inline.len());
        return &message.inline[..length];
    }
    // SAFETY: the engine lends `length` bytes at `data` until the block is given back, which the owner of `message`
    // does last.
    unsafe { std::slice::from_raw_parts(message.data, message.length as usize) }
}

/// Copies a part of a received message, wherever its data is. The part must lie inside.
#[inline]
pub(super) fn copy(api: CoreApi, message: &Message, from: usize, out: &mut [u8]) -> Result<(), Status> {
    if message.is_remote() {
        // SAFETY: `out` is borrowed for the call.
        return unsafe { api.read_remote(message, from as u64, out.as_mut_ptr(), out.len()) };
    }
    out.copy_from_slice(&bytes_of(message)[from..from + out.len()]);
    Ok(())
}
