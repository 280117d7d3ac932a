//! Which receives have claimed which messages, and not copied them.

use crate::ids::{MessageId, RequestId};

/// A receive, and the message it has claimed.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) receive: RequestId,
    pub(crate) message: MessageId,
}

/// All claims, the oldest first.
#[derive(Default)]
pub(crate) struct Claims(Vec<Claim>);

impl Claims {
    pub(crate) fn add(&mut self, claim: Claim) {
        self.0.push(claim);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether that receive has claimed a message.
    pub(crate) fn has(&self, receive: RequestId) -> bool {
        self.0.iter().any(|claim| claim.receive == receive)
    }

    /// Removes and returns the claim of this receive.
    pub(crate) fn take(&mut self, receive: RequestId) -> Option<Claim> {
        let at = self.0.iter().position(|claim| claim.receive == receive)?;
        Some(self.0.remove(at))
    }

    /// Removes and returns all claims.
    pub(crate) fn take_all(&mut self) -> Vec<Claim> {
        std::mem::take(&mut self.0)
    }
}
