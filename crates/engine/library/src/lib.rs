//! `libparvum.so.0`: the one engine of a process, joined to its machine.
//!
//! Interface libraries open this library and call it through the table of `parvum-waist`. Inside:
//!
//! - [`endpoint`] is where an engine of this process lives, and [`inside`] lets the program's threads take turns at it.
//! - [`runtime`] joins four things to the engine: [`identity`], the session with the daemon and the page; [`connections`] to
//!   other tasks; [`waits`]; and the [`services`] that interfaces have beside messages.
//! - [`transports`] lists the transports, [`routes`] chooses among them, [`connect`] makes links, [`callers`] takes others' in.
//! - [`waiting`] and [`sleeping`] are how a thread waits, with the others that do in [`waiters`] and what was learnt of that in
//!   [`patience`].
//! - [`abi`] is the table, with [`sending`], [`receiving`], [`completing`], [`finding`] and [`board`]; [`ledger`] is what
//!   `parvum.h` declares. All `unsafe` is there.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod abi;
mod asking;
mod barrier;
#[allow(unsafe_code)]
mod board;
mod callers;
mod circles;
#[allow(unsafe_code)]
mod completing;
mod connect;
mod connections;
mod direct;
mod endpoint;
mod events;
#[allow(unsafe_code)]
mod finding;
mod identity;
mod inside;
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
#[allow(unsafe_code)]
mod rooms;
mod routes;
mod runtime;
#[allow(unsafe_code)]
mod scheduling;
#[allow(unsafe_code)]
mod sending;
mod services;
mod serving;
#[allow(unsafe_code)]
mod sleeping;
mod time;
mod transports;
#[allow(unsafe_code)]
mod waiters;
mod waiting;
mod waits;
#[allow(unsafe_code)]
mod watching;
