//! The receiver's side: parts that become messages again.

use super::Now;
use super::header::{HEADER, Header};
use containers::buffers::NetworkBuffer;
use std::collections::BTreeMap;

/// A message of which parts have come.
pub(super) struct Assembly {
    pub(super) header: Header,
    /// Those that are there, by number: what is announced and does not come costs nothing.
    parts: BTreeMap<u32, NetworkBuffer>,
    pub(super) began: Now,
}

impl Assembly {
    /// `None` for a header that contradicts itself.
    pub(super) fn new(header: Header, fragment: usize, now: Now) -> Option<Assembly> {
        let count = super::header::fragments(header.length as usize, fragment);
        (header.fragments as usize == count).then(|| Assembly { header, parts: BTreeMap::new(), began: now })
    }

    /// Adds a part. Gives the buffer back when it was not wanted: it is there already, or of another message or length.
    pub(super) fn add(
        &mut self,
        header: &Header,
        part: NetworkBuffer,
        fragment: usize,
    ) -> Option<NetworkBuffer> {
        let same = Header { fragment: self.header.fragment, ..*header } == self.header;
        if !same || header.fragment >= self.header.fragments {
            return Some(part);
        }
        let wanted = (header.length as usize - header.fragment as usize * fragment).min(fragment);
        if self.parts.contains_key(&header.fragment) || part.length != HEADER + wanted {
            return Some(part);
        }
        self.parts.insert(header.fragment, part);
        None
    }

    pub(super) fn is_whole(&self) -> bool {
        self.parts.len() == self.header.fragments as usize
    }

    /// The number of the first part that is missing, and bits for those from there on; as many as `room` bytes tell of.
    pub(super) fn missing(&self, room: usize) -> (u32, Vec<u8>) {
        let first = self.parts.keys().zip(0..).take_while(|(number, at)| **number == *at).count() as u32;
        let mut bits = vec![0; ((self.header.fragments - first) as usize).div_ceil(8).min(room)];
        for number in self.parts.range(first..).map(|(number, _)| (number - first) as usize) {
            if let Some(byte) = bits.get_mut(number / 8) {
                *byte |= 1 << (number % 8);
            }
        }
        (first, bits)
    }

    /// The parts that are there, in order.
    pub(super) fn into_parts(self) -> Vec<NetworkBuffer> {
        self.parts.into_values().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Kind;

    /// Found by the fuzz target `packets`: room for all of them would be more than any machine has.
    #[test]
    fn announced_fragments_take_no_memory() {
        let length = u32::MAX;
        let (conversation, sequence, container, call, fragment) = (1, 0, 1, 0, 0);
        let kind = Kind::Reliable;
        let header =
            Header { kind, conversation, sequence, container, call, fragment, fragments: length, length };
        let assembly = Assembly::new(header, 1, 0).expect("it does not contradict itself");
        assert!(!assembly.is_whole());
        assert_eq!(assembly.missing(8), (0, vec![0; 8]));
    }
}
