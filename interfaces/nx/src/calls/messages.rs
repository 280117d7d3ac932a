//! Sending and receiving: csend(3), crecv(3), isend(3), irecv(3), csendrecv(3), gsendx(3).

use super::Numbers;
use crate::errors::{Nx, NxError};
use crate::task::Task;
use libc::{c_long, c_void};

super::faces! {
    /// Sends; returns when the memory may be used again, whether or not a receive is posted.
    csend _csend csend_ (n kind, b buf, n count, n node, n ptype) none;
    /// Receives the first message of such a type.
    crecv _crecv crecv_ (n typesel, b buf, n count) none;
    /// The same from a certain node; `info` is filled instead of what `infocount` tells.
    crecvx _crecvx crecvx_ (n typesel, b buf, n count, n nodesel, n ptypesel, i info) none;
    /// Starts a send; gives its id.
    isend _isend isend_ (n kind, b buf, n count, n node, n ptype) value;
    /// Posts a receive; gives its id.
    irecv _irecv irecv_ (n typesel, b buf, n count) value;
    /// The same from a certain node; `info` is filled when it is over.
    irecvx _irecvx irecvx_ (n typesel, b buf, n count, n nodesel, n ptypesel, i info) value;
    /// Sends, then receives the answer; gives its bytes.
    csendrecv _csendrecv csendrecv_
        (n kind, b sbuf, n scount, n node, n ptype, n typesel, b rbuf, n rcount) value;
    /// Starts that; gives one id, which is done when the answer is in.
    isendrecv _isendrecv isendrecv_
        (n kind, b sbuf, n scount, n node, n ptype, n typesel, b rbuf, n rcount) value;
}

/// Sends to a list of nodes.
///
/// # Safety
/// `nodes` must be readable as `nnodes` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gsendx(
    kind: c_long,
    buf: *mut c_void,
    count: c_long,
    nodes: *const c_long,
    nnodes: c_long,
) {
    // SAFETY: the caller's promise.
    let done = unsafe { send_to_list(kind, buf.cast(), count, nodes, nodes.is_null(), nnodes) };
    super::or_end("gsendx", done);
}

/// The same; -1 and `errno` on failure.
///
/// # Safety
/// As for `gsendx`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _gsendx(
    kind: c_long,
    buf: *mut c_void,
    count: c_long,
    nodes: *const c_long,
    nnodes: c_long,
) -> c_long {
    // SAFETY: the caller's promise.
    super::or_errno(unsafe { send_to_list(kind, buf.cast(), count, nodes, nodes.is_null(), nnodes) })
}

/// For Fortran.
///
/// # Safety
/// As for `gsendx`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gsendx_(
    kind: *const i32,
    buf: *mut c_void,
    count: *const i32,
    nodes: *const i32,
    nnodes: *const i32,
) {
    // SAFETY: Fortran passes the addresses of integers; the rest is the caller's promise.
    let done = unsafe {
        let (kind, count, nnodes) = ((*kind).into(), (*count).into(), (*nnodes).into());
        send_to_list(kind, buf.cast(), count, nodes, nodes.is_null(), nnodes)
    };
    super::or_end("gsendx", done);
}

unsafe fn send_to_list(
    kind: i64,
    buf: *mut u8,
    count: i64,
    nodes: impl Numbers,
    is_null: bool,
    nnodes: i64,
) -> Nx<()> {
    super::with(|task| {
        let nnodes = usize::try_from(nnodes).map_err(|_| NxError::Param)?;
        if is_null && nnodes > 0 {
            return Err(NxError::PBuf);
        }
        let to: Nx<Vec<i32>> = (0..nnodes).map(|at| task.receiver(nodes.get(at))).collect();
        // SAFETY: the caller's promise.
        unsafe { work::send_to_all(task, kind, buf, count, to?.into_iter()) }
    })
}

mod work {
    use super::Task;
    use crate::account::{self, Call};
    use crate::calls::with;
    use crate::errors::Nx;
    use crate::exchange::{self, Memory, finish_send, remember};
    use crate::ids::{self, InfoPlace, Operation};
    use crate::select::{outgoing, wanted};
    use crate::task::{check_ptype, check_ptypesel};
    use crate::words;

    pub(super) unsafe fn csend(kind: i64, buf: *mut u8, count: i64, node: i64, ptype: i64) -> Nx<()> {
        with(|task| {
            check_ptype(ptype)?;
            if node == -1 {
                // SAFETY: the caller's promise.
                return unsafe { send_to_all(task, kind, buf, count, task.others()) };
            }
            let data = Memory::new(buf, count)?;
            // SAFETY: the caller's promise.
            unsafe { exchange::send(task, kind, data, task.receiver(node)?) }
        })
    }

    pub(super) unsafe fn send_to_all(
        task: &'static Task,
        kind: i64,
        buf: *mut u8,
        count: i64,
        to: impl Iterator<Item = i32>,
    ) -> Nx<()> {
        let data = Memory::new(buf, count)?;
        outgoing(kind)?;
        let mut under_way = Vec::new();
        let mut result = Ok(());
        for to in to {
            // SAFETY: the memory stays until all sends are over, which is waited for below.
            match unsafe { exchange::start_send(task, kind, data, to) } {
                Ok(sending) => under_way.extend(sending),
                Err(why) => result = Err(why),
            }
        }
        for sending in under_way {
            result = finish_send(task, sending, words::csend()).and(result);
        }
        result
    }

    pub(super) unsafe fn crecv(typesel: i64, buf: *mut u8, count: i64) -> Nx<()> {
        with(|task| {
            let room = Memory::new(buf, count)?;
            // SAFETY: the caller's promise.
            let info = unsafe { exchange::receive(task, &wanted(typesel, None)?, room, Call::Crecv) }?;
            remember(&info);
            Ok(())
        })
    }

    pub(super) unsafe fn crecvx(
        typesel: i64,
        buf: *mut u8,
        count: i64,
        nodesel: i64,
        ptypesel: i64,
        place: InfoPlace,
    ) -> Nx<()> {
        with(|task| {
            check_ptypesel(ptypesel)?;
            let pattern = wanted(typesel, task.sender(nodesel)?)?;
            let room = Memory::new(buf, count)?;
            // SAFETY: the caller's promise.
            let info = unsafe { exchange::receive(task, &pattern, room, Call::Crecv) }?;
            place.write(task, &info);
            Ok(())
        })
    }

    pub(super) unsafe fn isend(kind: i64, buf: *mut u8, count: i64, node: i64, ptype: i64) -> Nx<i64> {
        with(|task| {
            check_ptype(ptype)?;
            let data = Memory::new(buf, count)?;
            outgoing(kind)?;
            if node != -1 {
                task.receiver(node)?;
            }
            ids::begin(task, |operations| {
                // SAFETY: the program keeps the memory until the id is done, as it must.
                unsafe { start(task, kind, data, node, operations) }
            })
        })
    }

    /// Starts a send to a node, or to all others.
    unsafe fn start(
        task: &'static Task,
        kind: i64,
        data: Memory,
        node: i64,
        operations: &mut Vec<Operation>,
    ) -> Nx<()> {
        let mut start = |to| {
            // SAFETY: the caller's promise.
            let sending = unsafe { exchange::start_send(task, kind, data, to) }?;
            if let Some(sending) = sending {
                // Nobody waits for it soon: let the receiver take it now.
                task.api.summon(to);
                operations.push(Operation::Send(sending));
            }
            Ok(())
        };
        if node == -1 { task.others().try_for_each(start) } else { start(task.receiver(node)?) }
    }

    pub(super) unsafe fn irecv(typesel: i64, buf: *mut u8, count: i64) -> Nx<i64> {
        // SAFETY: the caller's promise.
        unsafe { irecvx(typesel, buf, count, -1, -1, InfoPlace::None) }
    }

    pub(super) unsafe fn irecvx(
        typesel: i64,
        buf: *mut u8,
        count: i64,
        nodesel: i64,
        ptypesel: i64,
        place: InfoPlace,
    ) -> Nx<i64> {
        with(|task| {
            check_ptypesel(ptypesel)?;
            let pattern = wanted(typesel, task.sender(nodesel)?)?;
            let room = Memory::new(buf, count)?;
            let id = ids::begin(task, |operations| {
                // SAFETY: the program keeps the memory until the id is done, as it must.
                operations.push(unsafe { ids::post(task, &pattern, room, place) }?);
                Ok(())
            });
            account::copied_in(task, Call::Irecv);
            id
        })
    }

    #[expect(clippy::too_many_arguments, reason = "NX's")]
    pub(super) unsafe fn isendrecv(
        kind: i64,
        sbuf: *mut u8,
        scount: i64,
        node: i64,
        ptype: i64,
        typesel: i64,
        rbuf: *mut u8,
        rcount: i64,
    ) -> Nx<i64> {
        with(|task| {
            check_ptype(ptype)?;
            let (data, room) = (Memory::new(sbuf, scount)?, Memory::new(rbuf, rcount)?);
            outgoing(kind)?;
            if node != -1 {
                task.receiver(node)?;
            }
            let pattern = wanted(typesel, None)?;
            let id = ids::begin(task, |operations| {
                // SAFETY: the program keeps the memory until the id is done, as it must. The receive is posted first,
                // so that the answer finds it.
                unsafe {
                    operations.push(ids::post(task, &pattern, room, InfoPlace::None)?);
                    start(task, kind, data, node, operations)
                }
            });
            account::copied_in(task, Call::Irecv);
            id
        })
    }

    #[expect(clippy::too_many_arguments, reason = "NX's")]
    pub(super) unsafe fn csendrecv(
        kind: i64,
        sbuf: *mut u8,
        scount: i64,
        node: i64,
        ptype: i64,
        typesel: i64,
        rbuf: *mut u8,
        rcount: i64,
    ) -> Nx<i64> {
        with(|task| {
            check_ptype(ptype)?;
            let (data, room) = (Memory::new(sbuf, scount)?, Memory::new(rbuf, rcount)?);
            let pattern = wanted(typesel, None)?;
            // SAFETY: the caller's promise.
            let info = unsafe {
                match node {
                    -1 => send_to_all(task, kind, sbuf, scount, task.others())?,
                    node => exchange::send(task, kind, data, task.receiver(node)?)?,
                }
                exchange::receive(task, &pattern, room, Call::Crecv)?
            };
            remember(&info);
            Ok(info.count)
        })
    }
}
