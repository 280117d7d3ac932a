//! Files: parallel programs' own view of what lies on disk.

#[allow(unsafe_code)]
pub(crate) mod file;
pub(crate) mod places;
pub(crate) mod shared_pointer;
