//! Packing to and from external32, MPI's representation that any implementation on any machine reads.

#![allow(unsafe_code, reason = "it reads and fills memory that only the caller vouches for")]

use crate::data::walk::total;
use crate::external::convert::Number;
use crate::types::{Map, Member};
use crate::wrong::Wrong;
use crate::{Basic, Type};
use std::ptr::{copy_nonoverlapping, with_exposed_provenance, with_exposed_provenance_mut};

/// Bytes that `count` items take in external32.
pub fn size_external(ty: &Type, count: i64) -> u64 {
    (ty.0.facts.external as u64).saturating_mul(count.max(0) as u64)
}

/// Writes the data of `count` items at `from` to the beginning of `out`, in external32. Returns how many bytes that took. After an
/// error what `out` holds is of no use.
///
/// # Safety
/// All data of the items can be read, and none lies in `out`. With a null `from` displacements are addresses.
pub unsafe fn pack_external(ty: &Type, count: i64, from: *const u8, out: &mut [u8]) -> Result<usize, Wrong> {
    let needed = size_external(ty, count);
    let room = room_for(needed, out.len())?;
    let (mut out, mut memory) = (&mut out[..room], [0; 16]);
    each(ty, count, from.expose_provenance(), &mut |number, name, at| {
        let (size, external) = (number.size(), number.external());
        // SAFETY: the caller vouches for it; a number has up to 16 bytes.
        unsafe { copy_nonoverlapping(with_exposed_provenance(at), memory.as_mut_ptr(), size) };
        let (now, later) = std::mem::take(&mut out).split_at_mut(external);
        out = later;
        number.write(name, &memory[..size], now)
    })?;
    Ok(room)
}

/// Fills `count` items at `to` from the beginning of `data`, which is external32. Returns how many bytes were read.
///
/// # Safety
/// All data of the items can be written, and none lies in `data`. With a null `to` displacements are addresses.
pub unsafe fn unpack_external(ty: &Type, count: i64, to: *mut u8, data: &[u8]) -> Result<usize, Wrong> {
    let needed = size_external(ty, count);
    let room = room_for(needed, data.len())?;
    let (mut data, mut memory) = (&data[..room], [0; 16]);
    each(ty, count, to.expose_provenance(), &mut |number, _, at| {
        let (size, external) = (number.size(), number.external());
        number.read(&data[..external], &mut memory[..size]);
        data = &data[external..];
        // SAFETY: the caller vouches for it; a number has up to 16 bytes.
        unsafe { copy_nonoverlapping(memory.as_ptr(), with_exposed_provenance_mut(at), size) };
        Ok(())
    })?;
    Ok(room)
}

fn room_for(needed: u64, has: usize) -> Result<usize, Wrong> {
    match usize::try_from(needed) {
        Ok(needed) if needed <= has => Ok(needed),
        _ => Err(Wrong::Short { needed, has: has as u64 }),
    }
}

/// What is done with a number, its type's name, and its address.
type Visit<'a> = dyn FnMut(Number, &'static str, usize) -> Result<(), Wrong> + 'a;

/// Visits every number of `count` items at `base`, in the order of the type map.
fn each(ty: &Type, count: i64, base: usize, visit: &mut Visit<'_>) -> Result<(), Wrong> {
    if total(ty, count) == 0 {
        return Ok(());
    }
    row(ty, count, base, visit)
}

fn row(ty: &Type, count: i64, base: usize, visit: &mut Visit<'_>) -> Result<(), Wrong> {
    let extent = ty.extent() as usize;
    match &ty.0.map {
        Map::Basic(basic) => match basic.parts() {
            None => numbers(*basic, count, base, extent, visit),
            Some((first, second, behind)) => (0..count as usize).try_for_each(|item| {
                let at = base.wrapping_add(extent.wrapping_mul(item));
                numbers(first, 1, at, 0, visit)?;
                numbers(second, 1, at.wrapping_add(behind as usize), 0, visit)
            }),
        },
        map => (0..count as usize)
            .try_for_each(|item| one(map, base.wrapping_add(extent.wrapping_mul(item)), visit)),
    }
}

fn one(map: &Map, base: usize, visit: &mut Visit<'_>) -> Result<(), Wrong> {
    match map {
        Map::Basic(basic) => row(&Type::basic(*basic), 1, base, visit),
        Map::Same(of) => row(of, 1, base, visit),
        Map::Grid { count, stride, block, of } => (0..*count as usize).try_for_each(|index| {
            row(of, *block, base.wrapping_add((*stride as usize).wrapping_mul(index)), visit)
        }),
        Map::Members(members) => members
            .iter()
            .try_for_each(|Member { at, count, of }| row(of, *count, base.wrapping_add(*at as usize), visit)),
    }
}

/// The numbers of `count` elements.
fn numbers(basic: Basic, count: i64, base: usize, extent: usize, visit: &mut Visit<'_>) -> Result<(), Wrong> {
    let (number, parts) = Number::of(basic);
    for item in 0..count as usize {
        for part in 0..parts {
            let at = base.wrapping_add(extent.wrapping_mul(item)).wrapping_add(part * number.size());
            visit(number, basic.name(), at)?;
        }
    }
    Ok(())
}
