//! Frames: what a transport carries from one task to another.
//!
//! A frame is a [`Header`] and a payload. Shared memory keeps the header in the
//! first 32 bytes of a cell; stream transports write the same 32 bytes in front
//! of the payload. Either way the first word is the transport's own (a publish
//! word in shared memory, the payload's length on a stream), so that both lay
//! out the rest alike:
//!
//! ```text
//!  0      4    5       6       8     12        16         24     28      32
//! +------+----+-------+-------+-----+---------+----------+------+-------+
//! | own  |kind|inline | flags | tag | context |  length  | meta | order |
//! +------+----+-------+-------+-----+---------+----------+------+-------+
//! ```

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Begins a message; `length` is that of the whole message, of which this
    /// frame carries the first part (or all).
    Start = 1,
    /// Carries the next part of the message begun last on this link.
    More = 2,
    /// Announces a message whose data stays with the sender until it is wanted;
    /// the payload is an [`Offer`].
    Offer = 3,
    /// Answers an offer: "I cannot fetch it myself, send it"; `length` is the
    /// offer's cookie, `order` the slot that the data is for.
    Clear = 4,
    /// Begins the data of a cleared offer; `order` is the slot named by `Clear`.
    Answer = 5,
    /// Answers an offer: "I have it"; `length` is the offer's cookie.
    Done = 6,
    /// Gives credit back: `length` bytes were consumed.
    Credit = 7,
    /// Asks the receiver to fetch the data of an offer now, for its sender is
    /// about to leave; `length` is the offer's cookie.
    Fetch = 8,
    /// Answers an offer that named no address: "a receive wants it"; `length` is the offer's
    /// cookie, `order` the slot that the data is for.
    Ready = 9,
    /// Answers `Ready`: where the data lies, to be fetched now. `length` is the cookie, `order`
    /// the slot; see [`Header::place`].
    Place = 10,
    /// Answers an offer that named no address: no receive was posted when it came; `length` is
    /// the offer's cookie.
    Unposted = 11,
    /// Follows a `Start` that was marked [`KEPT_BY_SENDER`], or an offer that named no address: its
    /// sender has kept a copy under the cookie `length`, for it saw no receive posted. The copy
    /// lies at [`Header::address`], to be fetched when it is wanted; 0: it must be asked for.
    Kept = 12,
}

impl Kind {
    /// The kind of that number, if there is one.
    pub const fn from_u8(value: u8) -> Option<Kind> {
        Some(match value {
            1 => Kind::Start,
            2 => Kind::More,
            3 => Kind::Offer,
            4 => Kind::Clear,
            5 => Kind::Answer,
            6 => Kind::Done,
            7 => Kind::Credit,
            8 => Kind::Fetch,
            9 => Kind::Ready,
            10 => Kind::Place,
            11 => Kind::Unposted,
            12 => Kind::Kept,
            _ => return None,
        })
    }
}

/// The receiver drops the message, and counts it, when no receive is posted.
pub const DISCARD_UNLESS_POSTED: u16 = 1;
/// The receiver fetches the data of an offer at once, into memory of its own
/// when no receive is posted: the sender waits for its buffer.
pub const FETCH_AT_ONCE: u16 = 2;
/// The receiver keeps no data of the message when no receive is posted: its sender does.
pub const KEPT_BY_SENDER: u16 = 4;

/// In a cookie: the offer asks whether a receive is posted, and names no address.
pub const ASKING: u64 = 1 << 62;
/// In a cookie, beside [`ASKING`]: of a message that went at once and was kept as well; the rest is its `order`.
pub const KEPT: u64 = 1 << 63;

/// In a cookie, in [`LISTED_BITS`] from this bit on: the offer's address is that of a list of so many places, each an address and
/// a length of eight bytes, in the sender's own order of bytes; 0: that of the data.
pub const LISTED_SHIFT: u32 = 48;
/// Bits for the number of places that an offer lists.
pub const LISTED_BITS: u64 = 0x7ff;

/// The fixed part of every frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the frame is for.
    pub kind: Kind,
    /// `DISCARD_UNLESS_POSTED`, `FETCH_AT_ONCE`, `KEPT_BY_SENDER`.
    pub flags: u16,
    /// The user's tag.
    pub tag: i32,
    /// The context (communicator) that the tag is of.
    pub context: u32,
    /// Length of the whole message in bytes; see [`Kind`] for other uses.
    pub length: u64,
    /// A word for the interface: how the data is encoded.
    pub meta: u32,
    /// The place of the message among all from this sender to this receiver,
    /// counted from 0 and wrapping; restores order when messages take different routes.
    pub order: u32,
}

impl Header {
    /// Bytes of an encoded header, the transport's own first word included.
    pub const SIZE: usize = 32;

    /// A header that only answers: no tag, no context.
    pub const fn answer(kind: Kind, length: u64, order: u32) -> Header {
        Header { kind, flags: 0, tag: 0, context: 0, length, meta: 0, order }
    }

    /// The encoded header as four little-endian words, with the inline count; the transport's own word, the lower
    /// half of the first, is 0.
    #[inline]
    pub fn words(&self, inline: u8) -> [u64; 4] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let kinds = u32::from(self.kind as u8) | u32::from(inline) << 8 | u32::from(self.flags) << 16;
        [pair(0, kinds), pair(self.tag as u32, self.context), self.length, pair(self.meta, self.order)]
    }

    /// A [`Kind::Place`]: the data of the offer `cookie`, wanted in `slot`, lies at `address`.
    pub const fn place(cookie: u64, slot: u32, address: u64) -> Header {
        let (low, high) = (address as u32 as i32, (address >> 32) as u32);
        Header { tag: low, context: high, ..Header::answer(Kind::Place, cookie, slot) }
    }

    /// A [`Kind::Kept`]: a copy of the message `cookie` lies at `address`.
    pub const fn kept(cookie: u64, address: u64) -> Header {
        Header { kind: Kind::Kept, ..Header::place(cookie, 0, address) }
    }

    /// The address that a [`Kind::Place`] or [`Kind::Kept`] names.
    pub const fn address(&self) -> u64 {
        self.tag as u32 as u64 | (self.context as u64) << 32
    }

    /// Encodes the header with the transport's own word and inline count.
    #[inline]
    pub fn encode(&self, own: u32, inline: u8) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        out[0..4].copy_from_slice(&own.to_le_bytes());
        out[4] = self.kind as u8;
        out[5] = inline;
        out[6..8].copy_from_slice(&self.flags.to_le_bytes());
        out[8..12].copy_from_slice(&self.tag.to_le_bytes());
        out[12..16].copy_from_slice(&self.context.to_le_bytes());
        out[16..24].copy_from_slice(&self.length.to_le_bytes());
        out[24..28].copy_from_slice(&self.meta.to_le_bytes());
        out[28..32].copy_from_slice(&self.order.to_le_bytes());
        out
    }

    /// Decodes a header; gives the transport's own word and the inline count too.
    ///
    /// Fails when the kind is not one of ours: the bytes did not come from us.
    #[inline]
    pub fn decode(bytes: &[u8; Self::SIZE]) -> Result<(Header, u32, u8), BadFrame> {
        let kind = Kind::from_u8(bytes[4]).ok_or(BadFrame::UnknownKind(bytes[4]))?;
        let header = Header {
            kind,
            flags: u16::from_le_bytes([bytes[6], bytes[7]]),
            tag: i32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]),
            context: u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]),
            #[rustfmt::skip]
            length: u64::from_le_bytes(
                [bytes[16], bytes[17], bytes[18], bytes[19], bytes[20], bytes[21], bytes[22], bytes[23]],
            ),
            meta: u32::from_le_bytes([bytes[24], bytes[25], bytes[26], bytes[27]]),
            order: u32::from_le_bytes([bytes[28], bytes[29], bytes[30], bytes[31]]),
        };
        Ok((header, u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), bytes[5]))
    }
}

/// The payload of an [`Kind::Offer`]: where the data lies in the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Names the offer in its sender.
    pub cookie: u64,
    /// Address of the data in the sender's memory, for a single copy; zero
    /// when the sender wants to be asked for it.
    pub address: u64,
}

impl Offer {
    /// Bytes of an encoded offer.
    pub const SIZE: usize = 16;

    /// The offer as a payload.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        out[..8].copy_from_slice(&self.cookie.to_le_bytes());
        out[8..].copy_from_slice(&self.address.to_le_bytes());
        out
    }

    /// The name that the sender keeps the data under which is answered so: that of a question names no list, which is told with the place.
    pub const fn name(cookie: u64) -> u64 {
        match cookie & (ASKING | KEPT) == ASKING {
            true => cookie & !(LISTED_BITS << LISTED_SHIFT),
            false => cookie,
        }
    }

    /// How many places the address lists; 0 when it is that of the data, or there is none.
    pub fn listed(&self) -> usize {
        // Cookies of data that its sender has kept list nothing.
        if self.cookie & KEPT != 0 || self.address == 0 {
            0
        } else {
            (self.cookie >> LISTED_SHIFT & LISTED_BITS) as usize
        }
    }

    /// Reads a payload back; fails when it has not exactly the right length.
    pub fn decode(payload: &[u8]) -> Result<Offer, BadFrame> {
        let words =
            payload.split_first_chunk().and_then(|(cookie, rest)| Some((*cookie, rest.try_into().ok()?)));
        let (cookie, address) = words.ok_or(BadFrame::OfferLength(payload.len()))?;
        Ok(Offer { cookie: u64::from_le_bytes(cookie), address: u64::from_le_bytes(address) })
    }
}

/// Bytes that are no frame of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// The kind has a number that nobody assigned.
    #[error("a frame of unknown kind {0}")]
    UnknownKind(u8),
    /// An offer's payload has the wrong length.
    #[error("an offer of {0} bytes instead of 16")]
    OfferLength(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn header_survives_round_trip(
            kind in 1u8..=12, flags: u16, tag: i32, context: u32, length: u64, meta: u32, order: u32, own: u32, inline: u8
        ) {
            let kind = Kind::from_u8(kind).expect("in range");
            let header = Header { kind, flags, tag, context, length, meta, order };
            let bytes = header.encode(own, inline);
            prop_assert_eq!(Header::decode(&bytes), Ok((header, own, inline)));
            let words: Vec<u8> = header.words(inline).iter().flat_map(|word| word.to_le_bytes()).collect();
            prop_assert_eq!(&words[4..], &bytes[4..]);
        }

        #[test]
        fn header_decodes_or_refuses_any_bytes(bytes: [u8; 32]) {
            let known = (1..=12).contains(&bytes[4]);
            prop_assert_eq!(Header::decode(&bytes).is_ok(), known);
        }

        #[test]
        fn place_names_its_address(cookie: u64, slot: u32, address: u64) {
            let place = Header::place(cookie, slot, address);
            prop_assert_eq!((place.length, place.order, place.address()), (cookie, slot, address));
        }

        #[test]
        fn offer_survives_and_other_lengths_are_refused(cookie: u64, address: u64, cut in 0usize..16) {
            let offer = Offer { cookie, address };
            let bytes = offer.encode();
            prop_assert_eq!(Offer::decode(&bytes), Ok(offer));
            prop_assert_eq!(Offer::decode(&bytes[..cut]), Err(BadFrame::OfferLength(cut)));
        }
    }
}
