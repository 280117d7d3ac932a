//! A type map as the standard writes it: a list of every element and where it lies. Slow and simple, to judge by.

use crate::{Basic, Distribution, Order, Type};

/// Numbers from a seed.
pub(super) struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        parvum_seed::next(&mut self.0)
    }

    /// From `low` to `high`, both included.
    pub fn roll(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }
}

/// Every element and where it lies, in order, pairs taken apart; and the bounds.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub map: Vec<(Basic, i64)>,
    pub lb: i64,
    pub ub: i64,
    pub marked: bool,
}

impl Model {
    pub fn basic(basic: Basic) -> Model {
        let map = match basic.parts() {
            None => vec![(basic, 0)],
            Some((first, second, at)) => vec![(first, 0), (second, at)],
        };
        Model { map, lb: 0, ub: basic.extent(), marked: false }
    }

    pub fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// Copies at their places.
    pub fn placed(copies: &[(i64, &Model)], pad: bool) -> Model {
        let there: Vec<_> =
            copies.iter().filter(|(_, model)| model.marked || !model.map.is_empty()).collect();
        let marked = there.iter().any(|(_, model)| model.marked);
        let bounding = || there.iter().filter(|(_, model)| model.marked == marked);
        let lb = bounding().map(|(at, model)| at + model.lb).min().unwrap_or(0);
        let mut ub = bounding().map(|(at, model)| at + model.ub).max().unwrap_or(0);
        let map: Vec<(Basic, i64)> = there
            .iter()
            .flat_map(|(at, model)| model.map.iter().map(move |(basic, place)| (*basic, at + place)))
            .collect();
        if pad && !marked {
            let strictest = map.iter().map(|(basic, _)| basic.alignment()).max().unwrap_or(1);
            while (ub - lb) % strictest != 0 {
                ub += 1;
            }
        }
        Model { map, lb, ub, marked }
    }

    /// Blocks of so many copies in a row, at places in bytes.
    pub fn blocks(blocks: &[(i64, i64)], of: &Model) -> Model {
        let copies: Vec<_> = blocks
            .iter()
            .flat_map(|(at, count)| (0..*count).map(move |index| (at + index * of.extent(), of)))
            .collect();
        Model::placed(&copies, false)
    }

    /// Where each byte of the data of `count` items lies.
    pub fn bytes(&self, count: i64) -> Vec<i64> {
        let items = (0..count).map(|item| item * self.extent());
        items
            .flat_map(|at| {
                self.map.iter().flat_map(move |(basic, place)| (0..basic.size()).map(move |b| at + place + b))
            })
            .collect()
    }

    pub fn true_bounds(&self) -> (i64, i64) {
        let low = self.map.iter().map(|(_, at)| *at).min().unwrap_or(0);
        let high = self.map.iter().map(|(basic, at)| at + basic.size()).max().unwrap_or(0);
        (low, high)
    }
}

/// A type made at random, and its model.
pub(super) fn random(dice: &mut Dice, depth: usize) -> (Type, Model) {
    if depth == 0 {
        let basic = Basic::ALL[dice.roll(0, Basic::ALL.len() as i64 - 1) as usize];
        return (Type::basic(basic), Model::basic(basic));
    }
    let (of, model) = random(dice, depth - 1);
    let extent = model.extent();
    let count = dice.roll(0, 4);
    let places: Vec<i64> = (0..count).map(|_| dice.roll(-6, 6)).collect();
    let lengths: Vec<i64> = (0..count).map(|_| dice.roll(0, 3)).collect();
    let length = dice.roll(0, 3);
    let in_items: Vec<i64> = places.iter().map(|place| place * extent).collect();
    let in_bytes: Vec<i64> = places.iter().map(|place| place * 9).collect();
    let blocks = |at: &[i64], lengths: &[i64]| -> Vec<(i64, i64)> {
        at.iter().copied().zip(lengths.iter().copied()).collect()
    };
    let even = vec![length; count as usize];
    let stride = dice.roll(-5, 5);
    let steps = |step: i64| -> Vec<(i64, i64)> { (0..count).map(|index| (index * step, length)).collect() };
    match dice.roll(0, 11) {
        0 => (Type::contiguous(count, &of).unwrap(), Model::blocks(&[(0, count)], &model)),
        1 => {
            let made = Type::vector(count, length, stride, &of).unwrap();
            (made, Model::blocks(&steps(stride * extent), &model))
        }
        2 => {
            let made = Type::hvector(count, length, stride * 3, &of).unwrap();
            (made, Model::blocks(&steps(stride * 3), &model))
        }
        3 => {
            let made = Type::indexed(&lengths, &places, &of).unwrap();
            (made, Model::blocks(&blocks(&in_items, &lengths), &model))
        }
        4 => {
            let made = Type::hindexed(&lengths, &in_bytes, &of).unwrap();
            (made, Model::blocks(&blocks(&in_bytes, &lengths), &model))
        }
        5 => {
            let made = Type::indexed_block(length, &places, &of).unwrap();
            (made, Model::blocks(&blocks(&in_items, &even), &model))
        }
        6 => {
            let made = Type::hindexed_block(length, &in_bytes, &of).unwrap();
            (made, Model::blocks(&blocks(&in_bytes, &even), &model))
        }
        7 => {
            let (lb, extent) = (dice.roll(-9, 9), dice.roll(-40, 40));
            (Type::resized(lb, extent, &of).unwrap(), Model { lb, ub: lb + extent, marked: true, ..model })
        }
        8 => (Type::dup(&of), model),
        9 => subarray(dice, &of, &model),
        _ => structure(dice, depth, (of, model), &lengths, &in_bytes),
    }
}

fn structure(
    dice: &mut Dice,
    depth: usize,
    first: (Type, Model),
    lengths: &[i64],
    at: &[i64],
) -> (Type, Model) {
    let mut members = vec![first];
    while members.len() < lengths.len() {
        members.push(random(dice, depth - 1));
    }
    members.truncate(lengths.len());
    let types: Vec<Type> = members.iter().map(|(of, _)| of.clone()).collect();
    let copies: Vec<(i64, &Model)> = members
        .iter()
        .zip(lengths.iter().zip(at))
        .flat_map(|((_, model), (count, at))| (0..*count).map(move |i| (at + i * model.extent(), model)))
        .collect();
    (Type::structure(lengths, at, &types).unwrap(), Model::placed(&copies, true))
}

fn subarray(dice: &mut Dice, of: &Type, model: &Model) -> (Type, Model) {
    let dimensions = dice.roll(1, 3);
    let sizes: Vec<i64> = (0..dimensions).map(|_| dice.roll(1, 4)).collect();
    let subsizes: Vec<i64> = sizes.iter().map(|size| dice.roll(0, *size)).collect();
    let starts: Vec<i64> =
        sizes.iter().zip(&subsizes).map(|(size, part)| dice.roll(0, size - part)).collect();
    let order = if dice.roll(0, 1) == 0 { Order::C } else { Order::Fortran };
    let all: i64 = sizes.iter().product();
    let copies: Vec<_> = (0..all)
        .filter(|index| {
            let found = coordinates(*index, &sizes, order);
            found
                .iter()
                .zip(starts.iter().zip(&subsizes))
                .all(|(at, (start, many))| (*start..start + many).contains(at))
        })
        .map(|index| (index * model.extent(), model))
        .collect();
    let made = Type::subarray(&sizes, &subsizes, &starts, order, of).unwrap();
    (made, Model { lb: 0, ub: all * model.extent(), marked: true, ..Model::placed(&copies, false) })
}

/// Where in an array the element at this place of its memory is.
pub(super) fn coordinates(index: i64, sizes: &[i64], order: Order) -> Vec<i64> {
    let mut rest = index;
    let mut found = vec![0; sizes.len()];
    let mut take = |dimension: usize| {
        found[dimension] = rest % sizes[dimension];
        rest /= sizes[dimension];
    };
    match order {
        Order::C => (0..sizes.len()).rev().for_each(&mut take),
        Order::Fortran => (0..sizes.len()).for_each(&mut take),
    }
    found
}

/// Which process of a dimension has an element.
pub(super) fn owner(at: i64, elements: i64, how: Distribution, length: Option<i64>, processes: i64) -> i64 {
    let least = (elements + processes - 1) / processes;
    match how {
        Distribution::None => 0,
        Distribution::Block => at / length.unwrap_or(least),
        Distribution::Cyclic => at / length.unwrap_or(1) % processes,
    }
}
