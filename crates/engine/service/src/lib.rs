//! Put, get, atomic operation, and request with reply: one task asks, and the other's program need not take part.
//!
//! Each process that [opens](Service::open) a service has a second endpoint in the virtual machine, with a separate
//! engine and lock, and a thread that waits there. The thread answers requests while the program computes, and while
//! the program is inside a call. Neither waits for the other. A signal handler that has interrupted a copy into
//! protected memory may therefore request the page for the copy.
//!
//! Memory is named by a [`Window`] and an offset. Only the kernel's calls for copying between processes access the
//! memory, even for the server's own process. If the memory is protected or gone, the requesting task gets
//! [`Trouble::Protected`], and no process ends. Between tasks of one host that may read each other a put or a get is
//! such a call and no message.
//!
//! For requests that are answered later, or by another task, there are letters ([`post`]).
//!
//! - [`question`] defines requests and their form in a message; [`windows`] executes requests, without I/O.
//! - [`server`] is the thread; [`client`] sends requests; [`direct`] is the path without messages; [`memory`] has the
//!   kernel's calls.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod client;
mod direct;
#[allow(unsafe_code)]
mod memory;
mod post;
mod question;
#[allow(unsafe_code)]
mod server;
mod windows;

pub use client::{PendingAnswer, Service};
pub use post::{Came, Post};
pub use question::{Change, PART, Trouble, Window};

#[cfg(test)]
mod tests;
