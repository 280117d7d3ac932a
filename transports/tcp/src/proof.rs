//! The identity of the other end, proved without sending the token.
//!
//! The daemons have given both tasks a token over their own encrypted connection, for this one connection. Both the
//! connecting and the accepting task prove that they have the token, before either accepts a byte. A proof that was
//! overheard is worth nothing: the token counts once.

use parvum_wire::Tid;
use ring::hmac;

/// Bytes of a proof.
pub const PROOF: usize = 32;
/// Bytes that make each greeting another.
pub const NONCE: usize = 16;

/// Which end shows it.
#[derive(Clone, Copy)]
pub enum End {
    /// The one that connects.
    Caller = 1,
    /// The one that accepts.
    Listener = 2,
}

/// The content of a proof.
fn claim(end: End, caller: Tid, nonce: &[u8; NONCE]) -> [u8; 1 + 4 + NONCE] {
    let mut claim = [end as u8; 1 + 4 + NONCE];
    claim[1..5].copy_from_slice(&caller.0.to_le_bytes());
    claim[5..].copy_from_slice(nonce);
    claim
}

/// Shows that this end has the token.
pub fn make(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE]) -> [u8; PROOF] {
    let mut proof = [0; PROOF];
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, token), &claim(end, caller, nonce));
    proof.copy_from_slice(tag.as_ref());
    proof
}

/// Whether the other end has it; takes as long whatever it showed.
pub fn holds(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE], proof: &[u8; PROOF]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token);
    hmac::verify(&key, &claim(end, caller, nonce), proof).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proof_holds_only_for_its_own_inputs() {
        let (token, tid, nonce) = ([7; 16], Tid(0x40001), [9; NONCE]);
        let proof = make(End::Caller, &token, tid, &nonce);
        assert!(holds(End::Caller, &token, tid, &nonce, &proof));
        assert!(!holds(End::Listener, &token, tid, &nonce, &proof));
        assert!(!holds(End::Caller, &[8; 16], tid, &nonce, &proof));
        assert!(!holds(End::Caller, &token, Tid(0x40002), &nonce, &proof));
        assert!(!holds(End::Caller, &token, tid, &[0; NONCE], &proof));
    }
}
