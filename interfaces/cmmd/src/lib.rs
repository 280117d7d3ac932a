//! CMMD on Parvum's engine: `libcmmd.so.1`.
//!
//! Thin: names, argument rules, error numbers, and CMMD's three ways to buffer. A *block* send is never buffered, and
//! waits for the receive. An *async* send is never buffered either, and its handle waits for the receive. A *noblock*
//! send is copied by its sender, if at all. [`state`] is what a node has, [`completing`] ends its asynchronous
//! operations, [`entry`] begins and ends a call; `calls` are the functions of `cmmd.h`, one file for each section of
//! the manual.

#![deny(unsafe_code)]
#![allow(non_snake_case, reason = "the functions have the names of CMMD")]

#[allow(unsafe_code)]
mod calls;
mod combine;
mod company;
mod completing;
mod entry;
mod envelope;
mod errors;
mod files;
mod host;
#[allow(unsafe_code)]
mod lent;
mod state;
mod together;
mod words;
