//! What stands before the data of a stream: its number, where in the stream the data begins, a length
//! and that many bytes, which belong to whoever opened the stream.
//!
//! ```text
//! number 8 | at 8 | length 4 | said
//! ```

use super::{Fields, Garbled};

/// No header is longer.
pub const MAX_HEADER: usize = 64 * 1024;

/// The bytes before a header.
pub const BEGINNING: usize = 20;

/// How a stream begins on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The stream, as its sender counts those of a session.
    pub number: u64,
    /// How much of the stream was taken over earlier connections.
    pub at: u64,
    /// How many bytes of header follow.
    pub length: u32,
}

impl Beginning {
    /// The bytes.
    pub fn encode(&self) -> [u8; BEGINNING] {
        let mut out = [0; BEGINNING];
        out[..8].copy_from_slice(&self.number.to_le_bytes());
        out[8..16].copy_from_slice(&self.at.to_le_bytes());
        out[16..].copy_from_slice(&self.length.to_le_bytes());
        out
    }

    /// Reads them.
    pub fn decode(bytes: [u8; BEGINNING]) -> Result<Beginning, Garbled> {
        let mut fields = Fields::new("the beginning of a stream", &bytes);
        let number = u64::from_le_bytes(fields.array()?);
        let at = u64::from_le_bytes(fields.array()?);
        let length = u32::from_le_bytes(fields.array()?);
        if number == 0 {
            return Err(Garbled::Value("the number of a stream"));
        }
        check(length as usize)?;
        Ok(Beginning { number, at, length })
    }
}

/// Refuses headers that are too long.
pub fn check(length: usize) -> Result<(), Garbled> {
    if length > MAX_HEADER {
        return Err(Garbled::Bound { what: "the header of a stream", length, bound: MAX_HEADER });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_header_lengths_up_to_bound_are_accepted() {
        for length in [0, 1, MAX_HEADER as u32] {
            let begin = Beginning { number: 7, at: 1 << 40, length };
            assert_eq!(Beginning::decode(begin.encode()), Ok(begin));
        }
        let long = Beginning { number: 7, at: 0, length: MAX_HEADER as u32 + 1 };
        assert!(Beginning::decode(long.encode()).is_err());
        assert!(Beginning::decode([0; BEGINNING]).is_err(), "streams are counted from 1");
    }
}
