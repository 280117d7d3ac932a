//! How functions of the program are called.
//!
//! They take handles, codes and statuses as the program's binary interface has them. One whose numbers are the core's needs nothing;
//! another says at its beginning, with [`call_by`], how it is done.

use crate::messages::status::Status;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// What a binary interface with numbers of its own converts for the program's functions.
///
/// Each is called without a lock, in whichever thread the call of MPI's was made.
pub struct Calling {
    /// Calls an error handler for an object, with an error's code; the code that it leaves. It may not return.
    pub error: unsafe fn(function: usize, object: i32, code: i32) -> i32,
    /// Calls an operation on so many elements; `is_large`: it takes their number as an `MPI_Count`.
    pub reduce: unsafe fn(usize, input: *mut u8, inout: *mut u8, count: i64, datatype: i32, is_large: bool),
    /// Calls a generalised request's query function; the code that it gave, as the core has it.
    pub query: unsafe fn(function: usize, extra: *mut c_void, status: *mut Status) -> c_int,
    /// Asks a program's own data representation for the extent of a datatype in a file; the code that it gave, as the core has it.
    pub extent: unsafe fn(function: usize, datatype: i32, extent: *mut i64, extra: *mut c_void) -> c_int,
    /// A code that a function of the program's gave, as the core has it.
    pub code_given: fn(c_int) -> c_int,
    /// A code as the program knows it, where it is not what a call gives.
    pub code_told: fn(c_int) -> c_int,
    /// How the text of the library of the same binary interface begins, if programs look for that.
    pub like: Option<&'static str>,
    /// Puts a communicator's handle where the program wants it, at the end of a request.
    pub put_comm: unsafe fn(place: *mut c_int, handle: i32),
}

static CALLING: OnceLock<&'static Calling> = OnceLock::new();

/// The binary interface says how the program's functions are called; only the first is heard.
pub fn call_by(calling: &'static Calling) {
    let _ = CALLING.set(calling);
}

/// How the program's functions are called.
pub(crate) fn calling() -> &'static Calling {
    CALLING.get().copied().unwrap_or(&PLAIN)
}

/// For a binary interface whose numbers are the core's.
static PLAIN: Calling = Calling {
    error: plain_error,
    reduce: plain_reduce,
    query: plain_query,
    extent: plain_extent,
    code_given: |code| code,
    code_told: |code| code,
    like: Some("MPICH Version:"),
    put_comm: plain_put,
};

type Handler = unsafe extern "C" fn(*mut c_int, *mut c_int, ...);
type Query = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type Extent = unsafe extern "C" fn(c_int, *mut i64, *mut c_void) -> c_int;
type Narrow = unsafe extern "C" fn(*mut u8, *mut u8, *mut c_int, *mut c_int);
type Large = unsafe extern "C" fn(*mut u8, *mut u8, *mut i64, *mut c_int);

unsafe fn plain_error(function: usize, object: i32, mut code: i32) -> i32 {
    // A file's handle is as wide as a pointer; of the others the first half is looked at.
    let mut object = u64::from(object as u32).to_le();
    // SAFETY: the program gave this function as an error handler for such objects.
    unsafe { std::mem::transmute::<usize, Handler>(function)((&raw mut object).cast(), &mut code) };
    code
}

unsafe fn plain_reduce(
    function: usize,
    input: *mut u8,
    inout: *mut u8,
    mut count: i64,
    mut datatype: i32,
    is_large: bool,
) {
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

unsafe fn plain_query(function: usize, extra: *mut c_void, status: *mut Status) -> c_int {
    // SAFETY: the program gave this function for a generalised request.
    unsafe { std::mem::transmute::<usize, Query>(function)(extra, status) }
}

unsafe fn plain_extent(function: usize, datatype: i32, extent: *mut i64, extra: *mut c_void) -> c_int {
    // SAFETY: the program gave this function as that of a data representation.
    unsafe { std::mem::transmute::<usize, Extent>(function)(datatype, extent, extra) }
}

unsafe fn plain_put(place: *mut c_int, handle: i32) {
    // SAFETY: the program promises the place to the request until it is over.
    unsafe { place.write_unaligned(handle) };
}
