//! What is not of the pattern: results that are no error codes, and what lies in memory by name.

use parvum_mpi::calls;
use std::ffi::{c_int, c_void};

/// Exports a function under MPI's and the profiling interface's name.
macro_rules! both {
    ($($name:literal $profiled:literal $rust:ident $inner:ident ($($argument:ident: $kind:ty),*) -> $result:ty $body:block)*) => {$(
        #[unsafe(export_name = $profiled)]
        pub unsafe extern "C" fn $inner($($argument: $kind),*) -> $result $body

        #[unsafe(export_name = $name)]
        pub unsafe extern "C" fn $rust($($argument: $kind),*) -> $result {
            // SAFETY: the program's promise.
            unsafe { $inner($($argument),*) }
        }
    )*};
}

both! {
    "MPI_Wtime" "PMPI_Wtime" wtime p_wtime() -> f64 { calls::wtime() }
    "MPI_Wtick" "PMPI_Wtick" wtick p_wtick() -> f64 { calls::wtick() }
    "MPI_Aint_add" "PMPI_Aint_add" aint_add p_aint_add(base: i64, far: i64) -> i64 { base.wrapping_add(far) }
    "MPI_Aint_diff" "PMPI_Aint_diff" aint_diff p_aint_diff(one: i64, other: i64) -> i64 { one.wrapping_sub(other) }
    // It is not the standard's binary interface.
    "MPI_Abi_get_version" "PMPI_Abi_get_version" abi_version p_abi_version(major: *mut c_int, minor: *mut c_int) -> c_int {
        // SAFETY: the program's promise.
        unsafe {
            major.write(-1);
            minor.write(-1);
        }
        0
    }
    // Further arguments are for tools, and lie where nobody looks.
    "MPI_Pcontrol" "PMPI_Pcontrol" pcontrol p_pcontrol(_level: c_int) -> c_int { 0 }
    // No buffer may lie in the memory of a graphics processor.
    "MPIX_GPU_query_support" "PMPIX_GPU_query_support" gpu_support p_gpu_support(_kind: c_int, supported: *mut c_int) -> c_int {
        // SAFETY: null, or the program's place for a result.
        if let Some(supported) = unsafe { supported.as_mut() } {
            *supported = 0;
        }
        0
    }
    "MPIX_Query_cuda_support" "PMPIX_Query_cuda_support" cuda_support p_cuda_support() -> c_int { 0 }
    "MPIX_Query_hip_support" "PMPIX_Query_hip_support" hip_support p_hip_support() -> c_int { 0 }
    "MPIX_Query_ze_support" "PMPIX_Query_ze_support" ze_support p_ze_support() -> c_int { 0 }
    "MPI_File_c2f" "PMPI_File_c2f" file_c2f p_file_c2f(file: *mut c_void) -> c_int { file.addr() as c_int }
    "MPI_File_f2c" "PMPI_File_f2c" file_f2c p_file_f2c(file: c_int) -> *mut c_void { std::ptr::without_provenance_mut(file as u32 as usize) }
    "MPI_File_toint" "PMPI_File_toint" file_toint p_file_toint(file: *mut c_void) -> c_int { file.addr() as c_int }
    "MPI_File_fromint" "PMPI_File_fromint" file_fromint p_file_fromint(file: c_int) -> *mut c_void { std::ptr::without_provenance_mut(file as u32 as usize) }
}

/// A handle is Fortran's, and a number, as it is C's.
macro_rules! same {
    ($($name:literal $profiled:literal $rust:ident $inner:ident)*) => {$(
        both! { $name $profiled $rust $inner(handle: c_int) -> c_int { handle } }
    )*};
}

#[rustfmt::skip]
same! {
    "MPI_Comm_c2f" "PMPI_Comm_c2f" comm_c2f p_comm_c2f
    "MPI_Comm_f2c" "PMPI_Comm_f2c" comm_f2c p_comm_f2c
    "MPI_Comm_toint" "PMPI_Comm_toint" comm_toint p_comm_toint
    "MPI_Comm_fromint" "PMPI_Comm_fromint" comm_fromint p_comm_fromint
    "MPI_Type_c2f" "PMPI_Type_c2f" type_c2f p_type_c2f
    "MPI_Type_f2c" "PMPI_Type_f2c" type_f2c p_type_f2c
    "MPI_Type_toint" "PMPI_Type_toint" type_toint p_type_toint
    "MPI_Type_fromint" "PMPI_Type_fromint" type_fromint p_type_fromint
    "MPI_Group_c2f" "PMPI_Group_c2f" group_c2f p_group_c2f
    "MPI_Group_f2c" "PMPI_Group_f2c" group_f2c p_group_f2c
    "MPI_Group_toint" "PMPI_Group_toint" group_toint p_group_toint
    "MPI_Group_fromint" "PMPI_Group_fromint" group_fromint p_group_fromint
    "MPI_Info_c2f" "PMPI_Info_c2f" info_c2f p_info_c2f
    "MPI_Info_f2c" "PMPI_Info_f2c" info_f2c p_info_f2c
    "MPI_Info_toint" "PMPI_Info_toint" info_toint p_info_toint
    "MPI_Info_fromint" "PMPI_Info_fromint" info_fromint p_info_fromint
    "MPI_Request_c2f" "PMPI_Request_c2f" request_c2f p_request_c2f
    "MPI_Request_f2c" "PMPI_Request_f2c" request_f2c p_request_f2c
    "MPI_Request_toint" "PMPI_Request_toint" request_toint p_request_toint
    "MPI_Request_fromint" "PMPI_Request_fromint" request_fromint p_request_fromint
    "MPI_Op_c2f" "PMPI_Op_c2f" op_c2f p_op_c2f
    "MPI_Op_f2c" "PMPI_Op_f2c" op_f2c p_op_f2c
    "MPI_Op_toint" "PMPI_Op_toint" op_toint p_op_toint
    "MPI_Op_fromint" "PMPI_Op_fromint" op_fromint p_op_fromint
    "MPI_Errhandler_c2f" "PMPI_Errhandler_c2f" errhandler_c2f p_errhandler_c2f
    "MPI_Errhandler_f2c" "PMPI_Errhandler_f2c" errhandler_f2c p_errhandler_f2c
    "MPI_Errhandler_toint" "PMPI_Errhandler_toint" errhandler_toint p_errhandler_toint
    "MPI_Errhandler_fromint" "PMPI_Errhandler_fromint" errhandler_fromint p_errhandler_fromint
    "MPI_Win_c2f" "PMPI_Win_c2f" win_c2f p_win_c2f
    "MPI_Win_f2c" "PMPI_Win_f2c" win_f2c p_win_f2c
    "MPI_Win_toint" "PMPI_Win_toint" win_toint p_win_toint
    "MPI_Win_fromint" "PMPI_Win_fromint" win_fromint p_win_fromint
    "MPI_Message_c2f" "PMPI_Message_c2f" message_c2f p_message_c2f
    "MPI_Message_f2c" "PMPI_Message_f2c" message_f2c p_message_f2c
    "MPI_Message_toint" "PMPI_Message_toint" message_toint p_message_toint
    "MPI_Message_fromint" "PMPI_Message_fromint" message_fromint p_message_fromint
    "MPI_Session_c2f" "PMPI_Session_c2f" session_c2f p_session_c2f
    "MPI_Session_f2c" "PMPI_Session_f2c" session_f2c p_session_f2c
    "MPI_Session_toint" "PMPI_Session_toint" session_toint p_session_toint
    "MPI_Session_fromint" "PMPI_Session_fromint" session_fromint p_session_fromint
}

/// A pointer that programs find by name.
#[repr(transparent)]
pub struct Named(*const c_int);

// SAFETY: it never changes, and what it points to is only an address.
unsafe impl Sync for Named {}

static UNWEIGHTED: c_int = 1;
static WEIGHTS_EMPTY: c_int = 2;

/// The address that stands for: no weights.
#[unsafe(export_name = "MPI_UNWEIGHTED")]
pub static MPI_UNWEIGHTED: Named = Named(&raw const UNWEIGHTED);
/// The address that stands for: no weights, for there are no edges.
#[unsafe(export_name = "MPI_WEIGHTS_EMPTY")]
pub static MPI_WEIGHTS_EMPTY: Named = Named(&raw const WEIGHTS_EMPTY);
/// The same, for the Fortran library.
#[unsafe(export_name = "MPIR_C_MPI_UNWEIGHTED")]
pub static MPIR_C_MPI_UNWEIGHTED: Named = Named(&raw const UNWEIGHTED);
/// The same, for the Fortran library.
#[unsafe(export_name = "MPIR_C_MPI_WEIGHTS_EMPTY")]
pub static MPIR_C_MPI_WEIGHTS_EMPTY: Named = Named(&raw const WEIGHTS_EMPTY);

/// The handle that stands for all performance variables of a session.
#[unsafe(export_name = "MPI_T_PVAR_ALL_HANDLES")]
pub static MPI_T_PVAR_ALL_HANDLES: Named = Named(std::ptr::without_provenance(1));

/// Copies an attribute's pointer: `MPI_DUP_FN`.
#[unsafe(export_name = "MPIR_Dup_fn")]
pub unsafe extern "C" fn duplicate(
    _object: c_int,
    _keyval: c_int,
    _extra: *mut c_void,
    value: *mut c_void,
    out: *mut *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the caller gives places for both.
    unsafe {
        out.write(value);
        flag.write(1);
    }
    0
}

/// Told before anything else is called.
#[used]
#[unsafe(link_section = ".init_array")]
static TELL: extern "C" fn() = {
    extern "C" fn tell() {
        calls::watch_the_end();
        calls::set_unweighted((&raw const UNWEIGHTED).addr(), (&raw const WEIGHTS_EMPTY).addr());
        calls::set_duplicate_function(duplicate as *const () as usize);
    }
    tell
};
