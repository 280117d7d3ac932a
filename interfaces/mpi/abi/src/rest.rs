//! What is not of the pattern: results that are no error codes.

use crate::handles::{from_int, to_int};
use parvum_mpi::calls;
use std::ffi::c_int;

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
    "MPI_Abi_get_version" "PMPI_Abi_get_version" abi_version p_abi_version(major: *mut c_int, minor: *mut c_int) -> c_int {
        // SAFETY: the program's promise.
        unsafe {
            major.write(1);
            minor.write(0);
        }
        0
    }
    // Further arguments are for tools, and lie where nobody looks.
    "MPI_Pcontrol" "PMPI_Pcontrol" pcontrol p_pcontrol(_level: c_int) -> c_int { 0 }
}

/// A handle as a number, and back.
macro_rules! numbered {
    ($($to:literal $p_to:literal $from:literal $p_from:literal $a:ident $b:ident $c:ident $d:ident)*) => {$(
        both! {
            $to $p_to $a $b(handle: usize) -> c_int { to_int(handle) }
            $from $p_from $c $d(number: c_int) -> usize { from_int(number) }
        }
    )*};
}

#[rustfmt::skip]
numbered! {
    "MPI_Comm_toint" "PMPI_Comm_toint" "MPI_Comm_fromint" "PMPI_Comm_fromint" comm_toint p_comm_toint comm_fromint p_comm_fromint
    "MPI_Type_toint" "PMPI_Type_toint" "MPI_Type_fromint" "PMPI_Type_fromint" type_toint p_type_toint type_fromint p_type_fromint
    "MPI_Group_toint" "PMPI_Group_toint" "MPI_Group_fromint" "PMPI_Group_fromint" group_toint p_group_toint group_fromint p_group_fromint
    "MPI_Info_toint" "PMPI_Info_toint" "MPI_Info_fromint" "PMPI_Info_fromint" info_toint p_info_toint info_fromint p_info_fromint
    "MPI_Request_toint" "PMPI_Request_toint" "MPI_Request_fromint" "PMPI_Request_fromint" request_toint p_request_toint request_fromint p_request_fromint
    "MPI_Op_toint" "PMPI_Op_toint" "MPI_Op_fromint" "PMPI_Op_fromint" op_toint p_op_toint op_fromint p_op_fromint
    "MPI_Errhandler_toint" "PMPI_Errhandler_toint" "MPI_Errhandler_fromint" "PMPI_Errhandler_fromint" errhandler_toint p_errhandler_toint errhandler_fromint p_errhandler_fromint
    "MPI_Win_toint" "PMPI_Win_toint" "MPI_Win_fromint" "PMPI_Win_fromint" win_toint p_win_toint win_fromint p_win_fromint
    "MPI_Message_toint" "PMPI_Message_toint" "MPI_Message_fromint" "PMPI_Message_fromint" message_toint p_message_toint message_fromint p_message_fromint
    "MPI_Session_toint" "PMPI_Session_toint" "MPI_Session_fromint" "PMPI_Session_fromint" session_toint p_session_toint session_fromint p_session_fromint
    "MPI_File_toint" "PMPI_File_toint" "MPI_File_fromint" "PMPI_File_fromint" file_toint p_file_toint file_fromint p_file_fromint
}
