//! Programs with message containers, in C, C++ and Rust, on a machine of one host.

mod names;
mod ports;
mod programs;
mod words;
