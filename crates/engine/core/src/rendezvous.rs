//! Rendezvous: data that stays with its sender until it is wanted. Offers that ask are the longest way of it.
//!
//! Of those data is buffered by nobody when a receive is posted, and else only its sender.
//!
//! The sender asks first. Its offer names no address, so it can change its mind: until it has told where the data lies,
//! it may copy the data and be done, whatever the receiver has answered or will.
//!
//! ```text
//! posted          Offer (asking) ->      <- Ready        Place -> the receiver fetches ... <- Done
//!                                                        Answer, More -> when short, or it may not fetch
//! not posted      Offer (asking) ->      <- Unposted     the sender copies, says where, and goes on    Kept ->
//!   later         the receive comes, and fetches the copy, wherever its sender is by then    <- Done
//! no answer       the caller's patience ends             the sender copies, says where, and goes on    Kept ->
//! ```
//!
//! A copy cannot change any more, so its place is told without being asked for: a sender that computes for hours holds up nobody.
//! Where tasks may not read each other's memory (another host, a kernel that forbids it), `Ready` asks for the copy, and its sender
//! answers in its next call.
//!
//! A short message does not wait for that if it can be seen in the pair's memory that its receiver awaits it: each task
//! publishes there which message it awaits from the peer, by the number that the message will have, and its tag. To read
//! that takes as long as the message itself, so a sender whose receiver was waiting the last time looks after it has sent:
//!
//! ```text
//! it is awaited   Start ->   look: awaited                  nobody has buffered anything
//! it is not       Start ->   look: not awaited, so copy     Kept ->
//!                 the receiver drops the data, if no receive is posted, and fetches the copy later;
//!                 else it has the message, and the copy is freed    <- Done
//! ```
//!
//! A send that nobody may buffer looks first, and goes the same way when its receiver awaits it: its data lies in the link, on
//! its way to a receive that is posted. Else it is offered.
//!
//! What a task has published holds: a message with that number and tag finds a receive. If it does not all the same (the
//! receive was cancelled), its data is kept by the receiver rather than lost.

mod copies;
mod fetch;

pub(crate) use copies::ReadBy;
pub use copies::{Copy, RemoteReader};
pub(crate) use fetch::{Reads, TOGETHER, behind, listed};
