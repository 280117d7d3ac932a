//! The same calls for Fortran: lower case with an underscore, every argument by reference, called as functions.
//!
//! In Fortran an integer is C's `int`, a double precision number a `double`; a handle is an integer. For no handler a
//! program names `cmmd_no_handler`, which it declares external.

use super::{channels::*, environment::*, global::*, handles::*, message::*, scans::*, strided::*};
use std::ffi::{c_double, c_float, c_int, c_void};

type Routine = unsafe extern "C" fn(*mut c_int, *mut c_void);

/// What a program names for no handler. Never called.
#[unsafe(no_mangle)]
pub extern "C" fn cmmd_no_handler_() {}

/// The handler that a program names, if it is one.
fn handler(named: Option<Routine>) -> Option<Routine> {
    let none = cmmd_no_handler_ as extern "C" fn() as usize;
    named.filter(|routine| *routine as usize != none)
}

/// A type of C's as Fortran passes it: by reference, but for memory and routines.
macro_rules! passed {
    (int) => { *const c_int };
    (real) => { *const c_float };
    (double) => { *const c_double };
    (memory) => { *mut c_void };
    (routine) => { Option<Routine> };
}

/// And what becomes of it.
macro_rules! given {
    (int, $name:ident) => {
        *$name
    };
    (real, $name:ident) => {
        *$name
    };
    (double, $name:ident) => {
        *$name
    };
    (memory, $name:ident) => {
        $name
    };
    (routine, $name:ident) => {
        handler($name)
    };
}

macro_rules! fortran {
    ($($there:ident = $name:ident($($argument:ident: $kind:tt),*) -> $result:ty;)*) => {$(
        /// See the C call.
        ///
        /// # Safety
        /// The arguments are what a Fortran program passes: addresses of numbers, and memory as the C call wants it.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name($($argument: passed!($kind)),*) -> $result {
            // SAFETY: the caller's promise.
            unsafe { $there($(given!($kind, $argument)),*) }
        }
    )*};
}

fortran! {
    CMMD_send_block = cmmd_send_block_(dest: int, tag: int, buf: memory, len: int) -> c_int;
    CMMD_send_noblock = cmmd_send_noblock_(dest: int, tag: int, buf: memory, len: int) -> c_int;
    CMMD_send_async = cmmd_send_async_(dest: int, tag: int, buf: memory, len: int, routine: routine, arg: memory) -> c_int;
    CMMD_receive_block = cmmd_receive_block_(src: int, tag: int, buf: memory, len: int) -> c_int;
    CMMD_receive_async = cmmd_receive_async_(src: int, tag: int, buf: memory, len: int, routine: routine, arg: memory) -> c_int;
    CMMD_send_and_receive = cmmd_send_and_receive_(src: int, rtag: int, rbuf: memory, rlen: int, dest: int, stag: int, sbuf: memory, slen: int) -> c_int;
    CMMD_swap = cmmd_swap_(node: int, rbuf: memory, rlen: int, sbuf: memory, slen: int) -> c_int;
    CMMD_send = cmmd_send_(dest: int, tag: int, buf: memory, len: int) -> c_int;
    CMMD_receive = cmmd_receive_(src: int, tag: int, buf: memory, len: int) -> c_int;
    CMMD_send_short = cmmd_send_short_(dest: int, tag: int, buf: memory, len: int) -> c_int;
    CMMD_send_block_v = cmmd_send_block_v_(dest: int, tag: int, buf: memory, elem: int, stride: int, count: int) -> c_int;
    CMMD_send_noblock_v = cmmd_send_noblock_v_(dest: int, tag: int, buf: memory, elem: int, stride: int, count: int) -> c_int;
    CMMD_send_async_v = cmmd_send_async_v_(dest: int, tag: int, buf: memory, elem: int, stride: int, count: int, routine: routine, arg: memory) -> c_int;
    CMMD_receive_block_v = cmmd_receive_block_v_(src: int, tag: int, buf: memory, elem: int, stride: int, count: int) -> c_int;
    CMMD_receive_async_v = cmmd_receive_async_v_(src: int, tag: int, buf: memory, elem: int, stride: int, count: int, routine: routine, arg: memory) -> c_int;
    CMMD_send_and_receive_v = cmmd_send_and_receive_v_(src: int, rtag: int, rbuf: memory, relem: int, rstride: int, rcount: int, dest: int, stag: int, sbuf: memory, selem: int, sstride: int, scount: int) -> c_int;
    CMMD_swap_v = cmmd_swap_v_(node: int, rbuf: memory, relem: int, rstride: int, rcount: int, sbuf: memory, selem: int, sstride: int, scount: int) -> c_int;
    CMMD_msg_wait = cmmd_msg_wait_(mcb: int) -> ();
    CMMD_msg_done = cmmd_msg_done_(mcb: int) -> c_int;
    CMMD_free_mcb = cmmd_free_mcb_(mcb: int) -> ();
    CMMD_all_msgs_wait = cmmd_all_msgs_wait_() -> ();
    CMMD_all_msgs_done = cmmd_all_msgs_done_() -> c_int;
    CMMD_all_sends_done = cmmd_all_sends_done_() -> c_int;
    CMMD_all_receives_done = cmmd_all_receives_done_() -> c_int;
    CMMD_msg_pending = cmmd_msg_pending_(src: int, tag: int) -> c_int;
    CMMD_mcb_pending = cmmd_mcb_pending_(src: int, tag: int) -> c_int;
    CMMD_bytes_received = cmmd_bytes_received_() -> c_int;
    CMMD_bytes_sent = cmmd_bytes_sent_() -> c_int;
    CMMD_msg_sender = cmmd_msg_sender_() -> c_int;
    CMMD_msg_tag = cmmd_msg_tag_() -> c_int;
    CMMD_mcb_bytes = cmmd_mcb_bytes_(mcb: int) -> c_int;
    CMMD_mcb_tag = cmmd_mcb_tag_(mcb: int) -> c_int;
    CMMD_mcb_len = cmmd_mcb_len_(mcb: int) -> c_int;
    CMMD_mcb_node = cmmd_mcb_node_(mcb: int) -> c_int;
    CMMD_mcb_source = cmmd_mcb_source_(mcb: int) -> c_int;
    CMMD_mcb_dest = cmmd_mcb_dest_(mcb: int) -> c_int;
    CMMD_poll = cmmd_poll_() -> c_int;
    CMMD_enable_interrupts = cmmd_enable_interrupts_() -> c_int;
    CMMD_disable_interrupts = cmmd_disable_interrupts_() -> c_int;
    CMMD_available_sends = cmmd_available_sends_() -> c_int;
    CMMD_available_receives = cmmd_available_receives_() -> c_int;
    CMMD_sync_with_nodes = cmmd_sync_with_nodes_() -> ();
    CMMD_sync_with_nodes_start = cmmd_sync_with_nodes_start_() -> ();
    CMMD_sync_with_nodes_done = cmmd_sync_with_nodes_done_() -> c_int;
    CMMD_sync_with_nodes_finish = cmmd_sync_with_nodes_finish_() -> ();
    CMMD_sync_host_with_nodes = cmmd_sync_host_with_nodes_() -> ();
    CMMD_sync_with_host = cmmd_sync_with_host_() -> ();
    CMMD_reduce_int = cmmd_reduce_int_(value: int, combiner: int) -> c_int;
    CMMD_reduce_float = cmmd_reduce_float_(value: real, combiner: int) -> c_double;
    CMMD_reduce_double = cmmd_reduce_double_(value: double, combiner: int) -> c_double;
    CMMD_reduce_v = cmmd_reduce_v_(dst: memory, src: memory, combiner: int, elem_size: int, n: int) -> c_int;
    CMMD_reduce_to_host_int = cmmd_reduce_to_host_int_(value: int, combiner: int) -> ();
    CMMD_reduce_to_host_double = cmmd_reduce_to_host_double_(value: double, combiner: int) -> ();
    CMMD_reduce_from_nodes_int = cmmd_reduce_from_nodes_int_(value: int, combiner: int) -> c_int;
    CMMD_reduce_from_nodes_double = cmmd_reduce_from_nodes_double_(value: double, combiner: int) -> c_double;
    CMMD_scan_int = cmmd_scan_int_(value: int, combiner: int, direction: int, mode: int, bit: int, kind: int) -> c_int;
    CMMD_scan_double = cmmd_scan_double_(value: double, combiner: int, direction: int, mode: int, bit: int, kind: int) -> c_double;
    CMMD_bc_to_nodes = cmmd_bc_to_nodes_(buf: memory, len: int) -> c_int;
    CMMD_receive_bc_from_node = cmmd_receive_bc_from_node_(buf: memory, len: int) -> c_int;
    CMMD_concat_with_nodes = cmmd_concat_with_nodes_(elem: memory, out: memory, elem_len: int) -> c_int;
    CMMD_concat_elements_to_host = cmmd_concat_elements_to_host_(elem: memory, len: int) -> c_int;
    CMMD_receive_element_from_host = cmmd_receive_element_from_host_(elem: memory, len: int) -> c_int;
    CMMD_gather_from_nodes = cmmd_gather_from_nodes_(all: memory, len: int) -> c_int;
    CMMD_distrib_to_nodes = cmmd_distrib_to_nodes_(all: memory, len: int) -> c_int;
    CMMD_set_global_or = cmmd_set_global_or_(bit: int) -> c_int;
    CMMD_get_global_or = cmmd_get_global_or_() -> c_int;
    CMMD_enable = cmmd_enable_() -> c_int;
    CMMD_enable_host = cmmd_enable_host_() -> c_int;
    CMMD_am_node = cmmd_am_node_() -> c_int;
    CMMD_host_node = cmmd_host_node_() -> c_int;
    CMMD_bc_from_host = cmmd_bc_from_host_(buf: memory, len: int) -> c_int;
    CMMD_receive_bc_from_host = cmmd_receive_bc_from_host_(buf: memory, len: int) -> c_int;
    CMMD_self_address = cmmd_self_address_() -> c_int;
    CMMD_partition_size = cmmd_partition_size_() -> c_int;
    CMMD_reset_partition_size = cmmd_reset_partition_size_(size: int) -> c_int;
    CMMD_node_timer_clear = cmmd_node_timer_clear_(timer: int) -> c_int;
    CMMD_node_timer_start = cmmd_node_timer_start_(timer: int) -> c_int;
    CMMD_node_timer_stop = cmmd_node_timer_stop_(timer: int) -> c_int;
    CMMD_node_timer_elapsed = cmmd_node_timer_elapsed_(timer: int) -> c_double;
    CMMD_node_timer_busy = cmmd_node_timer_busy_(timer: int) -> c_double;
    CMMD_node_timer_idle = cmmd_node_timer_idle_(timer: int) -> c_double;
    CMMD_get_errno = cmmd_get_errno_() -> c_int;
    CMMD_enable_safety = cmmd_enable_safety_() -> ();
    CMMD_disable_safety = cmmd_disable_safety_() -> ();
    CMMD_open_send_channel = cmmd_open_send_channel_(dest: int, id: int, buf: memory, len: int) -> c_int;
    CMMD_open_receive_channel = cmmd_open_receive_channel_(src: int, id: int, buf: memory, len: int) -> c_int;
    CMMD_write_channel = cmmd_write_channel_(channel: int) -> c_int;
    CMMD_reset_channel = cmmd_reset_channel_(channel: int) -> c_int;
    CMMD_send_channel_status = cmmd_send_channel_status_(channel: int) -> c_int;
    CMMD_receive_channel_status = cmmd_receive_channel_status_(channel: int) -> c_int;
    CMMD_is_channel_writable = cmmd_is_channel_writable_(channel: int) -> c_int;
    CMMD_is_channel_readable = cmmd_is_channel_readable_(channel: int) -> c_int;
    CMMD_close_send_channel = cmmd_close_send_channel_(channel: int) -> c_int;
    CMMD_close_receive_channel = cmmd_close_receive_channel_(channel: int) -> c_int;
    CMMD_all_channels_free = cmmd_all_channels_free_() -> c_int;
    CMMD_all_channels_free_wait = cmmd_all_channels_free_wait_() -> ();
}
