//! Rendezvous: data that stays with its sender until it is wanted. Offers that ask are the longest way of it.
//!
//! For these messages, data is not buffered if a receive is posted. Otherwise only the sender buffers.
//!
//! The sender asks first. The offer has no address, so the sender can still decide. Before it has sent the address, it
//! may copy the data and complete, regardless of the receiver's answers.
//!
//! ```text
//! posted          Offer (asking) ->      <- Ready        Place -> the receiver fetches ... <- Done
//!                                                        Answer, More -> when short, or it may not fetch
//! not posted      Offer (asking) ->      <- Unposted     the sender copies, says where, and goes on    Kept ->
//!   later         the receive comes, and fetches the copy, wherever its sender is by then    <- Done
//! no answer       the caller's patience ends             the sender copies, says where, and goes on    Kept ->
//! ```
//!
//! A copy does not change any more, so the sender sends its address without a request. A sender that computes for hours
//! therefore delays no receiver. If tasks may not read each other's memory (another host, a kernel that forbids it),
//! `Ready` requests the copy, and its sender answers in its next call.
//!
//! A short message does not wait for this if the pair's memory shows that its receiver awaits it. There each task
//! publishes the message that it awaits from the peer: the number that the message will have, and its tag. To read that
//! takes as long as the message itself, so a sender whose receiver was waiting the last time looks after it has sent:
//!
//! ```text
//! it is awaited   Start ->   look: awaited                  nobody has buffered anything
//! it is not       Start ->   look: not awaited, so copy     Kept ->
//!                 the receiver drops the data, if no receive is posted, and fetches the copy later;
//!                 else it has the message, and the copy is freed    <- Done
//! ```
//!
//! A send without buffering first checks this word, and takes the same path if its receiver awaits the message. Its
//! data is then in the link, on its way to a posted receive. Else it is offered.
//!
//! A published word is reliable: a message with this number and tag finds a receive. If it does not all the same (the
//! receive was cancelled), its data is kept by the receiver rather than lost.

mod copies;
mod fetch;
mod learned;

pub(crate) use copies::ReadBy;
pub use copies::{Copy, RemoteReader};
pub(crate) use fetch::{Reads, TOGETHER, behind, listed};
pub(crate) use learned::{Learned, class};
