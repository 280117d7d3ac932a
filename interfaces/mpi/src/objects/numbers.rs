//! The numbers by which programs name things.
//!
//! The core has one set of numbers, 32 bits each. They are those of the MPICH binary interface, so that its face has nothing to
//! convert and arrays of handles pass through; another interface's face translates. Source: `mpi.h` of MPICH 5, facts only.

/// What a handle names, in its bits 29 to 26.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "they are their names")]
pub enum Kind {
    Comm = 1,
    Group = 2,
    Datatype = 3,
    File = 4,
    Errhandler = 5,
    Op = 6,
    Info = 7,
    Win = 8,
    Keyval = 9,
    Request = 11,
    Persistent = 12,
    Deferred = 13,
    Session = 14,
}

impl Kind {
    /// The handle of that kind that names nothing.
    pub const fn null(self) -> i32 {
        (self as i32) << 26
    }

    /// The handle of an object that is always there.
    pub const fn built_in(self, number: i32) -> i32 {
        1 << 30 | self.null() | number
    }
}

#[allow(missing_docs, reason = "they are MPI's names")]
mod constants {
    use super::Kind;

    pub const COMM_NULL: i32 = Kind::Comm.null();
    pub const COMM_WORLD: i32 = Kind::Comm.built_in(0);
    pub const COMM_SELF: i32 = Kind::Comm.built_in(1);
    pub const GROUP_NULL: i32 = Kind::Group.null();
    pub const GROUP_EMPTY: i32 = Kind::Group.built_in(0);
    pub const DATATYPE_NULL: i32 = Kind::Datatype.null();
    pub const FILE_NULL: i32 = Kind::File.null();
    pub const ERRHANDLER_NULL: i32 = Kind::Errhandler.null();
    pub const ERRORS_ARE_FATAL: i32 = Kind::Errhandler.built_in(0);
    pub const ERRORS_RETURN: i32 = Kind::Errhandler.built_in(1);
    pub const ERRORS_THROW: i32 = Kind::Errhandler.built_in(2);
    pub const ERRORS_ABORT: i32 = Kind::Errhandler.built_in(3);
    pub const OP_NULL: i32 = Kind::Op.null();
    pub const INFO_NULL: i32 = Kind::Info.null();
    pub const INFO_ENV: i32 = Kind::Info.built_in(1);
    pub const WIN_NULL: i32 = Kind::Win.null();
    pub const REQUEST_NULL: i32 = Kind::Request.null();
    pub const MESSAGE_NULL: i32 = REQUEST_NULL;
    pub const MESSAGE_NO_PROC: i32 = Kind::Request.built_in(0);
    pub const SESSION_NULL: i32 = Kind::Session.null();
    pub const KEYVAL_INVALID: i32 = Kind::Keyval.null();

    pub const PROC_NULL: i32 = -1;
    pub const ANY_SOURCE: i32 = -2;
    pub const ROOT: i32 = -3;
    pub const ANY_TAG: i32 = -1;
    pub const UNDEFINED: i32 = -32766;
    pub const TAG_UB: i32 = i32::MAX;

    pub const IN_PLACE: usize = usize::MAX;
    pub const BUFFER_AUTOMATIC: usize = usize::MAX - 1;

    pub const IDENT: i32 = 0;
    pub const CONGRUENT: i32 = 1;
    pub const SIMILAR: i32 = 2;
    pub const UNEQUAL: i32 = 3;

    pub const GRAPH: i32 = 1;
    pub const CART: i32 = 2;
    pub const DIST_GRAPH: i32 = 3;

    pub const COMM_TYPE_SHARED: i32 = 1;
    pub const COMM_TYPE_HW_GUIDED: i32 = 2;
    pub const COMM_TYPE_HW_UNGUIDED: i32 = 3;
    pub const COMM_TYPE_RESOURCE_GUIDED: i32 = 4;

    pub const THREAD_SINGLE: i32 = 0;
    pub const THREAD_MULTIPLE: i32 = 3;

    pub const ORDER_C: i32 = 56;
    pub const ORDER_FORTRAN: i32 = 57;
    pub const DISTRIBUTE_BLOCK: i32 = 121;
    pub const DISTRIBUTE_CYCLIC: i32 = 122;
    pub const DISTRIBUTE_NONE: i32 = 123;
    pub const DISTRIBUTE_DFLT_DARG: i32 = -49767;

    pub const TYPECLASS_REAL: i32 = 1;
    pub const TYPECLASS_INTEGER: i32 = 2;
    pub const TYPECLASS_COMPLEX: i32 = 3;

    pub const MAX_PROCESSOR_NAME: usize = 128;
    pub const MAX_ERROR_STRING: usize = 512;
    pub const MAX_PORT_NAME: usize = 256;
    pub const MAX_OBJECT_NAME: usize = 128;
    pub const MAX_INFO_KEY: usize = 255;
    pub const MAX_INFO_VAL: usize = 1024;
    pub const MAX_LIBRARY_VERSION_STRING: usize = 8192;
    pub const BSEND_OVERHEAD: i64 = 96;
}
pub use constants::*;
