//! Packing and unpacking of items, in XDR and raw, dense or with a stride.

use crate::buffers::buffer::{Class, Packed, Packing};
use crate::errors::Pvm;
use parvum_wire::xdr::{self, Element};

/// An item type of PVM: how many numbers it has, and their class on the wire.
pub(crate) trait Item {
    /// The number it is made of.
    type Number: Element;
    /// How many of them: complex numbers have two.
    const NUMBERS: usize;
    /// Their class.
    const CLASS: Class;
}

/// `NUMBERS` numbers of type `T`, of class number `CLASS`.
pub(crate) struct Of<T, const NUMBERS: usize>(std::marker::PhantomData<T>);

macro_rules! items {
    ($($type:ty, $numbers:literal => $class:ident;)*) => {$(
        impl Item for Of<$type, $numbers> {
            type Number = $type;
            const NUMBERS: usize = $numbers;
            const CLASS: Class = Class::$class;
        }
    )*};
}

items! {
    u8, 1 => Byte;
    i16, 1 => Int;
    u16, 1 => Int;
    i32, 1 => Int;
    u32, 1 => Int;
    i64, 1 => Long;
    u64, 1 => Long;
    f32, 1 => Float;
    f32, 2 => Float;
    f64, 1 => Double;
    f64, 2 => Double;
}

/// Appends numbers that the caller enumerates in order.
pub(crate) fn append<I: Item>(
    packed: &mut Packed,
    numbers: impl ExactSizeIterator<Item = I::Number>,
) -> Pvm<()> {
    if packed.packing == Packing::Xdr {
        let bytes = numbers.len() * I::Number::WIRE;
        packed.admit(bytes)?;
        xdr::encode(numbers, packed.open());
        packed.add_run(I::CLASS, bytes);
    }
    Ok(())
}

/// Appends bytes as they are.
pub(crate) fn append_raw(packed: &mut Packed, bytes: &[u8]) -> Pvm<()> {
    packed.admit(bytes.len())?;
    packed.open().extend_from_slice(bytes);
    Ok(())
}

/// The room for this number of bytes of a class: XDR extends items below four bytes to four bytes.
pub(crate) fn padded(bytes: usize, class: Class, xdr: bool) -> usize {
    if xdr && class == Class::Byte { bytes.next_multiple_of(4) } else { bytes }
}

/// Appends `count` bytes that `write` writes, filled up as XDR wants it: each call's bytes for themselves.
pub(crate) fn append_bytes(packed: &mut Packed, count: usize, write: impl FnOnce(&mut Vec<u8>)) -> Pvm<()> {
    let room = padded(count, Class::Byte, packed.packing == Packing::Xdr);
    packed.admit(room)?;
    let data = packed.open();
    let end = data.len() + room;
    write(data);
    data.resize(end, 0);
    packed.add_run(Class::Byte, room);
    Ok(())
}

/// Appends a string without its end: its length, the end counted, then the bytes and the end.
pub(crate) fn append_text(packed: &mut Packed, text: &[u8]) -> Pvm<()> {
    let length = text.len() + 1;
    let pad = if packed.packing == Packing::Xdr { length.next_multiple_of(4) - length } else { 0 };
    packed.admit(4 + length + pad)?;
    let counted = length as u32;
    let packing = packed.packing;
    let data = packed.open();
    match packing {
        Packing::Xdr => data.extend_from_slice(&counted.to_be_bytes()),
        Packing::Raw | Packing::InPlace => data.extend_from_slice(&counted.to_ne_bytes()),
    }
    data.extend_from_slice(text);
    data.resize(data.len() + 1 + pad, 0);
    packed.add_run(Class::Text, 4 + length + pad);
    Ok(())
}

/// How long the packed form of a string is, given its first four bytes; with the padding.
pub(crate) fn text_lengths(xdr: bool, head: [u8; 4]) -> (usize, usize) {
    let length = if xdr { u32::from_be_bytes(head) } else { u32::from_ne_bytes(head) } as usize;
    let padded = if xdr { length.next_multiple_of(4) } else { length };
    (length, 4 + padded)
}
