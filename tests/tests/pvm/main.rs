//! PVM programs, in C as their users write them, on a machine of one host.

mod mixed;
mod programs;
mod surface;
