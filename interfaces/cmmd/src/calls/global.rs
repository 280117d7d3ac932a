//! All nodes together, and host and nodes: cmmd_sync_with_nodes(3), cmmd_bc_to_nodes(3), cmmd_global_or(3).

use super::message::ERRVAL;
use crate::combine::{Combiner, combiner, kind_of};
use crate::entry::{call, together};
use crate::envelope::context;
use crate::errors::{Cmmd, Fault};
use crate::host::about;
use crate::lent::{length, readable, writable};
use crate::state::State;
use std::ffi::{c_int, c_void};

/// Waits until all nodes have called it.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_sync_with_nodes() {
    together((), |state| {
        if state.shared.is_empty() {
            return state.barrier();
        }
        super::files::flush();
        let put_out = state.put_out();
        state.barrier().and(put_out)
    })
}

/// Begins a barrier, and returns.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_sync_with_nodes_start() {
    together((), |state| state.start_sync())
}

/// Whether all nodes have begun it.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_sync_with_nodes_done() -> c_int {
    together(ERRVAL, |state| state.sync_done(false).map(c_int::from))
}

/// Waits until they have.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_sync_with_nodes_finish() {
    together((), |state| state.sync_done(true).map(drop))
}

/// On the host: waits until all nodes are in `CMMD_sync_with_host`.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_sync_host_with_nodes() {
    together((), |state| state.sync_with_nodes())
}

/// On a node: waits until all nodes and the host have come.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_sync_with_host() {
    together((), |state| state.sync_with_host())
}

/// Combines vectors of `n` elements over all nodes, element by element; all get the result.
///
/// # Safety
/// `dst` is writable and `src` readable for `n` elements; they are the same, or do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_reduce_v(
    dst: *mut c_void,
    src: *const c_void,
    number: c_int,
    elem_size: c_int,
    n: c_int,
) -> c_int {
    together(ERRVAL, |state| {
        let (operator, family) = combiner(number)?;
        let bytes = length(elem_size)?.checked_mul(length(n)?).ok_or(Fault::BadLength)?;
        let bytes = c_int::try_from(bytes).map_err(|_| Fault::BadLength)?;
        // SAFETY: as the program says; when both are the same the copy is made before the other slice exists.
        let mut data = unsafe { readable(src, bytes) }?.to_vec();
        state.reduce(Combiner::new(operator, kind_of(family, elem_size)?)?, &mut data)?;
        // SAFETY: as the program says.
        unsafe { writable(dst, bytes) }?.copy_from_slice(&data);
        Ok(0)
    })
}

/// Sends to all other nodes, which call `CMMD_receive_bc_from_node`.
///
/// # Safety
/// `buf` is readable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_bc_to_nodes(buf: *const c_void, len: c_int) -> c_int {
    // SAFETY: as the program says.
    together(ERRVAL, |state| state.broadcast(unsafe { readable(buf, len) }?))
}

/// Receives what the one node sends that calls `CMMD_bc_to_nodes`.
///
/// # Safety
/// `buf` is writable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_receive_bc_from_node(buf: *mut c_void, len: c_int) -> c_int {
    // SAFETY: as the program says.
    together(ERRVAL, |state| state.receive_broadcast(unsafe { writable(buf, len) }?))
}

/// Gives every node the elements of all, in the order of nodes.
///
/// # Safety
/// `elem` is readable for `elem_len` bytes, `out` writable for as many for each node; they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_concat_with_nodes(
    elem: *const c_void,
    out: *mut c_void,
    elem_len: c_int,
) -> c_int {
    together(ERRVAL, |state| {
        // SAFETY: as the program says.
        let mine = unsafe { readable(elem, elem_len) }?;
        let all = all_elements(state, elem_len)?;
        // SAFETY: as the program says.
        let out = unsafe { writable(out, all) }?;
        let nodes = state.nodes()?;
        Ok(state.outside(|| nodes.concat(mine, &vec![mine.len(); nodes.size()], out)).map(|()| 0)?)
    })
}

/// Bytes of an element of each node.
fn all_elements(state: &State, len: c_int) -> Cmmd<c_int> {
    let all = length(len)?.checked_mul(state.company.size()).ok_or(Fault::BadLength)?;
    c_int::try_from(all).map_err(|_| Fault::BadLength)
}

/// On a node: gives its element to the host.
///
/// # Safety
/// `elem` is readable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_concat_elements_to_host(elem: *const c_void, len: c_int) -> c_int {
    together(ERRVAL, |state| {
        // SAFETY: as the program says.
        let mine = unsafe { readable(elem, len) }?;
        let host = state.host()?;
        state.send_own(host, context::HOST, about::TO_HOST, 0, mine).map(|()| 0)
    })
}

/// On the host: collects an element of each node, in their order.
///
/// # Safety
/// `all` is writable for `len` bytes for each node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_gather_from_nodes(all: *mut c_void, len: c_int) -> c_int {
    together(ERRVAL, |state| {
        let (nodes, bytes) = (state.own_nodes()?, all_elements(state, len)?);
        // SAFETY: as the program says.
        let all = unsafe { writable(all, bytes) }?;
        let len = length(len)?;
        for (at, node) in nodes.into_iter().enumerate() {
            state.hear(node, about::TO_HOST, &mut all[at * len..(at + 1) * len])?;
        }
        Ok(0)
    })
}

/// On the host: deals an element to each node, in their order.
///
/// # Safety
/// `all` is readable for `len` bytes for each node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_distrib_to_nodes(all: *const c_void, len: c_int) -> c_int {
    together(ERRVAL, |state| {
        let (nodes, bytes) = (state.own_nodes()?, all_elements(state, len)?);
        // SAFETY: as the program says.
        let all = unsafe { readable(all, bytes) }?;
        let len = length(len)?;
        for (at, node) in nodes.into_iter().enumerate() {
            state.send_own(node, context::HOST, about::FROM_HOST, 0, &all[at * len..(at + 1) * len])?;
        }
        Ok(0)
    })
}

/// On a node: receives its element from the host.
///
/// # Safety
/// `elem` is writable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_receive_element_from_host(elem: *mut c_void, len: c_int) -> c_int {
    together(ERRVAL, |state| {
        // SAFETY: as the program says.
        let room = unsafe { writable(elem, len) }?;
        let host = state.host()?;
        state.hear(host, about::FROM_HOST, room).map(|_| 0)
    })
}

/// On the host: sends to all nodes.
///
/// # Safety
/// `buf` is readable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_bc_from_host(buf: *const c_void, len: c_int) -> c_int {
    together(ERRVAL, |state| {
        // SAFETY: as the program says.
        let data = unsafe { readable(buf, len) }?;
        for node in state.own_nodes()? {
            state.send_own(node, context::HOST, about::BROADCAST, 0, data)?;
        }
        Ok(0)
    })
}

/// On a node: receives what the host sends to all.
///
/// # Safety
/// `buf` is writable for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_receive_bc_from_host(buf: *mut c_void, len: c_int) -> c_int {
    together(ERRVAL, |state| {
        // SAFETY: as the program says.
        let room = unsafe { writable(buf, len) }?;
        let host = state.host()?;
        state.hear(host, about::BROADCAST, room).map(|_| 0)
    })
}

/// Sets or clears this task's bit.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_set_global_or(bit: c_int) -> c_int {
    call(ERRVAL, |state| {
        let (api, others) = (state.api, state.participants());
        state.or.set(api, &others, bit != 0)
    })
}

/// Whether the bit of any task is set, as far as is known here by now.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_get_global_or() -> c_int {
    call(ERRVAL, |state| {
        let api = state.api;
        state.or.get(api)
    })
}
