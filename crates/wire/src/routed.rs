//! Routed messages between task and daemon, and between daemons.
//!
//! ```text
//! task and daemon    length 4 | tid 4 | payload          the length counts what follows it
//! daemon and daemon  tid 4 | length 4 | frames           a run: frames for one task, one after the other
//! ```

use crate::Tid;
use crate::control::{MAX_ROUTED, ROUTED_HEADER};

/// Bytes before a run.
pub const RUN_HEADER: usize = 8;

/// The destination and the whole length of the frame at the front, if all of it is there.
pub fn frame_at(bytes: &[u8]) -> Result<Option<(Tid, usize)>, String> {
    let Some(head) = bytes.first_chunk::<ROUTED_HEADER>() else { return Ok(None) };
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    if length <= 4 || length - 4 > MAX_ROUTED {
        return Err(format!("length {length}"));
    }
    let to = Tid(i32::from_le_bytes([head[4], head[5], head[6], head[7]]));
    Ok((bytes.len() >= 4 + length).then_some((to, 4 + length)))
}

/// What stands before a run of so many bytes.
pub fn run_header(to: Tid, length: u32) -> [u8; RUN_HEADER] {
    let ([a, b, c, d], [e, f, g, h]) = (to.0.to_le_bytes(), length.to_le_bytes());
    [a, b, c, d, e, f, g, h]
}

/// The destination and the length of the run at the front, its header apart, if all of it is there. A longer one than
/// `limit` is refused before it is.
pub fn run_at(bytes: &[u8], limit: usize) -> Result<Option<(Tid, usize)>, String> {
    let Some(head) = bytes.first_chunk::<RUN_HEADER>() else { return Ok(None) };
    let to = Tid(i32::from_le_bytes([head[0], head[1], head[2], head[3]]));
    let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    if length > limit {
        return Err(format!("a run of {length} bytes"));
    }
    Ok((bytes.len() >= RUN_HEADER + length).then_some((to, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_seen_whole_or_not_at_all() {
        let mut bytes = vec![6, 0, 0, 0, 1, 0, 4, 0, b'h', b'i'];
        assert_eq!(frame_at(&bytes), Ok(Some((Tid(0x40001), 10))));
        assert_eq!(frame_at(&bytes[..9]), Ok(None));
        assert_eq!(frame_at(&bytes[..3]), Ok(None));
        bytes[0] = 4;
        assert!(frame_at(&bytes).is_err(), "no payload");
        bytes[..4].copy_from_slice(&(MAX_ROUTED as u32 + 5).to_le_bytes());
        assert!(frame_at(&bytes).is_err(), "too long");
    }

    #[test]
    fn runs_are_seen_whole_or_not_at_all() {
        let mut bytes = run_header(Tid(0x80002), 3).to_vec();
        bytes.extend_from_slice(b"abc");
        assert_eq!(run_at(&bytes, 3), Ok(Some((Tid(0x80002), 3))));
        assert_eq!(run_at(&bytes[..10], 3), Ok(None));
        assert_eq!(run_at(&bytes[..7], 3), Ok(None));
        assert!(run_at(&bytes[..8], 2).is_err(), "too long");
    }
}
