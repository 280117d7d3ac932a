//! Arithmetic on C's long double, as far as Rust has it: not at all.
//!
//! On x86-64 the numbers have 80 bits in 16 bytes; the processor's x87 unit adds and multiplies them. Elsewhere they have 128, which
//! no instruction handles, and reductions of them are refused.

use parvum_collectives::operators::{self, Operator};

/// Bytes of one.
const SIZE: usize = 16;
/// Bytes of a packed pair of one and an int.
const PAIR: usize = 20;

/// Combines vectors of them.
pub(crate) fn combine(operator: Operator) -> Option<operators::Combine> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    Some(match operator {
        Operator::Sum => |first, second| each(first, second, SIZE, |a, b| a.copy_from_slice(&x87::sum(a, b))),
        Operator::Product => {
            |first, second| each(first, second, SIZE, |a, b| a.copy_from_slice(&x87::product(a, b)))
        }
        Operator::Min => |first, second| {
            each(first, second, SIZE, |a, b| {
                if x87::less(b, a) {
                    a.copy_from_slice(b)
                }
            })
        },
        Operator::Max => |first, second| {
            each(first, second, SIZE, |a, b| {
                if x87::less(a, b) {
                    a.copy_from_slice(b)
                }
            })
        },
        Operator::BothTrue => {
            |first, second| each(first, second, SIZE, |a, b| truth(a, is_true(a) && is_true(b)))
        }
        Operator::EitherTrue => {
            |first, second| each(first, second, SIZE, |a, b| truth(a, is_true(a) || is_true(b)))
        }
        Operator::OneTrue => {
            |first, second| each(first, second, SIZE, |a, b| truth(a, is_true(a) != is_true(b)))
        }
        _ => return None,
    })
}

/// Combines vectors of complex numbers of them.
pub(crate) fn combine_complex(operator: Operator) -> Option<operators::Combine> {
    match operator {
        Operator::Sum => combine(Operator::Sum),
        Operator::Product if cfg!(target_arch = "x86_64") => Some(|first, second| {
            each(first, second, 2 * SIZE, |a, b| {
                let ((ar, ai), (br, bi)) = (a.split_at(SIZE), b.split_at(SIZE));
                let minus = x87::product(ai, bi);
                let real = x87::sum(&x87::product(ar, br), &x87::negated(&minus));
                let imaginary = x87::sum(&x87::product(ar, bi), &x87::product(ai, br));
                a[..SIZE].copy_from_slice(&real);
                a[SIZE..].copy_from_slice(&imaginary);
            })
        }),
        _ => None,
    }
}

/// Combines packed pairs of one and where it is.
pub(crate) fn combine_pairs(operator: Operator) -> Option<operators::Combine> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    Some(match operator {
        Operator::MinAt => {
            |first, second| each(first, second, PAIR, |a, b| take_better(a, b, x87::less(b, a)))
        }
        Operator::MaxAt => {
            |first, second| each(first, second, PAIR, |a, b| take_better(a, b, x87::less(a, b)))
        }
        _ => return None,
    })
}

fn take_better(a: &mut [u8], b: &[u8], is_better: bool) {
    let place = |pair: &[u8]| i32::from_ne_bytes(pair[SIZE..].try_into().expect("four bytes"));
    let is_equal = !x87::less(a, b) && !x87::less(b, a);
    if is_better || is_equal && place(b) < place(a) {
        a.copy_from_slice(b);
    }
}

fn each(first: &mut [u8], second: &[u8], size: usize, combine: impl Fn(&mut [u8], &[u8])) {
    for (first, second) in first.chunks_exact_mut(size).zip(second.chunks_exact(size)) {
        combine(first, second);
    }
}

/// Anything but zero: all but the sign's bit, of ten bytes.
fn is_true(number: &[u8]) -> bool {
    number[..9].iter().any(|&byte| byte != 0) || number[9] & 0x7f != 0
}

fn truth(number: &mut [u8], value: bool) {
    number.fill(0);
    if value {
        // 1.0: the explicit leading bit, and the bias as exponent.
        number[7] = 0x80;
        number[8] = 0xff;
        number[9] = 0x3f;
    }
}

#[cfg(target_arch = "x86_64")]
mod x87 {
    use std::arch::asm;

    /// The sum.
    pub(crate) fn sum(a: &[u8], b: &[u8]) -> [u8; 16] {
        let (a, b, mut out) = (number(a), number(b), [0; 16]);
        // SAFETY: loads two numbers of ten bytes, and stores one; the unit's stack is empty before and after.
        unsafe {
            asm!("fld tbyte ptr [{a}]", "fld tbyte ptr [{b}]", "faddp", "fstp tbyte ptr [{out}]",
                a = in(reg) &a, b = in(reg) &b, out = in(reg) &mut out,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        out
    }

    /// The product.
    pub(crate) fn product(a: &[u8], b: &[u8]) -> [u8; 16] {
        let (a, b, mut out) = (number(a), number(b), [0; 16]);
        // SAFETY: as for the sum.
        unsafe {
            asm!("fld tbyte ptr [{a}]", "fld tbyte ptr [{b}]", "fmulp", "fstp tbyte ptr [{out}]",
                a = in(reg) &a, b = in(reg) &b, out = in(reg) &mut out,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        out
    }

    /// Whether the first is less; numbers that cannot be compared are not.
    pub(crate) fn less(a: &[u8], b: &[u8]) -> bool {
        let (a, b, less): (_, _, u8) = (number(a), number(b), 0);
        let mut less = less;
        // SAFETY: loads two numbers of ten bytes, compares and drops them.
        unsafe {
            asm!("fld tbyte ptr [{a}]", "fld tbyte ptr [{b}]", "fucomip st, st(1)", "fstp st(0)", "seta {less}",
                a = in(reg) &a, b = in(reg) &b, less = inout(reg_byte) less,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        less != 0
    }

    /// The same with the other sign.
    pub(crate) fn negated(a: &[u8; 16]) -> [u8; 16] {
        let mut out = *a;
        out[9] ^= 0x80;
        out
    }

    fn number(bytes: &[u8]) -> [u8; 16] {
        let mut all = [0; 16];
        all.copy_from_slice(&bytes[..16]);
        all
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod x87 {
    pub(crate) fn sum(_: &[u8], _: &[u8]) -> [u8; 16] {
        unreachable!("refused before")
    }
    pub(crate) fn product(_: &[u8], _: &[u8]) -> [u8; 16] {
        unreachable!("refused before")
    }
    pub(crate) fn less(_: &[u8], _: &[u8]) -> bool {
        unreachable!("refused before")
    }
    pub(crate) fn negated(_: &[u8; 16]) -> [u8; 16] {
        unreachable!("refused before")
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// A small whole number.
    fn number(value: i64) -> Vec<u8> {
        let mut bytes = vec![0; SIZE];
        if value != 0 {
            let magnitude = value.unsigned_abs();
            let shift = magnitude.leading_zeros();
            bytes[..8].copy_from_slice(&(magnitude << shift).to_le_bytes());
            let exponent = (16383 + 63 - shift as u16) | if value < 0 { 0x8000 } else { 0 };
            bytes[8..10].copy_from_slice(&exponent.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn long_doubles_combine() {
        let result = |operator, a, b| {
            let mut first = number(a);
            combine(operator).expect("for reals")(&mut first, &number(b));
            first
        };
        assert_eq!(result(Operator::Sum, 5, -7), number(-2));
        assert_eq!(result(Operator::Product, -5, 7), number(-35));
        assert_eq!((result(Operator::Min, 3, -4), result(Operator::Max, 3, -4)), (number(-4), number(3)));
        assert_eq!(
            (result(Operator::BothTrue, 3, 0), result(Operator::EitherTrue, 3, 0)),
            (number(0), number(1))
        );
        assert!(combine(Operator::And).is_none());
        let complex = |re, im| [number(re), number(im)].concat();
        let mut first = complex(1, 2);
        combine_complex(Operator::Product).expect("a product")(&mut first, &complex(3, 4));
        assert_eq!(first, complex(-5, 10));
        let pair = |value, at: i32| [number(value), at.to_ne_bytes().to_vec()].concat();
        let mut first = pair(4, 9);
        combine_pairs(Operator::MaxAt).expect("pairs")(&mut first, &pair(4, 2));
        assert_eq!(first, pair(4, 2));
    }
}
