//! Who is at the other end: shown without showing the token.
//!
//! The daemons have given both tasks a token over their own encrypted connection, for this one
//! connection. Who connects shows that it has it, and so does who accepts, before either believes a
//! byte. A proof that was overheard is worth nothing: the token counts once.

use hmac::{Hmac, KeyInit, Mac};
use parvum_wire::Tid;
use sha2::Sha256;

/// Bytes of a proof.
pub const PROOF: usize = 32;
/// Bytes that make each greeting another.
pub const NONCE: usize = 16;

/// Which end shows it.
#[derive(Clone, Copy)]
pub enum End {
    /// The one that connects.
    Caller,
    /// The one that accepts.
    Listener,
}

fn mac(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(token).expect("a key of any length will do");
    mac.update(match end {
        End::Caller => b"parvum caller",
        End::Listener => b"parvum listener",
    });
    mac.update(&caller.0.to_le_bytes());
    mac.update(nonce);
    mac
}

/// Shows that this end has the token.
pub fn make(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE]) -> [u8; PROOF] {
    mac(end, token, caller, nonce).finalize().into_bytes().into()
}

/// Whether the other end has it; takes as long whatever it showed.
pub fn holds(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE], proof: &[u8; PROOF]) -> bool {
    mac(end, token, caller, nonce).verify_slice(proof).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_its_own_end_token_caller_and_nonce_only() {
        let (token, tid, nonce) = ([7; 16], Tid(0x40001), [9; NONCE]);
        let proof = make(End::Caller, &token, tid, &nonce);
        assert!(holds(End::Caller, &token, tid, &nonce, &proof));
        assert!(!holds(End::Listener, &token, tid, &nonce, &proof));
        assert!(!holds(End::Caller, &[8; 16], tid, &nonce, &proof));
        assert!(!holds(End::Caller, &token, Tid(0x40002), &nonce, &proof));
        assert!(!holds(End::Caller, &token, tid, &[0; NONCE], &proof));
    }
}
