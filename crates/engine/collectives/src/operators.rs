//! Operators and the types that they combine: one table for all interfaces.
//!
//! A [`Combine`] works on vectors of elements as bytes, in the byte order of the host, aligned anyhow. The first vector
//! becomes `first ∘ second`, element by element; what is left over behind the last whole element of either stays.
//!
//! - Sums and products of integers wrap.
//! - The larger (or smaller) of two elements is the second only if it is really larger (or smaller). If both are equal
//!   or cannot be compared, the result is the first. A complex number with a larger modulus is larger.
//! - Logical operators treat every value except 0 as true, and return 0 or 1.
//! - [`Operator::MaxAt`] and [`Operator::MinAt`] combine pairs of a value and a place. For equal values the result is
//!   the lower place.

mod numbers;

use crate::plans::Order;
use numbers::{complex, paired, real, whole};

/// The operation on two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are their names")]
pub enum Operator {
    Sum,
    Product,
    Min,
    Max,
    /// Of each bit.
    And,
    /// Of each bit.
    Or,
    /// Of each bit.
    Xor,
    /// Of truth values.
    BothTrue,
    /// Of truth values.
    EitherTrue,
    /// For truth values: exactly one of them.
    OneTrue,
    /// The smaller value, and where it is.
    MinAt,
    /// The larger value, and where it is.
    MaxAt,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 12] = {
        use Operator::*;
        [Sum, Product, Min, Max, And, Or, Xor, BothTrue, EitherTrue, OneTrue, MinAt, MaxAt]
    };
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are their names")]
pub enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    /// Two `f32`: real part, imaginary part.
    Complex32,
    /// Two `f64`: real part, imaginary part.
    Complex64,
    /// A value and a place, as C lays out a struct of them.
    I16AtI32,
    I32AtI32,
    I64AtI32,
    F32AtI32,
    F64AtI32,
    /// A place that is a number of the value's type, as Fortran has it.
    F32AtF32,
    F64AtF64,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 19] = {
        use Kind::*;
        [
            I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, Complex32, Complex64, I16AtI32, I32AtI32,
            I64AtI32, F32AtI32, F64AtI32, F32AtF32, F64AtF64,
        ]
    };

    /// Bytes of an element, padding included.
    pub const fn size(self) -> usize {
        use Kind::*;
        match self {
            I8 | U8 => 1,
            I16 | U16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 | Complex32 | I16AtI32 | I32AtI32 | F32AtI32 | F32AtF32 => 8,
            Complex64 | I64AtI32 | F64AtI32 | F64AtF64 => 16,
        }
    }
}

/// Combines the second vector into the first.
pub type Combine = fn(&mut [u8], &[u8]);

/// The table: how an operator combines elements of a type. `None`: the operator is invalid for this type.
pub fn combine(operator: Operator, kind: Kind) -> Option<Combine> {
    use Kind::*;
    match kind {
        I8 => whole::<i8>(operator),
        U8 => whole::<u8>(operator),
        I16 => whole::<i16>(operator),
        U16 => whole::<u16>(operator),
        I32 => whole::<i32>(operator),
        U32 => whole::<u32>(operator),
        I64 => whole::<i64>(operator),
        U64 => whole::<u64>(operator),
        F32 => real::<f32>(operator),
        F64 => real::<f64>(operator),
        Complex32 => complex::<f32>(operator),
        Complex64 => complex::<f64>(operator),
        I16AtI32 => paired::<i16, i32>(operator),
        I32AtI32 => paired::<i32, i32>(operator),
        I64AtI32 => paired::<i64, i32>(operator),
        F32AtI32 => paired::<f32, i32>(operator),
        F64AtI32 => paired::<f64, i32>(operator),
        F32AtF32 => paired::<f32, f32>(operator),
        F64AtF64 => paired::<f64, f64>(operator),
    }
}

/// The permitted orders of combination. Integers and truth values may be combined in any order and grouping. Sums of
/// floating-point numbers are rounded. For equal or incomparable numbers the first is kept.
pub fn order(operator: Operator, kind: Kind) -> Order {
    use Kind::*;
    let is_logical = matches!(operator, Operator::BothTrue | Operator::EitherTrue | Operator::OneTrue);
    let is_exact = match kind {
        I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64 | I16AtI32 | I32AtI32 | I64AtI32 => true,
        F32 | F64 | Complex32 | Complex64 => is_logical,
        F32AtI32 | F64AtI32 | F32AtF32 | F64AtF64 => false,
    };
    if is_exact { Order::Exact } else { Order::Any }
}

/// Fills a vector with the element that the operator changes nothing with. `false`: the operator has no identity, and
/// the vector is unchanged.
pub fn fill_with_identity(operator: Operator, kind: Kind, vector: &mut [u8]) -> bool {
    use Kind::*;
    let fill = match kind {
        I8 => numbers::identity_of_whole::<i8>,
        U8 => numbers::identity_of_whole::<u8>,
        I16 => numbers::identity_of_whole::<i16>,
        U16 => numbers::identity_of_whole::<u16>,
        I32 => numbers::identity_of_whole::<i32>,
        U32 => numbers::identity_of_whole::<u32>,
        I64 => numbers::identity_of_whole::<i64>,
        U64 => numbers::identity_of_whole::<u64>,
        F32 => numbers::identity_of_real::<f32>,
        F64 => numbers::identity_of_real::<f64>,
        Complex32 => numbers::identity_of_complex::<f32>,
        Complex64 => numbers::identity_of_complex::<f64>,
        I16AtI32 | I32AtI32 | I64AtI32 | F32AtI32 | F64AtI32 | F32AtF32 | F64AtF64 => return false,
    };
    fill(operator, vector)
}

#[cfg(test)]
mod tests;
