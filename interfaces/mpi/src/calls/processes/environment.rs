//! Beginning and end, and what a program asks of its surroundings.

use crate::callbacks::calling::calling;
use crate::calls::arguments::{give_text, put, put_at, put_if_at};
use crate::errors::{Error, Mpi, class};
use crate::objects::info::{Info, keep};
use crate::objects::numbers::{
    MAX_LIBRARY_VERSION_STRING, MAX_PROCESSOR_NAME, THREAD_MULTIPLE, THREAD_SINGLE,
};
use crate::process::abort::abort;
use crate::process::{life, this};
use parvum_api::pointers::Out;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;
use std::thread::ThreadId;
use std::time::Instant;

static MAIN_THREAD: OnceLock<ThreadId> = OnceLock::new();

pub unsafe fn init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> Mpi {
    start(THREAD_SINGLE)
}

pub unsafe fn init_thread(
    _argc: *mut c_int,
    _argv: *mut *mut *mut c_char,
    required: i32,
    provided: Out<'_, c_int>,
) -> Mpi {
    if !(THREAD_SINGLE..=THREAD_MULTIPLE).contains(&required) {
        return Err(Error::new(class::ARG, format!("{required} is no level of threads")));
    }
    start(required)?;
    put(provided, required)
}

/// Called once, when the library is loaded.
pub fn watch_the_end() {
    crate::process::ending::watch();
}

fn start(threads: i32) -> Mpi {
    clock();
    let _ = MAIN_THREAD.set(std::thread::current().id());
    life::init(threads)
}

pub fn initialized(flag: Out<'_, c_int>) -> Mpi {
    put(flag, c_int::from(this::is_initialized()))
}

pub fn finalize() -> Mpi {
    life::finalize()
}

pub fn finalized(flag: Out<'_, c_int>) -> Mpi {
    put(flag, c_int::from(this::is_finalized()))
}

pub fn query_thread(provided: Out<'_, c_int>) -> Mpi {
    this::process()?;
    put(provided, this::threads())
}

pub fn is_thread_main(flag: Out<'_, c_int>) -> Mpi {
    this::process()?;
    let is_main = MAIN_THREAD.get() == Some(&std::thread::current().id());
    put(flag, c_int::from(is_main))
}

pub fn mpi_abort(_comm: i32, code: i32) -> Mpi {
    let who = this::process().map_or(String::new(), |process| format!("rank {} ", process.rank()));
    eprintln!("{who}called MPI_Abort with {code}: the job ends");
    abort(code)
}

pub fn get_version(version: Out<'_, c_int>, subversion: Out<'_, c_int>) -> Mpi {
    put(version, 4)?;
    put(subversion, 1)
}

pub unsafe fn get_library_version(version: *mut c_char, length: Out<'_, c_int>) -> Mpi {
    let text = version_text();
    // SAFETY: the caller's promise.
    unsafe {
        let written = give_text(version, MAX_LIBRARY_VERSION_STRING, text)?;
        put(length, written)
    }
}

/// What the library says of itself. With MPICH's binary interface it begins as MPICH's does: programs look for that word to know
/// which numbers and handles they were compiled for.
fn version_text() -> String {
    let own = concat!("Parvum ", env!("CARGO_PKG_VERSION"));
    match calling().like {
        Some(other) => {
            format!("{other}\t4.1 ({own})\n{own}: MPI 4.1 with the binary interface of MPICH, libmpi.so.12")
        }
        None => format!("{own}: MPI 4.1 with the binary interface of the MPI-5.0 standard, libmpi_abi.so.1"),
    }
}

pub unsafe fn get_processor_name(name: *mut c_char, length: Out<'_, c_int>) -> Mpi {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // SAFETY: the caller's promise.
    unsafe {
        let written = give_text(name, MAX_PROCESSOR_NAME, host.trim())?;
        put(length, written)
    }
}

fn clock() -> Instant {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    *BEGAN.get_or_init(Instant::now)
}

/// Seconds since some moment before the program's first call.
pub fn wtime() -> f64 {
    clock().elapsed().as_secs_f64() + 1.0
}

/// Seconds between two ticks of the clock.
pub fn wtick() -> f64 {
    1e-9
}

pub unsafe fn alloc_mem(size: i64, _info: i32, memory: *mut c_void) -> Mpi {
    let Ok(size) = usize::try_from(size) else {
        return Err(Error::new(class::ARG, format!("the size is {size}")));
    };
    // SAFETY: any size may be asked for; the result is freed by `free_mem`.
    let start = unsafe { libc::malloc(size.max(1)) };
    if start.is_null() {
        return Err(Error::new(class::NO_MEM, format!("the system refused {size} bytes")));
    }
    // SAFETY: the caller's promise.
    unsafe { put_at(memory.cast(), start) }
}

pub unsafe fn free_mem(memory: *mut u8) -> Mpi {
    // SAFETY: the program promises that `alloc_mem` gave it.
    unsafe { libc::free(memory.cast()) };
    Ok(())
}

pub fn get_hw_resource_info(info: Out<'_, c_int>) -> Mpi {
    put(info, keep(Info::default())?)
}

pub fn abi_get_info(info: Out<'_, c_int>) -> Mpi {
    let known = Info::default();
    for (key, size) in [("mpi_aint_size", "8"), ("mpi_count_size", "8"), ("mpi_offset_size", "8")] {
        known.set(key, size)?;
    }
    put(info, keep(known)?)
}

pub fn abi_get_fortran_info(info: Out<'_, c_int>) -> Mpi {
    let known = Info::default();
    for (key, value) in [
        ("mpi_logical_size", "4"),
        ("mpi_integer_size", "4"),
        ("mpi_real_size", "4"),
        ("mpi_double_precision_size", "8"),
    ] {
        known.set(key, value)?;
    }
    let sized = [
        ("logical", &[1, 2, 4, 8, 16][..]),
        ("integer", &[1, 2, 4, 8, 16]),
        ("real", &[2, 4, 8, 16]),
        ("complex", &[4, 8, 16, 32]),
    ];
    for (kind, sizes) in sized {
        for size in sizes {
            known.set(format!("mpi_{kind}{size}_supported"), "true")?;
        }
    }
    known.set("mpi_double_complex_supported", "true")?;
    put(info, keep(known)?)
}

pub fn abi_set_fortran_info(_info: i32) -> Mpi {
    Err(Error::new(class::ABI, "Fortran's sizes are known: those of gfortran"))
}

pub unsafe fn abi_get_fortran_booleans(
    size: i32,
    yes: *mut c_void,
    no: *mut c_void,
    is_set: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => (put_if_at(yes.cast(), 1i8), put_if_at(no.cast(), 0i8)),
            2 => (put_if_at(yes.cast(), 1i16), put_if_at(no.cast(), 0i16)),
            4 => (put_if_at(yes.cast(), 1i32), put_if_at(no.cast(), 0i32)),
            8 => (put_if_at(yes.cast(), 1i64), put_if_at(no.cast(), 0i64)),
            _ => return Err(Error::new(class::ARG, format!("no logical has {size} bytes"))),
        };
        put(is_set, 1)
    }
}

pub unsafe fn abi_set_fortran_booleans(_size: i32, _yes: *mut c_void, _no: *mut c_void) -> Mpi {
    Err(Error::new(class::ABI, "Fortran's truth values are known: those of gfortran"))
}

pub fn pcontrol(_level: i32) -> Mpi {
    Ok(())
}

pub unsafe fn get_address(location: *const u8, address: Out<'_, i64>) -> Mpi {
    put(address, location as i64)
}

pub unsafe fn address(location: *const u8, address: Out<'_, i64>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { get_address(location, address) }
}
