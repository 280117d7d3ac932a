//! One element to and from external32: the other byte order, and the other length where it has one.

use crate::wrong::Wrong;
use crate::{Basic, Class};

/// How a number is converted. Complex ones are two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// As many bytes, the highest first.
    Same(usize),
    /// 8 bytes with a sign, 4 in external32.
    Long,
    /// 8 bytes without sign, 4 in external32.
    UnsignedLong,
    /// 4 bytes, 2 in external32.
    Wide,
    /// The extended format of x86 in 16 bytes, binary128 in external32.
    Extended,
}

impl Number {
    /// Of the numbers of an element that is no pair: how they are converted, and how many an element has.
    pub fn of(basic: Basic) -> (Number, usize) {
        match basic {
            Basic::Long => (Number::Long, 1),
            Basic::UnsignedLong => (Number::UnsignedLong, 1),
            Basic::Wchar => (Number::Wide, 1),
            Basic::LongDouble => (Number::extended(), 1),
            Basic::ComplexLongDouble | Basic::CxxComplexLongDouble => (Number::extended(), 2),
            basic if basic.class() == Class::Complex => (Number::Same(basic.size() as usize / 2), 2),
            basic => (Number::Same(basic.size() as usize), 1),
        }
    }

    fn extended() -> Number {
        if cfg!(target_arch = "x86_64") { Number::Extended } else { Number::Same(16) }
    }

    /// Bytes in memory.
    pub fn size(self) -> usize {
        match self {
            Number::Same(size) => size,
            Number::Long | Number::UnsignedLong => 8,
            Number::Wide => 4,
            Number::Extended => 16,
        }
    }

    /// Bytes in external32.
    pub fn external(self) -> usize {
        match self {
            Number::Same(size) => size,
            Number::Long | Number::UnsignedLong => 4,
            Number::Wide => 2,
            Number::Extended => 16,
        }
    }

    /// From memory to external32. Both are as long as [`Number::size`] and [`Number::external`] say.
    pub fn write(self, name: &'static str, memory: &[u8], out: &mut [u8]) -> Result<(), Wrong> {
        let long = |value: i128, bytes| Wrong::Unrepresentable { name, value, bytes };
        match self {
            Number::Same(_) => turned(memory, out),
            Number::Long => {
                let value = i64::from_ne_bytes(array(memory));
                let short = i32::try_from(value).map_err(|_| long(value.into(), 4))?;
                out.copy_from_slice(&short.to_be_bytes());
            }
            Number::UnsignedLong => {
                let value = u64::from_ne_bytes(array(memory));
                let short = u32::try_from(value).map_err(|_| long(value.into(), 4))?;
                out.copy_from_slice(&short.to_be_bytes());
            }
            Number::Wide => {
                let value = u32::from_ne_bytes(array(memory));
                let short = u16::try_from(value).map_err(|_| long(value.into(), 2))?;
                out.copy_from_slice(&short.to_be_bytes());
            }
            Number::Extended => {
                out.copy_from_slice(&quadruple(u128::from_ne_bytes(array(memory))).to_be_bytes());
            }
        }
        Ok(())
    }

    /// From external32 to memory. Both are as long as [`Number::external`] and [`Number::size`] say.
    pub fn read(self, data: &[u8], memory: &mut [u8]) {
        match self {
            Number::Same(_) => turned(data, memory),
            Number::Long => {
                memory.copy_from_slice(&i64::from(i32::from_be_bytes(array(data))).to_ne_bytes());
            }
            Number::UnsignedLong => {
                memory.copy_from_slice(&u64::from(u32::from_be_bytes(array(data))).to_ne_bytes());
            }
            Number::Wide => memory.copy_from_slice(&u32::from(u16::from_be_bytes(array(data))).to_ne_bytes()),
            Number::Extended => {
                memory.copy_from_slice(&extended(u128::from_be_bytes(array(data))).to_ne_bytes());
            }
        }
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("as long as the number")
}

/// The bytes in the other order, if the host's is not external32's.
fn turned(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
    if cfg!(target_endian = "little") {
        to.reverse();
    }
}

const INFINITE: u128 = 0x7fff;
/// Bits of fraction that binary128 has and the extended format has not.
const MORE: u32 = 112 - 63;

/// x86's extended format (sign, 15 bits of exponent, then 64 bits with the leading one) as binary128, which holds all of it.
fn quadruple(extended: u128) -> u128 {
    let (sign, mut exponent) = (extended >> 79 & 1, extended >> 64 & 0x7fff);
    let (leading, mut fraction) = (extended >> 63 & 1, extended & ((1 << 63) - 1));
    match (exponent, leading) {
        // Below the normal numbers, but with a leading one: it is the least of them or a little above.
        (0, 1) => exponent = 1,
        (0, _) | (INFINITE, _) | (_, 1) => {}
        // No number, says the processor.
        _ => (exponent, fraction) = (INFINITE, 1 << 62),
    }
    sign << 127 | exponent << 112 | fraction << MORE
}

/// The number of the extended format that is nearest to one of binary128, of two the even one.
fn extended(quadruple: u128) -> u128 {
    let (sign, exponent) = (quadruple >> 127, quadruple >> 112 & 0x7fff);
    let fraction = quadruple & ((1 << 112) - 1);
    let (kept, rest) = (fraction >> MORE, fraction & ((1 << MORE) - 1));
    let leading = u128::from(exponent > 0) << 63;
    let (exponent, significand) = if exponent == INFINITE {
        // A "not a number" must not become infinite when its low bits go.
        let lost = kept == 0 && rest > 0;
        (exponent, leading | kept | u128::from(lost) << 62)
    } else {
        let half = 1 << (MORE - 1);
        let up = rest > half || rest == half && kept & 1 == 1;
        match (leading | kept) + u128::from(up) {
            rounded if rounded >> 64 == 1 => (exponent + 1, 1 << 63),
            rounded if exponent == 0 && rounded >> 63 == 1 => (1, rounded),
            rounded => (exponent, rounded),
        }
    };
    sign << 79 | exponent << 64 | significand
}
