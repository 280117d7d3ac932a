//! What a type measures: sizes and bounds, and how they follow from those of its parts.
//!
//! Bounds follow the standard. A part resized, or an array's part, has *marks*: where marks are among the parts of a type, they
//! alone are its bounds. Else its data is, and a struct is padded to what its strictest member is aligned to. A part without
//! data or marks counts for nothing. MPI-1's `MPI_LB` and `MPI_UB` mark one bound each.

use crate::Basic;
use crate::basic::round_up;
use crate::wrong::Wrong;

/// Which basic types the elements have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kinds {
    None,
    One(Basic),
    Many,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Bytes of data.
    pub size: i64,
    /// Bytes of the same data in external32: never more.
    pub external: i64,
    /// Elements, those of pairs counted apart.
    pub elements: i64,
    pub lb: i64,
    pub ub: i64,
    pub true_lb: i64,
    pub true_ub: i64,
    /// Its lower bound is a mark, and its upper one.
    pub low: bool,
    pub high: bool,
    /// The data lies in one run, in the order of the type map.
    pub run: bool,
    /// In bytes, of the strictest element.
    pub alignment: i64,
    pub kinds: Kinds,
}

const EXTENT: Wrong = Wrong::TooLarge { what: "the extent" };
const SIZE: Wrong = Wrong::TooLarge { what: "the size" };

impl Facts {
    pub const EMPTY: Facts = Facts {
        size: 0,
        external: 0,
        elements: 0,
        lb: 0,
        ub: 0,
        true_lb: 0,
        true_ub: 0,
        low: false,
        high: false,
        run: true,
        alignment: 1,
        kinds: Kinds::None,
    };

    pub fn basic(basic: Basic) -> Facts {
        let (elements, end) = match basic.parts() {
            None => (1, basic.size()),
            Some((_, second, at)) => (2, at + second.size()),
        };
        Facts {
            size: basic.size(),
            external: basic.external_size(),
            elements,
            ub: basic.extent(),
            true_ub: end,
            run: end == basic.size(),
            alignment: basic.alignment(),
            kinds: Kinds::One(basic),
            ..Facts::EMPTY
        }
    }

    pub fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// Any number of items is one run that fills their extents.
    pub fn dense(&self) -> bool {
        self.run && self.size == self.extent() && self.lb == self.true_lb
    }

    fn nothing(&self) -> bool {
        self.size == 0 && !self.low && !self.high
    }

    /// `count` of them, `stride` bytes from one to the next.
    pub fn repeat(&self, count: i64, stride: i64) -> Result<Facts, Wrong> {
        if count == 0 || self.nothing() {
            return Ok(Facts::EMPTY);
        }
        let span = (count - 1).checked_mul(stride).ok_or(EXTENT)?;
        let low = |bound: i64| bound.checked_add(span.min(0)).ok_or(EXTENT);
        let high = |bound: i64| bound.checked_add(span.max(0)).ok_or(EXTENT);
        let data = self.size > 0;
        // An element has a byte at least, so there are no more of them than bytes of data.
        let facts = Facts {
            size: self.size.checked_mul(count).ok_or(SIZE)?,
            external: self.external * count,
            elements: self.elements * count,
            lb: low(self.lb)?,
            ub: high(self.ub)?,
            true_lb: if data { low(self.true_lb)? } else { 0 },
            true_ub: if data { high(self.true_ub)? } else { 0 },
            run: self.run && (count == 1 || stride == self.size),
            ..*self
        };
        facts.checked()
    }

    /// Other bounds for the same data.
    pub fn marked(&self, lb: i64, extent: i64) -> Result<Facts, Wrong> {
        let ub = lb.checked_add(extent).ok_or(EXTENT)?;
        Ok(Facts { lb, ub, low: true, high: true, ..*self })
    }

    /// Itself, if its extents fit 64 bits.
    fn checked(self) -> Result<Facts, Wrong> {
        self.ub.checked_sub(self.lb).ok_or(EXTENT)?;
        self.true_ub.checked_sub(self.true_lb).ok_or(EXTENT)?;
        Ok(self)
    }
}

/// Parts at their places, joined one by one in the order of the type map.
pub(crate) struct Join {
    facts: Facts,
    /// The lowest and the highest bound: of data, and of marks.
    plain: (Option<i64>, Option<i64>),
    marks: (Option<i64>, Option<i64>),
    data: Option<(i64, i64)>,
    /// Where the last run ended.
    end: Option<i64>,
}

impl Join {
    pub fn new() -> Join {
        Join { facts: Facts::EMPTY, plain: (None, None), marks: (None, None), data: None, end: None }
    }

    /// False: it has neither data nor marks, and nothing came of it.
    pub fn add(&mut self, at: i64, part: &Facts) -> Result<bool, Wrong> {
        if part.nothing() {
            return Ok(false);
        }
        let place = |bound: i64| bound.checked_add(at).ok_or(EXTENT);
        let bounds = (place(part.lb)?, place(part.ub)?);
        let is_data = part.size > 0;
        let low = if part.low { Some(&mut self.marks.0) } else { is_data.then_some(&mut self.plain.0) };
        if let Some(low) = low {
            *low = Some(low.map_or(bounds.0, |known| known.min(bounds.0)));
        }
        let high = if part.high { Some(&mut self.marks.1) } else { is_data.then_some(&mut self.plain.1) };
        if let Some(high) = high {
            *high = Some(high.map_or(bounds.1, |known| known.max(bounds.1)));
        }
        let all = &mut self.facts;
        all.alignment = all.alignment.max(part.alignment);
        if part.size == 0 {
            return Ok(true);
        }
        let (start, end) = (place(part.true_lb)?, place(part.true_ub)?);
        self.data = Some(wider(self.data, (start, end)));
        all.size = all.size.checked_add(part.size).ok_or(SIZE)?;
        all.external += part.external;
        all.elements += part.elements;
        all.run &= part.run && self.end.is_none_or(|end| end == start);
        self.end = Some(end);
        all.kinds = match (all.kinds, part.kinds) {
            (Kinds::None, kinds) => kinds,
            (one, other) if one == other => one,
            _ => Kinds::Many,
        };
        Ok(true)
    }

    /// What they measure together; `pad`ded at its end like a struct of C.
    pub fn finish(self, pad: bool) -> Result<Facts, Wrong> {
        let (low, high) = (self.marks.0.is_some(), self.marks.1.is_some());
        let (lb, ub) = (self.marks.0.or(self.plain.0), self.marks.1.or(self.plain.1));
        // Of one mark without data both bounds are that.
        let Some((lb, mut ub)) = lb.or(ub).zip(ub.or(lb)) else { return Ok(Facts::EMPTY) };
        if pad && !high {
            let extent = ub.checked_sub(lb).ok_or(EXTENT)?;
            let most = extent.checked_add(self.facts.alignment).ok_or(EXTENT)?;
            lb.checked_add(most).ok_or(EXTENT)?;
            ub = lb + round_up(extent, self.facts.alignment);
        }
        let (true_lb, true_ub) = self.data.unwrap_or((0, 0));
        Facts { lb, ub, true_lb, true_ub, low, high, ..self.facts }.checked()
    }
}

fn wider(known: Option<(i64, i64)>, new: (i64, i64)) -> (i64, i64) {
    known.map_or(new, |(low, high)| (low.min(new.0), high.max(new.1)))
}
