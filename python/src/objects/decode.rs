//! Objects of received messages.

use crate::objects::buffers::{bytes_at, fresh, fresh_bytes, room_at};
use crate::objects::kinds::{ALIGNMENT, ITEMS, Versions, Word, kind};
use crate::task::process::{self, notes};
use crate::{kept, objects::numpy, objects::pickles, task::errors, vm};
use parvum_api::{CoreApi, Message, Status, call};
use parvum_wire::encoding;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFloat, PyInt, PyList, PySlice, PyString};

/// The data of a message.
pub(crate) enum Data<'a, 'py> {
    /// In memory that another message will reuse: it must be copied.
    Lent(&'a [u8]),
    /// In a new `bytearray`, with its bytes.
    Own(Bound<'py, PyAny>, &'a [u8]),
}

impl<'py> Data<'_, 'py> {
    fn bytes(&self) -> &[u8] {
        match self {
            Data::Lent(bytes) | Data::Own(_, bytes) => bytes,
        }
    }

    fn into_own(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Data::Lent(bytes) => Ok(PyByteArray::new(py, bytes).into_any()),
            Data::Own(object, _) => Ok(object),
        }
    }
}

/// The object of a received message. Its block is returned to the engine.
pub(crate) fn object<'py>(py: Python<'py>, api: CoreApi, message: &Message) -> PyResult<Bound<'py, PyAny>> {
    if message.is_remote() {
        return from_sender(py, api, message);
    }
    held(py, api, message)
}

/// The object of a message whose data is still at the sender: this copies the data from there.
fn from_sender<'py>(py: Python<'py>, api: CoreApi, message: &Message) -> PyResult<Bound<'py, PyAny>> {
    let length = message.length as usize;
    let word = Word(message.meta);
    let is_bytes = word.encoding() == encoding::RAW && matches!(word.kind(), kind::FOREIGN | kind::BYTES);
    let (object, start) = match is_bytes {
        true => fresh_bytes(py, length)?,
        false => fresh(py, length, word.kind() == kind::BYTEARRAY)?,
    };
    // SAFETY: new memory that no other code has seen.
    let room = unsafe { room_at(start, length) };
    let far = *message;
    let read = process::outside(py, move || {
        let read = api.read_remote_into(&far, 0, room);
        match read {
            // The system does not allow the copy, so the sender sends the data.
            Err(Status::BadArgument) => {
                api.fetch_remote(&far, &notes(call::RECEIVE, far.from, far.tag, 0)).map(Some)
            }
            other => {
                api.give_back(&far);
                other.map(|()| None)
            }
        }
    });
    match read {
        Ok(None) if is_bytes => Ok(object),
        Ok(None) => {
            let data = object.clone();
            // SAFETY: as above; the object is decoded before other code gets it.
            let made = of(py, message.meta, Data::Own(object, unsafe { bytes_at(start, length) }));
            kept(py, message, made, |_| {
                // SAFETY: `data` owns the memory, and the failed object has not changed it.
                kept::add_data(py, place(message), message.meta, unsafe { bytes_at(start, length) });
                drop(data);
            })
        }
        Ok(Some(fetched)) => held(py, api, &Message { meta: message.meta, ..fetched }),
        Err(status) => Err(errors::of(py, status, message.from, || api.last_error())),
    }
}

/// The object of a message whose data is already here.
fn held<'py>(py: Python<'py>, api: CoreApi, message: &Message) -> PyResult<Bound<'py, PyAny>> {
    let length = message.length as usize;
    let start = if message.data.is_null() { message.inline.as_ptr() } else { message.data };
    // SAFETY: the block, and the message in it, stay valid until the block is returned.
    let bytes = unsafe { bytes_at(start, length) };
    let made = of(py, message.meta, Data::Lent(bytes));
    let made = kept(py, message, made, |message| kept::add_data(py, place(message), message.meta, bytes));
    api.give_back(message);
    made
}

/// The sender, the tag and the context of a message.
pub(crate) fn place(message: &Message) -> (i32, i32, u32) {
    (vm::sender(message), message.tag, message.context)
}

/// Returns the object of a message. If a signal handler has raised in the meantime, the message is kept for the next receive.
fn kept<'py>(
    py: Python<'py>,
    message: &Message,
    made: PyResult<Bound<'py, PyAny>>,
    keep: impl FnOnce(&Message),
) -> PyResult<Bound<'py, PyAny>> {
    if let Err(why) = &made
        && kept::interrupts(py, why)
    {
        keep(message);
    }
    made
}

/// The object of this data.
pub(crate) fn of<'py>(py: Python<'py>, meta: u32, data: Data<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let word = Word(meta);
    let bytes = data.bytes();
    if word.encoding() == encoding::XDR {
        return py.import("parvum._task.events")?.getattr("decode")?.call1((PyBytes::new(py, bytes),));
    }
    match word.kind() {
        kind::FOREIGN | kind::BYTES => Ok(PyBytes::new(py, bytes).into_any()),
        kind::BYTEARRAY => data.into_own(py),
        kind::NONE => Ok(py.None().into_bound(py)),
        kind::INT => Ok(PyInt::new(py, i64::from_le_bytes(first(py, bytes)?)).into_any()),
        kind::FLOAT => Ok(PyFloat::new(py, f64::from_le_bytes(first(py, bytes)?)).into_any()),
        kind::TEXT => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(PyString::new(py, text).into_any()),
            Err(_) => Err(broken(py)),
        },
        kind::ARRAY => array(py, word, data),
        kind::PICKLE => pickle(py, data),
        _ => Err(broken(py)),
    }
}

fn broken(py: Python<'_>) -> PyErr {
    errors::new(py, "VersionMismatch", "the message is laid out in a way that this release does not know")
}

fn first(py: Python<'_>, bytes: &[u8]) -> PyResult<[u8; 8]> {
    bytes.first_chunk().copied().ok_or_else(|| broken(py))
}

/// 8-byte numbers.
fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

fn array<'py>(py: Python<'py>, word: Word, data: Data<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let (item, dimensions) = (word.item(), word.dimensions());
    if item >= ITEMS.len() {
        return Err(broken(py));
    }
    let bytes = data.bytes();
    if dimensions == 1 {
        let side = (bytes.len() / crate::objects::kinds::item_bytes(item)) as u64;
        return numpy::array_over(data.into_own(py)?, item, &[side], false);
    }
    let tail = bytes.len().checked_sub(8 * dimensions).ok_or_else(|| broken(py))?;
    let sides = numbers(&bytes[tail..]);
    numpy::array_over(data.into_own(py)?, item, &sides, word.is_in_columns())
}

fn pickle<'py>(py: Python<'py>, data: Data<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let bytes = data.bytes();
    let layout = Layout::read(bytes).ok_or_else(|| broken(py))?;
    pickles::check(py, layout.versions)?;
    if layout.buffers.is_empty()
        && let Data::Lent(bytes) = data
    {
        let (from, length) = layout.stream;
        return pickles::loads(PyBytes::new(py, &bytes[from..from + length]).as_any(), None);
    }
    let memory = data.into_own(py)?;
    let view = py.import("builtins")?.getattr("memoryview")?.call1((memory,))?;
    let part = |&(from, length): &(usize, usize)| {
        view.get_item(PySlice::new(py, from as isize, (from + length) as isize, 1))
    };
    let buffers = layout.buffers.iter().map(part).collect::<PyResult<Vec<_>>>()?;
    pickles::loads(&part(&layout.stream)?, Some(PyList::new(py, buffers)?))
}

/// The positions of the parts of a pickle.
struct Layout {
    buffers: Vec<(usize, usize)>,
    stream: (usize, usize),
    versions: Versions,
}

impl Layout {
    fn read(bytes: &[u8]) -> Option<Layout> {
        let (rest, versions) = bytes.split_last_chunk()?;
        let (rest, count) = rest.split_last_chunk()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        let tail = count.checked_add(1)?.checked_mul(8)?;
        let lengths = numbers(&rest[rest.len().checked_sub(tail)?..]);
        let end = rest.len() - tail;
        let (stream, lengths) = lengths.split_last()?;
        let mut at = 0usize;
        let mut buffers = Vec::with_capacity(count);
        for &length in lengths {
            let length = usize::try_from(length).ok()?;
            buffers.push((at, length));
            at = at.checked_add(length.checked_next_multiple_of(ALIGNMENT)?)?;
        }
        let stream = (at, usize::try_from(*stream).ok()?);
        let fits = at.checked_add(stream.1)? == end;
        fits.then_some(Layout { buffers, stream, versions: Versions::read(*versions) })
    }
}
