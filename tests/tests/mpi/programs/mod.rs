//! Programs: compilers, wrappers, launchers, other people's suites, tools.

pub(crate) mod abi;
pub(crate) mod beside;
pub(crate) mod compared;
pub(crate) mod counts;
pub(crate) mod fortran;
pub(crate) mod header;
pub(crate) mod lab;
pub(crate) mod launch;
pub(crate) mod npb;
pub(crate) mod python;
pub(crate) mod sanitizers;
pub(crate) mod tools;
pub(crate) mod wrapper;
