//! The functions of `cmmd.h`: C arguments checked and turned into Rust's.

mod channels;
mod environment;
mod files;
mod fortran;
mod global;
mod handles;
mod message;
mod scans;
mod strided;
