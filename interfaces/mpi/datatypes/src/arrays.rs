//! Parts of arrays: a rectangle, or what one process of a grid has of a distributed array.
//!
//! Both are made dimension by dimension, from the one that varies fastest outwards, and have the bounds of the whole array.

use crate::Type;
use crate::construct::even;
use crate::recipe::{Combiner, Distribution, Order, Recipe, Words};
use crate::types::{Map, Member};
use crate::wrong::Wrong;

const EXTENT: Wrong = Wrong::TooLarge { what: "the extent" };

impl Type {
    /// The rectangle of `subsizes` elements that begins at `starts`, of an array of `sizes` elements of a type.
    pub fn subarray(
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: Order,
        of: &Type,
    ) -> Result<Type, Wrong> {
        let dimensions = sizes.len();
        at_least("ndims", None, dimensions as i64, 1)?;
        even(("sizes", dimensions), ("subsizes", subsizes.len()))?;
        even(("sizes", dimensions), ("starts", starts.len()))?;
        for place in 0..dimensions {
            at_least("sizes", Some(place), sizes[place], 1)?;
            between("subsizes", place, subsizes[place], 0, sizes[place])?;
            between("starts", place, starts[place], 0, sizes[place] - subsizes[place])?;
        }
        let mut part = of.clone();
        let mut stride = of.extent();
        for dimension in fastest_first(dimensions, order) {
            part = row(&part, starts[dimension], subsizes[dimension], stride)?;
            stride = stride.checked_mul(sizes[dimension]).ok_or(EXTENT)?;
        }
        let integers = [&[dimensions as i64], sizes, subsizes, starts, &[order.own()]].concat();
        part.bounded(stride, Recipe::new(Combiner::Subarray, integers, vec![], vec![of.clone()]))
    }

    /// What process `rank` of `size` has of an array of `gsizes` elements of a type, dealt out over a grid of `psizes` processes.
    /// The grid's last dimension varies fastest with the rank, whatever the array's `order`. A length of blocks that is `None`
    /// in `dargs` is the least that covers the dimension, or 1 if blocks are dealt out in turn.
    #[expect(clippy::too_many_arguments, reason = "they are the standard's")]
    pub fn darray(
        size: i64,
        rank: i64,
        gsizes: &[i64],
        distribs: &[Distribution],
        dargs: &[Option<i64>],
        psizes: &[i64],
        order: Order,
        of: &Type,
    ) -> Result<Type, Wrong> {
        let dimensions = gsizes.len();
        at_least("size", None, size, 1)?;
        at_least("ndims", None, dimensions as i64, 1)?;
        if !(0..size).contains(&rank) {
            return Err(Wrong::Outside {
                argument: "rank",
                place: None,
                value: rank,
                least: 0,
                most: size - 1,
            });
        }
        even(("gsizes", dimensions), ("distribs", distribs.len()))?;
        even(("gsizes", dimensions), ("dargs", dargs.len()))?;
        even(("gsizes", dimensions), ("psizes", psizes.len()))?;
        let coordinates = coordinates(size, rank, psizes)?;
        let mut part = of.clone();
        let mut stride = of.extent();
        for dimension in fastest_first(dimensions, order) {
            let share = Share {
                dimension,
                elements: gsizes[dimension],
                processes: psizes[dimension],
                process: coordinates[dimension],
            };
            part = share.of(&part, distribs[dimension], dargs[dimension], stride)?;
            stride = stride.checked_mul(gsizes[dimension]).ok_or(EXTENT)?;
        }
        let mut integers = vec![size, rank, dimensions as i64];
        integers.extend(gsizes);
        integers.extend(distribs.iter().map(|distribution| distribution.own()));
        integers.extend(dargs.iter().map(|length| length.unwrap_or(Words::OWN.default)));
        integers.extend(psizes);
        integers.push(order.own());
        part.bounded(stride, Recipe::new(Combiner::Darray, integers, vec![], vec![of.clone()]))
    }

    /// The same data from 0 to `extent`, under another recipe.
    fn bounded(&self, extent: i64, recipe: Recipe) -> Result<Type, Wrong> {
        Ok(Type::new(self.0.facts.marked(0, extent)?, Map::Same(self.clone()), recipe))
    }
}

fn at_least(argument: &'static str, place: Option<usize>, value: i64, least: i64) -> Result<(), Wrong> {
    if value >= least {
        return Ok(());
    }
    Err(Wrong::Outside { argument, place, value, least, most: i64::MAX })
}

fn between(argument: &'static str, place: usize, value: i64, least: i64, most: i64) -> Result<(), Wrong> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Wrong::Outside { argument, place: Some(place), value, least, most })
}

/// Dimensions, the one that varies fastest first.
fn fastest_first(dimensions: usize, order: Order) -> impl Iterator<Item = usize> {
    (0..dimensions).map(move |place| match order {
        Order::C => dimensions - 1 - place,
        Order::Fortran => place,
    })
}

/// Where a rank is in the grid.
fn coordinates(size: i64, rank: i64, psizes: &[i64]) -> Result<Vec<i64>, Wrong> {
    let mut places = 1_i64;
    for (place, along) in psizes.iter().enumerate() {
        at_least("psizes", Some(place), *along, 1)?;
        places = places.saturating_mul(*along);
    }
    if places != size {
        return Err(Wrong::Grid { processes: size, places });
    }
    let mut rest = rank;
    let mut found = psizes.to_vec();
    for place in found.iter_mut().rev() {
        let along = *place;
        (*place, rest) = (rest % along, rest / along);
    }
    Ok(found)
}

/// `count` parts, `stride` bytes apart, behind room for `skip` such.
fn row(part: &Type, skip: i64, count: i64, stride: i64) -> Result<Type, Wrong> {
    placed(&[(skip.checked_mul(stride).ok_or(EXTENT)?, &evenly(part, count, stride)?)])
}

/// `count` parts, `stride` bytes apart.
fn evenly(part: &Type, count: i64, stride: i64) -> Result<Type, Wrong> {
    Type::grid((count, stride), 1, part, Recipe::named())
}

/// Types at their places, in bytes.
fn placed(types: &[(i64, &Type)]) -> Result<Type, Wrong> {
    let members = types.iter().map(|(at, of)| Ok(Member { at: *at, count: 1, of: (*of).clone() }));
    Type::members(members, false, Recipe::named())
}

/// One process's share of one dimension.
struct Share {
    dimension: usize,
    elements: i64,
    processes: i64,
    process: i64,
}

impl Share {
    /// Its elements, each a `part`, `stride` bytes apart in the array.
    fn of(
        &self,
        part: &Type,
        distribution: Distribution,
        length: Option<i64>,
        stride: i64,
    ) -> Result<Type, Wrong> {
        let &Share { dimension, elements, processes, .. } = self;
        at_least("gsizes", Some(dimension), elements, 0)?;
        if let Some(length) = length
            && distribution != Distribution::None
        {
            at_least("dargs", Some(dimension), length, 1)?;
        }
        let least = elements.div_euclid(processes) + i64::from(elements % processes > 0);
        let block = match distribution {
            Distribution::None => {
                between("psizes", dimension, processes, 1, 1)?;
                elements
            }
            Distribution::Block => {
                let block = length.unwrap_or(least);
                if block < least {
                    return Err(Wrong::Uncovered { dimension, block, processes, elements });
                }
                block
            }
            Distribution::Cyclic => length.unwrap_or(1),
        };
        self.blocks(part, block, stride)
    }

    /// Every `processes`th block of so many elements, from block `process` on. The array's last block may be short.
    fn blocks(&self, part: &Type, block: i64, stride: i64) -> Result<Type, Wrong> {
        let first = self.process.saturating_mul(block);
        if block == 0 || first >= self.elements {
            return placed(&[]);
        }
        let round = self.processes.saturating_mul(block);
        let behind = self.elements - first;
        let (rounds, rest) = (behind / round, behind % round);
        let (whole, short) = if rest >= block { (rounds + 1, 0) } else { (rounds, rest) };
        let bytes = |elements: i64| elements.checked_mul(stride).ok_or(EXTENT);
        // A round is longer than the array only where nothing follows it, and a block only where it is short.
        let step = if whole > 1 { bytes(round)? } else { 0 };
        let blocks = evenly(&evenly(part, if whole > 0 { block } else { 0 }, stride)?, whole, step)?;
        let last = evenly(part, short, stride)?;
        let end = if whole > 0 && short > 0 { bytes(first + whole * round)? } else { bytes(first)? };
        placed(&[(bytes(first)?, &blocks), (end, &last)])
    }
}
