//! TreadMarks on Parvum's engine: `libTmk.so.1`.
//!
//! The processes of a run share a heap at the same address. On one host they map the same memory, and there is no
//! protocol ([`near`]). Over several hosts each host has its own memory, which `parvum-consistency` keeps consistent
//! ([`host`]). A process that is alone on its host has its own memory too, also if `TMK_PROTOCOL` requests it
//! ([`far`]). The library detects accesses by protecting pages ([`fault`], [`userfault`]). A thread serves other
//! processes while the program computes ([`desk`]).
//!
//! Races are looked for by stopping the program at every access ([`stepping`], [`sites`]); process 0 tells what was found
//! ([`races`]).
//!
//! [`shown`] publishes the state for tools.
//!
//! [`startup`] joins the processes, [`heap`] is their memory, and [`allocator`] allocates it (at process 0). [`image`]
//! finds a private variable in another process. `calls` are the functions of `Tmk.h`.

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
