//! PVM programs, in C as their users write them, on a machine of one host.

mod beside;
mod bounds;
mod fabric;
mod faults;
mod foreign;
mod fortran;
mod hostile;
mod mixed;
mod npb;
mod programs;
mod pvmtime;
mod surface;
mod surroundings;
mod vectors;
