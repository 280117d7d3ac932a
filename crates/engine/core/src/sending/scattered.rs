//! Data in so many places that a list of them is useless. The interface with the layout copies the data, any part at a
//! time.
//!
//! ```text
//! lent memory   the sender's layout copies parts in, the receiver's layout copies them out, both at the same time
//! else          the sender's layout copies all of it to memory that the engine keeps, and that goes as any message does
//!               the receiver's layout is shown the data as it comes: frames, or portions that were pulled
//! ```

use crate::rendezvous::Reads;
use parvum_transport::{PullRefused, RemoteMemory};
use std::fmt;

/// Memory of the program's in an order that only its owner knows. Both functions do nothing but copy: the engine is in the midst
/// of its work when it calls them.
pub trait Scattered: Send + fmt::Debug {
    /// Bytes of data.
    fn length(&self) -> usize;

    /// Copies the bytes from `from` on to `out`, as many as it has room for. There are so many.
    fn copy_out(&self, from: usize, out: &mut [u8]);

    /// Copies `bytes` to where the data's bytes from `from` on lie. There are so many.
    fn copy_in(&mut self, from: usize, bytes: &[u8]);
}

/// Copies what fits of `bytes`, which are a message's from `from` on.
pub(crate) fn write(into: &mut dyn Scattered, from: usize, bytes: &[u8]) {
    let fits = bytes.len().min(into.length().saturating_sub(from));
    if fits > 0 {
        into.copy_in(from, &bytes[..fits]);
    }
}

/// Reads the data in these places of the peer, at most the given number of bytes: the message's bytes from `from` on.
/// How many were there.
pub(crate) fn pull<R: Reads + ?Sized>(
    reads: &mut R,
    places: &[RemoteMemory],
    (from, length): (usize, usize),
    into: &mut dyn Scattered,
) -> Result<usize, PullRefused> {
    let (mut at, end) = (from, from + length);
    for place in places {
        let wanted = place.length.min(end - at);
        let got = reads.show(RemoteMemory { length: wanted, ..*place }, &mut |part| {
            into.copy_in(at, part);
            at += part.len();
        })?;
        if got < wanted || at == end {
            break;
        }
    }
    Ok(at - from)
}
