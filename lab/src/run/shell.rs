//! Words for a shell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// A word that a shell reads as these bytes.
pub fn word(word: &OsStr) -> Vec<u8> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=,:+@%".contains(byte);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return bytes.to_vec();
    }
    let mut quoted = vec![b'\''];
    for byte in bytes {
        if *byte == b'\'' { quoted.extend_from_slice(b"'\\''") } else { quoted.push(*byte) }
    }
    quoted.push(b'\'');
    quoted
}
