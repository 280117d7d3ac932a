//! Intel NX (iPSC/2, iPSC/860, Paragon) on Parvum's engine: `libnx.so.1`.
//!
//! A thin layer: names, argument rules, error codes, and NX's buffering (at the receiver, and only if no receive was
//! posted). Read in this order: [`task`] (who this process is), [`select`] (what types and nodes mean), [`exchange`]
//! (sending and receiving), [`ids`] (operations that go on), [`handlers`]; `calls` are the functions of `nx.h`.

#![deny(unsafe_code)]

mod account;
#[allow(unsafe_code)]
mod calls;
mod errors;
mod exchange;
mod handlers;
mod ids;
#[allow(unsafe_code)]
mod interrupt;
mod select;
mod task;
mod words;
