//! Memory and functions that the program lends to a call.
//!
//! Null pointers and lengths that cannot be are refused. The library must believe the rest: that `len` bytes lie at a pointer,
//! and that they stay while an operation is under way.

use crate::errors::{Cmmd, Fault};
use parvum_api::{CoreApi, Message, Pattern, Request, SendTo};
use std::ffi::{c_int, c_void};

/// A function of the program that runs when an operation is complete.
#[derive(Clone, Copy)]
pub(crate) struct Handler(pub(crate) unsafe extern "C" fn(*mut c_int, *mut c_void));

impl Handler {
    /// Runs it. The state must not be held: it may call CMMD.
    pub(crate) fn run(self, mcb: i32, arg: usize) {
        let mut mcb = mcb;
        // SAFETY: the program gave the function for this, with the argument.
        unsafe { (self.0)(&mut mcb, arg as *mut c_void) }
    }
}

/// A function of the program that decides whether a receive matches a message.
#[derive(Clone, Copy)]
pub(crate) struct Matching(pub(crate) unsafe extern "C" fn(c_int, c_int, c_int, c_int) -> c_int);

impl Matching {
    /// Asks it.
    pub(crate) fn ask(self, wanted_node: i32, wanted_tag: i32, node: i32, tag: i32) -> bool {
        // SAFETY: the program gave the function for this.
        unsafe { (self.0)(wanted_node, wanted_tag, node, tag) != 0 }
    }
}

/// A length of the program's.
pub(crate) fn length(len: c_int) -> Cmmd<usize> {
    usize::try_from(len).map_err(|_| Fault::BadLength)
}

/// Memory of the program's, to be read.
///
/// # Safety
/// Unless null or empty, `start` must be readable for `len` bytes that do not change meanwhile.
pub(crate) unsafe fn readable<'a>(start: *const c_void, len: c_int) -> Cmmd<&'a [u8]> {
    match length(len)? {
        0 => Ok(&[]),
        _ if start.is_null() => Err(Fault::BadBuffer),
        // SAFETY: not null, and readable as the caller says.
        len => Ok(unsafe { std::slice::from_raw_parts(start.cast(), len) }),
    }
}

/// Memory of the program's, to be written.
///
/// # Safety
/// Unless null or empty, `start` must be writable for `len` bytes that nobody else uses meanwhile.
pub(crate) unsafe fn writable<'a>(start: *mut c_void, len: c_int) -> Cmmd<&'a mut [u8]> {
    match length(len)? {
        0 => Ok(&mut []),
        _ if start.is_null() => Err(Fault::BadBuffer),
        // SAFETY: not null, and writable as the caller says.
        len => Ok(unsafe { std::slice::from_raw_parts_mut(start.cast(), len) }),
    }
}

/// The bytes of a message that was received into a block.
pub(crate) fn bytes_of(message: &Message) -> &[u8] {
    if message.data.is_null() {
        return &message.inline[..(message.length as usize).min(message.inline.len())];
    }
    // SAFETY: the engine lends `length` bytes at `data` until the block is given back, which the owner does last.
    unsafe { std::slice::from_raw_parts(message.data, message.length as usize) }
}

/// Copies the data of a message that is with its sender still. There must be room for all of it.
pub(crate) fn copy_remote(api: CoreApi, message: &Message, room: &mut [u8]) -> Cmmd<()> {
    // SAFETY: the memory is borrowed for the call, and as long as it says.
    Ok(unsafe { api.read_remote(message, 0, room.as_mut_ptr(), room.len()) }?)
}

/// Copies a message that was received into a block to the memory that the program lent for it.
pub(crate) fn deliver(message: &Message, buffer: usize, len: usize, scattered: Option<&mut Scattered>) {
    let data = bytes_of(message);
    if let Some(scattered) = scattered {
        return scattered.fill(data);
    }
    let fits = data.len().min(len);
    if fits > 0 {
        // SAFETY: the program has lent `len` bytes there until the operation is over.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), buffer as *mut u8, fits) };
    }
}

/// Begins to send the memory of a channel.
pub(crate) fn start_send(api: CoreApi, how: SendTo, start: usize, length: usize) -> Cmmd<Option<Request>> {
    // SAFETY: the program has lent the memory to the channel, and changes it only while nothing is under way.
    Ok(unsafe { api.start_send(how, start as *const u8, length) }?)
}

/// Posts a receive into the memory of a channel.
pub(crate) fn start_receive(api: CoreApi, pattern: &Pattern, start: usize, length: usize) -> Request {
    // SAFETY: the program has lent the memory to the channel, and reads there only what has come.
    unsafe { api.post_into(pattern, start as *mut u8, length, 0) }
}

/// Equally spaced pieces of the program's memory.
#[derive(Clone, Copy)]
pub(crate) struct Pieces {
    start: usize,
    piece: usize,
    stride: usize,
    count: usize,
}

impl Pieces {
    pub(crate) fn new(start: *const c_void, elem: c_int, stride: c_int, count: c_int) -> Cmmd<Pieces> {
        let (piece, stride, count) = (length(elem)?, length(stride)?, length(count)?);
        if stride < piece && count > 1 || piece.checked_mul(count).is_none_or(|all| all > i32::MAX as usize) {
            return Err(Fault::BadLength);
        }
        if start.is_null() && piece * count > 0 {
            return Err(Fault::BadBuffer);
        }
        Ok(Pieces { start: start as usize, piece, stride, count })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.piece * self.count
    }

    /// The pieces, to be read.
    ///
    /// # Safety
    /// The program has lent them for as long as they are used.
    pub(crate) unsafe fn slices<'a>(&self) -> Vec<&'a [u8]> {
        let one = |at: usize| match self.piece {
            0 => &[][..],
            // SAFETY: readable, as the program says; not null, by `new`.
            piece => unsafe {
                std::slice::from_raw_parts((self.start + at * self.stride) as *const u8, piece)
            },
        };
        (0..self.count).map(one).collect()
    }

    /// Writes data to the pieces, as far as it goes.
    ///
    /// # Safety
    /// The program has lent them for writing.
    pub(crate) unsafe fn write(&self, data: &[u8]) {
        for (at, part) in data[..data.len().min(self.bytes())].chunks(self.piece.max(1)).enumerate() {
            // SAFETY: writable, as the program says; `part` is no longer than a piece.
            unsafe {
                let to = (self.start + at * self.stride) as *mut u8;
                std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
            }
        }
    }
}

/// A strided receive under way: its data comes here, and is then dealt out.
pub(crate) struct Scattered {
    pub(crate) data: Vec<u8>,
    pub(crate) to: Pieces,
}

impl Scattered {
    /// Takes data that came as a block.
    pub(crate) fn fill(&mut self, data: &[u8]) {
        let fits = data.len().min(self.data.len());
        self.data[..fits].copy_from_slice(&data[..fits]);
    }
}

/// Deals out what has come; gives how much there was room for.
pub(crate) fn scatter(scattered: Scattered, length: u64) -> usize {
    let came = scattered.data.len().min(length as usize);
    // SAFETY: the program has lent the pieces until the operation is over, which it is about to be.
    unsafe { scattered.to.write(&scattered.data[..came]) };
    scattered.data.len()
}
