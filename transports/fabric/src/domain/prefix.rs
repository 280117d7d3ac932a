//! The bytes before the frame of a message.

/// The bytes before a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// The receiver's number of the link.
    pub link: u32,
    /// The key that only the peer of the link knows. Anybody may send to an endpoint.
    pub key: u64,
    /// The number of the frame on the link, or of the next frame if the message has none.
    pub number: u32,
    /// How many frames the sender has taken from the link.
    pub taken: u32,
    /// The bytes of the frame's payload, if the payload comes as a separate message; else 0, or [`Prefix::ASKS`].
    pub long: u32,
}

impl Prefix {
    /// The sender of a message without a frame asks how many frames were taken.
    pub const ASKS: u32 = u32::MAX;

    /// Bytes of a prefix. With a header and 8 bytes of data they are as long as the provider for TCP sends at once.
    pub const SIZE: usize = 24;

    /// As the first bytes of a message.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        out[..8].copy_from_slice(&self.key.to_le_bytes());
        for (place, word) in out[8..].chunks_exact_mut(4).zip([self.link, self.number, self.taken, self.long])
        {
            place.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// Whether a payload comes as a separate message.
    pub fn has_long(&self) -> bool {
        self.long != 0 && self.long != Self::ASKS
    }

    /// Reads the first bytes of a message. `None`: they are too few.
    pub fn decode(message: &[u8]) -> Option<Prefix> {
        let bytes: &[u8; Self::SIZE] = message.first_chunk()?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let key = u64::from(word(0)) | u64::from(word(4)) << 32;
        Some(Prefix { key, link: word(8), number: word(12), taken: word(16), long: word(20) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_is_read_back_and_short_ones_are_refused() {
        let prefix = Prefix { link: 7, key: 0x0123_4567_89ab_cdef, number: 9, taken: u32::MAX, long: 70_000 };
        let bytes = prefix.encode();
        assert_eq!(Prefix::decode(&bytes), Some(prefix));
        assert!((0..Prefix::SIZE).all(|length| Prefix::decode(&bytes[..length]).is_none()));
        assert!(prefix.has_long() && !Prefix { long: Prefix::ASKS, ..prefix }.has_long());
    }
}
