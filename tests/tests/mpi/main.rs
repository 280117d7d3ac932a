//! MPI as its users have it: the header, the compilers' wrapper, the launcher, and programs in C.

mod abi;
mod core;
mod ending;
mod errors;
mod fortran;
mod header;
mod launch;
mod why;
mod windows;
mod wrapper;
