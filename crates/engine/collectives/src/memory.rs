//! The areas that a plan's pieces lie in.

use crate::plans::{Area, Piece, Plan};

/// The memory of one operation; see [`Area`].
pub struct Memory<'m> {
    /// What the member gives.
    pub mine: &'m [u8],
    /// What it gets.
    pub data: &'m mut [u8],
    /// The operation's own.
    pub scratch: &'m mut [u8],
}

#[inline]
fn range(piece: Piece) -> std::ops::Range<usize> {
    piece.at..piece.at + piece.length
}

impl Memory<'_> {
    /// Whether all pieces of a plan lie within it. Asked once, before a plan is begun.
    #[inline]
    pub fn fits(&self, plan: &Plan) -> bool {
        let has = [(Area::Mine, self.mine.len()), (Area::Data, self.data.len())];
        has.iter().all(|(area, length)| plan.needs(*area) <= *length)
            && plan.needs(Area::Scratch) <= self.scratch.len()
    }

    /// A piece, to be sent.
    #[inline]
    pub fn piece(&self, piece: Piece) -> &[u8] {
        match piece.area {
            Area::Mine => &self.mine[range(piece)],
            Area::Data => &self.data[range(piece)],
            Area::Scratch => &self.scratch[range(piece)],
        }
    }

    /// A piece, to be received into.
    ///
    /// # Panics
    /// When it is one of [`Area::Mine`]: no plan receives there.
    #[inline]
    pub fn room(&mut self, piece: Piece) -> &mut [u8] {
        match piece.area {
            Area::Mine => unreachable!("a plan changes what is only read"),
            Area::Data => &mut self.data[range(piece)],
            Area::Scratch => &mut self.scratch[range(piece)],
        }
    }

    /// Two pieces that do not overlap; the first can be changed.
    #[inline]
    pub(crate) fn pair(&mut self, first: Piece, second: Piece) -> (&mut [u8], &[u8]) {
        match (first.area, second.area) {
            (Area::Data, Area::Data) => apart(self.data, first, second),
            (Area::Scratch, Area::Scratch) => apart(self.scratch, first, second),
            (Area::Data, Area::Mine) => (&mut self.data[range(first)], &self.mine[range(second)]),
            (Area::Data, Area::Scratch) => (&mut self.data[range(first)], &self.scratch[range(second)]),
            (Area::Scratch, Area::Mine) => (&mut self.scratch[range(first)], &self.mine[range(second)]),
            (Area::Scratch, Area::Data) => (&mut self.scratch[range(first)], &self.data[range(second)]),
            (Area::Mine, _) => unreachable!("a plan changes what is only read"),
        }
    }

    /// Copies a piece; the two may overlap.
    #[inline]
    pub(crate) fn copy(&mut self, into: Piece, from: Piece) {
        match (into.area, from.area) {
            (Area::Data, Area::Data) => self.data.copy_within(range(from), into.at),
            (Area::Scratch, Area::Scratch) => self.scratch.copy_within(range(from), into.at),
            _ => {
                let (into, from) = self.pair(into, from);
                into.copy_from_slice(from);
            }
        }
    }
}

fn apart(area: &mut [u8], first: Piece, second: Piece) -> (&mut [u8], &[u8]) {
    if first.at < second.at {
        let (before, behind) = area.split_at_mut(second.at);
        (&mut before[range(first)], &behind[..second.length])
    } else {
        let (before, behind) = area.split_at_mut(first.at);
        (&mut behind[..first.length], &before[range(second)])
    }
}
