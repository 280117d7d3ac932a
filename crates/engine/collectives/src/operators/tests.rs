//! The table against plain arithmetic, and its gaps.

use super::{Kind, Operator, combine, fill_with_identity};

/// Values of a type as bytes.
macro_rules! bytes {
    ($type:ty: $($value:expr),*) => {
        [$($value as $type),*].iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>()
    };
}

fn combined(operator: Operator, kind: Kind, first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut first = first.to_vec();
    combine(operator, kind).unwrap_or_else(|| panic!("{operator:?} of {kind:?}"))(&mut first, second);
    first
}

macro_rules! whole_numbers {
    ($($test:ident $type:ident $kind:ident;)*) => {$(
        #[test]
        fn $test() {
            use Operator::*;
            let all = [0, 1, 2, 3, 100, $type::MAX, $type::MIN, $type::MAX - 1, $type::MAX / 3];
            type Plain = fn($type, $type) -> $type;
            let operators: [(Operator, Plain); 10] = [
                (Sum, |a, b| a.wrapping_add(b)),
                (Product, |a, b| a.wrapping_mul(b)),
                (Min, |a, b| a.min(b)),
                (Max, |a, b| a.max(b)),
                (And, |a, b| a & b),
                (Or, |a, b| a | b),
                (Xor, |a, b| a ^ b),
                (BothTrue, |a, b| (a != 0 && b != 0).into()),
                (EitherTrue, |a, b| (a != 0 || b != 0).into()),
                (OneTrue, |a, b| ((a != 0) ^ (b != 0)).into()),
            ];
            for (operator, plain) in operators {
                for a in all {
                    let first: Vec<u8> = all.iter().flat_map(|_| a.to_ne_bytes()).collect();
                    let second: Vec<u8> = all.iter().flat_map(|b| b.to_ne_bytes()).collect();
                    let wanted: Vec<u8> = all.iter().flat_map(|b| plain(a, *b).to_ne_bytes()).collect();
                    assert_eq!(combined(operator, Kind::$kind, &first, &second), wanted, "{operator:?} {a}");
                }
            }
        }
    )*};
}

whole_numbers! {
    bytes_combine_as_signed i8 I8;
    bytes_combine_as_unsigned u8 U8;
    shorts_combine_by_every_operator i16 I16;
    unsigned_shorts_combine_by_every_operator u16 U16;
    ints_combine_by_every_operator i32 I32;
    unsigned_ints_combine_by_every_operator u32 U32;
    longs_combine_by_every_operator i64 I64;
    unsigned_longs_combine_by_every_operator u64 U64;
}

#[test]
fn real_numbers_combine_by_every_operator() {
    use Operator::*;
    for (operator, wanted) in [(Sum, 1.75), (Product, -0.5), (Min, -0.25), (Max, 2.0)] {
        assert_eq!(
            combined(operator, Kind::F64, &bytes!(f64: 2.0), &bytes!(f64: -0.25)),
            bytes!(f64: wanted)
        );
        assert_eq!(
            combined(operator, Kind::F32, &bytes!(f32: 2.0), &bytes!(f32: -0.25)),
            bytes!(f32: wanted)
        );
    }
    // Incomparable numbers keep their place.
    let (none, one) = (bytes!(f64: f64::NAN), bytes!(f64: 1.0));
    assert_eq!(combined(Max, Kind::F64, &none, &one), none);
    assert_eq!(combined(Max, Kind::F64, &one, &none), one);
    assert_eq!(combined(Min, Kind::F64, &bytes!(f64: 0.0), &bytes!(f64: -0.0)), bytes!(f64: 0.0));
}

#[test]
fn complex_numbers_combine_by_every_operator() {
    use Operator::*;
    let cases = [(Sum, [4.0, 1.0]), (Product, [5.0, 5.0]), (Min, [1.0, 2.0]), (Max, [3.0, -1.0])];
    for (operator, [real, imaginary]) in cases {
        let (first, second) = (bytes!(f64: 3.0, -1.0), bytes!(f64: 1.0, 2.0));
        let wanted = bytes!(f64: real, imaginary);
        assert_eq!(combined(operator, Kind::Complex64, &first, &second), wanted, "{operator:?}");
        let (first, second) = (bytes!(f32: 3.0, -1.0), bytes!(f32: 1.0, 2.0));
        let wanted = bytes!(f32: real, imaginary);
        assert_eq!(combined(operator, Kind::Complex32, &first, &second), wanted, "{operator:?}");
    }
    // For equal moduli the result is the first.
    let (first, second) = (bytes!(f64: 3.0, 4.0), bytes!(f64: 4.0, 3.0));
    assert_eq!(combined(Max, Kind::Complex64, &first, &second), first);
    assert_eq!(combined(Min, Kind::Complex64, &first, &second), first);
}

/// A C struct of value and place.
fn laid_out(value: &[u8], place: &[u8], at: usize, size: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; size];
    bytes[..value.len()].copy_from_slice(value);
    bytes[at..at + place.len()].copy_from_slice(place);
    bytes
}

macro_rules! pairs {
    ($($kind:ident $value:ty, $place:ty, $at:literal, $size:literal;)*) => {
        #[test]
        fn values_with_indices_combine_by_max_and_min() {
            $(
                assert_eq!(Kind::$kind.size(), $size);
                let pair = |value: i32, place: i32| {
                    laid_out(&(value as $value).to_ne_bytes(), &(place as $place).to_ne_bytes(), $at, $size)
                };
                let max = |a, b| combined(Operator::MaxAt, Kind::$kind, a, b);
                let min = |a, b| combined(Operator::MinAt, Kind::$kind, a, b);
                let (few, many, many_later) = (pair(-7, 3), pair(7, 1), pair(7, 2));
                for (a, b) in [(&few, &many), (&many, &few)] {
                    assert_eq!((max(a, b), min(a, b)), (many.clone(), few.clone()));
                }
                for (a, b) in [(&many, &many_later), (&many_later, &many)] {
                    assert_eq!((max(a, b), min(a, b)), (many.clone(), many.clone()), "the lower place");
                }
            )*
        }
    };
}

pairs! {
    I16AtI32 i16, i32, 4, 8;
    I32AtI32 i32, i32, 4, 8;
    I64AtI32 i64, i32, 8, 16;
    F32AtI32 f32, i32, 4, 8;
    F64AtI32 f64, i32, 8, 16;
    F32AtF32 f32, f32, 4, 8;
    F64AtF64 f64, f64, 8, 16;
}

#[test]
fn table_omits_meaningless_operator_and_kind_pairs() {
    use Operator::*;
    for operator in Operator::ALL {
        for kind in Kind::ALL {
            let is_pair = Kind::ALL[12..].contains(&kind);
            let is_whole = Kind::ALL[..8].contains(&kind);
            let makes_sense = match operator {
                Sum | Product | Min | Max => !is_pair,
                And | Or | Xor | BothTrue | EitherTrue | OneTrue => is_whole,
                MinAt | MaxAt => is_pair,
            };
            assert_eq!(combine(operator, kind).is_some(), makes_sense, "{operator:?} of {kind:?}");
        }
    }
}

#[test]
fn identity_leaves_operand_unchanged() {
    let mut found = 0;
    for operator in Operator::ALL {
        for kind in Kind::ALL {
            let mut identity = vec![0; 3 * kind.size()];
            if !fill_with_identity(operator, kind, &mut identity) {
                assert_eq!(identity, vec![0; identity.len()], "nothing is written");
                continue;
            }
            found += 1;
            // Ones.
            let mut value = vec![0; 3 * kind.size()];
            assert!(fill_with_identity(Operator::Product, kind, &mut value));
            assert_eq!(combined(operator, kind, &value, &identity), value, "{operator:?} of {kind:?}");
            assert_eq!(combined(operator, kind, &identity, &value), value, "{operator:?} of {kind:?}");
        }
    }
    assert_eq!(found, 8 * 10 + 2 * 4 + 2 * 2);
    let mut least = [0; 8];
    assert!(fill_with_identity(Operator::Max, Kind::F64, &mut least));
    assert_eq!(f64::from_ne_bytes(least), f64::NEG_INFINITY);
}

#[test]
fn vectors_may_be_unaligned_and_end_within_element() {
    let mut first = [9, 1, 0, 0, 0, 2, 0, 0, 0, 7];
    let second = [9, 9, 9, 3, 0, 0, 0, 4, 0, 0, 0, 7, 7];
    combine(Operator::Sum, Kind::U32).expect("a sum")(&mut first[1..], &second[3..]);
    let wanted = if cfg!(target_endian = "little") { [9, 4, 0, 0, 0, 6, 0, 0, 0, 7] } else { first };
    assert_eq!(first, wanted);
}
