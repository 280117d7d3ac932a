//! Statuses of one language as another has them: the same 20 bytes.

use crate::fortran::{
    MPI_F_STATUS_IGNORE, MPI_F_STATUSES_IGNORE, MPI_F08_STATUS_IGNORE, MPI_F08_STATUSES_IGNORE,
};
use parvum_mpi::callbacks::answers::{On, answer};
use parvum_mpi::errors::{Error, class};
use parvum_mpi::messages::status::Status;
use std::ffi::c_int;
use std::sync::atomic::Ordering;

/// Copies a status. None that a program passes to have none is one.
unsafe fn copy(call: &'static str, from: *const Status, to: *mut Status) -> c_int {
    if stands_for_none(from.addr()) {
        let text = "the status is MPI_STATUS_IGNORE, which says nothing; give one that a call has filled in";
        return answer(call, On::Nothing, Err(Error::new(class::ARG, text)));
    }
    // SAFETY: the program's promise.
    unsafe { to.write_unaligned(from.read_unaligned()) };
    0
}

fn stands_for_none(address: usize) -> bool {
    // Relaxed: the Fortran library wrote them before the program could ask anything.
    let of_fortran =
        [&MPI_F_STATUS_IGNORE, &MPI_F_STATUSES_IGNORE].map(|place| place.load(Ordering::Relaxed).addr());
    let of_fortran08 = [&MPI_F08_STATUS_IGNORE, &MPI_F08_STATUSES_IGNORE].map(|place| place.addr());
    address <= crate::IGNORE || of_fortran.contains(&address) || of_fortran08.contains(&address)
}

/// One way from one language to another, under MPI's and the profiling interface's name.
macro_rules! ways {
    ($($name:literal $profiled:literal $rust:ident $inner:ident)*) => {$(
        #[unsafe(export_name = $profiled)]
        pub unsafe extern "C" fn $inner(from: *const Status, to: *mut Status) -> c_int {
            // SAFETY: the program's promise.
            unsafe { copy($name, from, to) }
        }

        #[unsafe(export_name = $name)]
        pub unsafe extern "C" fn $rust(from: *const Status, to: *mut Status) -> c_int {
            // SAFETY: the program's promise.
            unsafe { $inner(from, to) }
        }
    )*};
}

ways! {
    "MPI_Status_c2f" "PMPI_Status_c2f" c2f p_c2f
    "MPI_Status_f2c" "PMPI_Status_f2c" f2c p_f2c
    "MPI_Status_c2f08" "PMPI_Status_c2f08" c2f08 p_c2f08
    "MPI_Status_f082c" "PMPI_Status_f082c" f082c p_f082c
    "MPI_Status_f2f08" "PMPI_Status_f2f08" f2f08 p_f2f08
    "MPI_Status_f082f" "PMPI_Status_f082f" f082f p_f082f
}
