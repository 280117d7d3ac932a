//! Handlers: hrecv(3), hsend(3), hsendrecv(3), masktrap(3).

use crate::errors::{Nx, NxError};
use crate::exchange::{self, Lent};
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
    masktrap _masktrap masktrap_ (n state) value => work::masktrap(state);
}

mod work {
    use crate::calls::with;
    use crate::errors::{Nx, NxError};
    use crate::handlers;

    pub(super) fn masktrap(state: i64) -> Nx<i64> {
        // Pending handlers run before the call returns.
        with(|_| match state {
            0 | 1 => Ok(i64::from(handlers::mask(state == 1))),
            _ => Err(NxError::Param),
        })
    }
}

/// The request for a handler receive.
struct Receive {
    typesel: i64,
    nodesel: i64,
    ptypesel: i64,
    room: Lent,
}

/// Posts a receive that enters a handler. Without a handler and without memory: withdraws the receive.
fn receive(what: Receive, handler: Option<Handler>) -> Nx<()> {
    super::with(|task| {
        let Receive { typesel, nodesel, ptypesel, room: lent } = what;
        check_ptypesel(ptypesel)?;
        let pattern = wanted(typesel, task.sender(nodesel)?)?;
        let room = lent.memory()?;
        let Some(handler) = handler else {
            if lent.is_nothing() {
                handlers::withdraw(task, &pattern);
                return Ok(());
            }
            return Err(NxError::Hnd);
        };
        ptype_in_use()?;
        interrupt::serve_if_long(task, room.length());
        let receive = Some((exchange::post(task, &pattern, room, 0), room.length()));
        handlers::post(task, Posted { send: None, receive, pattern: Some(pattern), told: [0; 4], handler });
        Ok(())
    })
}

/// The request for a handler send.
struct Outgoing {
    kind: i64,
    data: Lent,
    node: i64,
    ptype: i64,
}

/// Starts a send that enters a handler when it is over, and may bring an answer.
fn send(what: Outgoing, answer: Option<(i64, Lent)>, handler: Option<Handler>) -> Nx<()> {
    super::with(|task| {
        let Outgoing { kind, data: lent, node, ptype: to_ptype } = what;
        let handler = handler.ok_or(NxError::Hnd)?;
        check_ptype(to_ptype)?;
        let data = lent.memory()?;
        outgoing(kind)?;
        let to = task.receiver(node)?;
        let answer = match answer {
            Some((typesel, room)) => Some((wanted(typesel, None)?, room.memory()?)),
            None => None,
        };
        ptype_in_use()?;
        let receive = answer.map(|(pattern, room)| (exchange::post(task, &pattern, room, 0), room.length()));
        let send = exchange::start_send(task, kind, data, to)?;
        if send.is_some() {
            task.api.summon(to);
        }
        let told = [kind, lent.count(), told_node(task), ptype()];
        handlers::post(task, Posted { send, receive, pattern: None, told, handler });
        Ok(())
    })
}

/// The handler of a send gets the number of the sender.
fn told_node(task: &Task) -> i64 {
    task.partition.own() as i64
}

/// The faces of a call with a handler: C's two and Fortran's.
macro_rules! handler_faces {
    ($($(#[$doc:meta])* $plain:ident $twin:ident $fortran:ident
        ($($kind:ident $arg:ident),*) $handler:ident: $c:ty, $f:ty, ($($extra:ident)?) => $work:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Buffers must be the program's memory, as long as it says, until the handler was entered.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $plain($($arg: super::c_type!($kind),)* $handler: $c $(, $extra: c_long)?) {
            let $handler = c_handler!($handler $($extra)?);
            // SAFETY: the caller's promise.
            let done = unsafe { super::work!(c ($($kind $arg),*) $work) };
            super::or_end(stringify!($plain), done);
        }
        /// The same; -1 and `errno` on failure.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $twin(
            $($arg: super::c_type!($kind),)* $handler: $c $(, $extra: c_long)?
        ) -> c_long {
            let $handler = c_handler!($handler $($extra)?);
            // SAFETY: the caller's promise.
            super::or_errno(unsafe { super::work!(c ($($kind $arg),*) $work) })
        }
        /// For Fortran.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran($($arg: super::f_type!($kind),)* $handler: $f $(, $extra: *const i32)?) {
            // SAFETY: Fortran passes the addresses of integers; the rest is the caller's promise.
            let done = unsafe {
                let $handler = f_handler!($handler $($extra)?);
                super::work!(f ($($kind $arg),*) $work)
            };
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
    hrecv _hrecv hrecv_ (n typesel, b buf, n count) handler: Plain, FPlain, ()
        => receive(Receive { typesel, nodesel: -1, ptypesel: -1, room: Lent::new(buf, count) }, handler);
    /// The same from a certain node, with a number for the handler.
    hrecvx _hrecvx hrecvx_ (n typesel, b buf, n count, n nodesel, n ptypesel)
        handler: Extended, FExtended, (hparam)
        => receive(Receive { typesel, nodesel, ptypesel, room: Lent::new(buf, count) }, handler);
    /// Starts a send; the handler is entered when the memory may be used again.
    hsend _hsend hsend_ (n kind, b buf, n count, n node, n ptype) handler: Plain, FPlain, ()
        => send(Outgoing { kind, data: Lent::new(buf, count), node, ptype }, None, handler);
    /// The same, with a number for the handler.
    hsendx _hsendx hsendx_ (n kind, b buf, n count, n node, n ptype) handler: Extended, FExtended, (hparam)
        => send(Outgoing { kind, data: Lent::new(buf, count), node, ptype }, None, handler);
    /// Starts a send and posts a receive for the answer; the handler is entered when both are over.
    hsendrecv _hsendrecv hsendrecv_
        (n kind, b sbuf, n scount, n node, n ptype, n typesel, b rbuf, n rcount) handler: Plain, FPlain, ()
        => {
            let answer = (typesel, Lent::new(rbuf, rcount));
            send(Outgoing { kind, data: Lent::new(sbuf, scount), node, ptype }, Some(answer), handler)
        };
}
