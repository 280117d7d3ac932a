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

pub(crate) fn load_text(room: &[AtomicU8]) -> String {
    let bytes: Vec<u8> = room.iter().map(|b| b.load(Ordering::Relaxed)).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
