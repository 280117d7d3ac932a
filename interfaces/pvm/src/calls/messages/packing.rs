//! Buffers, packing and unpacking: pvm_initsend(3) ... pvm_upkulong(3).

use crate::buffers::buffer::{Arrived, Buffer, Class, Packed, Packing};
use crate::buffers::pack::{Item, Of, append, append_bytes, append_raw, append_text, padded, text_lengths};
use crate::calls::{bytes_of, text};
use crate::errors::{Pvm, PvmError};
use crate::state::{Locked, call};
use crate::trace::{Did, numbers};
use parvum_api::pointers::{Out, Text};
use parvum_wire::xdr::{self, Element};
use std::ffi::{c_char, c_double, c_float, c_int, c_long, c_short, c_uint, c_ulong, c_ushort};

/// Clears the send buffer and sets how the next message is packed.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_initsend(encoding: c_int) -> c_int {
    call("pvm_initsend", |state| {
        state.about(|| numbers([(Did::Encoding, encoding)]));
        let packing = Packing::from_number(encoding)?;
        Ok(state.begin(packing))
    })
}

/// Makes a new message buffer.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_mkbuf(encoding: c_int) -> c_int {
    call("pvm_mkbuf", |state| Packing::from_number(encoding).map(|packing| state.make(packing)))
}

/// Disposes of a message buffer.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_freebuf(id: c_int) -> c_int {
    call("pvm_freebuf", |state| {
        // The result of getsbuf and getrbuf if there is no buffer.
        if id == 0 {
            return Ok(0);
        }
        state.buffer(id)?;
        state.free(id);
        if state.sending == id {
            state.sending = 0;
        }
        if state.receiving == id {
            state.receiving = 0;
        }
        Ok(0)
    })
}

/// The active send buffer's id, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getsbuf() -> c_int {
    call("pvm_getsbuf", |state| Ok(state.sending))
}

/// The active receive buffer's id, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getrbuf() -> c_int {
    call("pvm_getrbuf", |state| Ok(state.receiving))
}

/// Makes another buffer the active send buffer; gives the id of the one before.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_setsbuf(id: c_int) -> c_int {
    call("pvm_setsbuf", |state| {
        state.about(|| numbers([(Did::Buffer, id)]));
        // A received message may be sent on as it is.
        if id != 0 && matches!(state.buffer(id)?, Buffer::Found(_)) {
            return Err(PvmError::NoSuchBuf);
        }
        Ok(std::mem::replace(&mut state.sending, id))
    })
}

/// Makes another buffer the active receive buffer; gives the id of the one before.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_setrbuf(id: c_int) -> c_int {
    call("pvm_setrbuf", |state| {
        state.about(|| numbers([(Did::Buffer, id)]));
        if id != 0 && !matches!(state.buffer(id)?, Buffer::Arrived(_)) {
            return Err(PvmError::NoSuchBuf);
        }
        Ok(std::mem::replace(&mut state.receiving, id))
    })
}

/// Length, tag and sender of a message.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_bufinfo(
    id: c_int,
    bytes: Out<'_, c_int>,
    tag: Out<'_, c_int>,
    tid: Out<'_, c_int>,
) -> c_int {
    call("pvm_bufinfo", |state| {
        let info = state.info(id)?;
        let length = match state.buffer(id)? {
            Buffer::Packed(packed) => packed.length(),
            Buffer::Arrived(arrived) => arrived.length,
            Buffer::Found(found) => {
                (found.length as usize).saturating_sub(crate::buffers::buffer::table_length(found.meta))
            }
        };
        // The sender of a message that this task packs is this task.
        let from = info.from.unwrap_or_else(|| state.me().map_or(0, |me| me.tid));
        bytes.put(c_int::try_from(length).unwrap_or(c_int::MAX));
        tag.put(info.tag);
        tid.put(from);
        Ok(0)
    })
}

/// The steps from item to item, in numbers, and the number of items. Invalid values are errors.
fn shape<I: Item>(start: *const I::Number, count: c_int, stride: c_int) -> Pvm<(usize, isize)> {
    let count = usize::try_from(count).map_err(|_| PvmError::BadParam)?;
    if count > 0 && start.is_null() {
        return Err(PvmError::BadParam);
    }
    Ok((count, stride as isize * I::NUMBERS as isize))
}

/// Shorter items are copied when they are packed, also with in-place encoding. This is cheaper than storing their
/// addresses, and `pvm_packf` can pack values.
const WORTH_LEAVING: usize = 256;

/// Packs `count` items, each `stride` items after the one before.
///
/// # Safety
/// The items must be readable.
unsafe fn pack<I: Item>(
    state: &mut Locked,
    start: *const I::Number,
    count: c_int,
    stride: c_int,
) -> Pvm<i32> {
    state.about(|| numbers([(Did::PackCount, count), (Did::PackStride, stride)]));
    state.packing()?;
    let (count, step) = shape::<I>(start, count, stride)?;
    if count == 0 {
        return Ok(0);
    }
    let bytes = count * I::NUMBERS * size_of::<I::Number>();
    // SAFETY: the caller's promise.
    state.on_packed(bytes, |packed| unsafe { pack_into::<I>(packed, start, count, step) })
}

/// Packs `count` items, each `step` numbers after the one before.
///
/// # Safety
/// The items must be readable.
unsafe fn pack_into<I: Item>(
    packed: &mut Packed,
    start: *const I::Number,
    count: usize,
    step: isize,
) -> Pvm<i32> {
    let numbers = count * I::NUMBERS;
    let number = |at: usize| {
        let (item, part) = (at / I::NUMBERS, at % I::NUMBERS);
        // SAFETY: the program promises that each item is `step` numbers after the previous item; the read assumes no
        // alignment.
        unsafe { start.offset(item as isize * step + part as isize).read_unaligned() }
    };
    let dense = step == I::NUMBERS as isize || count == 1;
    let bytes = numbers * size_of::<I::Number>();
    match packed.packing {
        Packing::Xdr if I::CLASS == Class::Byte && dense => {
            // SAFETY: dense items are one range of memory.
            let items = unsafe { std::slice::from_raw_parts(start.cast(), bytes) };
            append_bytes(packed, bytes, |data| data.extend_from_slice(items))?;
        }
        Packing::Xdr if I::CLASS == Class::Byte => {
            append_bytes(packed, bytes, |data| xdr::encode((0..numbers).map(number), data))?;
        }
        Packing::Xdr => append::<I>(packed, (0..numbers).map(number))?,
        Packing::InPlace if dense && bytes >= WORTH_LEAVING => {
            packed.admit(bytes)?;
            packed.leave(start.cast(), bytes);
        }
        Packing::Raw | Packing::InPlace if dense => {
            // SAFETY: dense items are one range of memory.
            append_raw(packed, unsafe { std::slice::from_raw_parts(start.cast(), bytes) })?;
        }
        // Items that are not dense are gathered now, in place or not.
        Packing::Raw | Packing::InPlace => {
            packed.admit(bytes)?;
            for at in 0..numbers {
                let item = number(at);
                // SAFETY: a number is plain bytes.
                let raw =
                    unsafe { std::slice::from_raw_parts((&raw const item).cast(), size_of::<I::Number>()) };
                append_raw(packed, raw)?;
            }
        }
    }
    Ok(0)
}

/// Unpacks `count` items, each to `stride` items after the one before. Takes nothing on an error.
///
/// # Safety
/// The items must be writable.
unsafe fn unpack<I: Item>(
    state: &mut Locked,
    start: *mut I::Number,
    count: c_int,
    stride: c_int,
) -> Pvm<i32> {
    state.about(|| numbers([(Did::PackCount, count), (Did::PackStride, stride)]));
    state.unpacking()?;
    let (count, step) = shape::<I>(start, count, stride)?;
    let numbers = count * I::NUMBERS;
    let dense = step == I::NUMBERS as isize || count == 1;
    if state.unpacking()?.message.is_remote() {
        if dense {
            // SAFETY: dense items are one range of the program's memory.
            return unsafe { unpack_remote(state, I::CLASS, start.cast(), numbers * size_of::<I::Number>()) };
        }
        state.bring(state.receiving)?;
    }
    let bytes = numbers * size_of::<I::Number>();
    // SAFETY: the caller's promise.
    state.on_arrived(bytes, |arrived| unsafe { unpack_from::<I>(arrived, start, count, step) })
}

/// Unpacks `count` items, each to `step` numbers after the one before. Takes nothing on an error.
///
/// # Safety
/// The items must be writable.
unsafe fn unpack_from<I: Item>(
    arrived: &mut Arrived,
    start: *mut I::Number,
    count: usize,
    step: isize,
) -> Pvm<i32> {
    let numbers = count * I::NUMBERS;
    let dense = step == I::NUMBERS as isize || count == 1;
    let size = if arrived.xdr { I::Number::WIRE } else { size_of::<I::Number>() };
    let at = arrived.take(I::CLASS, padded(numbers * size, I::CLASS, arrived.xdr))?;
    let bytes = &bytes_of(&arrived.message)[at..at + numbers * size];
    let place = |at: usize| {
        let (item, part) = (at / I::NUMBERS, at % I::NUMBERS);
        // SAFETY: inside the memory that the program gave for its items.
        unsafe { start.offset(item as isize * step + part as isize) }
    };
    let as_is = !arrived.xdr || I::CLASS == Class::Byte;
    if as_is && dense && count > 0 {
        // SAFETY: dense items are one range of the program's memory, and the message is elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast(), bytes.len()) };
    } else if as_is {
        for (at, raw) in bytes.chunks_exact(size).enumerate() {
            // SAFETY: room for one number; nothing is assumed of its alignment.
            unsafe { std::ptr::copy_nonoverlapping(raw.as_ptr(), place(at).cast(), size) };
        }
    } else {
        for (at, number) in xdr::decode::<I::Number>(bytes).enumerate() {
            // SAFETY: as above.
            unsafe { place(at).write_unaligned(number) };
        }
    }
    Ok(0)
}

/// Unpacks raw data straight out of its sender's memory.
///
/// # Safety
/// `start` must be writable for `bytes`.
unsafe fn unpack_remote(state: &mut Locked, class: Class, start: *mut u8, bytes: usize) -> Pvm<i32> {
    let api = state.machine()?;
    state.on_arrived(bytes, |arrived| {
        let at = arrived.take(class, bytes)?;
        // SAFETY: the caller's promise.
        let read = unsafe { api.read_remote(&arrived.message, at as u64, start, bytes) };
        read.map_err(|why| {
            arrived.cursor = at;
            PvmError::from(why)
        })
    })?;
    state.release_if_read();
    Ok(0)
}

macro_rules! pack_calls {
    ($($pack:ident $unpack:ident $c:ty as $number:ty, $numbers:literal, $what:literal;)*) => {$(
        #[doc = concat!("Packs an array of ", $what, ".")]
        /// # Safety
        /// `items` must be readable as `count` items, `stride` items apart.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $pack(items: *const $c, count: c_int, stride: c_int) -> c_int {
            call(stringify!($pack), |state| {
                // SAFETY: the caller's promise.
                unsafe { pack::<Of<$number, $numbers>>(state, items.cast(), count, stride) }
            })
        }

        #[doc = concat!("Unpacks an array of ", $what, ".")]
        /// # Safety
        /// `items` must be writable as `count` items, `stride` items apart.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $unpack(items: *mut $c, count: c_int, stride: c_int) -> c_int {
            call(stringify!($unpack), |state| {
                // SAFETY: the caller's promise.
                unsafe { unpack::<Of<$number, $numbers>>(state, items.cast(), count, stride) }
            })
        }
    )*};
}

pack_calls! {
    pvm_pkbyte pvm_upkbyte c_char as u8, 1, "bytes";
    pvm_pkcplx pvm_upkcplx c_float as f32, 2, "complex numbers";
    pvm_pkdcplx pvm_upkdcplx c_double as f64, 2, "complex numbers of double precision";
    pvm_pkdouble pvm_upkdouble c_double as f64, 1, "doubles";
    pvm_pkfloat pvm_upkfloat c_float as f32, 1, "floats";
    pvm_pkint pvm_upkint c_int as i32, 1, "ints";
    pvm_pklong pvm_upklong c_long as i64, 1, "longs";
    pvm_pkshort pvm_upkshort c_short as i16, 1, "shorts";
    pvm_pkuint pvm_upkuint c_uint as u32, 1, "unsigned ints";
    pvm_pkulong pvm_upkulong c_ulong as u64, 1, "unsigned longs";
    pvm_pkushort pvm_upkushort c_ushort as u16, 1, "unsigned shorts";
}

/// Packs one number, as `pvm_pkint` does.
pub(in crate::calls) fn pack_number(state: &mut Locked, number: c_int) -> Pvm<()> {
    // SAFETY: one item, which is there.
    unsafe { pack::<Of<i32, 1>>(state, &number, 1, 1) }.map(|_| ())
}

/// Packs bytes as `pvm_pkbyte` does.
pub(in crate::calls) fn pack_bytes(state: &mut Locked, bytes: &[u8]) -> Pvm<c_int> {
    let append =
        |packed: &mut Packed| append_bytes(packed, bytes.len(), |data| data.extend_from_slice(bytes));
    state.on_packed(bytes.len(), append).map(|()| 0)
}

/// Unpacks one number, as `pvm_upkint` does.
pub(in crate::calls) fn unpack_number(state: &mut Locked) -> Pvm<c_int> {
    let mut number = 0;
    // SAFETY: room for one item.
    unsafe { unpack::<Of<i32, 1>>(state, &mut number, 1, 1) }.map(|_| number)
}

/// Unpacks this number of bytes.
pub(in crate::calls) fn unpack_bytes(state: &mut Locked, count: usize) -> Pvm<Vec<u8>> {
    state.bring(state.receiving)?;
    state.on_arrived(count, |arrived| {
        let room = padded(count, Class::Byte, arrived.xdr);
        let at = arrived.take(Class::Byte, room)?;
        Ok(bytes_of(&arrived.message)[at..at + count].to_vec())
    })
}

/// Packs a string, its end included.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_pkstr(string: Text<'_>) -> c_int {
    call("pvm_pkstr", |state| {
        let bytes = text(string)?.to_bytes();
        state.on_packed(bytes.len(), |packed| append_text(packed, bytes)).map(|()| 0)
    })
}

/// Unpacks a string, its end included.
///
/// # Safety
/// `string` must have room for the string that was packed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_upkstr(string: *mut c_char) -> c_int {
    call("pvm_upkstr", |state| {
        if string.is_null() {
            return Err(PvmError::BadParam);
        }
        state.unpacking()?;
        state.bring(state.receiving)?;
        let arrived = state.unpacking()?;
        arrived.check(Class::Text, 4)?;
        let head = bytes_of(&arrived.message)[arrived.cursor..].first_chunk().ok_or(PvmError::NoData)?;
        let (length, whole) = text_lengths(arrived.xdr, *head);
        state.on_arrived(length, |arrived| {
            let at = arrived.take(Class::Text, whole)? + 4;
            let bytes = &bytes_of(&arrived.message)[at..at + length];
            // SAFETY: the program has room for as many bytes as were packed.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), string.cast(), length) };
            Ok(0)
        })
    })
}
