//! Packing and unpacking: the data of items to and from one row of bytes, in any portions.

#![allow(unsafe_code, reason = "it copies from and to memory that only the caller vouches for")]

use crate::Type;
use crate::data::walk::{Action, Column, total, walk};
use std::ptr::{copy_nonoverlapping, with_exposed_provenance, with_exposed_provenance_mut};

/// Copies data of `count` items at `from` to `out`, beginning with byte `skip` of that data: as much as there is, or as `out`
/// takes. Returns how many bytes that was. So a message can be packed in portions cut anywhere.
///
/// # Safety
/// Every byte of the items' data that is copied can be read, and none lies in `out`. With a null `from` displacements are addresses.
pub unsafe fn pack(ty: &Type, count: i64, from: *const u8, skip: u64, out: &mut [u8]) -> usize {
    let length = total(ty, count).saturating_sub(skip).min(out.len() as u64) as usize;
    let mut gather = Gather { to: out.as_mut_ptr(), left: length };
    walk(ty, count, from.expose_provenance(), skip, &mut gather);
    length
}

/// Copies `data` to `count` items at `to`, as bytes `skip` and following of their data: as much as they take. Returns how many
/// bytes that was.
///
/// # Safety
/// Every byte of the items' data that is filled can be written, and none lies in `data`. With a null `to` displacements are addresses.
pub unsafe fn unpack(ty: &Type, count: i64, to: *mut u8, skip: u64, data: &[u8]) -> usize {
    let length = total(ty, count).saturating_sub(skip).min(data.len() as u64) as usize;
    let mut scatter = Scatter { from: data.as_ptr(), left: length };
    walk(ty, count, to.expose_provenance(), skip, &mut scatter);
    length
}

/// Copies the data of some items to others, as a message to oneself would: as much as both have. Returns how many bytes that was.
///
/// # Safety
/// All data of `from`'s items can be read, all of `to`'s written, and no byte of one is a byte of the other. With a null address
/// displacements are addresses.
pub unsafe fn copy_items(from: (&Type, i64, *const u8), to: (&Type, i64, *mut u8)) -> u64 {
    let length = total(from.0, from.1).min(total(to.0, to.1));
    let mut portion = [0; PORTION];
    let mut done = 0;
    while done < length {
        let many = (length - done).min(PORTION as u64) as usize;
        // SAFETY: the caller's; the portion is memory of our own.
        unsafe {
            pack(from.0, from.1, from.2, done, &mut portion[..many]);
            unpack(to.0, to.1, to.2, done, &portion[..many]);
        }
        done += many as u64;
    }
    length
}

/// Bytes that [`copy_items`] copies at a time: they stay in the nearest cache.
const PORTION: usize = 8192;

struct Gather {
    to: *mut u8,
    left: usize,
}

struct Scatter {
    from: *const u8,
    left: usize,
}

/// Calls a function with the length as a constant where that pays: such a copy is one or two instructions.
macro_rules! by_length {
    ($length:expr, $function:ident, $($argument:expr),*) => {
        match $length {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            4 => $function::<4>($($argument),*),
            8 => $function::<8>($($argument),*),
            12 => $function::<12>($($argument),*),
            16 => $function::<16>($($argument),*),
            24 => $function::<24>($($argument),*),
            32 => $function::<32>($($argument),*),
            64 => $function::<64>($($argument),*),
            _ => $function::<0>($($argument),*),
        }
    };
}

impl Action for Gather {
    const COLUMNS: bool = true;

    fn left(&self) -> u64 {
        self.left as u64
    }

    #[inline]
    fn run(&mut self, at: usize, length: u64) {
        let length = length as usize;
        // SAFETY: the caller of `pack` vouches for the memory, `left` for the room.
        unsafe {
            copy_short(with_exposed_provenance(at), self.to, length);
            self.to = self.to.add(length);
        }
        self.left -= length;
    }

    fn strided(&mut self, at: usize, stride: i64, length: u64, count: u64) {
        let (length, count) = (length as usize, count as usize);
        let from = with_exposed_provenance(at);
        // SAFETY: as in `run`, for each of the runs.
        unsafe {
            by_length!(length, gather, from, stride as isize, self.to, length, length, count);
            self.to = self.to.add(length * count);
        }
        self.left -= length * count;
    }

    fn column(&mut self, at: usize, stride: i64, column: Column, count: u64) {
        let (length, count, step) = (column.length as usize, count as usize, column.step as usize);
        let from = with_exposed_provenance(at);
        // SAFETY: as in `run`, for each of the runs; the walk is told further only by what all columns fill.
        unsafe {
            let to = self.to.add(column.skip as usize);
            by_length!(length, gather, from, stride as isize, to, step, length, count);
        }
    }

    fn pass(&mut self, bytes: u64) {
        // SAFETY: so many bytes were filled.
        self.to = unsafe { self.to.add(bytes as usize) };
        self.left -= bytes as usize;
    }

    fn places(&mut self, at: usize, places: &[i64], length: u64) {
        let length = length as usize;
        let from = with_exposed_provenance(at);
        // SAFETY: as in `run`, for each of the runs.
        unsafe {
            by_length!(length, gather_places, from, places, self.to, length);
            self.to = self.to.add(length * places.len());
        }
        self.left -= length * places.len();
    }
}

impl Action for Scatter {
    const COLUMNS: bool = true;

    fn left(&self) -> u64 {
        self.left as u64
    }

    #[inline]
    fn run(&mut self, at: usize, length: u64) {
        let length = length as usize;
        // SAFETY: the caller of `unpack` vouches for the memory, `left` for the data.
        unsafe {
            copy_short(self.from, with_exposed_provenance_mut(at), length);
            self.from = self.from.add(length);
        }
        self.left -= length;
    }

    fn strided(&mut self, at: usize, stride: i64, length: u64, count: u64) {
        let (length, count) = (length as usize, count as usize);
        let to = with_exposed_provenance_mut(at);
        // SAFETY: as in `run`, for each of the runs.
        unsafe {
            by_length!(length, scatter, self.from, length, to, stride as isize, length, count);
            self.from = self.from.add(length * count);
        }
        self.left -= length * count;
    }

    fn column(&mut self, at: usize, stride: i64, column: Column, count: u64) {
        let (length, count, step) = (column.length as usize, count as usize, column.step as usize);
        let to = with_exposed_provenance_mut(at);
        // SAFETY: as in `run`, for each of the runs; the walk is told further only by what all columns take.
        unsafe {
            let from = self.from.add(column.skip as usize);
            by_length!(length, scatter, from, step, to, stride as isize, length, count);
        }
    }

    fn pass(&mut self, bytes: u64) {
        // SAFETY: so many bytes were taken.
        self.from = unsafe { self.from.add(bytes as usize) };
        self.left -= bytes as usize;
    }

    fn places(&mut self, at: usize, places: &[i64], length: u64) {
        let length = length as usize;
        let to = with_exposed_provenance_mut(at);
        // SAFETY: as in `run`, for each of the runs.
        unsafe {
            by_length!(length, scatter_places, self.from, to, places, length);
            self.from = self.from.add(length * places.len());
        }
        self.left -= length * places.len();
    }
}

/// One run. Those of structs are often short, and a call for each would take longer than the copy.
///
/// # Safety
/// As [`copy_nonoverlapping`].
#[inline(always)]
unsafe fn copy_short(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's.
    unsafe {
        match length {
            1 => copy_nonoverlapping(from, to, 1),
            2 => copy_nonoverlapping(from, to, 2),
            4 => copy_nonoverlapping(from, to, 4),
            8 => copy_nonoverlapping(from, to, 8),
            16 => copy_nonoverlapping(from, to, 16),
            _ => copy_nonoverlapping(from, to, length),
        }
    }
}

/// `N` bytes, or with an `N` of 0 `length` bytes.
///
/// # Safety
/// As [`copy_nonoverlapping`].
#[inline(always)]
unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's.
    unsafe { copy_nonoverlapping(from, to, if N == 0 { length } else { N }) }
}

/// # Safety
/// All `count` runs can be read, and `to` takes them, each `step` bytes behind the last.
unsafe fn gather<const N: usize>(
    from: *const u8,
    stride: isize,
    to: *mut u8,
    step: usize,
    length: usize,
    count: usize,
) {
    for index in 0..count {
        // SAFETY: run `index` is one of the `count`.
        unsafe {
            let from = from.wrapping_offset(stride.wrapping_mul(index as isize));
            copy::<N>(from, to.add(index * step), length);
        }
    }
}

/// # Safety
/// All `count` runs can be written, and `from` has data for them, each `step` bytes behind the last.
unsafe fn scatter<const N: usize>(
    from: *const u8,
    step: usize,
    to: *mut u8,
    stride: isize,
    length: usize,
    count: usize,
) {
    // Of lines that lie apart the processor fetches few by itself, and none to be written.
    let apart = N != 0 && stride.unsigned_abs() >= LINE;
    let ahead = stride.wrapping_mul(AHEAD);
    for index in 0..count {
        // SAFETY: run `index` is one of the `count`.
        unsafe {
            let to = to.wrapping_offset(stride.wrapping_mul(index as isize));
            if apart {
                will_write(to.wrapping_offset(ahead));
            }
            copy::<N>(from.add(index * step), to, length);
        }
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;
/// So many runs ahead lines are fetched: as long as one takes to come from the far caches.
const AHEAD: isize = 16;

/// Fetches the line of an address, which may be any, to be written.
#[inline(always)]
fn will_write(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which reads and writes nothing, whatever the address; a processor without it takes it for nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_ET0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// # Safety
/// The runs at all places can be read, and `to` takes them.
unsafe fn gather_places<const N: usize>(from: *const u8, places: &[i64], to: *mut u8, length: usize) {
    for (index, place) in places.iter().enumerate() {
        // SAFETY: it is one of the places.
        unsafe {
            let from = from.wrapping_offset(*place as isize);
            copy::<N>(from, to.add(index * if N == 0 { length } else { N }), length);
        }
    }
}

/// # Safety
/// The runs at all places can be written, and `from` has data for them.
unsafe fn scatter_places<const N: usize>(from: *const u8, to: *mut u8, places: &[i64], length: usize) {
    for (index, place) in places.iter().enumerate() {
        // SAFETY: it is one of the places.
        unsafe {
            let to = to.wrapping_offset(*place as isize);
            copy::<N>(from.add(index * if N == 0 { length } else { N }), to, length);
        }
    }
}
