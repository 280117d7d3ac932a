//! Channels: cmmd_open_send_channel(3).

use super::message::ERRVAL;
use crate::entry::call;
use crate::errors::Cmmd;
use crate::lent::{readable, writable};
use crate::state::channels::Channels;
use parvum_api::CoreApi;
use std::ffi::{c_int, c_void};

/// Runs one call on the channels.
fn on<T>(otherwise: T, work: impl FnOnce(&mut Channels, CoreApi) -> Cmmd<T>) -> T {
    call(otherwise, |state| {
        let api = state.api;
        work(&mut state.channels, api)
    })
}

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
        let (api, peer) = (state.api, state.task(dest)?);
        state.channels.open(api, true, peer, id, data.as_ptr() as usize, data.len())
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
        let (api, peer) = (state.api, state.task(src)?);
        state.channels.open(api, false, peer, id, room.as_mut_ptr() as usize, room.len())
    })
}

/// Sends what is in the memory of the sending end, and returns.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_write_channel(channel: c_int) -> c_int {
    on(ERRVAL, |channels, api| channels.write(api, channel))
}

/// Lets the next transfer come.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_reset_channel(channel: c_int) -> c_int {
    on(ERRVAL, |channels, api| channels.reset(api, channel))
}

/// 1: the last transfer is over; 0: it is under way; negative: it has failed.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_send_channel_status(channel: c_int) -> c_int {
    on(ERRVAL, |channels, api| channels.status(api, channel, true))
}

/// 1: data has come; 0: not yet; negative: the transfer has failed.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_receive_channel_status(channel: c_int) -> c_int {
    on(ERRVAL, |channels, api| channels.status(api, channel, false))
}

/// Whether the next transfer may begin.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_is_channel_writable(channel: c_int) -> c_int {
    on(0, |channels, api| channels.status(api, channel, true))
}

/// Whether data has come.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_is_channel_readable(channel: c_int) -> c_int {
    on(0, |channels, api| channels.status(api, channel, false))
}

/// Closes the sending end.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_close_send_channel(channel: c_int) -> c_int {
    on(ERRVAL, |channels, api| channels.close(api, channel, true))
}

/// Closes the receiving end.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_close_receive_channel(channel: c_int) -> c_int {
    on(ERRVAL, |channels, api| channels.close(api, channel, false))
}

/// Whether no transfer is under way from here.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_all_channels_free() -> c_int {
    on(ERRVAL, |channels, api| Ok(channels.are_all_free(api).into()))
}

/// Waits until none is.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_all_channels_free_wait() {
    call((), |state| {
        state.await_channels();
        Ok(())
    })
}
