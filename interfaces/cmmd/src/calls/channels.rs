//! Channels: cmmd_open_send_channel(3).

use super::message::ERRVAL;
use super::{readable, writable};
use crate::state::call;
use std::ffi::{c_int, c_void};

/// Opens the sending end of a channel.
///
/// # Safety
/// `buf` is readable for `len` bytes until the channel is closed, and does not change while a transfer is under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_open_send_channel(
    dest: c_int,
    id: c_int,
    buf: *const c_void,
    len: c_int,
) -> c_int {
    call(ERRVAL, |state| {
        // SAFETY: as the program says.
        let data = unsafe { readable(buf, len) }?;
        state.open_channel(true, dest, id, data.as_ptr() as usize, data.len())
    })
}

/// Opens the receiving end of a channel.
///
/// # Safety
/// `buf` is writable for `len` bytes until the channel is closed, and the program only uses it while it is readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_open_receive_channel(
    src: c_int,
    id: c_int,
    buf: *mut c_void,
    len: c_int,
) -> c_int {
    call(ERRVAL, |state| {
        // SAFETY: as the program says.
        let room = unsafe { writable(buf, len) }?;
        state.open_channel(false, src, id, room.as_mut_ptr() as usize, room.len())
    })
}

/// Sends what is in the memory of the sending end, and returns.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_write_channel(channel: c_int) -> c_int {
    call(ERRVAL, |state| state.write_channel(channel))
}

/// Lets the next transfer come.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_reset_channel(channel: c_int) -> c_int {
    call(ERRVAL, |state| state.reset_channel(channel))
}

/// 1: the last transfer is over; 0: it is under way; negative: it has failed.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_send_channel_status(channel: c_int) -> c_int {
    call(ERRVAL, |state| state.channel_status(channel, true))
}

/// 1: data has come; 0: not yet; negative: the transfer has failed.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_receive_channel_status(channel: c_int) -> c_int {
    call(ERRVAL, |state| state.channel_status(channel, false))
}

/// Whether the next transfer may begin.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_is_channel_writable(channel: c_int) -> c_int {
    call(0, |state| state.channel_status(channel, true))
}

/// Whether data has come.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_is_channel_readable(channel: c_int) -> c_int {
    call(0, |state| state.channel_status(channel, false))
}

/// Closes the sending end.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_close_send_channel(channel: c_int) -> c_int {
    call(ERRVAL, |state| state.close_channel(channel, true))
}

/// Closes the receiving end.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_close_receive_channel(channel: c_int) -> c_int {
    call(ERRVAL, |state| state.close_channel(channel, false))
}

/// Whether no transfer is under way from here.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_all_channels_free() -> c_int {
    call(ERRVAL, |state| Ok(state.channels_free().into()))
}

/// Waits until none is.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_all_channels_free_wait() {
    call((), |state| {
        state.await_channels();
        Ok(())
    })
}
