//! What the program's functions are called with: its own handles, codes and statuses, not the core's.

use crate::handles::widen;
use crate::numbers::{code_in, code_out};
use crate::statuses::{MpiStatus, with_own};
use parvum_mpi::callbacks::calling::{Calling, call_by};
use parvum_mpi::calls;
use parvum_mpi::messages::status::Status;
use parvum_mpi::objects::attributes::{CopyProxy, DeleteProxy};
use std::ffi::{c_int, c_void};

type Handler = unsafe extern "C" fn(*mut usize, *mut c_int, ...);
type Query = unsafe extern "C" fn(*mut c_void, *mut MpiStatus) -> c_int;
type Extent = unsafe extern "C" fn(usize, *mut i64, *mut c_void) -> c_int;
type Narrow = unsafe extern "C" fn(*mut u8, *mut u8, *mut c_int, *mut usize);
type Large = unsafe extern "C" fn(*mut u8, *mut u8, *mut i64, *mut usize);
type Copy = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type Delete = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

static CALLING: Calling =
    Calling { error, reduce, query, extent, code_given: code_in, code_told: code_out, like: None, put_comm };

/// `MPI_UNWEIGHTED`, `MPI_WEIGHTS_EMPTY`, and `MPI_DUP_FN`: addresses that stand for something.
const UNWEIGHTED: usize = 10;
const WEIGHTS_EMPTY: usize = 11;
const DUP_FN: usize = 1;

/// Told before anything else is called.
#[used]
#[unsafe(link_section = ".init_array")]
static TELL: extern "C" fn() = {
    extern "C" fn tell() {
        call_by(&CALLING);
        calls::watch_the_end();
        calls::set_unweighted(UNWEIGHTED, WEIGHTS_EMPTY);
        calls::set_duplicate_function(DUP_FN);
    }
    tell
};

unsafe fn error(function: usize, object: i32, code: i32) -> i32 {
    let (mut object, mut code) = (widen(object), code_out(code));
    // SAFETY: the program gave this function as an error handler for such objects.
    unsafe { std::mem::transmute::<usize, Handler>(function)(&mut object, &mut code) };
    code_in(code)
}

unsafe fn reduce(
    function: usize,
    input: *mut u8,
    inout: *mut u8,
    mut count: i64,
    datatype: i32,
    is_large: bool,
) {
    let mut datatype = widen(datatype);
    // SAFETY: the program gave this function for such arguments; the caller promises the memory.
    unsafe {
        if is_large {
            std::mem::transmute::<usize, Large>(function)(input, inout, &mut count, &mut datatype);
        } else {
            let mut count = count as c_int;
            std::mem::transmute::<usize, Narrow>(function)(input, inout, &mut count, &mut datatype);
        }
    }
}

unsafe fn query(function: usize, extra: *mut c_void, status: *mut Status) -> c_int {
    // SAFETY: the caller's status; the program gave this function for a generalised request.
    unsafe {
        let asks = std::mem::transmute::<usize, Query>(function);
        code_in(with_own(&mut *status, |own| asks(extra, own)))
    }
}

unsafe fn extent(function: usize, datatype: i32, extent: *mut i64, extra: *mut c_void) -> c_int {
    // SAFETY: the program gave this function as that of a data representation.
    unsafe { code_in(std::mem::transmute::<usize, Extent>(function)(widen(datatype), extent, extra)) }
}

unsafe fn put_comm(place: *mut c_int, handle: i32) {
    // SAFETY: the place is one for a handle of the program's, promised until the request is over.
    unsafe { place.cast::<usize>().write_unaligned(widen(handle)) };
}

/// Calls a key's copy function.
pub const COPY: CopyProxy = copy;
/// Calls a key's delete function.
pub const DELETE: DeleteProxy = delete;

unsafe extern "C" fn copy(
    function: usize,
    object: c_int,
    keyval: c_int,
    extra: *mut c_void,
    _language: c_int,
    value: *mut c_void,
    out: *mut *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the program gave this function as a key's copy function.
    unsafe {
        let copies = std::mem::transmute::<usize, Copy>(function);
        code_in(copies(widen(object), keyval, extra, value, out.cast(), flag))
    }
}

unsafe extern "C" fn delete(
    function: usize,
    object: c_int,
    keyval: c_int,
    _language: c_int,
    value: *mut c_void,
    extra: *mut c_void,
) -> c_int {
    // SAFETY: the program gave this function as a key's delete function.
    unsafe { code_in(std::mem::transmute::<usize, Delete>(function)(widen(object), keyval, value, extra)) }
}
