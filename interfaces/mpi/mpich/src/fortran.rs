//! What Debian's `libmpichfort.so.12` and `libmpichcxx.so.12` ask of the C library: attributes as other languages have them, and places
//! in memory that stand for something.

use parvum_mpi::callbacks::answers::{ErrhandlerProxy, On, OpProxy, answer};
use parvum_mpi::calls;
use parvum_mpi::objects::attributes::{CopyProxy, DeleteProxy};
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicPtr;

/// Where Fortran's MPI_STATUS_IGNORE lies: the Fortran library writes it at its first call.
#[unsafe(no_mangle)]
pub static MPI_F_STATUS_IGNORE: AtomicPtr<c_int> = AtomicPtr::new(std::ptr::null_mut());
/// The same of MPI_STATUSES_IGNORE.
#[unsafe(no_mangle)]
pub static MPI_F_STATUSES_IGNORE: AtomicPtr<c_int> = AtomicPtr::new(std::ptr::null_mut());

/// An object of Fortran 2008's that stands for something by its address.
#[repr(C)]
pub struct Object([c_int; 5]);

/// Where one of them lies.
#[repr(transparent)]
pub struct ObjectAt(*const Object);

// SAFETY: it never changes, and what it points to is only an address.
unsafe impl Sync for ObjectAt {}

impl ObjectAt {
    pub(crate) fn addr(&self) -> usize {
        self.0.addr()
    }
}

/// Of MPI_STATUS_IGNORE.
#[unsafe(no_mangle)]
pub static MPIR_F08_MPI_STATUS_IGNORE_OBJ: Object = Object([0; 5]);
/// Of MPI_STATUSES_IGNORE.
#[unsafe(no_mangle)]
pub static MPIR_F08_MPI_STATUSES_IGNORE_OBJ: Object = Object([0; 5]);
/// What programs in C name these two by.
#[unsafe(no_mangle)]
pub static MPI_F08_STATUS_IGNORE: ObjectAt = ObjectAt(&raw const MPIR_F08_MPI_STATUS_IGNORE_OBJ);
/// See [`MPI_F08_STATUS_IGNORE`].
#[unsafe(no_mangle)]
pub static MPI_F08_STATUSES_IGNORE: ObjectAt = ObjectAt(&raw const MPIR_F08_MPI_STATUSES_IGNORE_OBJ);

/// Of MPI_IN_PLACE.
#[unsafe(no_mangle)]
pub static MPIR_F08_MPI_IN_PLACE: c_int = 0;
/// Of MPI_BOTTOM.
#[unsafe(no_mangle)]
pub static MPIR_F08_MPI_BOTTOM: c_int = 0;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Comm_get_attr(
    comm: c_int,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
    kind: c_int,
) -> c_int {
    // SAFETY: the program's promise.
    answer("MPI_Comm_get_attr", On::Comm(comm), unsafe {
        calls::comm_get_attr_as(comm, keyval, value, calls::given(flag), kind)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Comm_set_attr(
    comm: c_int,
    keyval: c_int,
    value: *mut c_void,
    kind: c_int,
) -> c_int {
    // SAFETY: the program's promise.
    answer("MPI_Comm_set_attr", On::Comm(comm), unsafe { calls::comm_set_attr_as(comm, keyval, value, kind) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Type_get_attr(
    datatype: c_int,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
    kind: c_int,
) -> c_int {
    // SAFETY: the program's promise.
    answer("MPI_Type_get_attr", On::Nothing, unsafe {
        calls::type_get_attr_as(datatype, keyval, value, calls::given(flag), kind)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Type_set_attr(
    datatype: c_int,
    keyval: c_int,
    value: *mut c_void,
    kind: c_int,
) -> c_int {
    // SAFETY: the program's promise.
    answer("MPI_Type_set_attr", On::Nothing, unsafe {
        calls::type_set_attr_as(datatype, keyval, value, kind)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Win_get_attr(
    win: c_int,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
    kind: c_int,
) -> c_int {
    // SAFETY: the program's promise.
    answer("MPI_Win_get_attr", On::Win(win), unsafe {
        calls::win_get_attr_as(win, keyval, value, calls::given(flag), kind)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Win_set_attr(
    win: c_int,
    keyval: c_int,
    value: *mut c_void,
    kind: c_int,
) -> c_int {
    // SAFETY: the program's promise.
    answer("MPI_Win_set_attr", On::Win(win), unsafe { calls::win_set_attr_as(win, keyval, value, kind) })
}

/// From now on the key's functions are called by these, which know the other language's arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Keyval_set_proxy(keyval: c_int, copy: CopyProxy, delete: DeleteProxy) {
    // A key that was just made is one.
    let _ = calls::keyval_set_proxies(keyval, copy, delete);
}

/// The request's functions are Fortran's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Grequest_set_lang_f77(request: c_int) {
    // A request that was just made is one.
    let _ = calls::grequest_set_fortran(request);
}

/// From now on the operation is called by this, which makes C++'s arguments of C's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Op_set_cxx(op: c_int, call: OpProxy) {
    // An operation that was just made is one.
    let _ = calls::op_set_proxy(op, call);
}

/// From now on the error handler is called by this, which makes C++'s arguments of C's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPII_Errhandler_set_cxx(errhandler: c_int, call: ErrhandlerProxy) {
    // An error handler that was just made is one.
    let _ = calls::errhandler_set_proxy(errhandler, call);
}
