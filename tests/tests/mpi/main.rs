//! MPI as its users have it: the header, the compilers' wrapper, the launcher, and programs in C.

mod abi;
mod core;
mod fortran;
mod header;
mod launch;
mod windows;
mod wrapper;
