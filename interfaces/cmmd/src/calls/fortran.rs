//! The same calls for Fortran: lower case with an underscore, every argument by reference, called as functions.
//!
//! In Fortran an integer is C's `int`, an integer*8 its `long`, a double precision number a `double`; a handle is an
//! integer. A program without a handler or a matching function passes `cmmd_no_handler`, which it declares external.

use super::{channels::*, environment::*, global::*, handles::*, message::*, scans::*, strided::*};
use crate::errors::{Fault, remember};
use std::ffi::{CStr, c_char, c_double, c_float, c_int, c_long, c_uint, c_ulong, c_void};
use std::sync::Mutex;

type Routine = unsafe extern "C" fn(*mut c_int, *mut c_void);

/// A program passes this for no handler. Never called.
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
    (uint) => { *const c_uint };
    (long) => { *const c_long };
    (ulong) => { *const c_ulong };
    (real) => { *const c_float };
    (double) => { *const c_double };
    (memory) => { *mut c_void };
    (routine) => { Option<Routine> };
}

/// And what becomes of it.
macro_rules! given {
    (memory, $name:ident) => {
        $name
    };
    (routine, $name:ident) => {
        handler($name)
    };
    ($number:tt, $name:ident) => {
        *$name
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
    CMMD_reduce_uint = cmmd_reduce_uint_(value: uint, combiner: int) -> c_uint;
    CMMD_reduce_lint = cmmd_reduce_lint_(value: long, combiner: int) -> c_long;
    CMMD_reduce_luint = cmmd_reduce_luint_(value: ulong, combiner: int) -> c_ulong;
    CMMD_reduce_to_host_uint = cmmd_reduce_to_host_uint_(value: uint, combiner: int) -> ();
    CMMD_reduce_to_host_lint = cmmd_reduce_to_host_lint_(value: long, combiner: int) -> ();
    CMMD_reduce_to_host_luint = cmmd_reduce_to_host_luint_(value: ulong, combiner: int) -> ();
    CMMD_reduce_to_host_float = cmmd_reduce_to_host_float_(value: real, combiner: int) -> ();
    CMMD_reduce_from_nodes_uint = cmmd_reduce_from_nodes_uint_(value: uint, combiner: int) -> c_uint;
    CMMD_reduce_from_nodes_lint = cmmd_reduce_from_nodes_lint_(value: long, combiner: int) -> c_long;
    CMMD_reduce_from_nodes_luint = cmmd_reduce_from_nodes_luint_(value: ulong, combiner: int) -> c_ulong;
    CMMD_reduce_from_nodes_float = cmmd_reduce_from_nodes_float_(value: real, combiner: int) -> c_double;
    CMMD_scan_uint = cmmd_scan_uint_(value: uint, combiner: int, direction: int, mode: int, bit: int, kind: int) -> c_uint;
    CMMD_scan_lint = cmmd_scan_lint_(value: long, combiner: int, direction: int, mode: int, bit: int, kind: int) -> c_long;
    CMMD_scan_luint = cmmd_scan_luint_(value: ulong, combiner: int, direction: int, mode: int, bit: int, kind: int) -> c_ulong;
    CMMD_scan_float = cmmd_scan_float_(value: real, combiner: int, direction: int, mode: int, bit: int, kind: int) -> c_double;
    CMMD_mcb_buffer = cmmd_mcb_buffer_(mcb: int) -> *mut c_void;
    CMMD_suspend = cmmd_suspend_() -> c_int;
    CMMD_resume = cmmd_resume_() -> c_int;
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

type AskFunction = unsafe extern "C" fn(*const c_int, *const c_int, *const c_int, *const c_int) -> c_int;

static MATCHING: Mutex<Option<AskFunction>> = Mutex::new(None);

unsafe extern "C" fn ask_by_reference(wanted: c_int, wanted_tag: c_int, node: c_int, tag: c_int) -> c_int {
    let asked = *MATCHING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: the program gave the function for this; the numbers live during the call.
    asked.map_or(0, |asked| unsafe { asked(&wanted, &wanted_tag, &node, &tag) })
}

/// See `CMMD_set_msg_matching_fcn`.
#[unsafe(no_mangle)]
pub extern "C" fn cmmd_set_msg_matching_fcn_(function: Option<AskFunction>) {
    let none = cmmd_no_handler_ as extern "C" fn() as usize;
    let function = function.filter(|function| *function as usize != none);
    let given = function.map(|_| ask_by_reference as unsafe extern "C" fn(_, _, _, _) -> _);
    *MATCHING.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = function;
    CMMD_set_msg_matching_fcn(given);
}

/// See `CMMD_fset_io_mode`. Fortran's output does not use the files of the C library, so each node writes its own
/// output.
///
/// # Safety
/// The arguments are addresses of numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cmmd_fset_io_mode_(_unit: *const c_int, mode: *const c_int) -> c_int {
    // SAFETY: the caller's promise.
    let why = match unsafe { *mode } {
        0 | 1 => return 0,
        2..=4 => Fault::Unsupported,
        _ => Fault::BadArgument,
    };
    remember(why);
    ERRVAL
}

/// See `CMMD_error`: prints the text as it is.
///
/// # Safety
/// The text has that length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cmmd_error_(text: *const c_char, length: usize) -> ! {
    // SAFETY: the text is read as far as its length says.
    unsafe { parvum_cmmd_error(c"%.*s".as_ptr(), length.min(4096) as c_int, text) }
}

/// See `CMMD_error_string`: a function of characters.
///
/// # Safety
/// The result is writable for its length; the number's address is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cmmd_error_string_(result: *mut u8, length: usize, number: *const c_int) {
    // SAFETY: the caller's promise; the text is the library's, and ended by a zero.
    unsafe { fill(result, length, CMMD_error_string(*number)) }
}

/// See `CMMD_version`: a function of characters.
///
/// # Safety
/// The result is writable for its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cmmd_version_(result: *mut u8, length: usize) {
    // SAFETY: as above.
    unsafe { fill(result, length, CMMD_version()) }
}

/// A text as Fortran has it: blanks to the end.
unsafe fn fill(result: *mut u8, length: usize, text: *const c_char) {
    if length == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    let (room, text) = unsafe { (std::slice::from_raw_parts_mut(result, length), CStr::from_ptr(text)) };
    let text = text.to_bytes();
    let fits = text.len().min(length);
    room[..fits].copy_from_slice(&text[..fits]);
    room[fits..].fill(b' ');
}
