//! The functions of `cmmd.h`: C arguments checked and turned into Rust's.
//!
//! Null pointers and lengths that cannot be are refused. What a program says of its own memory (that `len` bytes lie at a
//! pointer, and stay while an operation is under way) must be believed.

mod channels;
mod environment;
mod files;
mod fortran;
mod global;
mod handles;
mod message;
mod scans;
mod strided;

pub(crate) use files::diverted;
pub(crate) use strided::{Scattered, scatter};

use crate::channels::Channel;
use crate::errors::{Cmmd, Fault};
use crate::operations::Operation;
use parvum_api::{CoreApi, Message, Request};
use std::ffi::{c_int, c_void};

/// A function of the program that runs when an operation is complete.
#[derive(Clone, Copy)]
pub(crate) struct Handler(unsafe extern "C" fn(*mut c_int, *mut c_void));

impl Handler {
    /// Runs it. The state must not be held: it may call CMMD.
    pub(crate) fn run(self, mcb: i32, arg: usize) {
        let mut mcb = mcb;
        // SAFETY: the program gave the function for this, with the argument.
        unsafe { (self.0)(&mut mcb, arg as *mut c_void) }
    }
}

/// A function of the program that says whether a receive wants a message.
#[derive(Clone, Copy)]
pub(crate) struct Matching(unsafe extern "C" fn(c_int, c_int, c_int, c_int) -> c_int);

impl Matching {
    /// Asks it.
    pub(crate) fn ask(self, wanted_node: i32, wanted_tag: i32, node: i32, tag: i32) -> bool {
        // SAFETY: the program gave the function for this.
        unsafe { (self.0)(wanted_node, wanted_tag, node, tag) != 0 }
    }
}

/// A length of the program's.
fn length(len: c_int) -> Cmmd<usize> {
    usize::try_from(len).map_err(|_| Fault::BadLength)
}

/// Memory of the program's, to be read.
///
/// # Safety
/// Unless null or empty, `start` must be readable for `len` bytes that do not change meanwhile.
unsafe fn readable<'a>(start: *const c_void, len: c_int) -> Cmmd<&'a [u8]> {
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
unsafe fn writable<'a>(start: *mut c_void, len: c_int) -> Cmmd<&'a mut [u8]> {
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

/// Copies a message that was received into a block to the memory of its operation.
pub(crate) fn put_where_it_belongs(message: &Message, operation: &mut Operation) {
    let data = bytes_of(message);
    if let Some(scattered) = &mut operation.scattered {
        return scattered.fill(data);
    }
    let fits = data.len().min(operation.len);
    if fits > 0 {
        // SAFETY: the program has lent `len` bytes there until the operation is over.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), operation.buffer as *mut u8, fits) };
    }
}

/// Begins a transfer on a channel.
pub(crate) fn start_transfer(api: CoreApi, channel: &Channel) -> Cmmd<Option<Request>> {
    let Channel { start, length, .. } = *channel;
    if channel.sends {
        // SAFETY: the program has lent the memory to the channel, and changes it only while nothing is under way.
        return Ok(unsafe { api.start_send(crate::channels::how(channel), start as *const u8, length) }?);
    }
    // SAFETY: the same; it reads there only what has come.
    Ok(Some(unsafe { api.post_into(&crate::channels::pattern(channel), start as *mut u8, length, 0) }))
}
