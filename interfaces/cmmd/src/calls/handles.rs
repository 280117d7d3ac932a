//! Handles, probing and what is known of messages: cmmd_msg_wait(3), cmmd_msg_pending(3), cmmd_bytes_received(3).

use super::message::ERRVAL;
use crate::completing::{run_handlers, wait_for};
use crate::entry::{call, guarded};
use crate::envelope::{ANY, Last, notes};
use crate::errors::{Cmmd, Fault, remember};
use crate::lent::Matching;
use crate::state::operations::{Kind, Operation};
use crate::state::{State, enter};
use crate::words;
use parvum_api::{Message, Notes, Status};
use std::ffi::{c_int, c_void};

/// Waits until the operation is complete.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_msg_wait(mcb: c_int) {
    guarded((), |mut state| {
        if let Err(why) = state.operations.get(mcb) {
            return (state, Err(why));
        }
        let (state, over) = wait_for(state, mcb);
        (run_handlers(state), over)
    })
}

/// 1: complete; 0: not yet; negative: the operation has failed, or the handle is invalid.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_msg_done(mcb: c_int) -> c_int {
    call(ERRVAL, |state| {
        state.operations.get(mcb)?;
        if !state.look_at(mcb) {
            return Ok(0);
        }
        match state.operations.get(mcb).map(|operation| operation.over) {
            Ok(Some(Err(why))) => Err(why),
            _ => Ok(1),
        }
    })
}

/// Gives the handle back.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_free_mcb(mcb: c_int) {
    call((), |state| {
        state.operations.get(mcb)?;
        state.look_at(mcb);
        state.operations.free(mcb)
    })
}

/// Waits until all operations are complete.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_all_msgs_wait() {
    guarded((), |mut state| {
        let mut worst = Ok(());
        for mcb in state.operations.under_way(None) {
            let over;
            (state, over) = wait_for(state, mcb);
            worst = worst.and(over);
        }
        (run_handlers(state), worst)
    })
}

fn all_done(kind: Option<Kind>) -> c_int {
    call(ERRVAL, |state| {
        let under_way = state.operations.under_way(kind);
        let open = under_way.into_iter().filter(|mcb| !state.look_at(*mcb)).count();
        Ok((open == 0).into())
    })
}

/// Whether all operations are complete.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_all_msgs_done() -> c_int {
    all_done(None)
}

/// Whether all sends are.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_all_sends_done() -> c_int {
    all_done(Some(Kind::Send))
}

/// Whether all receives are.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_all_receives_done() -> c_int {
    all_done(Some(Kind::Receive))
}

/// A message that waits to be received; it stays.
fn pending(state: &mut State, src: c_int, tag: c_int) -> Cmmd<Option<Message>> {
    let pattern = state.pattern(src, tag)?;
    if state.matching.is_some() {
        return Ok(state.find_matching(src, tag));
    }
    let once = Notes { limit: 0, ..notes(words::msg_pending(), pattern.from, tag) };
    match state.api.probe(&pattern, &once) {
        Ok(found) => Ok(Some(found)),
        Err(Status::Pending) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// Whether a matching message waits.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_msg_pending(src: c_int, tag: c_int) -> c_int {
    call(ERRVAL, |state| {
        let found = pending(state, src, tag)?;
        if let Some(message) = &found {
            state.note_received(message);
        }
        Ok(found.is_some().into())
    })
}

/// A handle for a matching message that waits; 0 for none.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_mcb_pending(src: c_int, tag: c_int) -> c_int {
    call(ERRVAL, |state| {
        let Some(message) = pending(state, src, tag)? else { return Ok(0) };
        state.operations.check_room(Kind::Found)?;
        state.note_received(&message);
        let mut operation = Operation::new(Kind::Found, src, message.tag, 0, 0);
        operation.message = Last { from: message.from, tag: message.tag, bytes: message.length };
        operation.over = Some(Ok(()));
        Ok(state.operations.add(operation))
    })
}

fn number(bytes: u64) -> c_int {
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

/// Bytes of the message received or found last.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_bytes_received() -> c_int {
    call(ERRVAL, |state| Ok(number(state.last.bytes)))
}

/// Bytes of the message sent last.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_bytes_sent() -> c_int {
    call(ERRVAL, |state| Ok(number(state.sent)))
}

/// The sender of the message that was received or found last.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_msg_sender() -> c_int {
    call(ERRVAL, |state| Ok(state.company.node(state.last.from)))
}

/// Its tag.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_msg_tag() -> c_int {
    call(ERRVAL, |state| Ok(state.last.tag))
}

fn of<T>(mcb: c_int, otherwise: T, ask: impl FnOnce(&State, &Operation) -> Cmmd<T>) -> T {
    call(otherwise, |state| {
        state.operations.get(mcb)?;
        state.look_at(mcb);
        let state = &mut *state;
        let operation =
            std::mem::replace(state.operations.get(mcb)?, Operation::new(Kind::Found, 0, 0, 0, 0));
        let answer = ask(state, &operation);
        *state.operations.get(mcb)? = operation;
        answer
    })
}

/// Bytes that the operation has moved; 0 until it is complete.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_mcb_bytes(mcb: c_int) -> c_int {
    of(mcb, ERRVAL, |_, operation| Ok(number(operation.message.bytes)))
}

/// The message's tag; that of the call until it is known.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_mcb_tag(mcb: c_int) -> c_int {
    of(mcb, ERRVAL, |_, operation| Ok(operation.message.tag))
}

/// The length that the call named.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_mcb_len(mcb: c_int) -> c_int {
    of(mcb, ERRVAL, |_, operation| match operation.kind {
        Kind::Found => Ok(number(operation.message.bytes)),
        _ => Ok(number(operation.len as u64)),
    })
}

/// The other node: the named node, or the sender of the received message.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_mcb_node(mcb: c_int) -> c_int {
    of(mcb, ERRVAL, |state, operation| Ok(other(state, operation)))
}

fn other(state: &State, operation: &Operation) -> i32 {
    match operation.message.from {
        ANY => operation.node,
        from => state.company.node(from),
    }
}

/// The sender: this node for a send.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_mcb_source(mcb: c_int) -> c_int {
    of(mcb, ERRVAL, |state, operation| {
        Ok(if operation.kind == Kind::Send { state.company.own as i32 } else { other(state, operation) })
    })
}

/// The receiver: this node for a receive.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_mcb_dest(mcb: c_int) -> c_int {
    of(mcb, ERRVAL, |state, operation| {
        Ok(if operation.kind == Kind::Send { operation.node } else { state.company.own as i32 })
    })
}

/// The memory that the call named.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_mcb_buffer(mcb: c_int) -> *mut c_void {
    of(mcb, std::ptr::null_mut(), |_, operation| Ok(operation.buffer as *mut c_void))
}

/// Lets what has arrived be handled, and handlers run.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_poll() -> c_int {
    let polled = enter().and_then(|state| {
        let lost = state.api.progress().lost;
        drop(run_handlers(state));
        if lost { Err(Fault::NoMachine) } else { Ok(0) }
    });
    polled.unwrap_or_else(|why| {
        remember(why);
        ERRVAL
    })
}

fn set_interrupts(on: bool) -> c_int {
    call(ERRVAL, |state| Ok(std::mem::replace(&mut state.interrupts, on).into()))
}

/// Lets handlers run in every call; whether they did before.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_enable_interrupts() -> c_int {
    set_interrupts(true)
}

/// Lets handlers run only where the program waits or polls; whether they ran in every call before.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_disable_interrupts() -> c_int {
    set_interrupts(false)
}

/// How many more sends may have a handle.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_available_sends() -> c_int {
    call(ERRVAL, |state| Ok(state.operations.left(Kind::Send) as c_int))
}

/// How many more receives may.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_available_receives() -> c_int {
    call(ERRVAL, |state| Ok(state.operations.left(Kind::Receive) as c_int))
}

/// Lets a function of the program's decide which messages a receive takes; null: node and tag do again.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_set_msg_matching_fcn(
    function: Option<unsafe extern "C" fn(c_int, c_int, c_int, c_int) -> c_int>,
) {
    call((), |state| {
        state.matching = function.map(Matching);
        Ok(())
    })
}
