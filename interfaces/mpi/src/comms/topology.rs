//! Topologies: who is whose neighbour.

use crate::errors::{Error, Mpi, class};
use crate::objects::numbers::{CART, DIST_GRAPH, GRAPH, PROC_NULL};
use std::cmp::Reverse;

/// What a communicator knows of its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    Cart(Cart),
    /// For each rank its neighbours; edges are counted up as the program gave them.
    Graph {
        index: Vec<i32>,
        edges: Vec<i32>,
    },
    /// Of this rank alone; weights are none when the program gave none.
    Distributed {
        sources: Vec<i32>,
        source_weights: Vec<i32>,
        destinations: Vec<i32>,
        destination_weights: Vec<i32>,
        weighted: bool,
    },
}

/// A grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cart {
    pub(crate) dims: Vec<i32>,
    pub(crate) periods: Vec<bool>,
}

impl Topology {
    pub(crate) fn number(&self) -> i32 {
        match self {
            Topology::Cart(_) => CART,
            Topology::Graph { .. } => GRAPH,
            Topology::Distributed { .. } => DIST_GRAPH,
        }
    }

    /// Where this rank's neighbourhood operations send to, and receive from, each in the order of the program's blocks.
    pub(crate) fn neighbours(&self, rank: i32) -> Mpi<(Vec<i32>, Vec<i32>)> {
        match self {
            Topology::Cart(cart) => {
                let mut all = Vec::new();
                for dim in 0..cart.dims.len() {
                    let (before, behind) = cart.shift(rank, dim, 1)?;
                    all.extend([before, behind]);
                }
                Ok((all.clone(), all))
            }
            Topology::Graph { .. } => {
                let all = self.graph_neighbours(rank)?.to_vec();
                Ok((all.clone(), all))
            }
            Topology::Distributed { sources, destinations, .. } => {
                Ok((destinations.clone(), sources.clone()))
            }
        }
    }

    pub(crate) fn graph_neighbours(&self, rank: i32) -> Mpi<&[i32]> {
        let Topology::Graph { index, edges } = self else { return Err(other("graph")) };
        let place = usize::try_from(rank).ok().filter(|&rank| rank < index.len());
        let place = place.ok_or_else(|| Error::new(class::RANK, format!("the graph has no rank {rank}")))?;
        let from = if place == 0 { 0 } else { index[place - 1] };
        Ok(&edges[from as usize..index[place] as usize])
    }

    pub(crate) fn cart(&self) -> Mpi<&Cart> {
        match self {
            Topology::Cart(cart) => Ok(cart),
            _ => Err(other("Cartesian")),
        }
    }
}

/// The topology is none of that kind.
#[cold]
pub(crate) fn other(kind: &str) -> Error {
    Error::new(class::TOPOLOGY, format!("the communicator has no {kind} topology"))
}

impl Cart {
    /// A grid; at most `size` ranks are in it.
    pub(crate) fn new(dims: &[i32], periods: &[i32], size: usize) -> Mpi<Cart> {
        let wrong = dims.iter().find(|&&dim| dim <= 0);
        if let Some(dim) = wrong {
            return Err(Error::new(class::DIMS, format!("a dimension is {dim}")));
        }
        let count = dims.iter().try_fold(1i64, |all, &dim| all.checked_mul(i64::from(dim)));
        if count.is_none_or(|count| count > size as i64) {
            let text = format!("a grid of {dims:?} has more places than the communicator's {size} ranks");
            return Err(Error::new(class::DIMS, text));
        }
        Ok(Cart { dims: dims.to_vec(), periods: periods.iter().map(|&period| period != 0).collect() })
    }

    pub(crate) fn count(&self) -> usize {
        self.dims.iter().map(|&dim| dim as usize).product()
    }

    pub(crate) fn coords(&self, rank: i32) -> Mpi<Vec<i32>> {
        if rank < 0 || rank as usize >= self.count() {
            return Err(Error::new(class::RANK, format!("the grid has no rank {rank}")));
        }
        let mut rest = rank;
        let mut coords = vec![0; self.dims.len()];
        for (coord, &dim) in coords.iter_mut().zip(&self.dims).rev() {
            *coord = rest % dim;
            rest /= dim;
        }
        Ok(coords)
    }

    /// The rank at coordinates; periodic ones wrap.
    pub(crate) fn rank(&self, coords: &[i32]) -> Mpi<i32> {
        let mut rank = 0;
        for ((&coord, &dim), &period) in coords.iter().zip(&self.dims).zip(&self.periods) {
            let inside = if period { coord.rem_euclid(dim) } else { coord };
            if !(0..dim).contains(&inside) {
                return Err(Error::new(
                    class::ARG,
                    format!("coordinate {coord} in a dimension of {dim} that does not wrap"),
                ));
            }
            rank = rank * dim + inside;
        }
        Ok(rank)
    }

    /// Who is so far before this rank in a dimension, and who behind.
    pub(crate) fn shift(&self, rank: i32, dim: usize, far: i32) -> Mpi<(i32, i32)> {
        let coords = self.coords(rank)?;
        let at = |far: i64| {
            let coord = i64::from(coords[dim]) + far;
            let (size, mut there) = (i64::from(self.dims[dim]), coords.clone());
            if !self.periods[dim] && !(0..size).contains(&coord) {
                return Ok(PROC_NULL);
            }
            there[dim] = coord.rem_euclid(size) as i32;
            self.rank(&there)
        };
        Ok((at(-i64::from(far))?, at(i64::from(far))?))
    }

    /// The grid of the dimensions that remain; this rank's colour and its place there.
    pub(crate) fn sub(&self, rank: i32, remain: &[i32]) -> Mpi<(Cart, i32, i32)> {
        let coords = self.coords(rank)?;
        let (mut colour, mut key) = (0, 0);
        let mut sub = Cart { dims: Vec::new(), periods: Vec::new() };
        for dim in 0..self.dims.len() {
            if remain[dim] != 0 {
                sub.dims.push(self.dims[dim]);
                sub.periods.push(self.periods[dim]);
                key = key * self.dims[dim] + coords[dim];
            } else {
                colour = colour * self.dims[dim] + coords[dim];
            }
        }
        Ok((sub, colour, key))
    }
}

/// Divides so many ranks among the dimensions that are 0, as evenly as it can, the larger ones first.
pub(crate) fn divide(ranks: i32, dims: &mut [i32]) -> Mpi {
    if ranks <= 0 {
        return Err(Error::new(class::ARG, format!("{ranks} ranks cannot be divided")));
    }
    if let Some(dim) = dims.iter().find(|&&dim| dim < 0) {
        return Err(Error::new(class::DIMS, format!("a dimension is {dim}")));
    }
    let given = dims.iter().filter(|&&dim| dim > 0).try_fold(1i32, |all, &dim| all.checked_mul(dim));
    let free = dims.iter().filter(|&&dim| dim == 0).count();
    let rest = match given {
        Some(given) if ranks % given == 0 => ranks / given,
        _ => {
            return Err(Error::new(
                class::DIMS,
                format!("{ranks} ranks are no multiple of the dimensions given"),
            ));
        }
    };
    if free == 0 {
        return match rest {
            1 => Ok(()),
            _ => Err(Error::new(class::DIMS, format!("the dimensions given do not make {ranks}"))),
        };
    }
    let (best, _) = even(rest, free);
    let mut sizes = best.into_iter();
    for dim in dims.iter_mut().filter(|dim| **dim == 0) {
        *dim = sizes.next().unwrap_or(1);
    }
    Ok(())
}

/// The factors of a number, falling, whose largest and smallest are nearest each other; and how many steps the search took. Of several such
/// the one with the largest first factor, then with the smallest sum, then with the larger other factors: as MPICH has it.
fn even(number: i32, count: usize) -> (Vec<i32>, u64) {
    let small = (1..).take_while(|factor| i64::from(*factor).pow(2) <= i64::from(number));
    let mut divisors: Vec<i32> =
        small.filter(|factor| number % factor == 0).flat_map(|factor| [factor, number / factor]).collect();
    divisors.sort_unstable();
    divisors.dedup();
    let mut search = Search { divisors, best: Vec::new(), spread: i64::MAX, steps: 0 };
    search.run(number, count);
    (search.best, search.steps)
}

/// A search for even factors: the largest factor grows, and whatever cannot be better than the best so far is left out.
struct Search {
    /// Of the whole number, rising.
    divisors: Vec<i32>,
    best: Vec<i32>,
    /// Between the largest and the smallest of the best.
    spread: i64,
    steps: u64,
}

/// Whether a factor, taken so many times, is at least the number.
fn reaches(factor: i32, count: usize, number: i32) -> bool {
    i64::from(factor).saturating_pow(count as u32) >= i64::from(number)
}

impl Search {
    fn run(&mut self, number: i32, count: usize) {
        // The smallest factor is at most the root of the number.
        let (mut root, mut above) = (1, i64::from(number) + 1);
        while above - root > 1 {
            let middle = (root + above) / 2;
            let fits = middle.saturating_pow(count as u32) <= i64::from(number);
            (root, above) = if fits { (middle, above) } else { (root, middle) };
        }
        for place in 0..self.divisors.len() {
            let first = self.divisors[place];
            if !reaches(first, count, number) {
                continue;
            }
            if i64::from(first) - root > self.spread {
                break;
            }
            self.go_on(number / first, count - 1, &mut vec![first]);
        }
    }

    fn go_on(&mut self, rest: i32, count: usize, begun: &mut Vec<i32>) {
        self.steps += 1;
        let (first, last) = (begun[0], begun[begun.len() - 1]);
        if count == 0 {
            let spread = i64::from(first) - i64::from(last);
            let sum = |factors: &[i32]| factors.iter().map(|&factor| i64::from(factor)).sum::<i64>();
            let key = |spread: i64, factors: &[i32]| {
                (spread, Reverse(factors[0]), sum(factors), Reverse(factors.to_vec()))
            };
            let is_better = self.best.is_empty() || key(spread, begun) < key(self.spread, &self.best);
            if rest == 1 && is_better {
                (self.best, self.spread) = (begun.clone(), spread);
            }
            return;
        }
        for place in 0..self.divisors.len() {
            let factor = self.divisors[place];
            // Every factor that follows is at least so large, or the result is no better.
            let least = (i64::from(first) - self.spread).max(1);
            if factor > last || least.saturating_pow(count as u32) > i64::from(rest) {
                break;
            }
            if rest % factor == 0 && reaches(factor, count, rest) {
                begun.push(factor);
                self.go_on(rest / factor, count - 1, begun);
                begun.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(ranks: i32, dims: &[i32]) -> Mpi<Vec<i32>> {
        let mut dims = dims.to_vec();
        divide(ranks, &mut dims).map(|()| dims)
    }

    #[test]
    fn dims_divide_ranks_evenly() {
        assert_eq!(divided(6, &[0, 0]), Ok(vec![3, 2]));
        assert_eq!(divided(7, &[0, 0]), Ok(vec![7, 1]));
        assert_eq!(divided(6, &[0, 3, 0]), Ok(vec![2, 3, 1]));
        assert_eq!(divided(36, &[0, 0, 0]), Ok(vec![4, 3, 3]));
        assert_eq!(divided(1, &[0, 0, 0]), Ok(vec![1, 1, 1]));
        assert_eq!(divided(1 << 20, &[0, 0, 0]), Ok(vec![128, 128, 64]));
        // Several are as even.
        assert_eq!(divided(5040, &[0, 0, 0]), Ok(vec![21, 16, 15]));
        assert_eq!(divided(5616, &[0, 0, 0, 0]), Ok(vec![13, 9, 8, 6]));
        assert_eq!(divided(98_784, &[0; 5]), Ok(vec![14, 14, 9, 8, 7]));
        assert_eq!(divided(590_520, &[0; 4]), Ok(vec![38, 37, 21, 20]));
        assert_eq!(divided(7, &[0, 3]).expect_err("no multiple").code, class::DIMS);
        assert_eq!(divided(6, &[2, 2]).expect_err("too few").code, class::DIMS);
        assert_eq!(divided(6, &[-1, 0]).expect_err("negative").code, class::DIMS);
    }

    #[test]
    fn dims_of_number_with_many_divisors_needs_few_steps() {
        // The number with the most divisors below 2^30 has 1,344.
        for number in [735_134_400, 1 << 30, 6_469_693, 9_699_690, 2_147_483_647] {
            for count in 1..=12 {
                let (factors, steps) = even(number, count);
                assert_eq!(factors.iter().map(|&factor| i64::from(factor)).product::<i64>(), number.into());
                assert!(factors.len() == count && factors.is_sorted_by(|one, other| one >= other));
                assert!(steps < 100_000, "{number} in {count} dimensions took {steps} steps");
            }
        }
    }

    #[test]
    fn grid_shift_returns_neighbours() {
        let cart = Cart::new(&[2, 3], &[1, 0], 8).expect("a grid");
        assert_eq!((cart.count(), cart.coords(4), cart.rank(&[3, 2])), (6, Ok(vec![1, 1]), Ok(5)));
        assert_eq!(cart.shift(4, 0, 1), Ok((1, 1)));
        assert_eq!(cart.shift(5, 1, 1), Ok((4, PROC_NULL)));
        assert_eq!(cart.shift(5, 1, -2), Ok((PROC_NULL, 3)));
        assert!(cart.rank(&[0, 3]).is_err() && cart.coords(6).is_err());
        let (sub, colour, key) = cart.sub(5, &[0, 1]).expect("a part");
        assert_eq!((sub.dims, colour, key), (vec![3], 1, 2));
        assert!(Cart::new(&[3, 3], &[0, 0], 8).is_err() && Cart::new(&[0], &[0], 8).is_err());
    }
}
