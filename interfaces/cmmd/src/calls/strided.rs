//! Equally spaced pieces, sent and received as one message: cmmd_send_block_v(3).

use super::message::{ERRVAL, blocked, exchanged, posted, received, started, unblocked};
use crate::entry::{call, guarded};
use crate::errors::{Cmmd, Fault};
use crate::lent::{Pieces, Scattered};
use crate::state::operations::{Kind, Operation};
use crate::state::{Guard, State};
use std::ffi::{c_int, c_void};

/// Writes what a receive has got, if it got anything.
///
/// # Safety
/// As for [`Pieces::write`].
unsafe fn take(pieces: &Pieces, data: &[u8], state: &State, got: &Cmmd<c_int>) {
    if matches!(got, Ok(_) | Err(Fault::Truncated)) {
        // SAFETY: the caller's promise.
        unsafe { pieces.write(&data[..data.len().min(state.last.bytes as usize)]) };
    }
}

/// As `CMMD_send_block`, of pieces.
///
/// # Safety
/// The pieces are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_block_v(
    dest: c_int,
    tag: c_int,
    buf: *const c_void,
    elem: c_int,
    stride: c_int,
    count: c_int,
) -> c_int {
    guarded(ERRVAL, |state| {
        let ready =
            (|| Ok((state.task(dest)?, state.check_tag(tag)?, Pieces::new(buf, elem, stride, count)?)))();
        match ready {
            // SAFETY: as the program says.
            Ok((to, (), pieces)) => blocked(state, to, tag, &unsafe { pieces.slices() }),
            Err(why) => (state, Err(why)),
        }
    })
}

/// As `CMMD_send_noblock`, of pieces.
///
/// # Safety
/// The pieces are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_noblock_v(
    dest: c_int,
    tag: c_int,
    buf: *const c_void,
    elem: c_int,
    stride: c_int,
    count: c_int,
) -> c_int {
    call(ERRVAL, |state| {
        let pieces = Pieces::new(buf, elem, stride, count)?;
        // SAFETY: as the program says.
        unblocked(state, dest, tag, &unsafe { pieces.slices() })
    })
}

/// As `CMMD_send_async`, of pieces.
///
/// # Safety
/// The pieces are readable, and do not change, until the operation is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_async_v(
    dest: c_int,
    tag: c_int,
    buf: *const c_void,
    elem: c_int,
    stride: c_int,
    count: c_int,
    handler: Option<unsafe extern "C" fn(*mut c_int, *mut c_void)>,
    arg: *mut c_void,
) -> c_int {
    call(ERRVAL, |state| {
        let pieces = Pieces::new(buf, elem, stride, count)?;
        let operation = Operation::new(Kind::Send, dest, tag, buf as usize, pieces.bytes());
        // SAFETY: as the program says.
        unsafe { started(state, operation, (handler, arg), &pieces.slices()) }
    })
}

/// As `CMMD_receive_block`, into pieces.
///
/// # Safety
/// The pieces are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_receive_block_v(
    src: c_int,
    tag: c_int,
    buf: *mut c_void,
    elem: c_int,
    stride: c_int,
    count: c_int,
) -> c_int {
    guarded(ERRVAL, |state| match Pieces::new(buf, elem, stride, count) {
        // SAFETY: as the program says.
        Ok(pieces) => unsafe { received_in(state, src, tag, pieces) },
        Err(why) => (state, Err(why)),
    })
}

/// Receives into pieces.
///
/// # Safety
/// They are writable.
unsafe fn received_in(state: Guard, src: i32, tag: i32, pieces: Pieces) -> (Guard, Cmmd<c_int>) {
    let mut data = vec![0; pieces.bytes()];
    let (state, got) = received(state, src, tag, &mut data);
    // SAFETY: the caller's promise.
    unsafe { take(&pieces, &data, &state, &got) };
    (state, got)
}

/// As `CMMD_receive_async`, into pieces.
///
/// # Safety
/// The pieces are writable, and nobody uses them, until the operation is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_receive_async_v(
    src: c_int,
    tag: c_int,
    buf: *mut c_void,
    elem: c_int,
    stride: c_int,
    count: c_int,
    handler: Option<unsafe extern "C" fn(*mut c_int, *mut c_void)>,
    arg: *mut c_void,
) -> c_int {
    call(ERRVAL, |state| {
        let pieces = Pieces::new(buf, elem, stride, count)?;
        let mut data = vec![0; pieces.bytes()];
        let (room, length) = (data.as_mut_ptr(), data.len());
        let mut operation = Operation::new(Kind::Receive, src, tag, buf as usize, length);
        operation.scattered = Some(Scattered { data, to: pieces });
        // SAFETY: the vector stays in the operation until that is over, and its memory is not moved with it.
        unsafe { posted(state, operation, (handler, arg), room, length) }
    })
}

/// As `CMMD_send_and_receive`, with pieces.
///
/// # Safety
/// The pieces to receive are writable, those to send readable; they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_and_receive_v(
    src: c_int,
    rtag: c_int,
    rbuf: *mut c_void,
    relem: c_int,
    rstride: c_int,
    rcount: c_int,
    dest: c_int,
    stag: c_int,
    sbuf: *const c_void,
    selem: c_int,
    sstride: c_int,
    scount: c_int,
) -> c_int {
    guarded(0, |state| {
        let to = Pieces::new(rbuf, relem, rstride, rcount);
        let (to, from) = match to.and_then(|to| Ok((to, Pieces::new(sbuf, selem, sstride, scount)?))) {
            Ok(both) => both,
            Err(why) => return (state, Err(why)),
        };
        let mut data = vec![0; to.bytes()];
        // SAFETY: as the program says.
        let (state, done) = exchanged(state, (src, rtag, &mut data), (dest, stag, &unsafe { from.slices() }));
        // SAFETY: as the program says.
        unsafe { take(&to, &data, &state, &done) };
        (state, done)
    })
}

/// As `CMMD_swap`, with pieces.
///
/// # Safety
/// As for [`CMMD_send_and_receive_v`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_swap_v(
    node: c_int,
    rbuf: *mut c_void,
    relem: c_int,
    rstride: c_int,
    rcount: c_int,
    sbuf: *const c_void,
    selem: c_int,
    sstride: c_int,
    scount: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        CMMD_send_and_receive_v(node, 0, rbuf, relem, rstride, rcount, node, 0, sbuf, selem, sstride, scount)
    }
}
