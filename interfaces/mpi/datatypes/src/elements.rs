//! Elements: how many some bytes of data are, and of which types they are in turn.

use crate::types::{Map, Member};
use crate::{Basic, Type};

impl Type {
    /// How many items `bytes` of data are: `None` when they are not a whole number. What `MPI_Get_count` says.
    pub fn count_in(&self, bytes: i64) -> Option<i64> {
        match self.size() {
            0 => (bytes == 0).then_some(0),
            size => (bytes % size == 0).then_some(bytes / size),
        }
    }

    /// How many elements `bytes` of data are, both parts of a pair counted: `None` when they end inside one. What
    /// `MPI_Get_elements` says.
    pub fn elements_in(&self, bytes: i64) -> Option<i64> {
        if self.size() == 0 {
            return (bytes == 0).then_some(0);
        }
        let (items, rest) = (bytes / self.size(), bytes % self.size());
        let whole = items.checked_mul(self.0.facts.elements)?;
        if rest == 0 { Some(whole) } else { Some(whole + self.0.map.elements_in(rest)?) }
    }

    /// How many bytes of data the first `elements` elements are, both parts of a pair counted. `None` when that is above 64 bits,
    /// or when the type has no elements at all. What `MPI_Status_set_elements` wants to know.
    pub fn bytes_of(&self, elements: i64) -> Option<i64> {
        let all = self.0.facts.elements;
        if all == 0 {
            return (elements == 0).then_some(0);
        }
        let whole = (elements / all).checked_mul(self.size())?;
        whole.checked_add(self.0.map.bytes_of(elements % all))
    }

    /// The types of the elements of `count` items, in order: runs of so many of one type, pairs taken apart. `None` when there
    /// are more than `most` runs.
    pub fn signature_runs(&self, count: i64, most: usize) -> Option<Vec<(Basic, i64)>> {
        if count <= 0 || self.size() == 0 {
            return Some(Vec::new());
        }
        let mut runs = Vec::new();
        let one = self.0.map.runs(most)?;
        push_times(&mut runs, &one, count, most)?;
        Some(runs)
    }

    /// A number for the types of the elements of `count` items. Equal sequences of elements have equal signatures, however they were
    /// made; others differ, but for about one in 2^60.
    pub fn signature(&self, count: i64) -> Signature {
        self.0.signature.get_or_init(|| self.0.map.signature()).times(count.max(0) as u64)
    }
}

impl Map {
    /// Of less than one item.
    fn elements_in(&self, bytes: i64) -> Option<i64> {
        match self {
            Map::Basic(basic) => basic.parts().is_some_and(|(first, ..)| first.size() == bytes).then_some(1),
            Map::Same(of) | Map::Grid { of, .. } => of.elements_in(bytes),
            Map::Members(members) => {
                let (mut rest, mut before) = (bytes, 0);
                for Member { count, of, .. } in members {
                    let size = of.size() * count;
                    if rest <= size {
                        return Some(before + of.elements_in(rest)?);
                    }
                    rest -= size;
                    before += of.0.facts.elements * count;
                }
                None
            }
        }
    }

    /// Of fewer elements than one item has.
    fn bytes_of(&self, elements: i64) -> i64 {
        let inside = |of: &Type, elements: i64| {
            let all = of.0.facts.elements;
            elements / all * of.size() + of.0.map.bytes_of(elements % all)
        };
        match self {
            Map::Basic(basic) => basic.parts().map_or(0, |(first, ..)| first.size() * elements),
            Map::Same(of) | Map::Grid { of, .. } => inside(of, elements),
            Map::Members(members) => {
                let (mut rest, mut before) = (elements, 0);
                for Member { count, of, .. } in members {
                    let has = of.0.facts.elements * count;
                    if rest <= has {
                        return before + inside(of, rest);
                    }
                    rest -= has;
                    before += of.size() * count;
                }
                before
            }
        }
    }

    fn runs(&self, most: usize) -> Option<Vec<(Basic, i64)>> {
        let mut runs = Vec::new();
        match self {
            Map::Basic(basic) => match basic.parts() {
                None => push(&mut runs, (*basic, 1), most)?,
                Some((first, second, _)) => {
                    push(&mut runs, (first, 1), most)?;
                    push(&mut runs, (second, 1), most)?;
                }
            },
            Map::Same(of) => return of.0.map.runs(most),
            Map::Grid { count, block, of, .. } => {
                push_times(&mut runs, &of.0.map.runs(most)?, count * block, most)?;
            }
            Map::Members(members) => {
                for Member { count, of, .. } in members {
                    push_times(&mut runs, &of.0.map.runs(most)?, *count, most)?;
                }
            }
        }
        Some(runs)
    }

    fn signature(&self) -> Signature {
        match self {
            Map::Basic(basic) => match basic.parts() {
                None => Signature::of(*basic),
                Some((first, second, _)) => Signature::of(first).then(Signature::of(second)),
            },
            Map::Same(of) => of.signature(1),
            Map::Grid { count, block, of, .. } => of.signature(count * block),
            Map::Members(members) => members
                .iter()
                .fold(Signature::EMPTY, |so_far, member| so_far.then(member.of.signature(member.count))),
        }
    }
}

fn push(runs: &mut Vec<(Basic, i64)>, run: (Basic, i64), most: usize) -> Option<()> {
    let room = runs.len() < most;
    match runs.last_mut() {
        Some((basic, count)) if *basic == run.0 => *count = count.checked_add(run.1)?,
        _ if room => runs.push(run),
        _ => return None,
    }
    Some(())
}

fn push_times(runs: &mut Vec<(Basic, i64)>, one: &[(Basic, i64)], times: i64, most: usize) -> Option<()> {
    if let [(basic, count)] = one {
        return push(runs, (*basic, count.checked_mul(times)?), most);
    }
    for _ in 0..times {
        for run in one {
            push(runs, *run, most)?;
        }
    }
    Some(())
}

/// A number for a sequence of basic types: a polynomial in a fixed base, modulo 2^61 - 1, with the types as coefficients. So that
/// of two sequences in a row follows from theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// How many elements, modulo 2^64.
    pub elements: u64,
    /// The polynomial's value.
    pub value: u64,
    /// The base to the power of `elements`.
    power: u64,
}

const MODULUS: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0f1e_2d3c_4b5a_6978;

fn product(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(MODULUS)) as u64
}

impl Signature {
    /// Of no elements.
    pub const EMPTY: Signature = Signature { elements: 0, value: 0, power: 1 };

    fn of(basic: Basic) -> Signature {
        Signature { elements: 1, value: basic as u64 + 1, power: BASE }
    }

    /// That of this sequence and the next behind it.
    pub fn then(self, next: Signature) -> Signature {
        Signature {
            elements: self.elements.wrapping_add(next.elements),
            value: (product(self.value, next.power) + next.value) % MODULUS,
            power: product(self.power, next.power),
        }
    }

    fn times(self, mut count: u64) -> Signature {
        let (mut all, mut doubled) = (Signature::EMPTY, self);
        while count > 0 {
            if count & 1 == 1 {
                all = all.then(doubled);
            }
            doubled = doubled.then(doubled);
            count >>= 1;
        }
        all
    }
}
