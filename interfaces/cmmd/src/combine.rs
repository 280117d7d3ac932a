//! Combining values: the combiners of `cmmd.h`, for each type.

use crate::errors::{Cmmd, Fault};

/// What a combiner does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Max,
    Min,
    And,
    Ior,
    Xor,
}

/// For which values a combiner was made; those for `int` serve all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Int,
    Unsigned,
    Double,
    Float,
}

/// The combiner of that number.
pub(crate) fn combiner(number: i32) -> Cmmd<(Op, Family)> {
    let op = match number & 15 {
        1 => Op::Add,
        2 => Op::Max,
        3 => Op::Min,
        4 => Op::And,
        5 => Op::Ior,
        6 => Op::Xor,
        _ => return Err(Fault::BadArgument),
    };
    let family = match number >> 4 {
        0 => Family::Int,
        1 => Family::Unsigned,
        2 => Family::Double,
        3 => Family::Float,
        _ => return Err(Fault::BadArgument),
    };
    let is_bits = matches!(op, Op::And | Op::Ior | Op::Xor);
    if is_bits && family != Family::Int { Err(Fault::BadArgument) } else { Ok((op, family)) }
}

/// A value that combiners combine.
pub(crate) trait Number: Copy {
    /// Its bytes.
    const SIZE: usize = size_of::<Self>();
    /// Whether it has bits that mean something one by one.
    const HAS_BITS: bool;
    fn combine(op: Op, one: Self, other: Self) -> Self;
    /// What changes nothing.
    fn identity(op: Op) -> Self;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! whole {
    ($($number:ty)*) => {$(
        impl Number for $number {
            const HAS_BITS: bool = true;

            fn combine(op: Op, one: Self, other: Self) -> Self {
                match op {
                    Op::Add => one.wrapping_add(other),
                    Op::Max => one.max(other),
                    Op::Min => one.min(other),
                    Op::And => one & other,
                    Op::Ior => one | other,
                    Op::Xor => one ^ other,
                }
            }

            fn identity(op: Op) -> Self {
                match op {
                    Op::Add | Op::Ior | Op::Xor => 0,
                    Op::Max => <$number>::MIN,
                    Op::Min => <$number>::MAX,
                    Op::And => !0,
                }
            }

            fn read(bytes: &[u8]) -> Self {
                <$number>::from_ne_bytes(bytes.try_into().expect("as long as the number"))
            }

            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

macro_rules! real {
    ($($number:ty)*) => {$(
        impl Number for $number {
            const HAS_BITS: bool = false;

            fn combine(op: Op, one: Self, other: Self) -> Self {
                match op {
                    Op::Max => one.max(other),
                    Op::Min => one.min(other),
                    // Bits were refused before.
                    Op::Add | Op::And | Op::Ior | Op::Xor => one + other,
                }
            }

            fn identity(op: Op) -> Self {
                match op {
                    Op::Max => <$number>::NEG_INFINITY,
                    Op::Min => <$number>::INFINITY,
                    Op::Add | Op::And | Op::Ior | Op::Xor => 0.0,
                }
            }

            fn read(bytes: &[u8]) -> Self {
                <$number>::from_ne_bytes(bytes.try_into().expect("as long as the number"))
            }

            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

whole!(i8 u8 i16 u16 i32 u32 i64 u64);
real!(f32 f64);

/// The operation that a combiner is for values of this type.
pub(crate) fn op_for<T: Number>(number: i32) -> Cmmd<Op> {
    let (op, _) = combiner(number)?;
    let is_bits = matches!(op, Op::And | Op::Ior | Op::Xor);
    if is_bits && !T::HAS_BITS { Err(Fault::BadArgument) } else { Ok(op) }
}

/// Combines vectors of such values: `one` becomes the result.
pub(crate) fn combine_all<T: Number>(op: Op) -> impl FnMut(&mut [u8], &[u8]) {
    move |one, other| {
        for (one, other) in one.chunks_exact_mut(T::SIZE).zip(other.chunks_exact(T::SIZE)) {
            T::combine(op, T::read(one), T::read(other)).write(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_changes_nothing() {
        for op in [Op::Add, Op::Max, Op::Min, Op::And, Op::Ior, Op::Xor] {
            assert_eq!(i32::combine(op, -5, i32::identity(op)), -5);
            assert_eq!(u64::combine(op, 7, u64::identity(op)), 7);
        }
        for op in [Op::Add, Op::Max, Op::Min] {
            assert_eq!(f64::combine(op, -2.5, f64::identity(op)), -2.5);
        }
    }

    #[test]
    fn combiners_that_make_no_sense_are_refused() {
        for number in [0, 7, 15, 36, 52, 64, -1, i32::MAX] {
            assert_eq!(combiner(number), Err(Fault::BadArgument), "{number}");
        }
        assert_eq!(op_for::<f64>(4), Err(Fault::BadArgument));
        assert_eq!(op_for::<f64>(1), Ok(Op::Add), "plain add for a double");
        assert_eq!(combiner(34), Ok((Op::Max, Family::Double)));
    }
}
