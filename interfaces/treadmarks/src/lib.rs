//! TreadMarks on Parvum's engine: `libTmk.so.1`.
//!
//! The processes of a run share a heap at the same address. On one host they map the same memory, and there is no protocol
//! ([`near`]). Over several each host has a memory of its own that `parvum-consistency` keeps consistent ([`host`]), or each process
//! has, when it is alone on its host or `TMK_PROTOCOL` says so ([`far`]): accesses are seen by protecting pages ([`fault`], [`userfault`]), and other
//! processes are served by a thread while the program computes ([`desk`]).
//!
//! Races are looked for by stopping the program at every access ([`stepping`], [`sites`]); process 0 tells what was found
//! ([`races`]).
//!
//! What onlookers see of it is in [`shown`].
//!
//! [`startup`] joins the processes, [`heap`] is their memory, [`allocator`] shares it out (at process 0), [`image`] finds a private
//! variable in another process, and `calls` are the functions of `Tmk.h`.

#![deny(unsafe_code)]
#![allow(non_snake_case, reason = "the library and its functions have the names of TreadMarks")]

#[allow(unsafe_code)]
mod calls;
#[allow(unsafe_code)]
mod errors;
mod faults;
mod host;
mod limits;
mod memory;
mod nodes;
mod options;
mod races;
mod run;
#[allow(unsafe_code)]
mod shown;
mod words;
