//! The changes of a node in a page: runs of words.

use crate::pages::memory::Memory;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Bytes of a word, the unit in which changes are seen.
pub const WORD: usize = 4;
/// Bytes of a run before its words: where it begins and how long it is, in words.
const HEAD: usize = 4;

/// The words of a page that were changed, with what they are now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Diff(Bytes);

impl Diff {
    /// The differences between a page and its earlier contents.
    pub(crate) fn between(was: &[u8], is: &[u8]) -> Diff {
        Diff::of(is, |word| {
            let at = word * WORD..(word + 1) * WORD;
            was[at.clone()] != is[at]
        })
    }

    /// Several, the later ones on top of the earlier.
    pub(crate) fn folded<'a>(diffs: impl Iterator<Item = &'a Diff>, page_bytes: usize) -> Diff {
        let mut page = vec![0; page_bytes];
        let mut changed = vec![false; page_bytes / WORD];
        for diff in diffs {
            diff.each(|offset, data| {
                page[offset..offset + data.len()].copy_from_slice(data);
                changed[offset / WORD..(offset + data.len()) / WORD].fill(true);
            });
        }
        Diff::of(&page, |word| changed[word])
    }

    /// Nothing.
    pub(crate) fn empty() -> Diff {
        Diff(Bytes::new())
    }

    /// All of a page.
    pub(crate) fn whole(page: &[u8]) -> Diff {
        Diff::of(page, |_| true)
    }

    /// The words of a page for which the function returns true.
    fn of(page: &[u8], is_changed: impl Fn(usize) -> bool) -> Diff {
        let (words, mut runs, mut word) = (page.len() / WORD, Vec::new(), 0);
        while word < words {
            if !is_changed(word) {
                word += 1;
                continue;
            }
            let first = word;
            while word < words && is_changed(word) {
                word += 1;
            }
            runs.extend_from_slice(&(first as u16).to_le_bytes());
            runs.extend_from_slice(&((word - first) as u16).to_le_bytes());
            runs.extend_from_slice(&page[first * WORD..word * WORD]);
        }
        Diff(runs.into())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Whether the diff fits a page of this size. A diff from another process may be invalid.
    pub(crate) fn is_sound(&self, page_bytes: usize) -> bool {
        let mut rest = &self.0[..];
        while !rest.is_empty() {
            let Some((first, words, data)) = head(rest) else { return false };
            if words == 0 || (first + words) * WORD > page_bytes || data.len() < words * WORD {
                return false;
            }
            rest = &data[words * WORD..];
        }
        true
    }

    /// Writes the words to a page.
    pub(crate) fn apply(&self, page: u32, memory: &mut impl Memory) {
        self.each(|offset, data| memory.store(page, offset, data));
    }

    /// Writes them to a page that is no program's.
    pub(crate) fn apply_to(&self, page: &mut [u8]) {
        self.each(|offset, data| page[offset..offset + data.len()].copy_from_slice(data));
    }

    /// Each run: from which byte, and what. Of a sound one.
    fn each(&self, mut run: impl FnMut(usize, &[u8])) {
        let mut rest = &self.0[..];
        while let Some((first, words, data)) = head(rest) {
            let (words, after) = data.split_at(words * WORD);
            run(first * WORD, words);
            rest = after;
        }
    }
}

fn head(rest: &[u8]) -> Option<(usize, usize, &[u8])> {
    let (head, data) = rest.split_first_chunk::<HEAD>()?;
    let number = |at: usize| usize::from(u16::from_le_bytes([head[at], head[at + 1]]));
    Some((number(0), number(2), data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;

    struct One(Vec<u8>);

    impl Memory for One {
        fn load(&self, _: u32, out: &mut [u8]) {
            out.copy_from_slice(&self.0);
        }
        fn store(&mut self, _: u32, offset: usize, data: &[u8]) {
            self.0[offset..offset + data.len()].copy_from_slice(data);
        }
        fn protect(&mut self, _: u32, _: u32, _: Access) {}
    }

    #[test]
    fn diff_contains_changed_words_only() {
        let was = vec![7; 64];
        let mut is = was.clone();
        is[5] = 1;
        is[8] = 2;
        is[63] = 3;
        let diff = Diff::between(&was, &is);
        // Two runs: words 1 and 2, and word 15.
        assert_eq!(diff.bytes(), 2 * HEAD + 3 * WORD);
        let mut other = One(vec![9; 64]);
        diff.apply(0, &mut other);
        assert_eq!(other.0[4..12], is[4..12]);
        assert_eq!(other.0[60..], is[60..]);
        assert!(other.0[..4].iter().chain(&other.0[12..60]).all(|&byte| byte == 9));
        assert_eq!(Diff::between(&is, &is).bytes(), 0);
    }

    #[test]
    fn folded_diff_keeps_last_write() {
        let zero = vec![0; 64];
        let written = |words: std::ops::Range<usize>, byte: u8| {
            let mut page = zero.clone();
            page[words.start * WORD..words.end * WORD].fill(byte);
            Diff::between(&zero, &page)
        };
        let all = [written(0..8, 1), written(4..6, 2), written(10..11, 3)];
        let folded = Diff::folded(all.iter(), 64);
        let (mut one, mut other) = (One(zero.clone()), One(zero.clone()));
        all.iter().for_each(|diff| diff.apply(0, &mut one));
        folded.apply(0, &mut other);
        assert_eq!(one.0, other.0);
        assert_eq!(folded.bytes(), 2 * HEAD + 9 * WORD);
    }

    #[test]
    fn malformed_diff_is_detected() {
        let sound = |bytes: &[u8]| Diff(Bytes::copy_from_slice(bytes)).is_sound(64);
        assert!(sound(&[]));
        assert!(sound(&[15, 0, 1, 0, 1, 2, 3, 4]));
        assert!(!sound(&[16, 0, 1, 0, 1, 2, 3, 4]), "beyond the page");
        assert!(!sound(&[0, 0, 2, 0, 1, 2, 3, 4]), "too short");
        assert!(!sound(&[0, 0, 0, 0]), "an empty run");
        assert!(!sound(&[0, 0, 1]), "half a head");
    }
}
