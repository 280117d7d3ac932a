//! Sending and receiving: cmmd_send_block(3), cmmd_send_async(3), cmmd_send_and_receive(3).

use crate::completing::wait_among;
use crate::entry::{call, guarded};
use crate::envelope::{ANY, Last, notes, user};
use crate::errors::{Cmmd, Fault};
use crate::lent::{Handler, bytes_of, readable, writable};
use crate::state::operations::{Kind, Operation};
use crate::state::{Guard, State};
use crate::words;
use parvum_api::{ANY_TASK, Message, Notes, Receiving, Request, Status};
use parvum_api::{Buffering, Completion};
use std::ffi::{c_int, c_void};

pub(super) const ERRVAL: c_int = -1;

/// Sends, and returns when the receiver has it. Never buffered.
///
/// # Safety
/// `buf` is readable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_block(dest: c_int, tag: c_int, buf: *const c_void, len: c_int) -> c_int {
    guarded(ERRVAL, |state| {
        // SAFETY: as the program says.
        let ready = (|| Ok((state.task(dest)?, state.check_tag(tag)?, unsafe { readable(buf, len) }?)))();
        match ready {
            Ok((to, (), data)) => blocked(state, to, tag, &[data]),
            Err(why) => (state, Err(why)),
        }
    })
}

/// Sends pieces of memory, never buffered, and waits for the receive.
pub(super) fn blocked(mut state: Guard, to: i32, tag: i32, pieces: &[&[u8]]) -> (Guard, Cmmd<c_int>) {
    let how = user(to, tag, Buffering::Never, Completion::Matched);
    let length = pieces.iter().map(|piece| piece.len()).sum::<usize>();
    let sent = if state.operations.has_handlers() && pieces.len() == 1 {
        let piece = pieces[0];
        // SAFETY: this returns only when the request is over.
        match unsafe { state.api.start_send(how, piece.as_ptr(), piece.len()) } {
            Ok(None) => Ok(()),
            Ok(Some(request)) => {
                let over;
                (state, over) = finish(state, request, words::send_block(), to, tag);
                over.map(drop)
            }
            Err(other) => Err(other),
        }
    } else {
        let api = state.api;
        state.outside(|| api.send(how, pieces, &notes(words::send_block(), to, tag)))
    };
    if sent.is_ok() {
        state.sent = length as u64;
    }
    (state, sent.map(|()| 0).map_err(Fault::from))
}

/// Waits for a request while handlers of others run.
fn finish(
    mut state: Guard,
    request: Request,
    call: u32,
    peer: i32,
    tag: i32,
) -> (Guard, Result<Message, Status>) {
    loop {
        let over;
        (state, over) = wait_among(state, Some(request), u64::MAX, call, peer, tag);
        if over {
            match state.api.wait(request, &Notes { limit: 0, ..notes(call, peer, tag) }) {
                Err(Status::Pending) => {}
                ended => return (state, ended),
            }
        }
    }
}

/// Sends, and returns when the memory may be reused, received or not. Copied at the sender unless a receive is posted.
///
/// # Safety
/// `buf` is readable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_noblock(dest: c_int, tag: c_int, buf: *const c_void, len: c_int) -> c_int {
    call(ERRVAL, |state| {
        // SAFETY: as the program says.
        let data = unsafe { readable(buf, len) }?;
        unblocked(state, dest, tag, &[data])
    })
}

/// Sends pieces of memory that only the sender may buffer.
#[inline]
pub(super) fn unblocked(state: &mut Guard, dest: c_int, tag: c_int, pieces: &[&[u8]]) -> Cmmd<c_int> {
    let to = state.task(dest)?;
    state.check_tag(tag)?;
    let how = user(to, tag, Buffering::SenderIfUnposted, Completion::Copied);
    let notes = notes(words::send_noblock(), to, tag);
    let api = state.api;
    state.outside(|| match pieces {
        [only] => api.send_one(how, only, &notes),
        several => api.send(how, several, &notes),
    })?;
    state.sent = pieces.iter().map(|piece| piece.len()).sum::<usize>() as u64;
    Ok(0)
}

/// Starts to send, and returns. Never buffered: the data stays where it is until the receive.
///
/// # Safety
/// `buf` is readable for `len` bytes, and does not change, until the operation is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_async(
    dest: c_int,
    tag: c_int,
    buf: *const c_void,
    len: c_int,
    handler: Option<unsafe extern "C" fn(*mut c_int, *mut c_void)>,
    arg: *mut c_void,
) -> c_int {
    call(ERRVAL, |state| {
        // SAFETY: as the program says.
        let data = unsafe { readable(buf, len) }?;
        let operation = Operation::new(Kind::Send, dest, tag, buf as usize, data.len());
        // SAFETY: as the program says.
        unsafe { started(state, operation, (handler, arg), &[data]) }
    })
}

/// The handler for the end of an operation, as the program passes it.
pub(super) type Named = (Option<unsafe extern "C" fn(*mut c_int, *mut c_void)>, *mut c_void);

fn handler((handler, arg): Named) -> Option<(Handler, usize)> {
    handler.map(|handler| (Handler(handler), arg as usize))
}

/// Starts the send of an operation, and gives that its handle.
///
/// # Safety
/// The pieces stay, and do not change, until the operation is over.
pub(super) unsafe fn started(
    state: &mut State,
    operation: Operation,
    named: Named,
    pieces: &[&[u8]],
) -> Cmmd<c_int> {
    let to = state.task(operation.node)?;
    state.check_tag(operation.tag)?;
    state.operations.check_room(Kind::Send)?;
    let how = user(to, operation.tag, Buffering::Never, Completion::Matched);
    // SAFETY: the caller's promise.
    let request = unsafe {
        match pieces {
            [one] => state.api.start_send(how, one.as_ptr(), one.len()),
            several => state.api.start_pieces(&how, several),
        }
    }?;
    let mcb = state.operations.add(Operation { request, handler: handler(named), ..operation });
    if request.is_none() {
        state.end(mcb, Ok(Message::NONE));
    }
    Ok(mcb)
}

/// Receives.
///
/// # Safety
/// `buf` is writable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_receive_block(src: c_int, tag: c_int, buf: *mut c_void, len: c_int) -> c_int {
    guarded(ERRVAL, |state| {
        // SAFETY: as the program says.
        match unsafe { writable(buf, len) } {
            Ok(room) => received(state, src, tag, room),
            Err(why) => (state, Err(why)),
        }
    })
}

/// Receives into `room`, and waits. Data that does not fit is lost, and the call returns an error.
#[inline]
pub(super) fn received(mut state: Guard, src: i32, tag: i32, room: &mut [u8]) -> (Guard, Cmmd<c_int>) {
    let pattern = match state.pattern(src, tag) {
        Ok(pattern) => pattern,
        Err(why) => return (state, Err(why)),
    };
    let fits = |length: u64, room: usize| if length <= room as u64 { Ok(0) } else { Err(Fault::Truncated) };
    let length = room.len();
    let got = if state.matching.is_some() {
        let got;
        (state, got) = received_by_matching(state, src, tag, room);
        got
    } else if state.operations.has_handlers() {
        // SAFETY: this returns only when the request is over.
        let request = unsafe { state.api.post_into(&pattern, room.as_mut_ptr(), length, 0) };
        let got;
        (state, got) = finish(state, request, words::receive_block(), pattern.from, tag);
        got
    } else {
        let (api, notes) = (state.api, notes(words::receive_block(), pattern.from, tag));
        let seen = |message: &Message| Last { from: message.from, tag: message.tag, bytes: message.length };
        let got = state.outside(|| api.receive_seen(&pattern, room, &notes, seen));
        if let Ok(last) = got {
            state.last = last;
        }
        return (state, got.map_err(Fault::from).and_then(|last| fits(last.bytes, length)));
    };
    match got {
        Ok(message) => {
            state.note_received(&message);
            (state, fits(message.length, length))
        }
        Err(why) => (state, Err(why.into())),
    }
}

/// Receives the oldest message that the program's matching function likes.
fn received_by_matching(
    mut state: Guard,
    src: i32,
    tag: i32,
    room: &mut [u8],
) -> (Guard, Result<Message, Status>) {
    loop {
        let seen = state.api.arrivals();
        if let Some(found) = state.find_matching(src, tag) {
            let taken =
                state.api.take(&found, Receiving::Block, &notes(words::receive_block(), found.from, tag));
            if let Ok(message) = &taken {
                let data = bytes_of(message);
                let fits = data.len().min(room.len());
                room[..fits].copy_from_slice(&data[..fits]);
                state.api.give_back(message);
            }
            return (state, taken.map(Message::without_data));
        }
        let peer = if src == ANY { ANY_TASK } else { state.task(src).unwrap_or(ANY_TASK) };
        (state, _) = wait_among(state, None, seen, words::receive_block(), peer, tag);
    }
}

/// Posts a receive, and returns.
///
/// # Safety
/// `buf` is writable for `len` bytes, and nobody uses it, until the operation is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_receive_async(
    src: c_int,
    tag: c_int,
    buf: *mut c_void,
    len: c_int,
    handler: Option<unsafe extern "C" fn(*mut c_int, *mut c_void)>,
    arg: *mut c_void,
) -> c_int {
    call(ERRVAL, |state| {
        // SAFETY: as the program says.
        let room = unsafe { writable(buf, len) }?;
        let operation = Operation::new(Kind::Receive, src, tag, buf as usize, room.len());
        // SAFETY: as the program says.
        unsafe { posted(state, operation, (handler, arg), room.as_mut_ptr(), room.len()) }
    })
}

/// Posts the receive of an operation.
///
/// # Safety
/// The memory is writable for `length` bytes, and nobody uses it, until the operation is over.
pub(super) unsafe fn posted(
    state: &mut State,
    operation: Operation,
    named: Named,
    room: *mut u8,
    length: usize,
) -> Cmmd<c_int> {
    let pattern = state.pattern(operation.node, operation.tag)?;
    state.operations.check_room(Kind::Receive)?;
    let request = match state.matching {
        // It is tried when something has come.
        Some(_) => None,
        // SAFETY: the caller's promise.
        None => Some(unsafe { state.api.post_into(&pattern, room, length, 0) }),
    };
    Ok(state.operations.add(Operation { request, handler: handler(named), ..operation }))
}

/// Sends and receives at once; neither waits for the other. 1, or 0 when it fails.
///
/// # Safety
/// `rbuf` is writable for `rlen` bytes, `sbuf` readable for `slen`; they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_and_receive(
    src: c_int,
    rtag: c_int,
    rbuf: *mut c_void,
    rlen: c_int,
    dest: c_int,
    stag: c_int,
    sbuf: *const c_void,
    slen: c_int,
) -> c_int {
    guarded(0, |state| {
        // SAFETY: as the program says.
        match unsafe { writable(rbuf, rlen).and_then(|room| Ok((room, readable(sbuf, slen)?))) } {
            Ok((room, data)) => exchanged(state, (src, rtag, room), (dest, stag, &[data])),
            Err(why) => (state, Err(why)),
        }
    })
}

/// The send of an exchange goes first, and is never buffered; it is waited for after the receive.
pub(super) fn exchanged(
    mut state: Guard,
    (src, rtag, room): (i32, i32, &mut [u8]),
    (dest, stag, pieces): (i32, i32, &[&[u8]]),
) -> (Guard, Cmmd<c_int>) {
    let ready = (|| {
        state.pattern(src, rtag)?;
        state.check_tag(stag)?;
        state.task(dest)
    })();
    let to = match ready {
        Ok(to) => to,
        Err(why) => return (state, Err(why)),
    };
    let how = user(to, stag, Buffering::Never, Completion::Matched);
    // SAFETY: this returns only when the request is over.
    let sent = match unsafe { state.api.start_pieces(&how, pieces) } {
        Ok(sent) => sent,
        Err(why) => return (state, Err(why.into())),
    };
    let got;
    (state, got) = received(state, src, rtag, room);
    let over = match sent {
        Some(request) => {
            let over;
            (state, over) = finish(state, request, words::send_block(), to, stag);
            over.map(drop)
        }
        None => Ok(()),
    };
    if over.is_ok() {
        state.sent = pieces.iter().map(|piece| piece.len()).sum::<usize>() as u64;
    }
    (state, got.and(over.map_err(Fault::from).map(|()| 1)))
}

/// Exchanges with one partner, under the tag `CMMD_DEFAULT_TAG`. 1, or 0 when it fails.
///
/// # Safety
/// As for [`CMMD_send_and_receive`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_swap(
    node: c_int,
    rbuf: *mut c_void,
    rlen: c_int,
    sbuf: *const c_void,
    slen: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { CMMD_send_and_receive(node, 0, rbuf, rlen, node, 0, sbuf, slen) }
}

/// The older name of [`CMMD_send_block`].
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send(dest: c_int, tag: c_int, buf: *const c_void, len: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { CMMD_send_block(dest, tag, buf, len) }
}

/// The older name of [`CMMD_receive_block`].
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_receive(src: c_int, tag: c_int, buf: *mut c_void, len: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { CMMD_receive_block(src, tag, buf, len) }
}

/// Sends a few bytes, as [`CMMD_send_noblock`].
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_send_short(dest: c_int, tag: c_int, buf: *const c_void, len: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { CMMD_send_noblock(dest, tag, buf, len) }
}
