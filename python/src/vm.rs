//! `Vm`: sending and receiving of a task, in Python's calls.

use crate::buffers::{Buffer, room_at};
use crate::encode::{Encoded, runs};
use crate::kinds::{ITEMS, Word, kind};
use crate::patience::{self, Limit};
use crate::process::{self, notes};
use crate::requests::{self, Operation};
use crate::{decode, errors};
use parvum_waist::{ANY_TASK, Message, Pattern, SendTo, Space, Status, TagKind, Waist, call};
use parvum_wire::Tid;
use pyo3::prelude::*;

/// Contexts of Python's messages: those of channel 0 and on.
const CONTEXT: u32 = 0x7079_0000;
const CHANNELS: u32 = 1 << 16;
/// The sender keeps what the receiver has not taken, and goes on.
const AT_SENDER: u32 = 2;
/// Nobody buffers: the memory is the receiver's to read until the request is over.
const NOBODY: u32 = 1;
/// More than that is not handed over while the interpreter's lock is held.
const QUICK: usize = 16 << 10;

/// The face of a task. `parvum.Vm` is made of it.
#[pyclass(subclass, frozen, module = "parvum._parvum", name = "Vm")]
pub(crate) struct Vm {
    pub(crate) context: u32,
}

#[pymethods]
impl Vm {
    #[new]
    #[pyo3(signature = (channel = 0))]
    fn new(py: Python<'_>, channel: u32) -> PyResult<Vm> {
        if channel >= CHANNELS {
            return Err(errors::bad_argument(py, format!("channel {channel} is not in 0 to {}", CHANNELS - 1)));
        }
        Ok(Vm { context: CONTEXT + channel })
    }

    /// This task's id and its parent's, as numbers; 0 for no parent.
    fn _identity(&self, py: Python<'_>) -> PyResult<(i32, i32)> {
        process::identity(py)
    }

    /// The context of its messages.
    #[getter]
    fn _context(&self) -> u32 {
        self.context
    }

    /// Sends an object to a task. Returns when the object may be changed again: the message is on its way, or kept by the engine.
    #[pyo3(signature = (obj, to, tag = 0))]
    fn send(&self, py: Python<'_>, obj: &Bound<'_, PyAny>, to: i32, tag: i32) -> PyResult<()> {
        let encoded = Encoded::of(obj)?;
        self.send_encoded(py, encoded, to, tag)
    }

    /// As `send`, of what `dumps` of a pickling module gives: a stream, and the buffers beside it.
    #[pyo3(signature = (pickled, to, tag = 0))]
    fn send_pickled(&self, py: Python<'_>, pickled: &Bound<'_, PyAny>, to: i32, tag: i32) -> PyResult<()> {
        self.send_encoded(py, Encoded::pickled(pickled)?, to, tag)
    }

    /// Receives an object.
    #[pyo3(signature = (source = None, tag = None, timeout = None))]
    fn recv<'py>(
        &self,
        py: Python<'py>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (waist, message) = self.receive(py, source, tag, timeout)?;
        decode::object(py, waist, &message)
    }

    /// As `recv`: the object, who sent it, and its tag.
    #[pyo3(signature = (source = None, tag = None, timeout = None))]
    fn _recv_message<'py>(
        &self,
        py: Python<'py>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<(Bound<'py, PyAny>, i32, i32)> {
        let (waist, message) = self.receive(py, source, tag, timeout)?;
        Ok((decode::object(py, waist, &message)?, sender(&message), message.tag))
    }

    /// The oldest message that fits, which stays: who sent it, its tag, bytes of its data. `None`: there is none in time.
    #[pyo3(signature = (source = None, tag = None, timeout = Some(0.0)))]
    fn _probe(
        &self,
        py: Python<'_>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<Option<(i32, i32, u64)>> {
        let waist = process::waist(py)?;
        let pattern = self.pattern(py, source, tag)?;
        let notes = notes(call::PROBE, pattern.from, tag.unwrap_or(-1), self.context);
        let limit = Limit::of(py, timeout)?;
        let found = patience::wait(py, waist, notes, limit, |notes| match waist.probe(&pattern, notes) {
            Err(Status::Pending) if notes.limit == 0 && matches!(limit, Limit::Now) => Ok(None),
            found => found.map(Some),
        });
        match found {
            Ok(found) => Ok(found.map(|found| (sender(&found), found.tag, found.length))),
            Err(why) if errors::is_timeout(py, &why) => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// Receives an array, or bytes, into memory: who sent it, its tag, bytes of data. What does not fit there stays where it is.
    #[pyo3(signature = (buffer, source = None, tag = None, timeout = None))]
    fn _recv_into(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<(i32, i32, u64)> {
        let buffer = Buffer::writable(buffer)?;
        let waist = process::waist(py)?;
        let pattern = self.pattern(py, source, tag)?;
        let notes = notes(call::RECEIVE, pattern.from, tag.unwrap_or(-1), self.context);
        let limit = Limit::of(py, timeout)?;
        let found = patience::wait(py, waist, notes, limit, |notes| waist.extract(&pattern, notes))?;
        let taken = take_into(py, waist, &buffer, &found);
        if taken.is_err() {
            waist.put_back(&found);
        }
        taken.map(|length| (sender(&found), found.tag, length))
    }

    /// Starts to send an object, which must not change until the request is over.
    #[pyo3(signature = (obj, to, tag = 0))]
    fn _isend(&self, py: Python<'_>, obj: &Bound<'_, PyAny>, to: i32, tag: i32) -> PyResult<Operation> {
        let encoded = Encoded::of(obj)?;
        let waist = process::waist(py)?;
        let how = self.how(py, &encoded, to, tag, NOBODY)?;
        requests::start_send(py, waist, how, encoded)
    }

    /// Starts to receive an object.
    #[pyo3(signature = (source = None, tag = None))]
    fn _irecv(&self, py: Python<'_>, source: Option<i32>, tag: Option<i32>) -> PyResult<Operation> {
        let waist = process::waist(py)?;
        let pattern = self.pattern(py, source, tag)?;
        Ok(requests::start_receive(waist, &pattern, self.context))
    }
}

impl Vm {
    fn how(&self, py: Python<'_>, encoded: &Encoded, to: i32, tag: i32, buffering: u32) -> PyResult<SendTo> {
        if tag < 0 {
            return Err(errors::bad_argument(py, format!("tag {tag} is negative; tags are 0 and more")));
        }
        if !Tid(to).is_task() {
            return Err(errors::bad_argument(py, format!("{to} is no task's id")));
        }
        Ok(SendTo { to, tag, context: self.context, meta: encoded.word, buffering, completion: 0 })
    }

    fn send_encoded(&self, py: Python<'_>, encoded: Encoded, to: i32, tag: i32) -> PyResult<()> {
        let waist = process::waist(py)?;
        let how = self.how(py, &encoded, to, tag, AT_SENDER)?;
        let pieces = encoded.pieces();
        // SAFETY: the pieces stay: until the request is over, `finish` keeps what holds them.
        let begun = || unsafe { waist.start_pieces(&how, &pieces) };
        let begun = if encoded.length() > QUICK { py.detach(begun) } else { begun() };
        match begun {
            Ok(None) => Ok(()),
            Ok(Some(request)) => {
                drop(pieces);
                requests::finish(py, waist, request, how, encoded)
            }
            Err(status) => Err(errors::of(py, status, to, || waist.last_error())),
        }
    }

    /// Which messages those are.
    fn pattern(&self, py: Python<'_>, source: Option<i32>, tag: Option<i32>) -> PyResult<Pattern> {
        let from = source.unwrap_or(ANY_TASK);
        let tags = match tag {
            None | Some(-1) => TagKind::Any,
            Some(0..) => TagKind::Exactly,
            Some(tag) => {
                return Err(errors::bad_argument(py, format!("tag {tag} is negative; tags are 0 and more")));
            }
        };
        if from != ANY_TASK && from <= 0 {
            return Err(errors::bad_argument(py, format!("{from} is no task's id")));
        }
        Ok(Pattern { from, tags, tag: tag.unwrap_or(0), other: 0, context: self.context.into() })
    }

    #[inline]
    fn receive(
        &self,
        py: Python<'_>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<(Waist, Message)> {
        let waist = process::waist(py)?;
        let pattern = self.pattern(py, source, tag)?;
        let notes = notes(call::RECEIVE, pattern.from, tag.unwrap_or(-1), self.context);
        let limit = Limit::of(py, timeout)?;
        let attempt = |notes: &_| waist.receive_by_reference(&pattern, notes);
        Ok((waist, patience::wait(py, waist, notes, limit, attempt)?))
    }
}

/// Who sent a message; 0: the machine.
pub(crate) fn sender(message: &Message) -> i32 {
    message.from.max(0)
}

/// Receives a found message into memory; gives the bytes of its data.
fn take_into(py: Python<'_>, waist: Waist, buffer: &Buffer, found: &Message) -> PyResult<u64> {
    let word = Word(found.meta);
    let sides = match word.kind() {
        kind::BYTES | kind::BYTEARRAY => 0,
        kind::ARRAY => {
            let letter = ITEMS[word.item().min(ITEMS.len() - 1)];
            let own = ITEMS.iter().find(|(format, _)| format.as_bytes() == buffer.format());
            // Plain bytes take whatever the items are.
            if buffer.format() != b"B" && own.is_none_or(|own| own.1 != letter.1) {
                let have = String::from_utf8_lossy(buffer.format()).into_owned();
                let text = format!("the message has items of type {}, the memory of format {have:?}", letter.1);
                return Err(errors::new(py, "WrongShape", text));
            }
            if word.dimensions() == 1 { 0 } else { 8 * word.dimensions() }
        }
        _ => return Err(errors::new(py, "WrongShape", "the message is no array and no bytes")),
    };
    let length = (found.length as usize).saturating_sub(sides);
    if length > buffer.length() {
        let text = format!("the message has {length} bytes, the memory {}", buffer.length());
        return Err(errors::new(py, "Truncated", text));
    }
    if word.kind() == kind::ARRAY && word.is_in_columns() && !(buffer.is_in_columns() && sides != 0) {
        return Err(errors::new(py, "WrongShape", "the message is laid out by columns, the memory is not"));
    }
    let mut rest = vec![0u8; sides];
    let mut spaces: Vec<Space> = match buffer.is_in_rows() || buffer.is_in_columns() {
        true => vec![Space { start: buffer.start(), length }],
        false => runs(buffer)
            .ok_or_else(|| errors::new(py, "WrongShape", "the memory has too many, or too short, pieces"))?
            .into_iter()
            .map(|(start, length)| Space { start, length })
            .collect(),
    };
    if sides != 0 {
        spaces.push(Space { start: rest.as_mut_ptr(), length: sides });
    }
    let spaces = Spaces(spaces);
    let waits = notes(call::RECEIVE, found.from, found.tag, found.context);
    let from = *found;
    let taken = py.detach(move || match spaces.list() {
        // SAFETY: writable memory that the buffer holds; that nobody else uses it is the program's to see to, as with any array.
        [only] => waist.take(
            &from,
            parvum_waist::Receiving::Into(unsafe { room_at(only.start, only.length) }),
            &waits,
        ),
        // SAFETY: likewise; runs of one array do not overlap, and `rest` is this call's own.
        many => unsafe { waist.take_into_pieces(&from, many, &waits) },
    });
    match taken {
        Ok(_) => Ok(length as u64),
        Err(status) => Err(errors::of(py, status, found.from, || waist.last_error())),
    }
}

/// Pieces of memory for one call.
struct Spaces(Vec<Space>);

impl Spaces {
    fn list(&self) -> &[Space] {
        &self.0
    }
}

// SAFETY: addresses, which are used by one thread.
unsafe impl Send for Spaces {}
// SAFETY: as above.
unsafe impl Sync for Spaces {}
