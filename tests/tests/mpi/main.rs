//! MPI as its users have it: the header, the compilers' wrapper, the launcher, and programs in C.

// How the makers of headers and Fortran read the description.
#[allow(dead_code, reason = "not every maker looks at all")]
#[path = "../../../interfaces/mpi/description.rs"]
mod description;

mod abi;
mod arguments;
mod beside;
mod constants;
mod core;
mod customs;
mod ending;
mod errors;
mod fortran;
mod header;
mod launch;
mod npb;
mod promises;
mod python;
mod rules;
mod sanitizers;
mod tools;
mod why;
mod windows;
mod wrapper;
