//! What stands before each part of a message.
//!
//! ```text
//!  0 kind   4 conversation   8 sequence   12 container   16 call   20 fragment   24 fragments   28 length
//! ```
//! Numbers are four bytes each, the lowest first. An answer has the number of the first fragment that is missing where
//! `fragment` is, and its data are bits for those behind it: 1 for one that has come.

/// Bytes of a header.
pub const HEADER: usize = 32;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A part of a message that is sent until it is answered.
    Reliable = 1,
    /// A part of a message that may be lost.
    Datagram = 2,
    /// What has come of a reliable message.
    Answer = 3,
    /// All of a reliable message has come, and the container has no room.
    Full = 4,
    /// There is no such container.
    Gone = 5,
}

/// A packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is.
    pub kind: Kind,
    /// Which of its sender's conversations it belongs to.
    pub conversation: u32,
    /// Which message of that conversation.
    pub sequence: u32,
    /// The container that the message is for; 0: answers to calls. With [`GROUP`] a group.
    pub container: u32,
    /// The number of a call, or of the call that this answers.
    pub call: u32,
    /// Which part, from 0.
    pub fragment: u32,
    /// How many parts there are, one at least.
    pub fragments: u32,
    /// Bytes of the whole message.
    pub length: u32,
}

/// In the number of a container: a group.
pub const GROUP: u32 = 1 << 31;

impl Header {
    /// As bytes.
    pub fn encode(&self) -> [u8; HEADER] {
        let Header { kind, conversation, sequence, container, call, fragment, fragments, length } = *self;
        let mut bytes = [0; HEADER];
        let words = [kind as u32, conversation, sequence, container, call, fragment, fragments, length];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// From bytes: the header and the data behind it. `None` for what no node sends.
    pub fn decode(packet: &[u8]) -> Option<(Header, &[u8])> {
        let (bytes, data) = packet.split_first_chunk::<HEADER>()?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let kind = match word(0) {
            1 => Kind::Reliable,
            2 => Kind::Datagram,
            3 => Kind::Answer,
            4 => Kind::Full,
            5 => Kind::Gone,
            _ => return None,
        };
        let header = Header {
            kind,
            conversation: word(4),
            sequence: word(8),
            container: word(12),
            call: word(16),
            fragment: word(20),
            fragments: word(24),
            length: word(28),
        };
        Some((header, data))
    }
}

/// How many fragments a message of that length has.
pub fn fragments(length: usize, fragment: usize) -> usize {
    length.div_ceil(fragment).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_survives_and_invalid_one_is_refused() {
        let header = Header {
            kind: Kind::Full,
            conversation: 1,
            sequence: 2,
            container: 3 | GROUP,
            call: 4,
            fragment: 5,
            fragments: 6,
            length: 7,
        };
        let packet = [&header.encode()[..], b"data"].concat();
        assert_eq!(Header::decode(&packet), Some((header, &b"data"[..])));
        assert_eq!(Header::decode(&packet[..31]), None);
        for kind in [0u8, 6, 255] {
            let mut packet = packet.clone();
            packet[0] = kind;
            assert_eq!(Header::decode(&packet), None);
        }
    }

    #[test]
    fn packet_messages_split_into_expected_fragments() {
        for (length, at_1400, at_4096) in [
            (0, 1, 1),
            (1, 1, 1),
            (1399, 1, 1),
            (1400, 1, 1),
            (1401, 2, 1),
            (4095, 3, 1),
            (4096, 3, 1),
            (4097, 3, 2),
            (1 << 20, 749, 256),
        ] {
            assert_eq!((fragments(length, 1400), fragments(length, 4096)), (at_1400, at_4096), "{length}");
        }
    }
}
