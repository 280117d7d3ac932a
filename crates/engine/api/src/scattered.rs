//! The table's data in many places, with Rust's types.

use crate::api::{CoreApi, Request, SendTo, outgoing, status};
use crate::table::{Message, Notes, Pattern, Room, RoomKind, Scattered, Status};

impl Room {
    /// Memory that this copies to.
    fn scattered(data: &Scattered) -> Room {
        Room { kind: RoomKind::Scattered, start: std::ptr::from_ref(data).cast_mut().cast(), length: 1 }
    }
}

impl CoreApi {
    /// Starts to send data in many places, which is copied before this returns. `None`: it is over.
    ///
    /// # Safety
    /// All of the data can be read now, by a call of its `copy` for any part of it.
    pub unsafe fn start_scattered(&self, how: &SendTo, data: &Scattered) -> Result<Option<Request>, Status> {
        let message = outgoing(how, &[], std::ptr::null_mut(), None);
        let mut request = 0;
        // SAFETY: the caller's promise; the message and the request are there for the call.
        match unsafe { (self.0.send_scattered)(&message, data, &mut request) } {
            1 => Ok(Some(Request(request))),
            other => status(other).map(|()| None),
        }
    }

    /// Posts a receive into memory in many places. `flags`: see [`Table::post`](crate::Table::post).
    ///
    /// # Safety
    /// All of the memory can be written, by a call of its `copy` for any part of it, from any thread, and nobody uses it otherwise,
    /// until the request is over or was cancelled.
    pub unsafe fn post_scattered(&self, pattern: &Pattern, data: &Scattered, flags: u32) -> Request {
        // SAFETY: the caller's promise.
        Request(unsafe { (self.0.post)(pattern, &Room::scattered(data), flags) })
    }

    /// Receives a message that was found, into memory in many places. `Err(Cut)`: it was longer.
    ///
    /// # Safety
    /// All of the memory can be written, by a call of its `copy` for any part of it, from any thread, and nobody uses it otherwise,
    /// until this returns.
    pub unsafe fn take_scattered(
        &self,
        found: &Message,
        data: &Scattered,
        notes: &Notes,
    ) -> Result<(), Status> {
        let mut out = Message::NONE;
        // SAFETY: the caller's promise.
        status(unsafe { (self.0.take)(found.handle, &Room::scattered(data), notes, &mut out) })
    }
}
