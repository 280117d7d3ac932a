//! The interface for recorders of a task's messages. It has the clock; the engine has none.

use parvum_transport::Route;
use parvum_wire::Tid;

/// Hears of each message that is sent or received.
pub trait Recorder: Send {
    /// A message is about to be sent, or put in line: the receiver does not have it yet. `order` is its number among those to that
    /// receiver.
    fn sent(&mut self, to: Tid, route: Route, tag: i32, order: u32, length: u64);
    /// A message was received, with all of its data in place or to be had at once.
    fn received(&mut self, from: Tid, tag: i32, order: u32, length: u64);
}
