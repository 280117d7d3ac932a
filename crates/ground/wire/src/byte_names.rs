//! Names that C programs choose, as texts that the daemon keeps.
//!
//! In C a name is any bytes; the daemon's names are UTF-8. Bytes that are not UTF-8 become characters of the private use area, one for
//! each byte, and so do those characters themselves. Two names are the same text only if they are the same bytes, and a name comes back
//! as it was given. PVM's library and its console use this.

/// The character of byte 0; those of all 256 follow it.
const FIRST: u32 = 0xf700;
const LAST: u32 = FIRST + 0xff;

fn of_byte(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The text of a name.
pub fn text_of(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            if (FIRST..=LAST).contains(&u32::from(c)) {
                text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(of_byte));
            } else {
                text.push(c);
            }
        }
        text.extend(chunk.invalid().iter().copied().map(of_byte));
    }
    text
}

/// The name of a text.
pub fn bytes_of(text: &str) -> Vec<u8> {
    let mut name = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c) {
            byte @ FIRST..=LAST => name.push(byte.saturating_sub(FIRST) as u8),
            _ => name.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_names_round_trip_and_stay_distinct() {
        let names: [&[u8]; 8] = [
            b"workers",
            "Gr\u{fc}\u{df}e".as_bytes(),
            b"\xff",
            b"\xfe",
            b"a\xffb",
            b"\xc3",
            "\u{f7ff}".as_bytes(),
            b"",
        ];
        let texts: std::collections::HashSet<String> = names.iter().map(|name| text_of(name)).collect();
        assert_eq!(texts.len(), names.len());
        for name in names {
            assert_eq!(bytes_of(&text_of(name)), name);
        }
        assert_eq!(text_of(b"workers"), "workers", "a plain name stays as it is");
    }
}
