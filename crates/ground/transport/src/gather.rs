//! Data that lies in several pieces and is sent as one.

/// A range of the concatenation of some pieces of memory.
///
/// Packed buffers are one piece; data sent in place may be many. A transport
/// copies the range out with [`Gather::copy_to`], once, to where it travels.
#[derive(Clone, Copy, Debug)]
pub struct Gather<'a> {
    pieces: &'a [&'a [u8]],
    start: usize,
    length: usize,
}

impl<'a> Gather<'a> {
    /// Everything in `pieces`, one after another.
    pub fn new(pieces: &'a [&'a [u8]]) -> Gather<'a> {
        Gather { pieces, start: 0, length: pieces.iter().map(|piece| piece.len()).sum() }
    }

    /// One piece.
    #[inline]
    pub fn one(piece: &'a [&'a [u8]; 1]) -> Gather<'a> {
        Gather { pieces: piece, start: 0, length: piece[0].len() }
    }

    /// Nothing.
    pub const EMPTY: Gather<'static> = Gather { pieces: &[], start: 0, length: 0 };

    /// Bytes in the range.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the range is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The part of this range that begins at `from` and has at most `length` bytes.
    pub fn part(&self, from: usize, length: usize) -> Gather<'a> {
        let from = from.min(self.length);
        Gather { pieces: self.pieces, start: self.start + from, length: length.min(self.length - from) }
    }

    /// Copies the range to the front of `out`.
    ///
    /// # Panics
    /// When `out` is shorter than the range.
    #[inline]
    pub fn copy_to(&self, out: &mut [u8]) {
        if let [only] = self.pieces {
            out[..self.length].copy_from_slice(&only[self.start..self.start + self.length]);
            return;
        }
        let (mut skip, mut at) = (self.start, 0);
        for piece in self.pieces {
            if skip >= piece.len() {
                skip -= piece.len();
                continue;
            }
            let take = (piece.len() - skip).min(self.length - at);
            out[at..at + take].copy_from_slice(&piece[skip..skip + take]);
            (skip, at) = (0, at + take);
            if at == self.length {
                break;
            }
        }
    }

    /// The range as pieces, for transports that write them with one call.
    pub fn pieces(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        let (mut skip, mut left) = (self.start, self.length);
        self.pieces.iter().filter_map(move |piece| {
            let from = skip.min(piece.len());
            skip -= from;
            let take = (piece.len() - from).min(left);
            left -= take;
            (take > 0).then(|| &piece[from..from + take])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gather_part_equals_part_of_whole() {
        let pieces: [&[u8]; 5] = [b"par", b"", b"v", b"um pv", b"m"];
        let whole: Vec<u8> = pieces.concat();
        let gather = Gather::new(&pieces);
        for from in 0..=whole.len() {
            for length in 0..=whole.len() - from {
                let part = gather.part(from, length);
                let mut out = vec![0; length];
                part.copy_to(&mut out);
                assert_eq!(out, whole[from..from + length]);
                assert_eq!(part.pieces().collect::<Vec<_>>().concat(), out);
            }
        }
    }

    #[test]
    fn gather_part_ends_at_data_end() {
        let gather = Gather::new(&[b"abc"]);
        assert_eq!(gather.part(2, 9).len(), 1);
        assert!(gather.part(9, 9).is_empty());
    }
}
