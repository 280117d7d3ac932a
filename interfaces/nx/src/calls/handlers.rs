//! Handlers: hrecv(3), hsend(3), hsendrecv(3), masktrap(3).

use crate::errors::{Nx, NxError};
use crate::exchange::{self, Memory};
use crate::handlers::{self, Handler, Posted};
use crate::interrupt;
use crate::select::{outgoing, wanted};
use crate::task::{Task, check_ptype, check_ptypesel, ptype, ptype_in_use};
use libc::c_long;

/// A handler of C's.
type Plain = Option<extern "C" fn(c_long, c_long, c_long, c_long)>;
type Extended = Option<extern "C" fn(c_long, c_long, c_long, c_long, c_long)>;
/// A handler of Fortran's.
type FPlain = Option<extern "C" fn(*const i32, *const i32, *const i32, *const i32)>;
type FExtended = Option<extern "C" fn(*const i32, *const i32, *const i32, *const i32, *const i32)>;

super::faces! {
    /// Holds handlers back (1) or lets them in (0); gives what was before.
    masktrap _masktrap masktrap_ (n state) value;
}

mod work {
    use crate::calls::with;
    use crate::errors::{Nx, NxError};
    use crate::handlers;

    pub(super) unsafe fn masktrap(state: i64) -> Nx<i64> {
        // Those that were held back run before the call returns.
        with(|_| match state {
            0 | 1 => Ok(i64::from(handlers::mask(state == 1))),
            _ => Err(NxError::Param),
        })
    }
}

/// What a handler receive is asked for.
struct Receive {
    typesel: i64,
    nodesel: i64,
    ptypesel: i64,
    room: (*mut u8, i64),
}

/// Posts a receive that enters a handler; without a handler, and without memory, takes it away.
unsafe fn receive(what: Receive, handler: Option<Handler>) -> Nx<()> {
    super::with(|task| {
        let Receive { typesel, nodesel, ptypesel, room: (start, count) } = what;
        check_ptypesel(ptypesel)?;
        let pattern = wanted(typesel, task.sender(nodesel)?)?;
        let room = Memory::new(start, count)?;
        let Some(handler) = handler else {
            if start.is_null() && count == 0 {
                handlers::withdraw(task, &pattern);
                return Ok(());
            }
            return Err(NxError::Hnd);
        };
        ptype_in_use()?;
        interrupt::serve_if_long(task, room.length);
        // SAFETY: the program keeps the memory until the handler was entered, as it must.
        let request = unsafe { task.api.post_into(&pattern, room.start, room.length, 0) };
        let receive = Some((request, room.length));
        handlers::post(task, Posted { send: None, receive, pattern: Some(pattern), told: [0; 4], handler });
        Ok(())
    })
}

/// What a handler send is asked for.
struct Outgoing {
    kind: i64,
    data: (*mut u8, i64),
    node: i64,
    ptype: i64,
}

/// Starts a send that enters a handler when it is over, and may bring an answer.
unsafe fn send(what: Outgoing, answer: Option<(i64, *mut u8, i64)>, handler: Option<Handler>) -> Nx<()> {
    super::with(|task| {
        let Outgoing { kind, data: (start, count), node, ptype: to_ptype } = what;
        let handler = handler.ok_or(NxError::Hnd)?;
        check_ptype(to_ptype)?;
        let data = Memory::new(start, count)?;
        outgoing(kind)?;
        let to = task.receiver(node)?;
        let answer = match answer {
            Some((typesel, start, count)) => Some((wanted(typesel, None)?, Memory::new(start, count)?)),
            None => None,
        };
        ptype_in_use()?;
        let receive = answer.as_ref().map(|(pattern, room)| {
            // SAFETY: the program keeps the memory until the handler was entered, as it must.
            (unsafe { task.api.post_into(pattern, room.start, room.length, 0) }, room.length)
        });
        // SAFETY: as above.
        let send = unsafe { exchange::start_send(task, kind, data, to) }?;
        if send.is_some() {
            task.api.summon(to);
        }
        let told = [kind, count, told_node(task), ptype()];
        handlers::post(task, Posted { send, receive, pattern: None, told, handler });
        Ok(())
    })
}

/// The handler of a send is told its sender.
fn told_node(task: &Task) -> i64 {
    task.partition.own() as i64
}

/// The faces of a call with a handler: C's two and Fortran's.
macro_rules! handler_faces {
    ($($(#[$doc:meta])* $plain:ident $twin:ident $fortran:ident
        ($($kind:ident $arg:ident),*) $c:ty, $f:ty, ($($extra:ident)?) => $work:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Buffers must be the program's memory, as long as it says, until the handler was entered.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $plain($($arg: super::c_type!($kind),)* handler: $c $(, $extra: c_long)?) {
            // SAFETY: the caller's promise.
            let done = unsafe { $work($(super::c_value!($kind $arg),)* c_handler!(handler $($extra)?)) };
            super::or_end(stringify!($plain), done);
        }
        /// The same; -1 and `errno` on failure.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $twin(
            $($arg: super::c_type!($kind),)* handler: $c $(, $extra: c_long)?
        ) -> c_long {
            // SAFETY: the caller's promise.
            super::or_errno(unsafe { $work($(super::c_value!($kind $arg),)* c_handler!(handler $($extra)?)) })
        }
        /// For Fortran.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran($($arg: super::f_type!($kind),)* handler: $f $(, $extra: *const i32)?) {
            // SAFETY: the caller's promise.
            let done = unsafe { $work($(super::f_value!($kind $arg),)* f_handler!(handler $($extra)?)) };
            super::or_end(stringify!($plain), done);
        }
    )*};
}
macro_rules! c_handler {
    ($handler:ident) => {
        $handler.map(Handler::Plain)
    };
    ($handler:ident $extra:ident) => {
        $handler.map(|function| Handler::Extended(function, $extra))
    };
}
macro_rules! f_handler {
    ($handler:ident) => {
        $handler.map(Handler::Fortran)
    };
    ($handler:ident $extra:ident) => {
        // Fortran passes the address of an integer.
        $handler.map(|function| Handler::FortranExtended(function, *$extra))
    };
}

handler_faces! {
    /// Posts a receive; the handler is entered when its message is there.
    hrecv _hrecv hrecv_ (n typesel, b buf, n count) Plain, FPlain, () => receive_any;
    /// The same from a certain node, with a number for the handler.
    hrecvx _hrecvx hrecvx_ (n typesel, b buf, n count, n nodesel, n ptypesel) Extended, FExtended, (hparam)
        => receive_from;
    /// Starts a send; the handler is entered when the memory may be used again.
    hsend _hsend hsend_ (n kind, b buf, n count, n node, n ptype) Plain, FPlain, () => send_alone;
    /// The same, with a number for the handler.
    hsendx _hsendx hsendx_ (n kind, b buf, n count, n node, n ptype) Extended, FExtended, (hparam) => send_alone;
    /// Starts a send and posts a receive for the answer; the handler is entered when both are over.
    hsendrecv _hsendrecv hsendrecv_
        (n kind, b sbuf, n scount, n node, n ptype, n typesel, b rbuf, n rcount) Plain, FPlain, ()
        => send_for_answer;
}

unsafe fn receive_any(typesel: i64, start: *mut u8, count: i64, handler: Option<Handler>) -> Nx<()> {
    // SAFETY: the caller's promise.
    unsafe { receive(Receive { typesel, nodesel: -1, ptypesel: -1, room: (start, count) }, handler) }
}

unsafe fn receive_from(
    typesel: i64,
    start: *mut u8,
    count: i64,
    nodesel: i64,
    ptypesel: i64,
    handler: Option<Handler>,
) -> Nx<()> {
    // SAFETY: the caller's promise.
    unsafe { receive(Receive { typesel, nodesel, ptypesel, room: (start, count) }, handler) }
}

unsafe fn send_alone(
    kind: i64,
    start: *mut u8,
    count: i64,
    node: i64,
    ptype: i64,
    handler: Option<Handler>,
) -> Nx<()> {
    // SAFETY: the caller's promise.
    unsafe { send(Outgoing { kind, data: (start, count), node, ptype }, None, handler) }
}

#[expect(clippy::too_many_arguments, reason = "NX's")]
unsafe fn send_for_answer(
    kind: i64,
    start: *mut u8,
    count: i64,
    node: i64,
    ptype: i64,
    typesel: i64,
    room: *mut u8,
    length: i64,
    handler: Option<Handler>,
) -> Nx<()> {
    // SAFETY: the caller's promise.
    unsafe {
        send(Outgoing { kind, data: (start, count), node, ptype }, Some((typesel, room, length)), handler)
    }
}
