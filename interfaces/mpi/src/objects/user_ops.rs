//! Operations on elements that the program has made (`MPI_Op_create`). Nothing is locked while its functions run.

use crate::callbacks::calling::calling;
use crate::errors::{Error, Mpi, class};
use crate::objects::handles::Objects;
use crate::objects::numbers::Kind;
use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

/// How another language's library calls its program's operation: both operands, the length, the datatype, the function.
pub type OpProxy = unsafe extern "C" fn(*mut u8, *mut u8, c_int, c_int, usize);

/// An operation of the program's.
pub(crate) struct UserOp {
    pub(crate) function: usize,
    pub(crate) commutes: bool,
    /// The function takes the length as an `MPI_Count`.
    pub(crate) is_large: bool,
    /// What calls it, where it is another language's.
    pub(crate) proxy: OnceLock<OpProxy>,
}

impl UserOp {
    /// `inout` becomes `input ∘ inout`, `count` elements of a type.
    ///
    /// # Safety
    /// Both must be memory for as many elements.
    pub(crate) unsafe fn call(&self, input: *mut u8, inout: *mut u8, count: i64, datatype: i32) {
        if let Some(proxy) = self.proxy.get() {
            // SAFETY: the library of the other language gave this function for these arguments; the caller's promise.
            return unsafe { proxy(input, inout, count as c_int, datatype, self.function) };
        }
        // SAFETY: the program gave this function for such arguments; the caller's promise.
        unsafe { (calling().reduce)(self.function, input, inout, count, datatype, self.is_large) };
    }
}

pub(crate) static OPS: Objects<UserOp> = Objects::new(Kind::Op);

/// Keeps an operation.
pub(crate) fn keep_op(op: UserOp) -> Mpi<i32> {
    OPS.insert(Arc::new(op)).ok_or_else(|| Error::new(class::OTHER, "there are too many operations"))
}
