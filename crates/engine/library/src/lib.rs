//! `libparvum.so.0`: the one engine of a process, joined to its machine.
//!
//! Interface libraries open this library and call it through the table of `parvum-waist`. Inside are floors; each uses those
//! below it, and none those above:
//!
//! - [`abi`] is the table, with [`sending`], [`multicast`], [`receiving`], [`completing`], [`finding`], [`serving`], [`watching`] and
//!   [`board`] with [`announcements`]; [`departing`] leaves the machine. All `unsafe` is there.
//! - [`reach`] chooses the way to a task with [`transports`], the list of them, and [`connect`] makes the link.
//! - [`daemon`] asks the daemon, [`waiting`] and [`sleeping`] are how a thread waits, and [`circles`] how waits for each other end.
//! - [`inside`] lets the program's threads take turns at an [`endpoint`], where an engine of this process lives.
//! - [`progress`] moves everything on: [`events`] of the daemon, [`callers`] who connect, [`links`] that are there, [`farewells`]
//!   from tasks that are gone.
//! - [`runtime`] joins four things to the engine: [`identity`], the session with the daemon and the page; [`connections`] to
//!   other tasks; [`waits`]; and the [`services`] that interfaces have beside messages.
//! - What they stand on: [`routes`], [`patience`] and [`waiters`], [`errors`], [`process`], and [`ledger`], which is what `parvum.h`
//!   declares.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod abi;
#[allow(unsafe_code)]
mod announcements;
mod asking;
mod barrier;
#[allow(unsafe_code)]
mod board;
#[allow(unsafe_code)]
mod board_memory;
mod callers;
mod calls;
mod circles;
#[allow(unsafe_code)]
mod completing;
mod connect;
mod connections;
mod copying;
mod daemon;
mod departing;
mod direct;
mod endpoint;
mod errors;
mod events;
mod farewells;
#[allow(unsafe_code)]
mod finding;
mod identity;
mod inside;
#[allow(unsafe_code)]
mod ledger;
mod lending;
mod links;
mod meets;
#[allow(unsafe_code)]
mod multicast;
mod patience;
#[allow(unsafe_code)]
mod process;
mod progress;
mod pusher;
mod reach;
#[allow(unsafe_code)]
mod receiving;
mod recording;
#[allow(unsafe_code)]
mod rooms;
mod routes;
mod runtime;
#[allow(unsafe_code)]
mod scattered;
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
mod turns;
#[allow(unsafe_code)]
mod waiters;
mod waiting;
mod waits;
#[allow(unsafe_code)]
mod watching;
