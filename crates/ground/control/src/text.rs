//! Short texts in memory that several processes share.

use std::sync::atomic::{AtomicU8, Ordering};

/// Stores `text`, cut to the room at a character boundary.
pub(crate) fn store_text(room: &[AtomicU8], text: &str) {
    let mut end = text.len().min(room.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let bytes = text[..end].bytes().chain(std::iter::repeat(0));
    for (cell, byte) in room.iter().zip(bytes) {
        cell.store(byte, Ordering::Relaxed);
    }
}

/// The text in that memory, fit to be shown: whoever shares the memory may have written anything there.
pub(crate) fn load_text(room: &[AtomicU8]) -> String {
    let bytes: Vec<u8> = room.iter().map(|b| b.load(Ordering::Relaxed)).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_not_shown() {
        let room = [const { AtomicU8::new(0) }; 16];
        store_text(&room, "a\x1b[2Jb\u{9b}c\n");
        assert_eq!(load_text(&room), "a?[2Jb?c?");
        store_text(&room, "plain and too long");
        assert_eq!(load_text(&room), "plain and too lo");
    }
}
