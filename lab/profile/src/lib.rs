//! What `parvum compare -- PROGRAM` preloads into the processes of a program to see where their time goes.
//!
//! Each MPI has its own ABI, but all pass nothing but integers and pointers. So one wrapper fits each function of every MPI: it hands twelve
//! words on to the next library, and counts. Nothing is counted of calls that an MPI makes inside a call. A process writes one file at its
//! end, into the folder that `PARVUM_PROFILE` names; without that variable the wrappers only hand on.

#![allow(unsafe_code)]

mod counts;
mod ended;
mod next;
mod wrappers;
