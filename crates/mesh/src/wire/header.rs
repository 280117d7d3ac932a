//! What stands before the data of a stream: a length of four bytes and that
//! many bytes, which belong to whoever opened the stream.

use super::Garbled;

/// No header is longer.
pub const MAX_HEADER: usize = 64 * 1024;

/// The length that stands before a header.
pub fn encode_length(length: usize) -> Result<[u8; 4], Garbled> {
    check(length)?;
    Ok((length as u32).to_le_bytes())
}

/// How many bytes of header follow.
pub fn decode_length(bytes: [u8; 4]) -> Result<usize, Garbled> {
    let length = u32::from_le_bytes(bytes) as usize;
    check(length)?;
    Ok(length)
}

fn check(length: usize) -> Result<(), Garbled> {
    if length > MAX_HEADER {
        return Err(Garbled::Bound { what: "the header of a stream", length, bound: MAX_HEADER });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_up_to_the_bound_pass_and_no_other() {
        for length in [0, 1, MAX_HEADER] {
            assert_eq!(decode_length(encode_length(length).expect("fits")), Ok(length));
        }
        assert!(encode_length(MAX_HEADER + 1).is_err());
        assert!(decode_length([0xff; 4]).is_err());
    }
}
