//! Accesses to pages that are closed: signals, userfaultfd, and the program's own handlers of both.

#[allow(unsafe_code)]
pub(crate) mod fault;
#[allow(unsafe_code)]
pub(crate) mod handlers;
#[allow(unsafe_code)]
pub(crate) mod userfault;
