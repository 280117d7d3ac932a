//! The functions of `pvm3.h`: C arguments checked and turned into Rust's.
//!
//! Every function refuses null pointers and counts that cannot be with `PvmBadParam`. The library must trust the
//! program's claims about its own memory (that `n` items are at a pointer), as PVM did.

mod environment;
mod groups;
mod machine;
mod messages;
mod process;
mod trace;
mod utility;
mod variables;

pub(crate) use machine::info::{ERRNO, HostInfo, TaskInfo};
pub(crate) use machine::mailbox::MailTable;
pub(crate) use messages::handlers::{CFile, run_handler, run_matcher};
pub(crate) use process::search_path;
pub(crate) use trace::{
    Config, MASK, follow_tracer, learn_trace_from_environment, own_trace, stop_own_trace,
};
pub(crate) use variables::{own_tid, publish_context, publish_identity, publish_manager};

use crate::buffers::buffer::Packed;
use crate::errors::{Pvm, PvmError};
use parvum_api::pointers::Text;
use parvum_api::{self as api, CoreApi, Message, Notes, Request, Status};
use std::ffi::CStr;
use std::sync::Arc;

// SAFETY: it names memory of the process, which any thread may read; who packs
// in place promises that it stays until the message is sent.
unsafe impl Send for crate::buffers::buffer::Left {}

/// Ends the program as C's exit does; also from one of the program's own exit handlers, where Rust's would abort.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: C's own way out; glibc goes on with the handlers that are left when it is called in one.
    unsafe { libc::exit(code) }
}

/// The bytes of a received message.
pub(crate) fn bytes_of(message: &Message) -> &[u8] {
    if message.is_remote() {
        return &[];
    }
    if message.data.is_null() {
        let length = (message.length as usize).min(message.inline.len());
        return &message.inline[..length];
    }
    // SAFETY: the engine lends `length` bytes at `data` until the block is given
    // back, which the owner of `message` does last.
    unsafe { std::slice::from_raw_parts(message.data, message.length as usize) }
}

/// Shows a packed message as pieces, those left in place where they lie.
#[inline(always)]
pub(crate) fn with_pieces<R>(packed: &Packed, use_them: impl FnOnce(&[&[u8]]) -> R) -> R {
    pieces_of(&packed.data, &packed.left, use_them)
}

#[inline(always)]
fn pieces_of<R>(
    data: &[u8],
    in_place: &[crate::buffers::buffer::Left],
    use_them: impl FnOnce(&[&[u8]]) -> R,
) -> R {
    if in_place.is_empty() {
        return use_them(&[data]);
    }
    let mut pieces = Vec::with_capacity(2 * in_place.len() + 1);
    let mut from = 0;
    for left in in_place {
        pieces.push(&data[from..left.before]);
        from = left.before;
        // SAFETY: who packs in place promises that the items stay until the message is sent.
        pieces.push(unsafe { std::slice::from_raw_parts(left.start, left.length) });
    }
    pieces.push(&data[from..]);
    use_them(&pieces)
}

/// A packed message apart from its buffer: another thread may change or free the buffer while this message is sent.
pub(crate) struct SharedPieces {
    pub(crate) data: Arc<Vec<u8>>,
    left: Vec<crate::buffers::buffer::Left>,
}

impl Packed {
    /// The message as it is now.
    pub(crate) fn shared(&mut self) -> SharedPieces {
        SharedPieces { data: self.data.share().clone(), left: self.left.clone() }
    }
}

impl SharedPieces {
    /// Whether nothing of it lies in the program's memory.
    pub(crate) fn is_one(&self) -> bool {
        self.left.is_empty()
    }

    /// Shows it as pieces.
    pub(crate) fn with<R>(&self, use_them: impl FnOnce(&[&[u8]]) -> R) -> R {
        pieces_of(&self.data, &self.left, use_them)
    }
}

/// A packed message on its way, and its memory.
pub(crate) struct Sending {
    api: CoreApi,
    request: Request,
    /// Shared, and so neither changed nor freed.
    _data: Arc<Vec<u8>>,
}

impl Sending {
    /// Starts to send a packed message. Nothing: it is over already.
    ///
    /// Inlined into its caller: a result that is written in parts and read as a whole would wait until the stores of
    /// the message have reached the cache.
    #[inline(always)]
    pub(crate) fn start(
        api: CoreApi,
        how: &api::SendTo,
        packed: &mut Packed,
    ) -> Result<Option<Sending>, Status> {
        // SAFETY: packed data stays as long as the result, which goes to `finish`. Data in the program's memory stays
        // until the send returns, by PVM's rules.
        let started = with_pieces(packed, |pieces| unsafe { api.start_pieces(how, pieces) });
        let Some(request) = started? else { return Ok(None) };
        // Shared only now: its bytes stay where they are.
        Ok(Some(Sending { api, request, _data: packed.data.share().clone() }))
    }

    /// Waits until the message has left its memory.
    pub(crate) fn finish(self, notes: &Notes) -> Result<(), Status> {
        self.api.finish(self.request, notes)
    }
}

/// A text of the program; null is a bad parameter.
fn text(text: Text<'_>) -> Pvm<&CStr> {
    text.get().ok_or(PvmError::BadParam)
}

/// A text of the program's, as people are shown it: bytes that are no UTF-8 become signs of replacement. Nothing for null.
#[expect(clippy::disallowed_methods, reason = "for people, who cannot read such bytes")]
fn shown(words: Text<'_>) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(words.get().unwrap_or_default().to_bytes())
}

/// An array of the program.
///
/// # Safety
/// Unless null or empty, `start` must be readable for `count` items that do not change meanwhile.
unsafe fn array<'a, T>(start: *const T, count: i32) -> Pvm<&'a [T]> {
    match usize::try_from(count) {
        Err(_) => Err(PvmError::BadParam),
        Ok(0) => Ok(&[]),
        Ok(_) if start.is_null() => Err(PvmError::BadParam),
        // SAFETY: not null, and readable as the caller says.
        Ok(count) => Ok(unsafe { std::slice::from_raw_parts(start, count) }),
    }
}
