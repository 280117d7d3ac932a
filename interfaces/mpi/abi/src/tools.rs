//! The least of MPI_T.

use crate::numbers::{thread_in, thread_out};
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicI32, Ordering};

/// How often the interface was begun and not ended; it need not be MPI's time.
static BEGUN: AtomicI32 = AtomicI32::new(0);

const NOT_INITIALIZED: c_int = 1003;
const INVALID_NAME: c_int = 1011;

fn when_begun(then: impl FnOnce() -> c_int) -> c_int {
    if BEGUN.load(Ordering::Relaxed) > 0 { then() } else { NOT_INITIALIZED }
}

unsafe fn put(place: *mut c_int, value: c_int) -> c_int {
    if !place.is_null() {
        // SAFETY: the caller's place for a result.
        unsafe { place.write(value) };
    }
    0
}

macro_rules! both {
    ($($name:literal $profiled:literal $rust:ident $inner:ident ($($argument:ident: $kind:ty),*) $body:block)*) => {$(
        #[unsafe(export_name = $profiled)]
        pub unsafe extern "C" fn $inner($($argument: $kind),*) -> c_int $body

        #[unsafe(export_name = $name)]
        pub unsafe extern "C" fn $rust($($argument: $kind),*) -> c_int {
            // SAFETY: the program's promise.
            unsafe { $inner($($argument),*) }
        }
    )*};
}

both! {
    "MPI_T_init_thread" "PMPI_T_init_thread" init_thread p_init_thread(required: c_int, provided: *mut c_int) {
        BEGUN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the program's promise.
        unsafe { put(provided, thread_out(thread_in(required))) }
    }
    "MPI_T_finalize" "PMPI_T_finalize" finalize p_finalize() {
        when_begun(|| {
            BEGUN.fetch_sub(1, Ordering::Relaxed);
            0
        })
    }
    "MPI_T_cvar_get_index" "PMPI_T_cvar_get_index" cvar_index p_cvar_index(_name: *const c_char, _index: *mut c_int) {
        when_begun(|| INVALID_NAME)
    }
}

/// There are no variables, categories or events: their numbers say so.
macro_rules! none {
    ($($name:literal $profiled:literal $rust:ident $inner:ident)*) => {$(
        both! { $name $profiled $rust $inner(count: *mut c_int) {
            // SAFETY: the program's promise.
            when_begun(|| unsafe { put(count, 0) })
        } }
    )*};
}

none! {
    "MPI_T_cvar_get_num" "PMPI_T_cvar_get_num" cvars p_cvars
    "MPI_T_pvar_get_num" "PMPI_T_pvar_get_num" pvars p_pvars
    "MPI_T_category_get_num" "PMPI_T_category_get_num" categories p_categories
    "MPI_T_event_get_num" "PMPI_T_event_get_num" events p_events
    "MPI_T_category_changed" "PMPI_T_category_changed" changed p_changed
}
