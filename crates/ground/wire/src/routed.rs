//! Routed messages between task and daemon, and between daemons.
//!
//! ```text
//! task and daemon    length 4 | tid 4 | payload          the length counts what follows it
//! daemon and daemon  tid 4 | length 4 | frames           a run: frames for one task, one after the other
//! ```
//!
//! What goes to several tasks crosses each connection once. The first frame says in its length that its data is to be
//! kept ([`Share::Keep`]), the others that it is to be put in again ([`Share::Again`]): they end behind their header.
//! Between daemons the run's length says the same, and such a run is one frame.

use crate::control::{MAX_ROUTED, ROUTED_HEADER};
use crate::{Header, Tid};

/// Bytes before a run.
pub const RUN_HEADER: usize = 8;
/// Bytes of a frame before its data: what a frame without its data is.
pub const BARE: usize = ROUTED_HEADER + Header::SIZE;

const KEEP: u32 = 1 << 31;
const AGAIN: u32 = 1 << 30;

/// What a frame's data has to do with that of others on the same connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Nothing.
    No,
    /// It is to be kept, until other data is.
    Keep,
    /// It is what was kept last, and is left out here.
    Again,
}

impl Share {
    /// A length that says this too.
    pub fn mark(self, length: u32) -> u32 {
        match self {
            Share::No => length,
            Share::Keep => length | KEEP,
            Share::Again => length | AGAIN,
        }
    }

    /// The length, and what it says.
    fn read(word: u32) -> (usize, Share) {
        let share = match word & (KEEP | AGAIN) {
            0 => Share::No,
            AGAIN => Share::Again,
            // Both is nonsense; the length is too long then.
            KEEP => Share::Keep,
            _ => return (usize::MAX, Share::No),
        };
        ((word & !(KEEP | AGAIN)) as usize, share)
    }
}

/// A frame or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framed {
    /// For whom.
    pub to: Tid,
    /// A frame's whole length; a run's, its header apart.
    pub length: usize,
    /// What is special about its data.
    pub share: Share,
}

impl Framed {
    /// Whether it may go on together with the ones before it, which are for `to`.
    pub fn joins(&self, to: Tid) -> bool {
        self.to == to && self.share == Share::No
    }
}

/// The frame at the front, if all of it is there.
pub fn frame_at(bytes: &[u8]) -> Result<Option<Framed>, String> {
    let Some(head) = bytes.first_chunk::<ROUTED_HEADER>() else { return Ok(None) };
    let (length, share) = Share::read(u32::from_le_bytes([head[0], head[1], head[2], head[3]]));
    // The length counts the receiver's id and the payload, but not its own four bytes.
    let (payload, whole) = (length.saturating_sub(4), length.saturating_add(4));
    if payload == 0 || payload > MAX_ROUTED || !fits(share, whole) {
        return Err(format!("length {length}"));
    }
    let to = Tid(i32::from_le_bytes([head[4], head[5], head[6], head[7]]));
    Ok((bytes.len() >= whole).then_some(Framed { to, length: whole, share }))
}

/// A frame has a header when its data is shared, and nothing else when that is left out.
fn fits(share: Share, length: usize) -> bool {
    match share {
        Share::No => true,
        Share::Keep => length >= BARE,
        Share::Again => length == BARE,
    }
}

/// What stands before a run of so many bytes.
pub fn run_header(to: Tid, length: u32, share: Share) -> [u8; RUN_HEADER] {
    let ([a, b, c, d], [e, f, g, h]) = (to.0.to_le_bytes(), share.mark(length).to_le_bytes());
    [a, b, c, d, e, f, g, h]
}

/// The run at the front, its header apart, if all of it is there. A longer one than `limit` is refused before it is.
pub fn run_at(bytes: &[u8], limit: usize) -> Result<Option<Framed>, String> {
    let Some((head, rest)) = bytes.split_first_chunk::<RUN_HEADER>() else { return Ok(None) };
    let to = Tid(i32::from_le_bytes([head[0], head[1], head[2], head[3]]));
    let (length, share) = Share::read(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
    if length > limit || !fits(share, length) {
        return Err(format!("a run of {length} bytes"));
    }
    Ok((rest.len() >= length).then_some(Framed { to, length, share }))
}

/// A frame that was left without its data, with it.
pub fn with_data(bare: &[u8], data: &[u8]) -> Vec<u8> {
    let rest = bare.get(4..).unwrap_or_default();
    let length = rest.len().saturating_add(data.len()) as u32;
    [&length.to_le_bytes(), rest, data].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(to: i32, length: usize, share: Share) -> Framed {
        Framed { to: Tid(to), length, share }
    }

    #[test]
    fn shared_data_is_kept_and_inserted_again() {
        let frame = |share: Share, data: &[u8]| {
            let length = share.mark((BARE - 4 + data.len()) as u32);
            [&length.to_le_bytes()[..], &[1, 0, 4, 0], &[7; Header::SIZE], data].concat()
        };
        let (first, second) = (frame(Share::Keep, b"data"), frame(Share::Again, b""));
        assert_eq!(frame_at(&first), Ok(Some(framed(0x40001, BARE + 4, Share::Keep))));
        assert_eq!(frame_at(&second), Ok(Some(framed(0x40001, BARE, Share::Again))));
        assert_eq!(with_data(&second, b"data"), frame(Share::No, b"data"));
        assert!(frame_at(&frame(Share::Again, b"more")).is_err(), "data after all");
        let both = KEEP | AGAIN | BARE as u32;
        assert!(frame_at(&[&both.to_le_bytes()[..], &[0; BARE]].concat()).is_err(), "both");
        let run = |share, length: usize| [&run_header(Tid(9), length as u32, share)[..], &[0; 99]].concat();
        assert_eq!(run_at(&run(Share::Keep, BARE), 99), Ok(Some(framed(9, BARE, Share::Keep))));
        assert!(run_at(&run(Share::Keep, BARE - 1), 99).is_err(), "no room for a header");
        assert!(run_at(&run(Share::Again, BARE + 1), 99).is_err(), "data after all");
    }

    #[test]
    fn frames_are_parsed_whole_or_not_at_all() {
        let mut bytes = vec![6, 0, 0, 0, 1, 0, 4, 0, b'h', b'i'];
        assert_eq!(frame_at(&bytes), Ok(Some(framed(0x40001, 10, Share::No))));
        assert_eq!(frame_at(&bytes[..9]), Ok(None));
        assert_eq!(frame_at(&bytes[..3]), Ok(None));
        bytes[0] = 4;
        assert!(frame_at(&bytes).is_err(), "no payload");
        bytes[..4].copy_from_slice(&(MAX_ROUTED as u32 + 5).to_le_bytes());
        assert!(frame_at(&bytes).is_err(), "too long");
    }

    #[test]
    fn runs_are_parsed_whole_or_not_at_all() {
        let mut bytes = run_header(Tid(0x80002), 3, Share::No).to_vec();
        bytes.extend_from_slice(b"abc");
        assert_eq!(run_at(&bytes, 3), Ok(Some(framed(0x80002, 3, Share::No))));
        assert_eq!(run_at(&bytes[..10], 3), Ok(None));
        assert_eq!(run_at(&bytes[..7], 3), Ok(None));
        assert!(run_at(&bytes[..8], 2).is_err(), "too long");
    }

    #[test]
    fn run_marked_both_ways_is_refused() {
        let header = run_header(Tid(9), KEEP | AGAIN | 3, Share::No);
        let bytes = [&header[..], b"abc"].concat();
        assert!(run_at(&bytes, 99).is_err());
        assert_eq!(run_at(&bytes, usize::MAX), Ok(None), "its length is greater than any");
    }

    #[test]
    fn data_is_appended_to_any_frame_prefix() {
        for length in 0..4 {
            assert_eq!(with_data(&[7; 4][..length], b"data"), b"\x04\0\0\0data");
        }
    }
}
