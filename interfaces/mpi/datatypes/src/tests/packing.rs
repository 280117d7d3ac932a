//! Packing and unpacking, in any portions, against the expansion of the type map.

#![allow(unsafe_code, reason = "it calls what is tested")]

use super::model::{Dice, Model, random};
use crate::{Basic, Type, copy_items, pack, unpack};

/// Memory around address 0 of a type: enough for its items, each byte unlike its neighbours.
struct Ground {
    bytes: Vec<u8>,
    zero: usize,
}

impl Ground {
    fn new(places: &[i64], fill: impl Fn(usize) -> u8) -> Ground {
        let low = places.iter().copied().min().unwrap_or(0).min(0);
        let high = places.iter().copied().max().unwrap_or(0).max(0) + 1;
        Ground { bytes: (0..(high - low) as usize).map(fill).collect(), zero: -low as usize }
    }

    fn address(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_add(self.zero)
    }

    fn at(&self, place: i64) -> u8 {
        self.bytes[(self.zero as i64 + place) as usize]
    }
}

fn spot(index: usize) -> u8 {
    (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]
}

/// Portions cut anywhere, in order.
fn portions(dice: &mut Dice, total: usize) -> Vec<std::ops::Range<usize>> {
    let mut cuts = vec![0, total];
    for _ in 0..dice.roll(0, 6) {
        cuts.push(dice.roll(0, total as i64) as usize);
    }
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
}

fn check(dice: &mut Dice, ty: &Type, model: &Model, most: i64) {
    let (low, high) = model.true_bounds();
    assert_eq!((ty.lb(), ty.extent()), (model.lb, model.extent()), "bounds of {ty:?}, {model:?}");
    assert_eq!((ty.true_lb(), ty.true_extent()), (low, high - low), "true bounds of {ty:?}, {model:?}");
    let count = dice.roll(0, most);
    let places = model.bytes(count);
    assert_eq!(ty.size() * count, places.len() as i64, "{ty:?}");

    let mut ground = Ground::new(&places, spot);
    let wanted: Vec<u8> = places.iter().map(|place| ground.at(*place)).collect();
    let mut packed = vec![0; places.len()];
    for part in portions(dice, places.len()) {
        let out = &mut packed[part.clone()];
        // SAFETY: `ground` spans the places of all bytes.
        let done = unsafe { pack(ty, count, ground.address(), part.start as u64, out) };
        assert_eq!(done, part.len(), "{ty:?}");
    }
    assert_eq!(packed, wanted, "{ty:?} x {count}, {model:?}");

    let mut filled = Ground::new(&places, |_| 0xee);
    for part in portions(dice, places.len()) {
        // SAFETY: as above.
        let done = unsafe { unpack(ty, count, filled.address(), part.start as u64, &packed[part.clone()]) };
        assert_eq!(done, part.len());
    }
    let mut by_hand = Ground::new(&places, |_| 0xee);
    for (place, byte) in places.iter().zip(&packed) {
        by_hand.bytes[(by_hand.zero as i64 + place) as usize] = *byte;
    }
    assert_eq!(filled.bytes, by_hand.bytes, "{ty:?} x {count}, {model:?}");

    runs(ty, count, &places, &mut ground);
}

/// The pieces are the runs of the places, neighbours joined.
fn runs(ty: &Type, count: i64, places: &[i64], ground: &mut Ground) {
    let base = ground.address();
    let mut wanted: Vec<(usize, usize)> = Vec::new();
    for place in places {
        let at = base.addr().wrapping_add(*place as usize);
        match wanted.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => wanted.push((at, 1)),
        }
    }
    let found = ty.pieces(count, base, wanted.len()).expect("as many as there are");
    let found: Vec<_> = found.into_iter().map(|(at, length)| (at.addr(), length)).collect();
    assert_eq!(found, wanted, "{ty:?} x {count}");
    if !wanted.is_empty() {
        assert!(ty.pieces(count, base, wanted.len() - 1).is_none(), "{ty:?} x {count}");
    }
    if ty.is_dense() && !wanted.is_empty() {
        let start = base.addr().wrapping_add(ty.lb() as usize);
        assert_eq!(wanted, [(start, (ty.size() * count) as usize)], "{ty:?}");
    }
}

#[test]
fn random_types_pack_like_their_maps() {
    for seed in 0..4000 {
        let mut dice = Dice(seed);
        let depth = dice.roll(0, 4) as usize;
        let (ty, model) = random(&mut dice, depth);
        if model.map.len() < 5000 {
            check(&mut dice, &ty, &model, 3);
        }
    }
}

#[test]
fn many_items_pack_like_their_maps() {
    for seed in 0..600 {
        let mut dice = Dice(seed ^ 0x1000);
        let depth = dice.roll(1, 2) as usize;
        let (ty, model) = random(&mut dice, depth);
        if model.map.len() < 60 {
            check(&mut dice, &ty, &model, 400);
        }
    }
}

#[test]
fn items_are_copied_to_items_of_another_type() {
    let double = Type::basic(Basic::Double);
    let column = Type::vector(3000, 1, 2, &double).unwrap();
    let row = Type::contiguous(7, &double).unwrap();
    let from: Vec<f64> = (0..6000).map(f64::from).collect();
    let mut to = vec![-1.0; 3010];
    // SAFETY: both span their items.
    let copied =
        unsafe { copy_items((&column, 1, from.as_ptr().cast()), (&row, 430, to.as_mut_ptr().cast())) };
    assert_eq!(copied, 24_000);
    assert!(to[..3000].iter().zip(0..).all(|(value, index)| *value == f64::from(2 * index)));
    assert!(to[3000..].iter().all(|value| *value == -1.0));
    let mut back = vec![-1.0; 6000];
    // SAFETY: as above.
    let copied = unsafe { copy_items((&row, 2, to.as_ptr().cast()), (&column, 1, back.as_mut_ptr().cast())) };
    assert_eq!(copied, 14 * 8);
    let wanted = |index: usize| if index < 28 && index.is_multiple_of(2) { index as f64 } else { -1.0 };
    assert!(back.iter().enumerate().all(|(index, value)| *value == wanted(index)));
}
