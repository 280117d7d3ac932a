//! The arithmetic behind the table.

use super::{Combine, Operator};

/// A value with a fixed number of bytes in memory.
pub(super) trait Element: Copy {
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);
}

/// A number that can be compared and calculated with.
pub(super) trait Number: Element + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    /// No number is smaller.
    const LEAST: Self;
    /// No number is larger.
    const MOST: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

/// A number whose bits mean something one by one.
pub(super) trait Whole: Number {
    const ALL_BITS: Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

macro_rules! elements {
    ($($number:ty)*) => {$(
        impl Element for $number {
            #[inline]
            fn load(bytes: &[u8]) -> $number {
                <$number>::from_ne_bytes(bytes.try_into().expect("as many bytes as it has"))
            }

            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

macro_rules! wholes {
    ($($number:ty)*) => {$(
        impl Number for $number {
            const ZERO: $number = 0;
            const ONE: $number = 1;
            const LEAST: $number = <$number>::MIN;
            const MOST: $number = <$number>::MAX;
            #[inline]
            fn plus(self, other: $number) -> $number { self.wrapping_add(other) }
            #[inline]
            fn minus(self, other: $number) -> $number { self.wrapping_sub(other) }
            #[inline]
            fn times(self, other: $number) -> $number { self.wrapping_mul(other) }
        }

        impl Whole for $number {
            const ALL_BITS: $number = !0;
            #[inline]
            fn and(self, other: $number) -> $number { self & other }
            #[inline]
            fn or(self, other: $number) -> $number { self | other }
            #[inline]
            fn xor(self, other: $number) -> $number { self ^ other }
        }
    )*};
}

macro_rules! reals {
    ($($number:ty)*) => {$(
        impl Number for $number {
            const ZERO: $number = 0.0;
            const ONE: $number = 1.0;
            const LEAST: $number = <$number>::NEG_INFINITY;
            const MOST: $number = <$number>::INFINITY;
            #[inline]
            fn plus(self, other: $number) -> $number { self + other }
            #[inline]
            fn minus(self, other: $number) -> $number { self - other }
            #[inline]
            fn times(self, other: $number) -> $number { self * other }
        }
    )*};
}

elements!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);
wholes!(i8 u8 i16 u16 i32 u32 i64 u64);
reals!(f32 f64);

/// Combines vectors of elements.
#[inline]
fn each<T: Element>(first: &mut [u8], second: &[u8], combine: impl Fn(T, T) -> T) {
    let size = size_of::<T>();
    for (first, second) in first.chunks_exact_mut(size).zip(second.chunks_exact(size)) {
        combine(T::load(first), T::load(second)).store(first);
    }
}

#[inline]
fn smaller<T: PartialOrd>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

#[inline]
fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

#[inline]
fn truth<T: Number>(value: bool) -> T {
    if value { T::ONE } else { T::ZERO }
}

pub(super) fn whole<T: Whole>(operator: Operator) -> Option<Combine> {
    Some(match operator {
        Operator::Sum => |x, y| each(x, y, T::plus),
        Operator::Product => |x, y| each(x, y, T::times),
        Operator::Min => |x, y| each(x, y, smaller::<T>),
        Operator::Max => |x, y| each(x, y, larger::<T>),
        Operator::And => |x, y| each(x, y, T::and),
        Operator::Or => |x, y| each(x, y, T::or),
        Operator::Xor => |x, y| each(x, y, T::xor),
        Operator::BothTrue => |x, y| each(x, y, |a: T, b| truth(a != T::ZERO && b != T::ZERO)),
        Operator::EitherTrue => |x, y| each(x, y, |a: T, b| truth(a != T::ZERO || b != T::ZERO)),
        Operator::OneTrue => |x, y| each(x, y, |a: T, b| truth((a != T::ZERO) != (b != T::ZERO))),
        Operator::MinAt | Operator::MaxAt => return None,
    })
}

pub(super) fn real<T: Number>(operator: Operator) -> Option<Combine> {
    Some(match operator {
        Operator::Sum => |x, y| each(x, y, T::plus),
        Operator::Product => |x, y| each(x, y, T::times),
        Operator::Min => |x, y| each(x, y, smaller::<T>),
        Operator::Max => |x, y| each(x, y, larger::<T>),
        _ => return None,
    })
}

/// Real part and imaginary part.
#[derive(Clone, Copy)]
struct Complex<T>(T, T);

impl<T: Element> Element for Complex<T> {
    #[inline]
    fn load(bytes: &[u8]) -> Complex<T> {
        let (real, imaginary) = bytes.split_at(size_of::<T>());
        Complex(T::load(real), T::load(imaginary))
    }

    #[inline]
    fn store(self, bytes: &mut [u8]) {
        let (real, imaginary) = bytes.split_at_mut(size_of::<T>());
        self.0.store(real);
        self.1.store(imaginary);
    }
}

impl<T: Number> Complex<T> {
    fn squared(self) -> T {
        self.0.times(self.0).plus(self.1.times(self.1))
    }

    fn plus(self, other: Complex<T>) -> Complex<T> {
        Complex(self.0.plus(other.0), self.1.plus(other.1))
    }

    fn times(self, other: Complex<T>) -> Complex<T> {
        let real = self.0.times(other.0).minus(self.1.times(other.1));
        Complex(real, self.0.times(other.1).plus(self.1.times(other.0)))
    }
}

pub(super) fn complex<T: Number>(operator: Operator) -> Option<Combine> {
    Some(match operator {
        Operator::Sum => |x, y| each(x, y, Complex::<T>::plus),
        Operator::Product => |x, y| each(x, y, Complex::<T>::times),
        Operator::Min => |x, y| each(x, y, |a: Complex<T>, b| if b.squared() < a.squared() { b } else { a }),
        Operator::Max => |x, y| each(x, y, |a: Complex<T>, b| if b.squared() > a.squared() { b } else { a }),
        _ => return None,
    })
}

/// A value and its place, as C lays them out.
#[derive(Clone, Copy)]
#[repr(C)]
struct At<V, P> {
    value: V,
    place: P,
}

impl<V: Element, P: Element> At<V, P> {
    const PLACE: usize = std::mem::offset_of!(At<V, P>, place);
}

impl<V: Element, P: Element> Element for At<V, P> {
    #[inline]
    fn load(bytes: &[u8]) -> At<V, P> {
        let (value, place) = (&bytes[..size_of::<V>()], &bytes[Self::PLACE..Self::PLACE + size_of::<P>()]);
        At { value: V::load(value), place: P::load(place) }
    }

    #[inline]
    fn store(self, bytes: &mut [u8]) {
        self.value.store(&mut bytes[..size_of::<V>()]);
        self.place.store(&mut bytes[Self::PLACE..Self::PLACE + size_of::<P>()]);
    }
}

impl<V: Number, P: Number> At<V, P> {
    fn smaller(self, other: Self) -> Self {
        if other.value < self.value || (other.value == self.value && other.place < self.place) {
            other
        } else {
            self
        }
    }

    fn larger(self, other: Self) -> Self {
        if other.value > self.value || (other.value == self.value && other.place < self.place) {
            other
        } else {
            self
        }
    }
}

pub(super) fn paired<V: Number, P: Number>(operator: Operator) -> Option<Combine> {
    Some(match operator {
        Operator::MinAt => |x, y| each(x, y, At::<V, P>::smaller),
        Operator::MaxAt => |x, y| each(x, y, At::<V, P>::larger),
        _ => return None,
    })
}

fn fill<T: Element>(vector: &mut [u8], with: Option<T>) -> bool {
    if let Some(with) = with {
        vector.chunks_exact_mut(size_of::<T>()).for_each(|element| with.store(element));
    }
    with.is_some()
}

fn neutral<T: Number>(operator: Operator) -> Option<T> {
    match operator {
        Operator::Sum => Some(T::ZERO),
        Operator::Product => Some(T::ONE),
        Operator::Min => Some(T::MOST),
        Operator::Max => Some(T::LEAST),
        _ => None,
    }
}

pub(super) fn identity_of_whole<T: Whole>(operator: Operator, vector: &mut [u8]) -> bool {
    let with = match operator {
        Operator::And => Some(T::ALL_BITS),
        Operator::BothTrue => Some(T::ONE),
        Operator::Or | Operator::Xor | Operator::EitherTrue | Operator::OneTrue => Some(T::ZERO),
        _ => neutral(operator),
    };
    fill(vector, with)
}

pub(super) fn identity_of_real<T: Number>(operator: Operator, vector: &mut [u8]) -> bool {
    fill(vector, neutral::<T>(operator))
}

pub(super) fn identity_of_complex<T: Number>(operator: Operator, vector: &mut [u8]) -> bool {
    let with = match operator {
        Operator::Sum => Some(Complex(T::ZERO, T::ZERO)),
        Operator::Product => Some(Complex(T::ONE, T::ZERO)),
        _ => None,
    };
    fill(vector, with)
}
