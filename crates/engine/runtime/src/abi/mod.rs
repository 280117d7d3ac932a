//! The table of `parvum-api`, as other libraries call it: C types in, the runtime called, C types out.

#[allow(unsafe_code)]
pub(crate) mod rooms;
#[allow(unsafe_code)]
pub(crate) mod table;
