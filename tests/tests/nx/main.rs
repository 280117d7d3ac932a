//! NX programs, in C and Fortran as their users write them, on a machine of one host.

mod beside;
mod buffering;
mod losses;
mod programs;
mod refused;
