//! Programs with message containers, in C, C++ and Rust, on a machine of one host.

mod beside;
mod names;
mod ports;
mod programs;
mod words;
