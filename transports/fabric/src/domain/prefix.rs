//! The bytes before the frame of a message.

/// The bytes before a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// The receiver's number of the link.
    pub link: u32,
    /// How many frames the sender has taken from the link.
    pub taken: u32,
    /// The bytes of the frame's payload, if the payload comes as a separate message; else 0, or [`Prefix::ASKS`].
    pub long: u32,
}

impl Prefix {
    /// The sender of a message without a frame asks how many frames were taken.
    pub const ASKS: u32 = u32::MAX;

    /// Bytes of a prefix.
    pub const SIZE: usize = 12;

    /// As the first bytes of a message.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        for (place, word) in out.chunks_exact_mut(4).zip([self.link, self.taken, self.long]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// Whether the payload comes as a separate message.
    pub fn has_long(&self) -> bool {
        self.long != 0 && self.long != Self::ASKS
    }

    /// Reads the first bytes of a message. `None`: they are too few.
    pub fn decode(message: &[u8]) -> Option<Prefix> {
        let words: &[u8; Self::SIZE] = message.first_chunk()?;
        let word = |at: usize| u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        Some(Prefix { link: word(0), taken: word(4), long: word(8) })
    }
}
