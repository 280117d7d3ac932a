//! Put, get, atomic operation, and request with reply: one task asks, and the other's program need not take part.
//!
//! Each process that [opens](Service::open) a service has a second endpoint in the machine, with an engine and a lock of its
//! own, and a thread that waits there. What is asked of it is answered while the program computes, and while the program is
//! inside a call of its own: neither waits for the other, so a signal handler that has interrupted a copy into protected
//! memory may ask for the page that the copy wants.
//!
//! Memory is named by a [`Window`] and an offset. It is touched by the kernel's calls for copying between processes, also the
//! own memory by its own server: memory that is protected or gone gives [`Trouble::Protected`] to who asked, and ends nobody.
//! Between tasks of one host that may read each other a put or a get is such a call and no message.
//!
//! Where a request is answered later, or by another task than was asked, there are letters ([`post`]).
//!
//! - [`question`] is what is asked and how it lies in a message; [`windows`] does it, without I/O.
//! - [`server`] is the thread; [`client`] is who asks; [`direct`] is the way without a message; [`memory`] has the kernel's calls.

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
