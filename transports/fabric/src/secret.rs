//! Encryption of frames on a fabric that has none, with the records of `parvum-tcp`.

use parvum_tcp::proof::End;
use parvum_tcp::sealed::{RecordOpener, Sealer};
use parvum_transport::Gather;
use parvum_wire::Tid;
use ring::hmac;

/// The connection draws its own keys from the token with a random nonce. The fabric's keys come from another token, so they need none.
const NONCE: [u8; 16] = *b"parvum on fabric";

/// The keys of both directions of a link.
pub struct Secret {
    sealer: Sealer,
    opener: RecordOpener,
}

impl Secret {
    /// The keys of `own`, the end of this process.
    pub fn new(own: End, token: &[u8; 16], caller: Tid) -> Secret {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, token), &NONCE);
        let mut token = [0; 16];
        token.copy_from_slice(&tag.as_ref()[..16]);
        let other = match own {
            End::Caller => End::Listener,
            End::Listener => End::Caller,
        };
        Secret {
            sealer: Sealer::new(own, &token, caller, &NONCE),
            opener: RecordOpener::new(other, &token, caller, &NONCE),
        }
    }

    /// Appends a sealed frame.
    pub fn seal(&mut self, header: &[u8], payload: Gather<'_>, out: &mut Vec<u8>) {
        self.sealer.seal(header, payload, out);
    }

    /// Opens the next frame in its place. `None`: it is not the next frame of the peer.
    pub fn open<'a>(&mut self, message: &'a mut [u8]) -> Option<&'a mut [u8]> {
        self.opener.open(message)
    }
}
