//! `libparvum.so.0`: the one engine of a process, joined to its machine.
//!
//! Interface libraries open this library and call it through the table of `parvum-api`. From the top down; each room uses those
//! below it:
//!
//! - [`abi`] is the table. Its functions stand in [`sending`], [`receiving`], [`waiting`] and [`segments`], in C's types.
//! - [`connecting`] chooses the route to a task, makes the link, and ends it.
//! - [`waiting`] lets a thread wait: spin, take turns, sleep.
//! - [`inside`] lets the program's threads enter one after the other, at an [`endpoint`], which has an engine of this
//!   process.
//! - [`progress`] moves everything on: the engine, events of the daemon, tasks that connect, links, tasks that are gone.
//! - [`runtime`] joins to the engine: [`identity`], the session with the daemon and the control block; the connections; the waits; and the
//!   [`services`] that interfaces have beside messages.
//! - [`status`] has the functions of `parvum.h`, and the state for tools; [`errors`] has the errors; [`process`]
//!   handles forks and the end.

#![deny(unsafe_code)]

mod abi;
mod connecting;
mod endpoint;
mod errors;
mod identity;
mod inside;
#[allow(unsafe_code)]
mod process;
mod progress;
mod receiving;
mod runtime;
mod segments;
mod sending;
mod services;
mod status;
mod waiting;
