//! The combiners of `cmmd.h`: which operator each is, and for which types.

use crate::errors::{Cmmd, Fault};
use parvum_collectives::operators::{self, Combine, Kind, Operator};

/// For which values a combiner was made; those for `int` serve all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Int,
    Unsigned,
    Double,
    Float,
}

/// The combiner of that number.
pub(crate) fn combiner(number: i32) -> Cmmd<(Operator, Family)> {
    let operator = match number & 15 {
        1 => Operator::Sum,
        2 => Operator::Max,
        3 => Operator::Min,
        4 => Operator::And,
        5 => Operator::Or,
        6 => Operator::Xor,
        _ => return Err(Fault::BadArgument),
    };
    let family = match number >> 4 {
        0 => Family::Int,
        1 => Family::Unsigned,
        2 => Family::Double,
        3 => Family::Float,
        _ => return Err(Fault::BadArgument),
    };
    let is_bits = matches!(operator, Operator::And | Operator::Or | Operator::Xor);
    if is_bits && family != Family::Int { Err(Fault::BadArgument) } else { Ok((operator, family)) }
}

/// Combiner and size determine the type of the elements of a vector.
pub(crate) fn kind_of(family: Family, size: i32) -> Cmmd<Kind> {
    match (family, size) {
        (Family::Int, 1) => Ok(Kind::I8),
        (Family::Int, 2) => Ok(Kind::I16),
        (Family::Int, 4) => Ok(Kind::I32),
        (Family::Int, 8) => Ok(Kind::I64),
        (Family::Unsigned, 1) => Ok(Kind::U8),
        (Family::Unsigned, 2) => Ok(Kind::U16),
        (Family::Unsigned, 4) => Ok(Kind::U32),
        (Family::Unsigned, 8) => Ok(Kind::U64),
        (Family::Double, 8) => Ok(Kind::F64),
        (Family::Double | Family::Float, 4) => Ok(Kind::F32),
        _ => Err(Fault::BadArgument),
    }
}

/// How values are combined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combiner {
    pub(crate) operator: Operator,
    pub(crate) kind: Kind,
    pub(crate) combine: Combine,
}

impl Combiner {
    /// Invalid pairs are errors.
    pub(crate) fn new(operator: Operator, kind: Kind) -> Cmmd<Combiner> {
        let combine = operators::combine(operator, kind).ok_or(Fault::BadArgument)?;
        Ok(Combiner { operator, kind, combine })
    }

    /// The combiner of that number for values of a type.
    pub(crate) fn of<T: Number>(number: i32) -> Cmmd<Combiner> {
        Combiner::new(combiner(number)?.0, T::KIND)
    }

    /// A value that changes nothing.
    pub(crate) fn identity(&self) -> Vec<u8> {
        let mut value = vec![0; self.kind.size()];
        operators::fill_with_identity(self.operator, self.kind, &mut value);
        value
    }
}

/// A value that is passed to a call.
pub(crate) trait Number: Copy + Default {
    const KIND: Kind;
    fn read(bytes: &[u8]) -> Self;
    fn bytes(self) -> Vec<u8>;
}

macro_rules! numbers {
    ($($number:ty, $kind:ident;)*) => {$(
        impl Number for $number {
            const KIND: Kind = Kind::$kind;

            fn read(bytes: &[u8]) -> Self {
                <$number>::from_ne_bytes(bytes.try_into().expect("as long as the number"))
            }

            fn bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
        }
    )*};
}

numbers!(i32, I32; u32, U32; i64, I64; u64, U64; f32, F32; f64, F64;);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_combiners_are_refused() {
        for number in [0, 7, 15, 36, 52, 64, -1, i32::MAX] {
            assert_eq!(combiner(number), Err(Fault::BadArgument), "{number}");
        }
        assert_eq!(Combiner::of::<f64>(4).err(), Some(Fault::BadArgument));
        assert_eq!(Combiner::of::<f64>(1).map(|combiner| combiner.operator), Ok(Operator::Sum), "plain add");
        assert_eq!(combiner(34), Ok((Operator::Max, Family::Double)));
        assert_eq!(kind_of(Family::Int, 3), Err(Fault::BadArgument));
    }

    #[test]
    fn combiner_identity_leaves_value_unchanged() {
        for number in 1..=6 {
            let combiner = Combiner::of::<i32>(number).expect("a combiner of cmmd.h");
            let mut value = (-5).bytes();
            (combiner.combine)(&mut value, &combiner.identity());
            assert_eq!(i32::read(&value), -5, "{number}");
        }
    }
}
