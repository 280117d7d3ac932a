//! MPI: what its functions do, for whichever binary interface.
//!
//! A face (`mpich/`) exports the functions under MPI's names, converts what its binary interface has otherwise, and calls
//! [`calls`]. Read in this order: `process` and `comm`; `messages` (MPI's modes as the engine's choices); `operations` and
//! `progress` (requests, and who moves them); `collective` and `schedule` (plans of the room for operations of groups); `datatypes`
//! and `buffers`; `windows`; `sight` (what onlookers are told). [`numbers`] are the numbers by which programs name things.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod attributes;
mod bsend;
#[allow(unsafe_code)]
mod buffers;
#[allow(unsafe_code)]
pub mod callbacks;
#[allow(unsafe_code)]
pub mod calling;
#[allow(unsafe_code)]
pub mod calls;
mod collective;
mod comm;
mod datatypes;
#[allow(unsafe_code)]
mod deferred;
mod elsewhere;
#[allow(unsafe_code)]
mod ending;
#[allow(unsafe_code)]
mod errhandlers;
pub mod errors;
#[allow(unsafe_code)]
mod external;
mod failure;
#[allow(unsafe_code)]
mod files;
#[allow(unsafe_code)]
mod generalised;
mod group;
mod handles;
mod info;
#[allow(unsafe_code)]
mod inherited;
#[allow(unsafe_code)]
mod launcher;
#[allow(unsafe_code)]
mod long_double;
#[allow(unsafe_code)]
mod making;
#[allow(unsafe_code)]
mod messages;
pub mod numbers;
mod operations;
#[allow(unsafe_code)]
mod ops;
#[allow(unsafe_code)]
mod partitioned;
mod pointers;
mod process;
mod processes;
mod progress;
#[allow(unsafe_code)]
mod rivals;
#[allow(unsafe_code)]
mod schedule;
pub mod sight;
pub mod status;
mod survivors;
mod tools;
mod topology;
mod windows;
