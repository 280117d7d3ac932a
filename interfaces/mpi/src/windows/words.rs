//! One element of a window, of a length that the processor changes in one piece.
//!
//! It is changed so in every process that has the memory mapped, and by the target's service ([`crate::windows::serving`]): whoever
//! does it, and by whichever instruction, it is atomic with all others.

use crate::objects::datatypes::{Element, element};
use crate::objects::ops::{BIT_AND, BIT_OR, BIT_XOR, NO_OP, REPLACE, SUM, word_combine};
use parvum_collectives::operators::Combine;
use parvum_datatypes::Class;
use std::sync::atomic::Ordering::{Release, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// What is done to an element.
#[derive(Clone, Copy)]
pub(crate) enum Deed {
    /// It stays as it is.
    Look,
    Replace,
    Add,
    /// Of floating point numbers of 4 or 8 bytes.
    AddReal,
    And,
    Or,
    Xor,
    /// It is the first operand, and becomes the result.
    Combine(Combine),
}

/// The length of a type's elements, and what an operation is to the processor. `None`: that is not for it, or not permitted.
#[inline(always)]
pub(crate) fn deed(op: i32, datatype: i32) -> Option<(usize, Deed)> {
    let Element { basic, class, size, .. } = word(datatype)?;
    let is_number = matches!(class, Class::Integer | Class::Unsigned | Class::Text);
    let has_bits = is_number || class == Class::Byte;
    let deed = match op {
        SUM if is_number => Deed::Add,
        SUM if class == Class::Real && size >= 4 => Deed::AddReal,
        REPLACE => Deed::Replace,
        NO_OP => Deed::Look,
        BIT_AND if has_bits => Deed::And,
        BIT_OR if has_bits => Deed::Or,
        BIT_XOR if has_bits => Deed::Xor,
        op => Deed::Combine(word_combine(op, basic)?),
    };
    Some((size.into(), deed))
}

/// Whether several elements are one value to the program: bytes, of which an operation changes all or none.
#[inline(always)]
pub(crate) fn is_one_value(datatype: i32) -> bool {
    element(datatype).is_some_and(|element| element.class == Class::Byte)
}

/// The length of elements that may be compared as a whole, and exchanged then.
#[inline(always)]
pub(crate) fn swapped(datatype: i32) -> Option<usize> {
    let Element { class, size, .. } = word(datatype)?;
    (!matches!(class, Class::Real | Class::Complex)).then_some(size.into())
}

/// A type whose elements are words.
#[inline(always)]
fn word(datatype: i32) -> Option<Element> {
    element(datatype).filter(|it| is_word(it.size.into()) && it.class != Class::Pair)
}

/// Whether elements of so many bytes can be changed in one piece.
#[inline(always)]
pub(crate) fn is_word(size: usize) -> bool {
    matches!(size, 1 | 2 | 4 | 8)
}

/// Does something with the words at these places, as atomics of that type.
macro_rules! with_words {
    ($size:expr, $do:ident) => {
        match $size {
            8 => $do!(AtomicU64, u64),
            4 => $do!(AtomicU32, u32),
            2 => $do!(AtomicU16, u16),
            _ => $do!(AtomicU8, u8),
        }
    };
}

/// Replaces an element by what becomes of it, and gives what it was.
macro_rules! replaced {
    ($element:expr, $becomes:expr) => {{
        let mut old = $element.load(SeqCst);
        loop {
            match $element.compare_exchange_weak(old, $becomes(old), SeqCst, SeqCst) {
                Ok(_) => break old,
                Err(now) => old = now,
            }
        }
    }};
}

/// The bits of a sum, of those of two numbers.
#[inline(always)]
fn add_real(first: u64, second: u64, size: usize) -> u64 {
    match size {
        8 => (f64::from_bits(first) + f64::from_bits(second)).to_bits(),
        _ => (f32::from_bits(first as u32) + f32::from_bits(second as u32)).to_bits().into(),
    }
}

/// Changes an element. What it was goes where `result` says, unless that is null.
///
/// # Safety
/// `place` is an element of the window, aligned to its length, which is [`deed`]'s; `operand` is one of the program's, unless it is only
/// looked at, and so is `result`, if it is not null.
#[inline(always)]
pub(crate) unsafe fn change(place: *mut u8, size: usize, deed: Deed, operand: *const u8, result: *mut u8) {
    macro_rules! change_word {
        ($atomic:ty, $word:ty) => {{
            // SAFETY: the caller's promise. All who change the element at the same time do it in one piece.
            let element = unsafe { <$atomic>::from_ptr(place.cast()) };
            // SAFETY: the caller's promise.
            let operand = || unsafe { operand.cast::<$word>().read_unaligned() };
            // Sequentially consistent: with the same in whichever process changes it; programs make locks of these.
            let old = match deed {
                Deed::Look => element.load(SeqCst),
                Deed::Replace if result.is_null() => {
                    // Release: who finds it by another accumulate sees what was done before. That costs no exchange.
                    element.store(operand(), Release);
                    return;
                }
                Deed::Replace => element.swap(operand(), SeqCst),
                Deed::Add => element.fetch_add(operand(), SeqCst),
                Deed::And => element.fetch_and(operand(), SeqCst),
                Deed::Or => element.fetch_or(operand(), SeqCst),
                Deed::Xor => element.fetch_xor(operand(), SeqCst),
                Deed::AddReal => {
                    let operand = operand();
                    replaced!(element, |old: $word| add_real(old.into(), operand.into(), size) as $word)
                }
                Deed::Combine(combine) => {
                    let operand = operand().to_ne_bytes();
                    let combined = |old: $word| {
                        let mut new = old.to_ne_bytes();
                        combine(&mut new, &operand);
                        <$word>::from_ne_bytes(new)
                    };
                    replaced!(element, combined)
                }
            };
            if !result.is_null() {
                // SAFETY: the caller's promise.
                unsafe { result.cast::<$word>().write_unaligned(old) };
            }
        }};
    }
    with_words!(size, change_word);
}

/// Changes elements that nobody else accesses meanwhile, all of them as one vector: the processor then takes several at a time. `None`:
/// nothing was done, for the operands lie among them.
///
/// # Safety
/// As for [`change`], of all the elements; and a lock keeps all others from them.
pub(crate) unsafe fn change_all(
    first: *mut u8,
    (count, datatype): (i64, i32),
    op: i32,
    deed: Deed,
    operands: *const u8,
    result: *mut u8,
) -> Option<()> {
    let Element { basic, size, .. } = word(datatype)?;
    let length = count as usize * usize::from(size);
    let apart = |one: *const u8| one.addr().abs_diff(first.addr()) >= length;
    if !apart(operands) || !apart(result) {
        return None;
    }
    let combine = match deed {
        Deed::Look | Deed::Replace => None,
        _ => Some(word_combine(op, basic)?),
    };
    // SAFETY: the caller's promise; the operands and the result are not among the elements.
    unsafe {
        if !result.is_null() {
            std::ptr::copy_nonoverlapping(first, result, length);
        }
        match (deed, combine) {
            (Deed::Look, _) => {}
            (_, None) => std::ptr::copy_nonoverlapping(operands, first, length),
            (_, Some(combine)) => {
                let elements = std::slice::from_raw_parts_mut(first, length);
                combine(elements, std::slice::from_raw_parts(operands, length));
            }
        }
    }
    Some(())
}

/// Replaces an element if it is as expected. What it was goes where `result` says.
///
/// # Safety
/// As for [`change`], with a length of [`swapped`]; `result` is not null.
#[inline(always)]
pub(crate) unsafe fn swap(
    place: *mut u8,
    size: usize,
    wanted: *const u8,
    expected: *const u8,
    result: *mut u8,
) {
    macro_rules! swap_word {
        ($atomic:ty, $word:ty) => {{
            // SAFETY: the caller's promise. All who change the element at the same time do it in one piece.
            unsafe {
                let (wanted, expected) =
                    (wanted.cast::<$word>().read_unaligned(), expected.cast::<$word>().read_unaligned());
                // Sequentially consistent: as in `change`.
                let said =
                    <$atomic>::from_ptr(place.cast()).compare_exchange(expected, wanted, SeqCst, SeqCst);
                let (Ok(old) | Err(old)) = said;
                result.cast::<$word>().write_unaligned(old);
            }
        }};
    }
    with_words!(size, swap_word);
}

/// Changes an element by a function of its bytes, and gives what it was; `out` has room for it. `change` may be called several
/// times, each time with what the element is then.
///
/// # Panics
/// When elements of that length at that address cannot be changed so: no [word](is_word), or not aligned.
pub(crate) fn change_by(address: u64, out: &mut [u8], mut change: impl FnMut(&mut [u8])) {
    assert!(is_word(out.len()), "{} bytes are no word", out.len());
    macro_rules! change_word {
        ($atomic:ty, $word:ty) => {{
            let place = std::ptr::with_exposed_provenance_mut::<$word>(address as usize);
            assert!(place.is_aligned(), "checked by the caller");
            // SAFETY: the caller has checked that the window has the memory. All elements of that kind are changed so.
            let element = unsafe { <$atomic>::from_ptr(place) };
            let mut changed = |old: $word| {
                let mut new = old.to_ne_bytes();
                change(&mut new);
                <$word>::from_ne_bytes(new)
            };
            // Sequentially consistent: as in `change`.
            let old: $word = replaced!(element, changed);
            out.copy_from_slice(&old.to_ne_bytes());
        }};
    }
    with_words!(out.len(), change_word);
}
