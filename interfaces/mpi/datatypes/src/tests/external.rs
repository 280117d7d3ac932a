//! external32 against strings written by hand.

#![allow(unsafe_code, reason = "it calls what is tested")]

use super::model::{Dice, random};
use crate::external::convert::Number;
use crate::{Basic, Class, Type, Wrong, pack_external, size_external, unpack_external};

/// What one element of a basic type is in external32, as hexadecimal digits, checked there and back.
fn round_trip(basic: Basic, memory: &[u8]) -> String {
    let ty = Type::basic(basic);
    let mut out = vec![0; size_external(&ty, 1) as usize];
    // SAFETY: `memory` is one element.
    let done = unsafe { pack_external(&ty, 1, memory.as_ptr(), &mut out) };
    assert_eq!(done, Ok(out.len()), "{basic:?}");
    let mut back = memory.to_vec();
    back.iter_mut().for_each(|byte| *byte = !*byte);
    // SAFETY: as above.
    let done = unsafe { unpack_external(&ty, 1, back.as_mut_ptr(), &out) };
    assert_eq!(done, Ok(out.len()), "{basic:?}");
    assert_eq!(back, memory, "{basic:?}");
    out.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn external32_numbers_are_big_endian() {
    assert_eq!(round_trip(Basic::Int, &(-2_i32).to_ne_bytes()), "fffffffe");
    assert_eq!(round_trip(Basic::Short, &0x1234_i16.to_ne_bytes()), "1234");
    assert_eq!(round_trip(Basic::LongLong, &5_000_000_000_i64.to_ne_bytes()), "000000012a05f200");
    assert_eq!(round_trip(Basic::Aint, &16_i64.to_ne_bytes()), "0000000000000010");
    assert_eq!(round_trip(Basic::Double, &1.0_f64.to_ne_bytes()), "3ff0000000000000");
    assert_eq!(round_trip(Basic::Float, &(-1.5_f32).to_ne_bytes()), "bfc00000");
    assert_eq!(round_trip(Basic::Logical, &1_i32.to_ne_bytes()), "00000001");
    assert_eq!(round_trip(Basic::Byte, &[0xa5]), "a5");
    let complex = [1.0_f32.to_ne_bytes(), 2.0_f32.to_ne_bytes()].concat();
    assert_eq!(round_trip(Basic::ComplexFloat, &complex), "3f80000040000000");
    assert_eq!(round_trip(Basic::Integer16, &0x0102_i128.to_ne_bytes()), "00000000000000000000000000000102");
}

#[test]
fn external32_shortens_long_and_wide_characters() {
    assert_eq!(round_trip(Basic::Long, &(-2_i64).to_ne_bytes()), "fffffffe");
    assert_eq!(round_trip(Basic::UnsignedLong, &0xffff_ffff_u64.to_ne_bytes()), "ffffffff");
    assert_eq!(round_trip(Basic::Wchar, &0xe9_u32.to_ne_bytes()), "00e9");
    let refused = |basic: Basic, memory: &[u8]| {
        // SAFETY: `memory` is one element.
        unsafe { pack_external(&Type::basic(basic), 1, memory.as_ptr(), &mut [0; 16]) }.unwrap_err()
    };
    assert_eq!(
        refused(Basic::Long, &5_000_000_000_i64.to_ne_bytes()).to_string(),
        "a value of MPI_LONG, 5000000000, does not fit the 4 bytes that external32 has for it"
    );
    for (basic, value) in [(Basic::UnsignedLong, 1_u64 << 32), (Basic::Wchar, 0x1_f600)] {
        let wrong = refused(basic, &value.to_le_bytes());
        let expected =
            Wrong::Unrepresentable { name: basic.name(), value: value.into(), bytes: basic.external_size() };
        assert_eq!(wrong, expected);
    }
}

/// 16 bytes of x86's format: sign and exponent, significand.
fn extended(head: u16, significand: u64) -> Vec<u8> {
    [&significand.to_le_bytes()[..], &head.to_le_bytes(), &[0; 6]].concat()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn external32_long_double_is_binary128() {
    let long_double = |head, significand| round_trip(Basic::LongDouble, &extended(head, significand));
    // 1, -2.5, 0, infinity, the least number above 0, the least normal one, one that is not a number.
    assert_eq!(long_double(0x3fff, 1 << 63), "3fff0000000000000000000000000000");
    assert_eq!(long_double(0xc000, 5 << 61), "c0004000000000000000000000000000");
    assert_eq!(long_double(0, 0), "00000000000000000000000000000000");
    assert_eq!(long_double(0x7fff, 1 << 63), "7fff0000000000000000000000000000");
    assert_eq!(long_double(0, 1), "00000000000000000002000000000000");
    assert_eq!(long_double(1, 1 << 63), "00010000000000000000000000000000");
    assert_eq!(long_double(0x7fff, 3 << 62), "7fff8000000000000000000000000000");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn external32_binary128_rounds_to_nearest() {
    let read = |text: u128| {
        let mut memory = [0; 16];
        Number::Extended.read(&text.to_be_bytes(), &mut memory);
        memory.to_vec()
    };
    let one = 0x3fff_u128 << 112;
    let lost = 1_u128 << 48;
    // Half of the last bit goes to the even one; a little more goes up.
    assert_eq!(read(one | lost), extended(0x3fff, 1 << 63));
    assert_eq!(read(one | lost | 1), extended(0x3fff, 1 << 63 | 1));
    assert_eq!(read(one | lost | 1 << 49), extended(0x3fff, 1 << 63 | 2));
    // Rounding carries into the exponent, at most to infinity.
    assert_eq!(read(0x3fff << 112 | ((1 << 112) - 1)), extended(0x4000, 1 << 63));
    assert_eq!(read(0x7ffe << 112 | ((1 << 112) - 1)), extended(0x7fff, 1 << 63));
    assert_eq!(read((1 << 112) - 1), extended(1, 1 << 63));
    // What is not a number stays so, though its only bit is lost.
    assert_eq!(read(0x7fff << 112 | 1), extended(0x7fff, 3 << 62));
}

#[test]
fn external32_packs_derived_types_by_their_maps() {
    let (short, pair) = (Type::basic(Basic::Short), Type::basic(Basic::ShortInt));
    let column = Type::vector(2, 1, 2, &short).unwrap();
    let ty = Type::structure(&[1, 1], &[8, 0], &[column, pair]).unwrap();
    assert_eq!(size_external(&ty, 1), 10);
    let memory: Vec<u8> = [7_i16, 0].iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
    let memory =
        [&memory[..], &9_i32.to_ne_bytes(), &1_i16.to_ne_bytes(), &[0; 2], &2_i16.to_ne_bytes()].concat();
    let mut out = [0; 10];
    // SAFETY: `memory` is one item.
    assert_eq!(unsafe { pack_external(&ty, 1, memory.as_ptr(), &mut out) }, Ok(10));
    assert_eq!(out, [0, 1, 0, 2, 0, 7, 0, 0, 0, 9]);
    // SAFETY: as above; it is refused anyway.
    let short = unsafe { pack_external(&ty, 1, memory.as_ptr(), &mut out[..9]) };
    assert_eq!(short.unwrap_err().to_string(), "the packed data takes 10 bytes, and the buffer has 9");
}

#[test]
fn external32_random_types_round_trip() {
    for seed in 0..1000 {
        let mut dice = Dice(seed ^ 0xe32);
        let depth = dice.roll(0, 3) as usize;
        let (ty, model) = random(&mut dice, depth);
        let count = dice.roll(0, 2);
        let places = model.bytes(count);
        let mut numbers = model.map.iter().map(|(basic, _)| Number::of(*basic).0);
        let lossy = numbers.any(|number| number.size() != number.external() || number == Number::Extended);
        // What two elements share differs after one of them is turned.
        let mut apart = places.clone();
        apart.sort_unstable();
        apart.dedup();
        if lossy || apart.len() < places.len() || places.is_empty() {
            continue;
        }
        let (low, high) = (apart[0], apart[apart.len() - 1]);
        let memory: Vec<u8> = (low..=high).map(|_| dice.next() as u8).collect();
        let zero = |start: *const u8| start.wrapping_offset(-low as isize);
        let mut out = vec![0; size_external(&ty, count) as usize];
        // SAFETY: `memory` spans the places of all bytes.
        unsafe { pack_external(&ty, count, zero(memory.as_ptr()), &mut out) }.unwrap();
        let mut wanted = Vec::new();
        let mut byte = places.iter().map(|place| memory[(place - low) as usize]);
        for (basic, _) in (0..count).flat_map(|_| &model.map) {
            let parts = if basic.class() == Class::Complex { 2 } else { 1 };
            for _ in 0..parts {
                let number: Vec<u8> = byte.by_ref().take((basic.size() / parts) as usize).collect();
                wanted.extend(number.iter().rev());
            }
        }
        assert_eq!(out, wanted, "{ty:?} x {count}");
        let mut back = memory.clone();
        places.iter().for_each(|place| back[(place - low) as usize] ^= 0xff);
        // SAFETY: as above.
        unsafe { unpack_external(&ty, count, back.as_mut_ptr().wrapping_offset(-low as isize), &out) }
            .unwrap();
        assert_eq!(back, memory, "{ty:?} x {count}");
    }
}
