//! The program's data: an address, a count and a datatype.
//!
//! Data without holes is used where it lies. Other data is sent as pieces when they are few; else the engine has the layout copy it,
//! a part at a time, to and from where it keeps messages.

use crate::errors::{Error, Mpi, class};
use crate::objects::datatypes::{datatype, plain_size};
use crate::objects::numbers::DATATYPE_NULL;
use parvum_api::{Scattered, Space};
use parvum_datatypes::{Type, pack, unpack};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// So many pieces are sent or received in place; with more the layout copies.
const MOST_PIECES: usize = 64;
/// Likewise when they are shorter than this, on average: a copy is cheaper than so many pieces.
const SHORTEST_PIECE: usize = 256;

/// Data of the program's.
#[derive(Clone)]
pub(crate) struct Data {
    /// Where its first byte lies, when it is one run.
    start: *mut u8,
    /// Bytes of data.
    length: usize,
    /// Where it lies, when it has holes.
    holed: Option<Arc<Holed>>,
}

/// So many items of a layout.
struct Holed {
    address: *mut u8,
    count: i64,
    layout: Type,
}

// SAFETY: the memory is the program's, which promises it to whoever works on the operation.
unsafe impl Send for Data {}
// SAFETY: likewise.
unsafe impl Sync for Data {}
// SAFETY: likewise.
unsafe impl Send for Holed {}
// SAFETY: likewise.
unsafe impl Sync for Holed {}

/// Refuses a negative count.
#[inline]
pub(crate) fn checked_count(count: i64) -> Mpi<usize> {
    usize::try_from(count).map_err(|_| Error::new(class::COUNT, format!("the count is {count}")))
}

/// Data of a predefined type that lies in one run: its address and its bytes, in two registers. `None`: it is other data,
/// or wrong.
#[inline(always)]
pub(crate) fn plain(address: *const u8, count: i64, handle: i32) -> Option<(NonNull<u8>, usize)> {
    let length = usize::try_from(count).ok()?.checked_mul(plain_size(handle)?)?;
    Some((NonNull::new(address.cast_mut())?, length))
}

/// Whether two runs of these lengths have no byte in common.
#[inline(always)]
pub(crate) fn are_apart(one: NonNull<u8>, length: usize, other: NonNull<u8>, room: usize) -> bool {
    let (one, other) = (one.addr().get(), other.addr().get());
    one.saturating_add(length) <= other || other.saturating_add(room) <= one
}

impl Data {
    /// No data.
    pub(crate) const NONE: Data = Data { start: std::ptr::null_mut(), length: 0, holed: None };

    /// Data that a call names, checked.
    ///
    /// In its caller's frame: what is written in parts and then copied as a whole is waited for, see [`Error`].
    #[inline(always)]
    pub(crate) fn new(address: *const u8, count: i64, handle: i32) -> Mpi<Data> {
        let items = checked_count(count)?;
        let Some(size) = plain_size(handle) else { return Data::of(address, count, handle) };
        if address.is_null() && items > 0 {
            return Err(no_buffer());
        }
        let length = items.checked_mul(size).ok_or_else(too_long)?;
        Ok(Data { start: address.cast_mut(), length, holed: None })
    }

    #[inline(never)]
    fn of(address: *const u8, count: i64, handle: i32) -> Mpi<Data> {
        if count == 0 && handle == DATATYPE_NULL {
            return Ok(Data::NONE);
        }
        Data::of_type(address, count, &datatype(handle)?.layout)
    }

    /// Data of a layout. Its address may be null, when the layout has addresses of its own.
    pub(crate) fn of_type(address: *const u8, count: i64, layout: &Type) -> Mpi<Data> {
        let address = address.cast_mut();
        let size = layout
            .size()
            .checked_mul(count)
            .and_then(|size| usize::try_from(size).ok())
            .ok_or_else(too_long)?;
        if layout.is_dense() || size == 0 {
            if address.is_null() && size > 0 && layout.lb() == 0 {
                return Err(no_buffer());
            }
            return Ok(Data {
                start: address.wrapping_offset(layout.lb() as isize),
                length: size,
                holed: None,
            });
        }
        let holed = Holed { address, count, layout: layout.clone() };
        Ok(Data { start: address, length: size, holed: Some(Arc::new(holed)) })
    }

    /// Memory of so many bytes.
    pub(crate) fn memory(start: *mut u8, length: usize) -> Data {
        Data { start, length, holed: None }
    }

    /// Bytes of data.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The data where it lies, when it is one run.
    #[inline(always)]
    pub(crate) fn run(&self) -> Option<(*mut u8, usize)> {
        match self.holed {
            None => Some((self.start, self.length)),
            Some(_) => None,
        }
    }

    /// The data, when it is one run.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.run().map(|(start, length)| slice(start, length))
    }

    /// The same to be written.
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        let (start, length) = self.run()?;
        if length == 0 {
            return Some(&mut []);
        }
        // SAFETY: the program promises the memory of its call, and that it uses it for nothing else meanwhile.
        Some(unsafe { std::slice::from_raw_parts_mut(start, length) })
    }

    /// The pieces it lies in, when they are few, or long enough.
    fn pieces(&self) -> Option<Vec<(*const u8, usize)>> {
        let Holed { address, count, layout } = self.holed.as_deref()?;
        let pieces = layout.pieces(*count, *address, MOST_PIECES)?;
        (self.length >= pieces.len() * SHORTEST_PIECE).then_some(pieces)
    }

    /// The data in the order of its layout, without holes.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        match self.holed.as_deref() {
            // SAFETY: the program promises the memory of its call.
            None => unsafe { copy(self.start, bytes.as_mut_ptr(), self.length) },
            // SAFETY: likewise.
            Some(Holed { address, count, layout }) => unsafe {
                pack(layout, *count, *address, 0, &mut bytes);
            },
        }
        bytes
    }

    /// Puts bytes where the data shall lie, from the beginning on; what does not fit is left out.
    pub(crate) fn unpack(&self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(self.length)];
        match self.holed.as_deref() {
            // SAFETY: the program promises the memory of its call.
            None => unsafe { copy(bytes.as_ptr(), self.start, bytes.len()) },
            // SAFETY: likewise.
            Some(Holed { address, count, layout }) => unsafe {
                unpack(layout, *count, *address, 0, bytes);
            },
        }
    }

    /// So many bytes of it from one on, in the order of its layout, without holes.
    pub(crate) fn packed_part(&self, from: usize, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        match self.holed.as_deref() {
            // SAFETY: the program promises the memory of its call.
            None => unsafe { copy(self.start.wrapping_add(from), bytes.as_mut_ptr(), length) },
            // SAFETY: likewise.
            Some(Holed { address, count, layout }) => unsafe {
                pack(layout, *count, *address, from as u64, &mut bytes);
            },
        }
        bytes
    }

    /// Puts bytes where the data from byte `from` on shall lie. The caller knows that they fit.
    pub(crate) fn unpack_part(&self, from: usize, bytes: &[u8]) {
        match self.holed.as_deref() {
            // SAFETY: the program promises the memory of its call.
            None => unsafe { copy(bytes.as_ptr(), self.start.wrapping_add(from), bytes.len()) },
            // SAFETY: likewise.
            Some(Holed { address, count, layout }) => unsafe {
                unpack(layout, *count, *address, from as u64, bytes);
            },
        }
    }

    /// How it is sent, if it is no run.
    pub(crate) fn holed(&self) -> Sent<'_> {
        match self.pieces() {
            Some(pieces) => Sent::Pieces(
                pieces.into_iter().map(|(start, length)| slice(start.cast_mut(), length)).collect(),
            ),
            None => Sent::Scattered(Scattered {
                length: self.length,
                copy: give,
                layout: self.holed.as_ref().map_or(std::ptr::null(), Arc::as_ptr).cast(),
                release: None,
            }),
        }
    }

    /// Where it is received.
    pub(crate) fn room(&self) -> ReceiveInto {
        if self.holed.is_none() {
            return ReceiveInto::Run(self.start, self.length);
        }
        match self.pieces() {
            Some(pieces) => {
                let space = |(start, length): (*const u8, usize)| Space { start: start.cast_mut(), length };
                ReceiveInto::Pieces(pieces.into_iter().map(space).collect())
            }
            None => ReceiveInto::Scattered(self.copied()),
        }
    }

    /// Where it is received, if it is no run: its layout copies. It is kept until the engine lets go of it, which may be
    /// later than the operation is given up.
    pub(crate) fn copied(&self) -> Scattered {
        let layout = self.holed.clone().map_or(std::ptr::null(), Arc::into_raw).cast();
        Scattered { length: self.length, copy: take, layout, release: Some(release) }
    }
}

/// Copies a part of the data to `bytes`.
///
/// # Safety
/// The layout must be a `Holed`, and `bytes` so many.
unsafe extern "C" fn give(layout: *const c_void, from: usize, bytes: *mut u8, length: usize) {
    // SAFETY: the caller's promise, and the program's, of the memory of its call.
    unsafe {
        let Holed { address, count, layout } = &*layout.cast::<Holed>();
        pack(layout, *count, *address, from as u64, std::slice::from_raw_parts_mut(bytes, length));
    }
}

/// Copies `bytes` to a part of the data.
///
/// # Safety
/// As for [`give`].
unsafe extern "C" fn take(layout: *const c_void, from: usize, bytes: *mut u8, length: usize) {
    // SAFETY: the caller's promise, and the program's, which leaves its buffer alone until the request is over.
    unsafe {
        let Holed { address, count, layout } = &*layout.cast::<Holed>();
        unpack(layout, *count, *address, from as u64, std::slice::from_raw_parts(bytes, length));
    }
}

/// Forgets what [`Data::copied`] has kept.
///
/// # Safety
/// To be called once for it.
unsafe extern "C" fn release(layout: *const c_void) {
    // SAFETY: it is a `Holed` in an `Arc`, of which one clone was made for this.
    unsafe { Arc::decrement_strong_count(layout.cast::<Holed>()) };
}

/// What the engine is given to send of data with holes.
pub(crate) enum Sent<'d> {
    Pieces(Vec<&'d [u8]>),
    Scattered(Scattered),
}

/// What the engine is given to receive into.
pub(crate) enum ReceiveInto {
    Run(*mut u8, usize),
    Pieces(Vec<Space>),
    Scattered(Scattered),
}

#[inline(always)]
fn slice<'d>(start: *mut u8, length: usize) -> &'d [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the program promises the memory of its call until the operation is over.
    unsafe { std::slice::from_raw_parts(start, length) }
}

/// # Safety
/// Both must be memory of that length.
unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: the caller's promise. The two may be the same where a program's buffers overlap.
        unsafe { std::ptr::copy(from, to, length) };
    }
}

/// Refuses memory for so many bytes that is not there.
pub(crate) fn refuse_null(address: *const u8, length: usize) -> Mpi {
    if address.is_null() && length > 0 { Err(no_buffer()) } else { Ok(()) }
}

#[cold]
fn no_buffer() -> Error {
    Error::new(class::BUFFER, "the buffer's address is null")
}

/// Whether two runs have a byte in common. What has holes may lie in those of the other.
#[inline]
pub(crate) fn overlap(one: &Data, other: &Data) -> bool {
    let (Some((one, length)), Some((other, room))) = (one.run(), other.run()) else { return false };
    let (one, other) = (one.addr(), other.addr());
    length > 0 && room > 0 && one < other + room && other < one + length
}

#[cold]
pub(crate) fn too_long() -> Error {
    Error::new(class::COUNT, "the data would be longer than the address space")
}
