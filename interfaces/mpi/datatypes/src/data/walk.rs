//! Going through the runs of items, from any byte of their data on.
//!
//! Memory is an address here, not a pointer: the items of one type may lie in several objects, and with an address of 0
//! displacements are themselves addresses. Whoever touches the memory makes pointers of them.

use crate::Type;
use crate::data::layout::{Piece, Shape};

/// What is done with each run. Bytes of the data come in order, and no more of them than [`Action::left`] says.
pub(crate) trait Action {
    /// How many bytes it still takes.
    fn left(&self) -> u64;

    /// A run of `length` bytes, above 0.
    fn run(&mut self, at: usize, length: u64);

    /// `count` runs of `length` bytes, `stride` bytes from one to the next.
    fn strided(&mut self, at: usize, stride: i64, length: u64, count: u64) {
        for index in 0..count {
            self.run(moved(at, stride, index), length);
        }
    }

    /// Whether columns suit it: whether it can take the data of several items in another order.
    const COLUMNS: bool = false;

    /// One run of each of several items in a row: those items' data has `step` bytes each, and the run's begins `skip` bytes
    /// from where the walk is. [`Action::pass`] follows when all of their runs were told.
    fn column(&mut self, _at: usize, _stride: i64, _run: Column, _count: u64) {
        unreachable!("only where columns are wanted")
    }

    /// The walk is `bytes` of the data further.
    fn pass(&mut self, _bytes: u64) {
        unreachable!("only where columns are wanted")
    }

    /// Runs of `length` bytes, at these distances from `at`.
    fn places(&mut self, at: usize, places: &[i64], length: u64) {
        for place in places {
            self.run(at.wrapping_add(*place as usize), length);
        }
    }
}

/// Of one run in each item: its length, where in an item's data it begins, and how long that data is.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub length: u64,
    pub skip: u64,
    pub step: u64,
}

/// So many items go column by column: few enough to stay in the nearest cache from the first column to the last.
const ITEMS: u64 = 128;

fn moved(at: usize, stride: i64, times: u64) -> usize {
    at.wrapping_add((stride as usize).wrapping_mul(times as usize))
}

/// Bytes of data in `count` items.
pub(crate) fn total(ty: &Type, count: i64) -> u64 {
    (ty.size() as u64).saturating_mul(count.max(0) as u64)
}

/// Goes through `count` items at address `base`, from byte `skip` of their data on, until nothing is `left`.
pub(crate) fn walk(ty: &Type, count: i64, base: usize, skip: u64, way: &mut impl Action) {
    if skip >= total(ty, count) || way.left() == 0 {
        return;
    }
    if ty.is_dense() {
        let length = (total(ty, count) - skip).min(way.left());
        return way.run(base.wrapping_add(ty.lb() as usize).wrapping_add(skip as usize), length);
    }
    let (piece, count) = (ty.layout(), count as u64);
    let at = base.wrapping_add(piece.at as usize);
    match &piece.shape {
        // Vectors in a row whose loops go on into each other.
        Shape::Loop { count: inner, stride, body }
            if stride.checked_mul(*inner as i64) == Some(ty.extent()) =>
        {
            repeat(inner * count, *stride, body, at, skip, way);
        }
        _ => repeat(count, ty.extent(), piece, at, skip, way),
    }
}

/// `skip` lies in the data, and something is `left`.
fn repeat(count: u64, stride: i64, body: &Piece, at: usize, skip: u64, way: &mut impl Action) {
    let (mut index, inside) = (skip / body.size, skip % body.size);
    if inside > 0 {
        part(body, moved(at, stride, index), inside, way);
        index += 1;
    }
    let whole = (count - index).min(way.left() / body.size);
    if whole > 0 {
        rows(whole, stride, body, moved(at, stride, index), way);
    }
    index += whole;
    if index < count && way.left() > 0 {
        part(body, moved(at, stride, index), 0, way);
    }
}

/// `count` whole bodies, for which room is left.
fn rows<W: Action>(count: u64, stride: i64, body: &Piece, at: usize, way: &mut W) {
    match &body.shape {
        Shape::Run => way.strided(at, stride, body.size, count),
        _ if W::COLUMNS && count > 3 && few_runs(body) => {
            for first in (0..count).step_by(ITEMS as usize) {
                let many = ITEMS.min(count - first);
                columns(many, stride, body, moved(at, stride, first), way);
                way.pass(many * body.size);
            }
        }
        _ => (0..count).for_each(|index| all(body, moved(at, stride, index), way)),
    }
}

/// Whether each of its runs is worth a column: they are few, and short.
fn few_runs(body: &Piece) -> bool {
    let short = |length: u64| length <= 64;
    match &body.shape {
        Shape::Places { length, at } => at.len() <= 16 && short(*length),
        Shape::List(list) => {
            let run = |piece: &Piece| matches!(piece.shape, Shape::Run) && short(piece.size);
            list.len() <= 16 && list.iter().all(|entry| run(&entry.piece))
        }
        _ => false,
    }
}

fn columns(count: u64, stride: i64, body: &Piece, at: usize, way: &mut impl Action) {
    let mut column = |place: i64, length: u64, skip: u64| {
        way.column(at.wrapping_add(place as usize), stride, Column { length, skip, step: body.size }, count);
    };
    match &body.shape {
        Shape::Places { length, at } => {
            at.iter().zip(0..).for_each(|(place, index)| column(*place, *length, index * length));
        }
        Shape::List(list) => {
            list.iter().for_each(|entry| column(entry.piece.at, entry.piece.size, entry.skip));
        }
        Shape::Run | Shape::Loop { .. } => unreachable!("these have no few runs"),
    }
}

/// A piece from byte `skip` of its data on. Its first byte lies at `at`.
fn part(piece: &Piece, at: usize, skip: u64, way: &mut impl Action) {
    match &piece.shape {
        Shape::Run => way.run(at.wrapping_add(skip as usize), (piece.size - skip).min(way.left())),
        Shape::Loop { count, stride, body } => repeat(*count, *stride, body, at, skip, way),
        Shape::Places { length, at: places } => {
            let mut rest = &places[(skip / length) as usize..];
            let inside = skip % length;
            let place =
                |place: i64, inside: u64| at.wrapping_add(place as usize).wrapping_add(inside as usize);
            if inside > 0 {
                way.run(place(rest[0], inside), (length - inside).min(way.left()));
                rest = &rest[1..];
            }
            let whole = ((way.left() / length) as usize).min(rest.len());
            way.places(at, &rest[..whole], *length);
            if whole < rest.len() && way.left() > 0 {
                way.run(place(rest[whole], 0), way.left());
            }
        }
        Shape::List(list) => {
            let first = list.partition_point(|entry| entry.skip <= skip) - 1;
            for entry in &list[first..] {
                if way.left() == 0 {
                    return;
                }
                let at = at.wrapping_add(entry.piece.at as usize);
                part(&entry.piece, at, skip.saturating_sub(entry.skip), way);
            }
        }
    }
}

/// A whole piece, for which room is left.
fn all(piece: &Piece, at: usize, way: &mut impl Action) {
    match &piece.shape {
        Shape::Run => way.run(at, piece.size),
        Shape::Loop { count, stride, body } => rows(*count, *stride, body, at, way),
        Shape::Places { length, at: places } => way.places(at, places, *length),
        Shape::List(list) => {
            list.iter().for_each(|entry| all(&entry.piece, at.wrapping_add(entry.piece.at as usize), way));
        }
    }
}
