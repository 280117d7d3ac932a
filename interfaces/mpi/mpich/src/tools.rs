//! The least of MPI_T, and what MPICH has beside the standard.

use parvum_mpi::callbacks::{On, answer};
use parvum_mpi::calls;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// The handle that stands for all variables of a session.
#[unsafe(export_name = "MPI_T_PVAR_ALL_HANDLES")]
pub static MPI_T_PVAR_ALL_HANDLES: AtomicPtr<c_int> = AtomicPtr::new(std::ptr::null_mut());

/// How often the interface was begun and not ended; it need not be MPI's time.
static BEGUN: AtomicI32 = AtomicI32::new(0);

const NOT_INITIALIZED: c_int = 60;
const INVALID_NAME: c_int = 73;

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
        unsafe { put(provided, required) }
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

both! {
    "MPIX_Comm_failure_ack" "PMPIX_Comm_failure_ack" comm_failure_ack p_comm_failure_ack(comm: c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_failure_ack", On::Comm(comm), unsafe { calls::comm_failure_ack(comm) })
    }
    "MPIX_Comm_failure_get_acked" "PMPIX_Comm_failure_get_acked" comm_failure_get_acked p_comm_failure_get_acked(comm: c_int, group: *mut c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_failure_get_acked", On::Comm(comm), unsafe {
            calls::comm_failure_get_acked(comm, group)
        })
    }
    "MPIX_Comm_get_failed" "PMPIX_Comm_get_failed" comm_get_failed p_comm_get_failed(comm: c_int, group: *mut c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_get_failed", On::Comm(comm), unsafe { calls::comm_get_failed(comm, group) })
    }
    "MPIX_Comm_ack_failed" "PMPIX_Comm_ack_failed" comm_ack_failed p_comm_ack_failed(comm: c_int, count: c_int, acknowledged: *mut c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_ack_failed", On::Comm(comm), unsafe {
            calls::comm_ack_failed(comm, count, acknowledged)
        })
    }
    "MPIX_Comm_is_revoked" "PMPIX_Comm_is_revoked" comm_is_revoked p_comm_is_revoked(comm: c_int, flag: *mut c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_is_revoked", On::Comm(comm), unsafe { calls::comm_is_revoked(comm, flag) })
    }
    "MPIX_Comm_revoke" "PMPIX_Comm_revoke" comm_revoke p_comm_revoke(comm: c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_revoke", On::Comm(comm), unsafe { calls::comm_revoke(comm) })
    }
    "MPIX_Comm_shrink" "PMPIX_Comm_shrink" comm_shrink p_comm_shrink(comm: c_int, out: *mut c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_shrink", On::Comm(comm), unsafe { calls::comm_shrink(comm, out) })
    }
    "MPIX_Comm_agree" "PMPIX_Comm_agree" comm_agree p_comm_agree(comm: c_int, flag: *mut c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_agree", On::Comm(comm), unsafe { calls::comm_agree(comm, flag) })
    }
    "MPIX_Comm_ishrink" "PMPIX_Comm_ishrink" comm_ishrink p_comm_ishrink(comm: c_int, out: *mut c_int, request: *mut c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_ishrink", On::Comm(comm), unsafe { calls::comm_ishrink(comm, out, request) })
    }
    "MPIX_Comm_iagree" "PMPIX_Comm_iagree" comm_iagree p_comm_iagree(comm: c_int, flag: *mut c_int, request: *mut c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Comm_iagree", On::Comm(comm), unsafe { calls::comm_iagree(comm, flag, request) })
    }
    "MPIX_Delete_error_class" "PMPIX_Delete_error_class" delete_class p_delete_class(class: c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Delete_error_class", On::Nothing, unsafe { calls::remove_error_class(class) })
    }
    "MPIX_Delete_error_code" "PMPIX_Delete_error_code" delete_code p_delete_code(code: c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Delete_error_code", On::Nothing, unsafe { calls::remove_error_code(code) })
    }
    "MPIX_Delete_error_string" "PMPIX_Delete_error_string" delete_string p_delete_string(code: c_int) {
        // SAFETY: the program's promise.
        answer("MPIX_Delete_error_string", On::Nothing, unsafe { calls::remove_error_string(code) })
    }
    // No buffer may lie in the memory of a graphics processor.
    "MPIX_GPU_query_support" "PMPIX_GPU_query_support" gpu_support p_gpu_support(_kind: c_int, supported: *mut c_int) {
        // SAFETY: the program's promise.
        unsafe { put(supported, 0) }
    }
    "MPIX_Query_cuda_support" "PMPIX_Query_cuda_support" cuda_support p_cuda_support() { 0 }
    "MPIX_Query_hip_support" "PMPIX_Query_hip_support" hip_support p_hip_support() { 0 }
    "MPIX_Query_ze_support" "PMPIX_Query_ze_support" ze_support p_ze_support() { 0 }
}
