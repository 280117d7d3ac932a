//! Operations on elements: MPI's own, on the room's table of operators, and the program's.

use crate::errors::{Error, Mpi, class};
use crate::objects::combine::Combine;
use crate::objects::datatypes::{ELEMENTS, Element, any_datatype, datatype, element};
use crate::objects::numbers::OP_NULL;
use crate::objects::user_ops::{OPS, UserOp};
use parvum_collectives::operators::{self, Kind, Operator};
use parvum_collectives::plans::Order;
use parvum_datatypes::{Basic, Class, Type, pack, unpack};
use std::sync::{Arc, LazyLock};

/// How elements of a datatype are combined.
pub(crate) struct Operation {
    pub(crate) combine: Combine,
    pub(crate) order: Order,
    /// Bytes of an element that must not be divided.
    pub(crate) unit: usize,
}

/// Handles of MPI's own operations: 0x58000001 and on.
const FIRST: i32 = 0x5800_0001;
pub(crate) const SUM: i32 = FIRST + 2;
pub(crate) const BIT_AND: i32 = FIRST + 5;
pub(crate) const BIT_OR: i32 = FIRST + 7;
pub(crate) const BIT_XOR: i32 = FIRST + 9;
pub(crate) const REPLACE: i32 = 0x5800_000d;
pub(crate) const NO_OP: i32 = 0x5800_000e;

#[rustfmt::skip]
const BUILT_IN: [(Operator, &str); 12] = {
    use Operator::*;
    [
        (Max, "MPI_MAX"), (Min, "MPI_MIN"), (Sum, "MPI_SUM"), (Product, "MPI_PROD"), (BothTrue, "MPI_LAND"), (And, "MPI_BAND"),
        (EitherTrue, "MPI_LOR"), (Or, "MPI_BOR"), (OneTrue, "MPI_LXOR"), (Xor, "MPI_BXOR"), (MinAt, "MPI_MINLOC"), (MaxAt, "MPI_MAXLOC"),
    ]
};

/// Whether a handle names an operation of MPI's own.
pub(crate) fn is_built_in(handle: i32) -> bool {
    (FIRST..=NO_OP).contains(&handle)
}

/// An operation of the program's.
pub(crate) fn user_op(handle: i32) -> Mpi<Arc<UserOp>> {
    OPS.get(handle).ok_or_else(|| {
        let text =
            if handle == OP_NULL { "the operation is MPI_OP_NULL" } else { "the handle names no operation" };
        Error::new(class::OP, text)
    })
}

/// Whether the operation commutes.
pub(crate) fn commutes(handle: i32) -> Mpi<bool> {
    if is_built_in(handle) {
        Ok(handle != REPLACE && handle != NO_OP)
    } else {
        user_op(handle).map(|op| op.commutes)
    }
}

/// How an operation combines elements of a datatype, in a reduction.
pub(crate) fn operation(op: i32, handle: i32) -> Mpi<Operation> {
    if !is_built_in(op) {
        return of_user(user_op(op)?, handle);
    }
    let Some(&(operator, name)) = BUILT_IN.get((op - FIRST) as usize) else {
        return Err(Error::new(class::OP, "MPI_REPLACE and MPI_NO_OP are for windows, not for reductions"));
    };
    let layout = &datatype(handle)?.layout;
    let basic = layout.as_basic().or_else(|| crate::objects::datatypes::of_precision(layout));
    let refused = || {
        let what = basic.map_or("a derived datatype", Basic::name);
        Error::new(class::OP, format!("{name} does not combine {what}"))
    };
    let basic = basic.ok_or_else(refused)?;
    let (combine, unit) = combine(operator, basic).ok_or_else(refused)?;
    let order = kind_of(basic).map_or(Order::Any, |kind| operators::order(operator, kind));
    Ok(Operation { combine, order, unit })
}

/// How an operation of MPI's own combines elements that lie one behind the other.
#[derive(Clone, Copy)]
pub(crate) struct PlainOperation {
    pub(crate) combine: operators::Combine,
    pub(crate) order: Order,
    pub(crate) unit: u8,
}

/// For the predefined types, by the low byte of their handles, and MPI's own operations.
static PLAIN: LazyLock<Vec<[Option<PlainOperation>; BUILT_IN.len()]>> = LazyLock::new(|| {
    let plain = |element: Element, operator: Operator| {
        let (Combine::Plain(combine), unit) = combine(operator, element.basic)? else { return None };
        let order = kind_of(element.basic).map_or(Order::Any, |kind| operators::order(operator, kind));
        Some(PlainOperation { combine, order, unit: unit as u8 })
    };
    let all = ELEMENTS
        .iter()
        .map(|element| BUILT_IN.map(|(operator, _)| element.and_then(|element| plain(element, operator))));
    all.collect()
});

/// As [`operation`], at once. `None`: the operation or the datatype needs more, or is wrong.
#[inline]
pub(crate) fn plain_operation(op: i32, handle: i32) -> Option<PlainOperation> {
    element(handle)?;
    *PLAIN[(handle & 0xff) as usize].get(op.wrapping_sub(FIRST) as usize)?
}

/// The table's function for a type, and how long an element is where it is packed.
fn combine(operator: Operator, basic: Basic) -> Option<(Combine, usize)> {
    if !is_meant_for(operator, basic) {
        return None;
    }
    let size = basic.size() as usize;
    if let Some(kind) = kind_of(basic) {
        let function = match (operators::combine(operator, kind), operator, kind) {
            (None, Operator::OneTrue, Kind::F32) => one_true::<4>,
            (None, Operator::OneTrue, Kind::F64) => one_true::<8>,
            (function, ..) => function?,
        };
        if kind.size() == size {
            return Some((Combine::Plain(function), size));
        }
        // Packed pairs have no holes; the table wants them as C lays them out.
        let layout = Type::basic(basic);
        return Some((
            Combine::made(move |first, second| with_holes(&layout, function, first, second)),
            size,
        ));
    }
    match basic {
        Basic::LongDouble => Some((Combine::made(crate::objects::long_double::combine(operator)?), size)),
        Basic::LongDoubleInt => {
            Some((Combine::made(crate::objects::long_double::combine_pairs(operator)?), size))
        }
        Basic::ComplexLongDouble | Basic::CxxComplexLongDouble => {
            Some((Combine::made(crate::objects::long_double::combine_complex(operator)?), size))
        }
        _ => None,
    }
}

/// Whether just one of two floating point numbers is true, which is what is not zero.
fn one_true<const SIZE: usize>(first: &mut [u8], second: &[u8]) {
    let is_true = |element: &[u8]| match SIZE {
        4 => f32::from_ne_bytes(element.try_into().expect("four bytes")) != 0.0,
        _ => f64::from_ne_bytes(element.try_into().expect("eight bytes")) != 0.0,
    };
    for (one, other) in first.chunks_exact_mut(SIZE).zip(second.chunks_exact(SIZE)) {
        let result = f64::from(u8::from(is_true(one) != is_true(other)));
        match SIZE {
            4 => one.copy_from_slice(&(result as f32).to_ne_bytes()),
            _ => one.copy_from_slice(&result.to_ne_bytes()),
        }
    }
}

/// The table's function for single elements of a type as they lie in memory, if it has one. The operation is any number.
pub(crate) fn word_combine(op: i32, basic: Basic) -> Option<operators::Combine> {
    let &(operator, _) = BUILT_IN.get(op.wrapping_sub(FIRST) as usize)?;
    match combine(operator, basic)? {
        (Combine::Plain(function), _) => Some(function),
        (Combine::Made(_), _) => None,
    }
}

/// Which operators make sense for which class: arithmetic for numbers, logic for whole numbers and truth values, bits for what has them.
fn is_meant_for(operator: Operator, basic: Basic) -> bool {
    use Operator::*;
    let class = basic.class();
    match operator {
        Min | Max => matches!(class, Class::Integer | Class::Unsigned | Class::Real | Class::Text),
        Sum | Product => {
            matches!(class, Class::Integer | Class::Unsigned | Class::Real | Class::Complex | Class::Text)
        }
        BothTrue | EitherTrue | OneTrue => {
            matches!(class, Class::Integer | Class::Unsigned | Class::Logical | Class::Real | Class::Text)
        }
        And | Or | Xor => matches!(class, Class::Integer | Class::Unsigned | Class::Byte | Class::Text),
        MinAt | MaxAt => class == Class::Pair,
    }
}

/// As what the room's table knows a type.
fn kind_of(basic: Basic) -> Option<Kind> {
    use Class::*;
    let kind = match (basic.class(), basic.size()) {
        (Integer, 1) | (Text, 1) => Kind::I8,
        (Integer, 2) => Kind::I16,
        (Integer, 4) | (Text, 4) => Kind::I32,
        (Integer, 8) => Kind::I64,
        (Unsigned | Logical | Byte, 1) => Kind::U8,
        (Unsigned | Logical, 2) => Kind::U16,
        (Unsigned | Logical, 4) => Kind::U32,
        (Unsigned | Logical, 8) => Kind::U64,
        (Real, 4) => Kind::F32,
        (Real, 8) => Kind::F64,
        (Complex, 8) => Kind::Complex32,
        (Complex, 16) => Kind::Complex64,
        (Pair, _) => match basic {
            Basic::FloatInt => Kind::F32AtI32,
            Basic::DoubleInt => Kind::F64AtI32,
            Basic::LongInt => Kind::I64AtI32,
            Basic::ShortInt => Kind::I16AtI32,
            Basic::TwoInt | Basic::TwoInteger => Kind::I32AtI32,
            Basic::TwoReal => Kind::F32AtF32,
            Basic::TwoDoublePrecision => Kind::F64AtF64,
            _ => return None,
        },
        _ => return None,
    };
    Some(kind)
}

/// Combines packed elements with a function that wants them with their holes.
fn with_holes(layout: &Type, function: fn(&mut [u8], &[u8]), first: &mut [u8], second: &[u8]) {
    let (size, extent) = (layout.size() as usize, layout.extent() as usize);
    let count = first.len() / size;
    let mut spread = [vec![0; count * extent], vec![0; count * extent]];
    // SAFETY: each vector has room for as many elements.
    unsafe {
        unpack(layout, count as i64, spread[0].as_mut_ptr(), 0, first);
        unpack(layout, count as i64, spread[1].as_mut_ptr(), 0, second);
    }
    let [one, other] = &mut spread;
    function(one, other);
    // SAFETY: likewise.
    unsafe { pack(layout, count as i64, one.as_ptr(), 0, first) };
}

/// The program's function, on packed elements of any layout.
fn of_user(op: Arc<UserOp>, handle: i32) -> Mpi<Operation> {
    let layout = any_datatype(handle)?.layout.clone();
    datatype(handle)?;
    let unit = layout.size().max(1) as usize;
    let order = if op.commutes { Order::Any } else { Order::Members };
    let combine = move |first: &mut [u8], second: &[u8]| apply(&op, &layout, handle, first, second);
    Ok(Operation { combine: Combine::made(combine), order, unit })
}

/// `first` becomes `first ∘ second`: the function leaves its result in the second operand.
fn apply(op: &UserOp, layout: &Type, handle: i32, first: &mut [u8], second: &[u8]) {
    let count = (first.len() / layout.size().max(1) as usize) as i64;
    if layout.is_dense() && layout.lb() == 0 {
        let mut result = Aligned::of(second);
        let mut input = Aligned::of(first);
        // SAFETY: both have as many elements.
        unsafe { op.call(input.start(), result.start(), count, handle) };
        first.copy_from_slice(&result.bytes()[..first.len()]);
        return;
    }
    let (low, extent) =
        (layout.true_lb().min(0), layout.extent().max(layout.true_lb() + layout.true_extent()));
    let length = ((extent - low) * count.max(1) + layout.true_extent()) as usize;
    let (mut one, mut other) = (Aligned::new(length), Aligned::new(length));
    // SAFETY: each has room for all elements, from the lowest byte of the first on.
    unsafe {
        let (one, other) = (one.start().offset(-low as isize), other.start().offset(-low as isize));
        unpack(layout, count, one, 0, first);
        unpack(layout, count, other, 0, second);
        op.call(one, other, count, handle);
        pack(layout, count, other, 0, first);
    }
}

/// Memory that any element may lie in.
struct Aligned(Vec<u128>);

impl Aligned {
    fn new(length: usize) -> Aligned {
        Aligned(vec![0; length.div_ceil(16)])
    }

    fn of(bytes: &[u8]) -> Aligned {
        let mut memory = Aligned::new(bytes.len());
        // SAFETY: it has room for as many bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.start(), bytes.len()) };
        memory
    }

    fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the vector's own memory.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 16) }
    }
}
