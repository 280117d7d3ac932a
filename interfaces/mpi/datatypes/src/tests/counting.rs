//! Counts, elements and signatures.

use super::model::{Dice, Model, random};
use crate::{Basic, Type};

fn prefix(model: &Model, count: i64) -> Vec<Basic> {
    (0..count).flat_map(|_| model.map.iter().map(|(basic, _)| *basic)).collect()
}

#[test]
fn elements_follow_the_type_map() {
    for seed in 0..1500 {
        let mut dice = Dice(seed ^ 0xe1e);
        let depth = dice.roll(0, 3) as usize;
        let (ty, model) = random(&mut dice, depth);
        let elements = prefix(&model, 2);
        let mut ends = vec![0];
        elements.iter().for_each(|basic| ends.push(ends.last().unwrap() + basic.size()));
        for bytes in 0..=ty.size() * 2 {
            let wanted = ends.iter().position(|end| *end == bytes).map(|many| many as i64);
            assert_eq!(ty.elements_in(bytes), wanted, "{ty:?}, {bytes} bytes");
            let whole = (ty.size() > 0 && bytes % ty.size() == 0).then(|| bytes / ty.size());
            assert_eq!(ty.count_in(bytes), whole.or((bytes == 0).then_some(0)), "{ty:?}, {bytes} bytes");
        }
        for (many, end) in ends.iter().enumerate() {
            assert_eq!(ty.bytes_of(many as i64), Some(*end), "{ty:?}, {many} elements");
        }
    }
}

#[test]
fn signatures_equal_sequence_of_basic_types() {
    for seed in 0..1500 {
        let mut dice = Dice(seed ^ 0x516);
        let depth = dice.roll(0, 3) as usize;
        let (ty, model) = random(&mut dice, depth);
        let count = dice.roll(0, 3);
        let elements = prefix(&model, count);
        let mut runs: Vec<(Basic, i64)> = Vec::new();
        for basic in &elements {
            match runs.last_mut() {
                Some((last, many)) if last == basic => *many += 1,
                _ => runs.push((*basic, 1)),
            }
        }
        assert_eq!(ty.signature_runs(count, runs.len()).as_ref(), Some(&runs), "{ty:?} x {count}");
        if !runs.is_empty() {
            assert_eq!(ty.signature_runs(count, runs.len() - 1), None, "{ty:?} x {count}");
        }
        let types: Vec<Type> = runs.iter().map(|(basic, _)| Type::basic(*basic)).collect();
        let lengths: Vec<i64> = runs.iter().map(|(_, many)| *many).collect();
        let at: Vec<i64> = (0..runs.len() as i64).map(|place| place * 1000).collect();
        let another = Type::structure(&lengths, &at, &types).unwrap();
        assert_eq!(ty.signature(count), another.signature(1), "{ty:?} x {count}");
    }
}

#[test]
fn signatures_differ_for_different_sequences() {
    let (int, short) = (Type::basic(Basic::Int), Type::basic(Basic::Short));
    let both = |first: &Type, second: &Type| {
        Type::structure(&[1, 1], &[0, 8], &[first.clone(), second.clone()]).unwrap().signature(1)
    };
    assert_ne!(both(&int, &short), both(&short, &int));
    assert_ne!(int.signature(2), int.signature(3));
    assert_ne!(int.signature(1), Type::basic(Basic::Unsigned).signature(1));
    assert_eq!(both(&short, &int), Type::basic(Basic::ShortInt).signature(1));
}

#[test]
fn signatures_of_a_million_elements_are_one_run() {
    let double = Type::basic(Basic::Double);
    let column = Type::vector(1_000_000, 1, 1000, &double).unwrap();
    assert_eq!(column.signature_runs(1000, 1), Some(vec![(Basic::Double, 1_000_000_000)]));
    assert_eq!(column.signature(1000), double.signature(1_000_000_000));
    assert_eq!(column.elements_in(8_000_000_000_000), Some(1_000_000_000_000));
    assert_eq!(column.elements_in(8_000_000_000_004), None);
}
