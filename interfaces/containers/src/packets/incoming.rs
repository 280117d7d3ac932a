//! The receiver's side: parts that become messages again.

use super::Now;
use super::buffers::NetworkBuffer;
use super::header::{HEADER, Header};

/// A message of which parts have come.
pub(super) struct Assembly {
    pub(super) header: Header,
    parts: Vec<Option<NetworkBuffer>>,
    left: usize,
    pub(super) began: Now,
}

impl Assembly {
    /// `None` for a header that contradicts itself.
    pub(super) fn new(header: Header, fragment: usize, now: Now) -> Option<Assembly> {
        let count = super::header::fragments(header.length as usize, fragment);
        (header.fragments as usize == count).then(|| Assembly {
            header,
            parts: (0..count).map(|_| None).collect(),
            left: count,
            began: now,
        })
    }

    /// Adds a part. Gives the buffer back when it was not wanted: it is there already, or of another message or length.
    pub(super) fn add(
        &mut self,
        header: &Header,
        part: NetworkBuffer,
        fragment: usize,
    ) -> Option<NetworkBuffer> {
        let same = Header { fragment: self.header.fragment, ..*header } == self.header;
        let Some(place) = self.parts.get_mut(header.fragment as usize).filter(|_| same) else {
            return Some(part);
        };
        let wanted = (header.length as usize - header.fragment as usize * fragment).min(fragment);
        if place.is_some() || part.length != HEADER + wanted {
            return Some(part);
        }
        *place = Some(part);
        self.left -= 1;
        None
    }

    pub(super) fn is_whole(&self) -> bool {
        self.left == 0
    }

    /// The number of the first part that is missing, and bits for those from there on; as many as `room` bytes tell of.
    pub(super) fn missing(&self, room: usize) -> (u32, Vec<u8>) {
        let first = self.parts.iter().position(Option::is_none).unwrap_or(self.parts.len());
        let mut bits = vec![0; (self.parts.len() - first).div_ceil(8).min(room)];
        let known = bits.len() * 8;
        for (at, _) in self.parts[first..].iter().take(known).enumerate().filter(|(_, part)| part.is_some()) {
            bits[at / 8] |= 1 << (at % 8);
        }
        (first as u32, bits)
    }

    /// The parts that are there, in order.
    pub(super) fn into_parts(self) -> Vec<NetworkBuffer> {
        self.parts.into_iter().flatten().collect()
    }
}

/// A reliable conversation as its receiver has it.
#[derive(Default)]
pub(super) struct Incoming {
    /// The number of the next message.
    pub(super) expected: u32,
    pub(super) assembly: Option<Assembly>,
    /// Its message is whole, and its container has no room.
    pub(super) is_held: bool,
}
