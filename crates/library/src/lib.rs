//! `libparvum.so.0`: the one engine of a process, joined to its machine.
//!
//! Interface libraries open this library and call it through the table of
//! `parvum-waist`. Inside: [`runtime`] joins the engine, the session with the
//! daemon and the transports; [`connect`] makes links; [`waiting`] is how a task
//! waits, with what it has learnt of that in [`patience`]; [`abi`] is the table, with [`sending`] and [`receiving`], [`ledger`] what `parvum.h` declares, and all `unsafe` besides.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod abi;
mod asking;
mod barrier;
mod connect;
mod direct;
mod events;
#[allow(unsafe_code)]
mod ledger;
mod lending;
#[allow(unsafe_code)]
mod multicast;
mod patience;
#[allow(unsafe_code)]
mod process;
mod pusher;
#[allow(unsafe_code)]
mod receiving;
mod recording;
mod runtime;
mod scheduling;
#[allow(unsafe_code)]
mod sending;
mod serving;
mod time;
mod waiting;
#[allow(unsafe_code)]
mod watching;
