//! The calls for Fortran: lower case with an underscore behind, arguments by reference.
//!
//! Shared memory is reached by a Cray pointer, or by `c_f_pointer` of ISO C binding: `tmk_malloc` gives the address as an integer of
//! eight bytes. The variables are functions, and `tmk_errexit` prints its text as it is.

use super::{
    NPROCS, PAGE_SIZE, PROC_ID, Statistics, Tmk_acquire_Rview, Tmk_acquire_view, Tmk_alloc_view, Tmk_barrier,
    Tmk_barrier_kept, Tmk_distribute, Tmk_exit, Tmk_free, Tmk_home, Tmk_is_alive, Tmk_lock_acquire,
    Tmk_lock_release, Tmk_malloc, Tmk_overwrite, Tmk_reduce, Tmk_release_Rview, Tmk_release_view, Tmk_sbrk,
    Tmk_startup, Tmk_statistics, Tmk_touch, parvum_tmk_errexit,
};
use libc::{c_char, c_int};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

macro_rules! fortran {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $work:expr;)*) => {$(
        /// See the C call.
        ///
        /// # Safety
        /// The arguments are what a Fortran program passes: addresses of numbers, and memory as the C call wants it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) $(-> $result)? {
            // SAFETY: the caller's promise.
            #[allow(unused_unsafe)]
            unsafe { $work }
        }
    )*};
}

fn at(address: i64) -> *mut c_char {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

fn number(address: *mut c_char) -> i64 {
    address.expose_provenance() as i64
}

fortran! {
    tmk_startup_() = Tmk_startup(0, std::ptr::null_mut());
    tmk_exit_(status: *const c_int) = Tmk_exit(*status);
    tmk_barrier_(id: *const c_int) = Tmk_barrier(*id as u32);
    tmk_barrier_kept_(id: *const c_int) -> c_int = Tmk_barrier_kept(*id as u32);
    tmk_is_alive_(node: *const c_int) -> c_int = Tmk_is_alive(*node as u32);
    tmk_lock_acquire_(id: *const c_int) = Tmk_lock_acquire(*id as u32);
    tmk_lock_release_(id: *const c_int) = Tmk_lock_release(*id as u32);
    tmk_malloc_(size: *const c_int) -> i64 = number(Tmk_malloc(*size as u32));
    tmk_sbrk_(more: *const c_int) -> i64 = number(Tmk_sbrk(*more as u32));
    tmk_free_(address: *const i64) = Tmk_free(at(*address));
    tmk_distribute_(variable: *mut c_char, size: *const c_int) = Tmk_distribute(variable, *size);
    tmk_alloc_view_(view: *const c_int, size: *const c_int) -> i64 =
        number(Tmk_alloc_view(*view as u32, *size as u32));
    tmk_acquire_view_(view: *const c_int) = Tmk_acquire_view(*view as u32);
    tmk_release_view_(view: *const c_int) = Tmk_release_view(*view as u32);
    tmk_acquire_rview_(view: *const c_int) = Tmk_acquire_Rview(*view as u32);
    tmk_release_rview_(view: *const c_int) = Tmk_release_Rview(*view as u32);
    tmk_touch_(memory: *mut c_char, size: *const c_int, write: *const c_int) =
        Tmk_touch(memory, *size as u32, *write);
    tmk_overwrite_(memory: *mut c_char, size: *const c_int) = Tmk_overwrite(memory, *size as u32);
    tmk_home_(memory: *mut c_char, size: *const c_int) = Tmk_home(memory, *size as u32);
    tmk_reduce_(data: *mut c_void, count: *const c_int, kind: *const c_int, op: *const c_int) =
        Tmk_reduce(data, *count as u32, *kind, *op);
    tmk_statistics_(out: *mut Statistics) -> c_int = Tmk_statistics(out);
    tmk_proc_id_() -> c_int = PROC_ID.load(Ordering::Relaxed) as c_int;
    tmk_nprocs_() -> c_int = NPROCS.load(Ordering::Relaxed) as c_int;
    tmk_page_size_() -> c_int = PAGE_SIZE.load(Ordering::Relaxed) as c_int;
    tmk_errexit_(text: *const c_char, length: usize) =
        parvum_tmk_errexit(c"%.*s".as_ptr(), length.min(4096) as c_int, text);
}
