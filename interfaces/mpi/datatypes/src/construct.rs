//! Constructors: runs, vectors, blocks, structs, other bounds.

use crate::facts::{Facts, Join};
use crate::recipe::{Combiner, Recipe};
use crate::types::{Map, Member};
use crate::wrong::Wrong;
use crate::{Basic, Type};

pub(crate) fn not_negative(argument: &'static str, value: i64) -> Result<(), Wrong> {
    if value < 0 { Err(Wrong::Negative { argument, place: None, value }) } else { Ok(()) }
}

pub(crate) fn none_negative(argument: &'static str, values: &[i64]) -> Result<(), Wrong> {
    match values.iter().position(|value| *value < 0) {
        Some(place) => Err(Wrong::Negative { argument, place: Some(place), value: values[place] }),
        None => Ok(()),
    }
}

pub(crate) fn even(first: (&'static str, usize), second: (&'static str, usize)) -> Result<(), Wrong> {
    if first.1 == second.1 {
        return Ok(());
    }
    Err(Wrong::Uneven { first: first.0, long: first.1, second: second.0, other: second.1 })
}

const EXTENT: Wrong = Wrong::TooLarge { what: "the extent" };

impl Type {
    /// `count` items of a type, one behind the other.
    pub fn contiguous(count: i64, of: &Type) -> Result<Type, Wrong> {
        not_negative("count", count)?;
        let recipe = Recipe::new(Combiner::Contiguous, vec![count], vec![], vec![of.clone()]);
        Type::grid((count, of.extent()), 1, of, recipe)
    }

    /// `count` blocks of `length` items, `stride` items from the beginning of one to that of the next.
    pub fn vector(count: i64, length: i64, stride: i64, of: &Type) -> Result<Type, Wrong> {
        let recipe = Recipe::new(Combiner::Vector, vec![count, length, stride], vec![], vec![of.clone()]);
        not_negative("count", count)?;
        not_negative("blocklength", length)?;
        Type::grid((count, stride.checked_mul(of.extent()).ok_or(EXTENT)?), length, of, recipe)
    }

    /// `count` blocks of `length` items, `stride` bytes from the beginning of one to that of the next.
    pub fn hvector(count: i64, length: i64, stride: i64, of: &Type) -> Result<Type, Wrong> {
        not_negative("count", count)?;
        not_negative("blocklength", length)?;
        let recipe = Recipe::new(Combiner::Hvector, vec![count, length], vec![stride], vec![of.clone()]);
        Type::grid((count, stride), length, of, recipe)
    }

    /// Blocks of these lengths at these displacements, all in items.
    pub fn indexed(lengths: &[i64], displacements: &[i64], of: &Type) -> Result<Type, Wrong> {
        even(("blocklengths", lengths.len()), ("displacements", displacements.len()))?;
        none_negative("blocklengths", lengths)?;
        let integers = [&[lengths.len() as i64], lengths, displacements].concat();
        let recipe = Recipe::new(Combiner::Indexed, integers, vec![], vec![of.clone()]);
        Type::blocks(lengths.iter().copied().zip(in_bytes(displacements, of)), of, recipe)
    }

    /// Blocks of these lengths in items at these displacements in bytes.
    pub fn hindexed(lengths: &[i64], displacements: &[i64], of: &Type) -> Result<Type, Wrong> {
        even(("blocklengths", lengths.len()), ("displacements", displacements.len()))?;
        none_negative("blocklengths", lengths)?;
        let integers = [&[lengths.len() as i64], lengths].concat();
        let recipe = Recipe::new(Combiner::Hindexed, integers, displacements.to_vec(), vec![of.clone()]);
        Type::blocks(lengths.iter().copied().zip(displacements.iter().map(|at| Ok(*at))), of, recipe)
    }

    /// Blocks of one length at these displacements, all in items.
    pub fn indexed_block(length: i64, displacements: &[i64], of: &Type) -> Result<Type, Wrong> {
        not_negative("blocklength", length)?;
        let integers = [&[displacements.len() as i64, length], displacements].concat();
        let recipe = Recipe::new(Combiner::IndexedBlock, integers, vec![], vec![of.clone()]);
        Type::blocks(in_bytes(displacements, of).map(|at| (length, at)), of, recipe)
    }

    /// Blocks of one length in items at these displacements in bytes.
    pub fn hindexed_block(length: i64, displacements: &[i64], of: &Type) -> Result<Type, Wrong> {
        not_negative("blocklength", length)?;
        let integers = vec![displacements.len() as i64, length];
        let recipe = Recipe::new(Combiner::HindexedBlock, integers, displacements.to_vec(), vec![of.clone()]);
        Type::blocks(displacements.iter().map(|at| (length, Ok(*at))), of, recipe)
    }

    /// Blocks of these lengths, at these displacements in bytes, each of a type of its own.
    pub fn structure(lengths: &[i64], displacements: &[i64], types: &[Type]) -> Result<Type, Wrong> {
        even(("blocklengths", lengths.len()), ("displacements", displacements.len()))?;
        even(("blocklengths", lengths.len()), ("types", types.len()))?;
        none_negative("blocklengths", lengths)?;
        let integers = [&[lengths.len() as i64], lengths].concat();
        let recipe = Recipe::new(Combiner::Struct, integers, displacements.to_vec(), types.to_vec());
        let members = lengths.iter().zip(displacements).zip(types);
        let members = members.map(|((&count, &at), of)| Ok(Member { at, count, of: of.clone() }));
        Type::members(members, true, recipe)
    }

    /// The same data with other bounds.
    pub fn resized(lb: i64, extent: i64, of: &Type) -> Result<Type, Wrong> {
        let recipe = Recipe::new(Combiner::Resized, vec![], vec![lb, extent], vec![of.clone()]);
        Ok(Type::new(of.0.facts.marked(lb, extent)?, Map::Same(of.clone()), recipe))
    }

    /// Another type that is alike.
    pub fn dup(of: &Type) -> Type {
        let recipe = Recipe::new(Combiner::Dup, vec![], vec![], vec![of.clone()]);
        Type::new(of.0.facts, Map::Same(of.clone()), recipe)
    }

    /// The predefined pair of a value and an index, if there is one.
    pub fn value_index(value: Basic, index: Basic) -> Option<Type> {
        Basic::pair_of(value, index).map(Type::basic)
    }

    pub(crate) fn grid(
        (count, stride): (i64, i64),
        block: i64,
        of: &Type,
        recipe: Recipe,
    ) -> Result<Type, Wrong> {
        let facts = of.0.facts.repeat(block, of.extent())?.repeat(count, stride)?;
        if facts.size == 0 {
            return Ok(Type::new(facts, Map::Members(Vec::new()), recipe));
        }
        Ok(Type::new(facts, Map::Grid { count, stride, block, of: of.clone() }, recipe))
    }

    /// Pairs of length in items and displacement in bytes.
    fn blocks(
        blocks: impl Iterator<Item = (i64, Result<i64, Wrong>)>,
        of: &Type,
        recipe: Recipe,
    ) -> Result<Type, Wrong> {
        let members = blocks.map(|(count, at)| Ok(Member { at: at?, count, of: of.clone() }));
        Type::members(members, false, recipe)
    }

    pub(crate) fn members(
        members: impl Iterator<Item = Result<Member, Wrong>>,
        pad: bool,
        recipe: Recipe,
    ) -> Result<Type, Wrong> {
        let mut join = Join::new();
        let mut kept = Vec::new();
        for member in members {
            let member = member?;
            let facts: Facts = member.of.0.facts.repeat(member.count, member.of.extent())?;
            if join.add(member.at, &facts)? && facts.size > 0 {
                kept.push(member);
            }
        }
        Ok(Type::new(join.finish(pad)?, Map::Members(kept), recipe))
    }
}

fn in_bytes<'a>(items: &'a [i64], of: &Type) -> impl Iterator<Item = Result<i64, Wrong>> + 'a {
    let extent = of.extent();
    items.iter().map(move |item| item.checked_mul(extent).ok_or(EXTENT))
}
