//! How the data of one item lies: loops over runs of bytes.
//!
//! Which elements the bytes are does not matter here, so neighbouring runs become one, loops of loops one loop where that is the
//! same, and places at even distances a loop. A vector of a million doubles is one loop, an index of a million doubles one
//! array of places.

use crate::Type;
use crate::types::{Map, Member};
use std::sync::Arc;

/// Runs of bytes in the order of the type map, the first `at` bytes from the beginning.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub at: i64,
    /// Bytes of data: 0 only where nothing is.
    pub size: u64,
    pub shape: Shape,
}

/// Everything in a shape is told from where its first byte lies.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Run,
    /// `count` times `body`, `stride` bytes from one to the next. The body is `at` 0.
    Loop {
        count: u64,
        stride: i64,
        body: Arc<Piece>,
    },
    /// Runs of one length.
    Places {
        length: u64,
        at: Arc<[i64]>,
    },
    List(Arc<[Entry]>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Bytes of data before it.
    pub skip: u64,
    pub piece: Piece,
}

/// Up to so many entries a list of lists is made one list, in which more neighbours can join.
const FLAT: usize = 256;

impl Piece {
    pub fn of(map: &Map) -> Piece {
        match map {
            Map::Basic(basic) => match basic.parts() {
                None => Piece::run(0, basic.size() as u64),
                Some((first, second, at)) => {
                    joined(vec![Piece::run(0, first.size() as u64), Piece::run(at, second.size() as u64)])
                }
            },
            Map::Same(of) => of.layout().clone(),
            Map::Grid { count, stride, block, of } => row(of, *block).repeated(*count as u64, *stride),
            Map::Members(members) => {
                joined(members.iter().map(|Member { at, count, of }| row(of, *count).moved(*at)).collect())
            }
        }
    }

    fn run(at: i64, size: u64) -> Piece {
        Piece { at, size, shape: Shape::Run }
    }

    fn moved(self, by: i64) -> Piece {
        Piece { at: self.at + by, ..self }
    }

    /// `count` times itself, `stride` bytes apart.
    pub fn repeated(self, count: u64, stride: i64) -> Piece {
        let size = self.size * count;
        if size == 0 || count == 1 {
            return Piece { size, ..self };
        }
        let Piece { at, size: one, shape } = self;
        let shape = match shape {
            Shape::Run if stride == one as i64 => Shape::Run,
            Shape::Loop { count: inner, stride: step, body }
                if Some(stride) == step.checked_mul(inner as i64) =>
            {
                Shape::Loop { count: inner * count, stride: step, body }
            }
            shape => Shape::Loop { count, stride, body: Arc::new(Piece { at: 0, size: one, shape }) },
        };
        Piece { at, size, shape }
    }

    /// Whether both have their bytes alike, but for where they begin.
    fn alike(&self, other: &Piece) -> bool {
        self.size == other.size
            && match (&self.shape, &other.shape) {
                (Shape::Run, Shape::Run) => true,
                (Shape::Loop { count, stride, body }, Shape::Loop { count: c, stride: s, body: b }) => {
                    (count, stride) == (c, s) && (Arc::ptr_eq(body, b) || body.alike(b))
                }
                (Shape::Places { at, .. }, Shape::Places { at: other, .. }) => Arc::ptr_eq(at, other),
                (Shape::List(list), Shape::List(other)) => Arc::ptr_eq(list, other),
                _ => false,
            }
    }

    /// Takes in what follows, if both together are one run or one loop.
    fn extend(&mut self, next: &Piece) -> bool {
        let one = match (&mut self.shape, &next.shape) {
            (Shape::Run, Shape::Run) => self.at + self.size as i64 == next.at,
            (Shape::Loop { count, stride, body }, Shape::Loop { count: more, stride: step, body: other }) => {
                let end = self.at.wrapping_add(stride.wrapping_mul(*count as i64));
                let one = stride == step && end == next.at && body.alike(other);
                *count += if one { *more } else { 0 };
                one
            }
            _ => false,
        };
        self.size += if one { next.size } else { 0 };
        one
    }
}

/// `count` items of a type in a row.
fn row(of: &Type, count: i64) -> Piece {
    of.layout().clone().repeated(count as u64, of.extent())
}

/// Pieces one behind the other.
fn joined(pieces: Vec<Piece>) -> Piece {
    let mut merged: Vec<Piece> = Vec::new();
    for piece in flat(pieces).into_iter().filter(|piece| piece.size > 0) {
        if !merged.last_mut().is_some_and(|last| last.extend(&piece)) {
            merged.push(piece);
        }
    }
    if progression(&merged) < merged.len() && !same_runs(&merged) {
        merged = looped(merged);
    }
    listed(merged)
}

/// The pieces, with those of lists in place of the lists, if that does not make too many.
fn flat(pieces: Vec<Piece>) -> Vec<Piece> {
    let all: usize = pieces.iter().map(entries).fold(0, usize::saturating_add);
    if all > FLAT {
        return pieces;
    }
    let mut out = Vec::with_capacity(all);
    for piece in pieces {
        match &piece.shape {
            Shape::List(list) => out.extend(list.iter().map(|entry| entry.piece.clone().moved(piece.at))),
            Shape::Places { length, at } => {
                out.extend(at.iter().map(|at| Piece::run(piece.at + at, *length)))
            }
            _ => out.push(piece),
        }
    }
    out
}

fn entries(piece: &Piece) -> usize {
    match &piece.shape {
        Shape::List(list) => list.len(),
        Shape::Places { at, .. } => at.len(),
        _ => 1,
    }
}

fn same_runs(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| matches!(piece.shape, Shape::Run) && piece.size == pieces[0].size)
}

/// How many of them, from the first on, are alike and at even distances.
fn progression(pieces: &[Piece]) -> usize {
    let Some(step) = pieces.get(1).and_then(|second| second.at.checked_sub(pieces[0].at)) else {
        return pieces.len();
    };
    let even = |pair: &[Piece]| pair[1].at.checked_sub(pair[0].at) == Some(step) && pair[0].alike(&pair[1]);
    1 + pieces.windows(2).take_while(|pair| even(pair)).count()
}

/// Loops in place of three or more pieces that are alike and at even distances.
fn looped(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = &pieces[..];
    while let Some(first) = rest.first() {
        let many = progression(rest);
        let (piece, taken) = if many >= 3 {
            (first.clone().repeated(many as u64, rest[1].at - first.at), many)
        } else {
            (first.clone(), 1)
        };
        out.push(piece);
        rest = &rest[taken..];
    }
    out
}

fn listed(mut pieces: Vec<Piece>) -> Piece {
    let Some(first) = pieces.first() else { return Piece::run(0, 0) };
    let (at, many) = (first.at, pieces.len() as u64);
    if progression(&pieces) == pieces.len() {
        let step = pieces.get(1).map_or(0, |second| second.at - at);
        return pieces.swap_remove(0).repeated(many, step);
    }
    if same_runs(&pieces) {
        let length = first.size;
        let places = pieces.iter().map(|piece| piece.at - at).collect();
        return Piece { at, size: length * many, shape: Shape::Places { length, at: places } };
    }
    let mut size = 0;
    let list = pieces.into_iter().map(|piece| {
        let skip = size;
        size += piece.size;
        Entry { skip, piece: piece.moved(-at) }
    });
    let list = list.collect();
    Piece { at, size, shape: Shape::List(list) }
}
