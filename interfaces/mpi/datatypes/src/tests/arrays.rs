//! Parts of arrays: together they are the array, each element once and in order.

use super::model::{Dice, coordinates, owner};
use crate::{Basic, Distribution, Order, Type, Wrong};

/// A distribution at random, and the grid.
struct Deal {
    order: Order,
    sizes: Vec<i64>,
    how: Vec<Distribution>,
    lengths: Vec<Option<i64>>,
    grid: Vec<i64>,
}

impl Deal {
    fn random(dice: &mut Dice) -> Deal {
        let dimensions = dice.roll(1, 4) as usize;
        let mut deal = Deal {
            order: if dice.roll(0, 1) == 0 { Order::C } else { Order::Fortran },
            sizes: (0..dimensions).map(|_| dice.roll(0, 7)).collect(),
            how: vec![],
            lengths: vec![],
            grid: vec![],
        };
        for size in &deal.sizes {
            let how =
                [Distribution::Block, Distribution::Cyclic, Distribution::None][dice.roll(0, 2) as usize];
            let along = if how == Distribution::None { 1 } else { dice.roll(1, 4) };
            let least = if how == Distribution::Block { ((size + along - 1) / along).max(1) } else { 1 };
            deal.lengths.push((dice.roll(0, 2) > 0).then(|| dice.roll(least, least + 3)));
            deal.how.push(how);
            deal.grid.push(along);
        }
        deal
    }

    fn processes(&self) -> i64 {
        self.grid.iter().product()
    }

    /// The rank of the process that has the element at this place of the array's memory.
    fn owner(&self, index: i64) -> i64 {
        let at = coordinates(index, &self.sizes, self.order);
        (0..at.len()).fold(0, |rank, d| {
            rank * self.grid[d] + owner(at[d], self.sizes[d], self.how[d], self.lengths[d], self.grid[d])
        })
    }
}

#[test]
fn distributed_arrays_reassemble() {
    let int = Type::basic(Basic::Int);
    for seed in 0..1500 {
        let deal = Deal::random(&mut Dice(seed ^ 0xda));
        let elements: i64 = deal.sizes.iter().product();
        for rank in 0..deal.processes() {
            let Deal { order, sizes, how, lengths, grid } = &deal;
            let part = Type::darray(deal.processes(), rank, sizes, how, lengths, grid, *order, &int).unwrap();
            assert_eq!((part.lb(), part.extent()), (0, elements * 4));
            let mine: Vec<usize> = (0..elements)
                .filter(|index| deal.owner(*index) == rank)
                .flat_map(|index| index as usize * 4..index as usize * 4 + 4)
                .collect();
            let found: Vec<usize> = part
                .pieces(1, std::ptr::without_provenance(0x1_0000), usize::MAX)
                .unwrap()
                .into_iter()
                .flat_map(|(at, length)| at.addr() - 0x1_0000..at.addr() - 0x1_0000 + length)
                .collect();
            assert_eq!(found, mine, "seed {seed}, rank {rank}");
        }
    }
}

/// The bytes of an item, in the order of the type map.
fn bytes(ty: &Type) -> Vec<(usize, usize)> {
    let base = std::ptr::without_provenance(0x1_0000);
    ty.pieces(1, base, 1000).unwrap().into_iter().map(|(at, length)| (at.addr() - 0x1_0000, length)).collect()
}

/// What MPICH 5.0.2 says of these, except where it takes a grid that does not fit.
#[test]
fn array_types_have_sizes_as_in_mpich() {
    let int = Type::basic(Basic::Int);
    let part = |order| Type::subarray(&[4, 5, 6], &[2, 3, 2], &[1, 0, 3], order, &int).unwrap();
    let measures = |ty: &Type| (ty.size(), ty.lb(), ty.extent(), ty.true_lb(), ty.true_extent());
    assert_eq!(measures(&part(Order::C)), (48, 0, 480, 132, 176));
    assert_eq!(measures(&part(Order::Fortran)), (48, 0, 480, 244, 120));
    let empty = Type::subarray(&[4, 5, 6], &[0, 3, 2], &[1, 0, 3], Order::C, &int).unwrap();
    assert_eq!(measures(&empty), (0, 0, 480, 0, 0));
    assert_eq!(bytes(&part(Order::C))[..3], [(132, 8), (156, 8), (180, 8)]);

    use Distribution::{Block, Cyclic, None as Whole};
    let share = |rank, order| {
        let how = [Block, Cyclic, Whole];
        let made = Type::darray(6, rank, &[4, 5, 6], &how, &[None, Some(2), None], &[3, 2, 1], order, &int);
        measures(&made.unwrap())
    };
    assert_eq!(share(0, Order::C), (144, 0, 480, 0, 240));
    assert_eq!(share(1, Order::C), (96, 0, 480, 48, 168));
    assert_eq!(share(3, Order::C), (96, 0, 480, 288, 168));
    assert_eq!(share(4, Order::C), (0, 0, 480, 0, 0));
    assert_eq!(share(1, Order::Fortran), (96, 0, 480, 32, 424));
    let long = Type::darray(4, 3, &[5], &[Cyclic], &[Some(i64::MAX)], &[4], Order::C, &int).unwrap();
    assert_eq!(measures(&long), (0, 0, 20, 0, 0));
    let first = Type::darray(4, 0, &[5], &[Cyclic], &[Some(i64::MAX)], &[4], Order::C, &int).unwrap();
    assert_eq!(measures(&first), (20, 0, 20, 0, 20));
}

#[test]
fn invalid_array_types_are_refused() {
    use Distribution::{Block, Cyclic, None as Whole};
    let int = Type::basic(Basic::Int);
    let said = |made: Result<Type, Wrong>| made.unwrap_err().to_string();
    let share = |size, rank, how, length, along| {
        said(Type::darray(size, rank, &[8], &[how], &[length], &[along], Order::C, &int))
    };
    assert_eq!(share(2, 2, Block, None, 2), "rank is 2, and must lie in 0 to 1");
    assert_eq!(share(3, 0, Block, None, 2), "the process grid psizes has 2 places for 3 processes (size)");
    assert_eq!(
        share(3, 0, Block, Some(2), 3),
        "dargs[0] is 2: blocks of 2 on 3 processes do not cover the 8 elements of that dimension; take at least 3"
    );
    assert_eq!(share(2, 0, Cyclic, Some(0), 2), "dargs[0] is 0, and must be at least 1");
    assert_eq!(share(2, 0, Whole, None, 2), "psizes[0] is 2, and must be 1");
    let part = |sizes: &[i64], subsizes: &[i64], starts: &[i64]| {
        said(Type::subarray(sizes, subsizes, starts, Order::C, &int))
    };
    assert_eq!(part(&[], &[], &[]), "ndims is 0, and must be at least 1");
    assert_eq!(part(&[4, 4], &[2, 5], &[0, 0]), "subsizes[1] is 5, and must lie in 0 to 4");
    assert_eq!(part(&[4], &[2], &[3]), "starts[0] is 3, and must lie in 0 to 2");
    assert_eq!(part(&[4], &[2, 2], &[3]), "sizes has 1 entries and subsizes 2: they must have as many");
}
