//! Sending and receiving: pvm_send(3), pvm_recv(3) and related calls.

use crate::calls::array;
use crate::errors::{Pvm, PvmError};
use crate::machine::attend::{HowLong, Take, attentively, is_needed, receive};
use crate::state::call;
use crate::trace::{Did, numbers};
use parvum_api::pointers::{In, Out};
use parvum_api::{Buffering, Completion};
use parvum_api::{Notes, SendTo, call as waits};
use parvum_wire::{Tid, encoding};
use std::ffi::{c_int, c_void};

/// Sends the active send buffer to a task. Returns when the buffer may be used again.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_send(tid: c_int, tag: c_int) -> c_int {
    call("pvm_send", |state| {
        let context = state.context;
        // As in PVM, what is sent to a task that is gone is lost without a word.
        let sent = state.send(tid, tag, context);
        state.forgive_absence(sent)
    })
}

/// Sends the active send buffer to several tasks, never to the caller.
///
/// # Safety
/// `tids` must be readable as `count` ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_mcast(tids: *const c_int, count: c_int, tag: c_int) -> c_int {
    call("pvm_mcast", |state| {
        // SAFETY: the caller's promise. Nobody is a possible audience.
        let tids = unsafe { array(tids, count)? };
        state.can_send()?;
        if tag < 0 || !tids.iter().all(|tid| Tid(*tid).is_task()) {
            return Err(PvmError::BadParam);
        }
        let me = state.me()?.tid;
        let others: Vec<i32> = tids.iter().copied().filter(|&tid| tid != me).collect();
        state.multicast(&others, tag)
    })
}

/// Receives a message into a new active receive buffer, waiting for it.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_recv(tid: c_int, tag: c_int) -> c_int {
    receive("pvm_recv", tid, tag, HowLong::ENDLESS)
}

/// Receives a message if one has arrived; 0 if not.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_nrecv(tid: c_int, tag: c_int) -> c_int {
    receive("pvm_nrecv", tid, tag, HowLong::NONE)
}

/// Receives a message, and waits for it at most this time; 0 if none came. A null time waits for ever.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_trecv(tid: c_int, tag: c_int, limit: In<'_, libc::timeval>) -> c_int {
    let nanoseconds = match limit.get() {
        None => -1,
        Some(limit) if limit.tv_sec < 0 || !(0..1_000_000).contains(&limit.tv_usec) => {
            return call("pvm_trecv", |_| Err(PvmError::BadParam));
        }
        Some(limit) => limit.tv_sec.saturating_mul(1_000_000_000).saturating_add(limit.tv_usec * 1000),
    };
    receive("pvm_trecv", tid, tag, HowLong::of(nanoseconds))
}

/// As `pvm_trecv`, but 0 also when a handler of signals has run: for interpreters, whose own handlers run when this has
/// returned. The call misses a signal that comes just before the task sleeps. A caller that must not miss signals first
/// uses short times.
#[unsafe(no_mangle)]
pub extern "C" fn parvum_pvm_trecv(tid: c_int, tag: c_int, nanoseconds: i64) -> c_int {
    receive("pvm_trecv", tid, tag, HowLong::until_signal(nanoseconds.max(1)))
}

/// The buffer id of a message that has arrived and matches; 0 when there is none.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_probe(tid: c_int, tag: c_int) -> c_int {
    if is_needed() {
        return attentively("pvm_probe", tid, tag, HowLong::NONE, Take::Probe);
    }
    call("pvm_probe", |state| state.probe(tid, tag))
}

/// Bytes of one item of a data type of `pvm_psend` and the group calls.
pub(in crate::calls) fn size_of_type(datatype: c_int) -> Pvm<usize> {
    match datatype {
        0 | 1 => Ok(1),
        2 | 9 => Ok(2),
        3 | 4 | 10 => Ok(4),
        5 | 6 | 8 | 11 => Ok(8),
        7 => Ok(16),
        _ => Err(PvmError::BadParam),
    }
}

/// Bytes of `count` items.
pub(in crate::calls) fn size_of_items(count: c_int, datatype: c_int) -> Pvm<usize> {
    let count = usize::try_from(count).map_err(|_| PvmError::BadParam)?;
    Ok(count * size_of_type(datatype)?)
}

/// Sends an array without a buffer.
///
/// # Safety
/// `items` must be readable as `count` items of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_psend(
    tid: c_int,
    tag: c_int,
    items: *const c_void,
    count: c_int,
    datatype: c_int,
) -> c_int {
    call("pvm_psend", |state| {
        let bytes = size_of_items(count, datatype)?;
        if tag < 0 || !Tid(tid).is_task() || (items.is_null() && bytes > 0) {
            return Err(PvmError::BadParam);
        }
        let data = match bytes {
            0 => &[],
            // SAFETY: readable, as the caller says.
            _ => unsafe { std::slice::from_raw_parts(items.cast(), bytes) },
        };
        let context = state.context;
        state.about(|| {
            let to = [(Did::Destination, tid), (Did::Tag, tag), (Did::Context, context as c_int)];
            [numbers(to), numbers([(Did::PackType, datatype), (Did::PackCount, count)])].concat()
        });
        let how = SendTo {
            to: tid,
            tag,
            context,
            meta: encoding::RAW,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        let notes = Notes { limit: -1, call: waits::SEND, peer: tid, tag, context: context as i32 };
        let api = state.machine()?;
        let sent = state.outside(|| api.send_one(how, data, &notes)).map(|()| 0);
        // As for `pvm_send`.
        state.forgive_absence(sent.map_err(PvmError::from))
    })
}

/// Receives a message straight into an array. A message longer than the array is cut: `PvmOverflow`
/// tells it, and `length` what there was.
///
/// # Safety
/// `items` must be writable as `count` items of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_precv(
    tid: c_int,
    tag: c_int,
    items: *mut c_void,
    count: c_int,
    datatype: c_int,
    from: Out<'_, c_int>,
    its_tag: Out<'_, c_int>,
    length: Out<'_, c_int>,
) -> c_int {
    let mut chosen = None;
    if is_needed() {
        match attentively("pvm_precv", tid, tag, HowLong::ENDLESS, Take::Probe) {
            id if id < 0 => return id,
            id => chosen = Some(id),
        }
    }
    call("pvm_precv", |state| {
        let bytes = size_of_items(count, datatype)?;
        if items.is_null() && bytes > 0 {
            return Err(PvmError::BadParam);
        }
        let room = match bytes {
            0 => &mut [],
            // SAFETY: writable, as the caller says.
            _ => unsafe { std::slice::from_raw_parts_mut(items.cast(), bytes) },
        };
        // Data without room is lost, which is not an error: the length shows it.
        let message = state.receive_into(tid, tag, room, chosen)?;
        from.put(message.from);
        its_tag.put(message.tag);
        length.put(c_int::try_from(message.length).unwrap_or(c_int::MAX));
        Ok(0)
    })
}
