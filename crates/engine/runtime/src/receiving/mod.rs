//! Messages on their way to the program: posted receives, searched messages, and data that arrives while the program
//! computes.

#[allow(unsafe_code)]
pub(crate) mod completing;
pub(crate) mod direct;
#[allow(unsafe_code)]
pub(crate) mod finding;
#[allow(unsafe_code)]
pub(crate) mod own;
#[allow(unsafe_code)]
pub(crate) mod receive;
pub(crate) mod serving;
