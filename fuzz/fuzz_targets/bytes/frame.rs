//! Headers of frames between tasks, and offers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_wire::frame::{Header, Offer};

fuzz_target!(|bytes: &[u8]| {
    if let Some(head) = bytes.first_chunk::<{ Header::SIZE }>()
        && let Ok((header, own, inline)) = Header::decode(head)
    {
        assert_eq!(Header::decode(&header.encode(own, inline)), Ok((header, own, inline)));
    }
    if let Ok(offer) = Offer::decode(bytes) {
        assert_eq!(Offer::decode(&offer.encode()), Ok(offer));
    }
});
