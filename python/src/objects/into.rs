//! Receives into memory of the program.

use crate::objects::buffers::{Buffer, bytes_at, room_at};
use crate::objects::encode::runs;
use crate::objects::kinds::{ITEMS, Word, kind};
use crate::task::process::{self, notes};
use crate::{objects::decode, task::errors};
use parvum_api::{CoreApi, Message, Status, call};
use pyo3::prelude::*;

/// Copies the array or the bytes of a received message into memory, and returns the bytes of its data. If the message does not fit, the
/// exception has it as `obj`.
pub(crate) fn fill(py: Python<'_>, api: CoreApi, buffer: &Buffer, message: &Message) -> PyResult<u64> {
    match places(py, buffer, message) {
        Ok(places) => copy(py, api, message, &places),
        Err(why) => {
            let object = decode::object(py, api, message)?;
            why.value(py).setattr("obj", object)?;
            Err(why)
        }
    }
}

/// The destination of the data: pieces of memory, filled in order.
struct Places(Vec<(*mut u8, usize)>);

// SAFETY: addresses that one call uses.
unsafe impl Send for Places {}
// SAFETY: as above.
unsafe impl Sync for Places {}

impl Places {
    fn list(&self) -> &[(*mut u8, usize)] {
        &self.0
    }
}

fn places(py: Python<'_>, buffer: &Buffer, message: &Message) -> PyResult<Places> {
    let wrong = |cause: String| Err(errors::new(py, "WrongShape", cause));
    let word = Word(message.meta);
    let sides = match word.kind() {
        kind::BYTES | kind::BYTEARRAY => 0,
        kind::ARRAY => {
            let name = ITEMS[word.item().min(ITEMS.len() - 1)].1;
            let own = ITEMS.iter().find(|(letter, _)| letter.as_bytes() == buffer.format());
            // Plain bytes fit any item type.
            if buffer.format() != b"B" && own.is_none_or(|own| own.1 != name) {
                let have = own.map_or_else(
                    || String::from_utf8_lossy(buffer.format()).into_owned(),
                    |own| own.1.into(),
                );
                return wrong(format!("the message has items of type {name}, the memory of type {have}"));
            }
            if word.dimensions() == 1 { 0 } else { 8 * word.dimensions() }
        }
        _ => return wrong("the message is no array and no bytes".into()),
    };
    let length = (message.length as usize).saturating_sub(sides);
    if length > buffer.length() {
        let cause = format!("the message has {length} bytes, the memory {}", buffer.length());
        return Err(errors::new(py, "Truncated", cause));
    }
    let in_columns = !buffer.is_in_rows() && buffer.is_in_columns();
    if word.kind() == kind::ARRAY && length != 0 && word.is_in_columns() != in_columns {
        return wrong(
            "of the message and the memory, one is laid out by columns and the other is not".into(),
        );
    }
    if buffer.is_in_rows() || in_columns {
        return Ok(Places(vec![(buffer.start(), length)]));
    }
    let Some(mut runs) = runs(buffer) else {
        return wrong("the memory has too many pieces, or too short ones".into());
    };
    let mut left = length;
    for run in &mut runs {
        run.1 = run.1.min(left);
        left -= run.1;
    }
    Ok(Places(runs))
}

fn copy(py: Python<'_>, api: CoreApi, message: &Message, places: &Places) -> PyResult<u64> {
    let length: usize = places.list().iter().map(|place| place.1).sum();
    if !message.is_remote() {
        let start = if message.data.is_null() { message.inline.as_ptr() } else { message.data };
        // SAFETY: the block, and the message in it, stay valid until the block is returned.
        put(places, unsafe { bytes_at(start, length) });
        api.give_back(message);
        return Ok(length as u64);
    }
    let far = *message;
    let read = process::outside(py, move || {
        let mut from = 0;
        for &(start, length) in places.list() {
            // SAFETY: the buffer holds writable memory. The program must not use it at the same time, as with any array.
            let room = unsafe { room_at(start, length) };
            match api.read_remote_into(&far, from, room) {
                Ok(()) => from += length as u64,
                // The system does not allow the copy, so the sender sends the data.
                Err(Status::BadArgument) => {
                    return api.fetch_remote(&far, &notes(call::RECEIVE, far.from, far.tag, 0)).map(Some);
                }
                Err(status) => {
                    api.give_back(&far);
                    return Err(status);
                }
            }
        }
        api.give_back(&far);
        Ok(None)
    });
    match read {
        Ok(None) => Ok(length as u64),
        Ok(Some(fetched)) => copy(py, api, &Message { meta: message.meta, ..fetched }, places),
        Err(status) => Err(errors::of(py, status, message.from, || api.last_error())),
    }
}

/// Copies data to its destination.
fn put(places: &Places, mut data: &[u8]) {
    for &(start, length) in places.list() {
        let (here, rest) = data.split_at(length);
        // SAFETY: as in `copy`.
        unsafe { room_at(start, length) }.copy_from_slice(here);
        data = rest;
    }
}
