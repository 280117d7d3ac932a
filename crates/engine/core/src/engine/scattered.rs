//! Sending data whose layout only its owner knows: it is copied once, to memory of the link if that lends some.

use super::Engine;
use super::send::header;
use crate::peers::Peer;
use crate::sending::copies::{Kept, KeptMemory};
use crate::sending::outgoing::{Buffering, Outgoing, SendError, Sent};
use crate::sending::scattered::Scattered;
use parvum_transport::Loan;
use std::sync::Arc;

impl Engine {
    /// As [`Engine::send`], of data that is in none of the message's pieces. It is copied during the call, whatever becomes of the
    /// message, so nothing need stay.
    pub fn send_scattered(&mut self, message: Outgoing<'_>, data: &dyn Scattered) -> Result<Sent, SendError> {
        let Some(index) = self.peers.index_of(message.to) else { return Err(self.no_way_to(message.to)) };
        let Peer { links, state } = &self.peers[index];
        let (Some(limits), Some(_)) = (state.limits[state.route.place()], &links[state.route.place()]) else {
            return Err(SendError::NotAttached(message.to));
        };
        let length = data.length();
        if length <= limits.eager || message.buffering == Buffering::SenderIfUnposted {
            let copy = Arc::new(gathered(data, &self.core.kept));
            let pieces = [&copy[..]];
            let message = Outgoing { pieces: &pieces, keep: Some(copy.clone()), ..message };
            // SAFETY: the keeper owns the only piece, and a copy behind an `Arc` is never changed.
            return unsafe { self.send(message) };
        }
        let header = header(state, &message, length);
        self.core.record_sent(message.to, state.route, &header);
        let message = Outgoing { pieces: &[], keep: None, ..message };
        // SAFETY: there are no pieces.
        Ok(unsafe { self.queue(index, header, message, Some(data), limits) })
    }
}

/// All of it in one row.
pub(super) fn gathered(data: &dyn Scattered, memory: &KeptMemory) -> Kept {
    let mut copy = memory.take(data.length());
    data.copy_out(0, &mut copy);
    copy
}

/// Copies it to memory of the link, part by part: the receiver may be reading behind us.
pub(super) fn fill(loan: &dyn Loan, data: &dyn Scattered) {
    let mut from = 0;
    loan.fill_by(data.length(), &mut |part| {
        data.copy_out(from, part);
        from += part.len();
    });
}
