//! `Vm`: sends and receives of a task, called from Python.

use crate::objects::buffers::{Buffer, bytes_at};
use crate::objects::encode::Encoded;
use crate::objects::kinds::word_of_array;
use crate::requests::{self, Operation};
use crate::task::patience::{self, Limit};
use crate::task::process::{self, notes};
use crate::{kept, objects::decode, objects::into, objects::numpy, task::errors, task::names};
use parvum_api::{ANY_TASK, CoreApi, Message, Pattern, SendTo, Status, TagKind, call};
use parvum_api::{Buffering, Completion};
use parvum_wire::{EAGER, Tid};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Contexts of Python's messages: channel 0 and the following ones.
const CONTEXT: u32 = 0x7079_0000;
const CHANNELS: u32 = 1 << 16;

/// From this size on a send checks whether a receiver waits.
const LONG: usize = 512 << 10;
/// The same, for the average size of the pieces.
const PIECE: usize = 4 << 10;
/// How often a receive polls before it releases the interpreter's lock: about a microsecond.
const LOOKS: u32 = 16;

/// The messages of a task. The base of `parvum.Vm`.
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
            return Err(errors::bad_argument(
                py,
                format!("channel {channel} is not in 0 to {}", CHANNELS - 1),
            ));
        }
        Ok(Vm { context: CONTEXT + channel })
    }

    /// The ids of this task and its parent, as numbers; 0 for no parent.
    fn _identity(&self, py: Python<'_>) -> PyResult<(i32, i32)> {
        process::identity(py)
    }

    /// The context of this object's messages.
    #[getter]
    fn _context(&self) -> u32 {
        self.context
    }

    /// Sends an object to a task. Returns when the object may change again: the message is on its way or buffered.
    #[pyo3(signature = (obj, to, tag = 0))]
    fn send(&self, py: Python<'_>, obj: &Bound<'_, PyAny>, to: i32, tag: i32) -> PyResult<()> {
        if self.sends_short(py, obj, to, tag)? {
            return Ok(());
        }
        let encoded = Encoded::of(obj)?;
        self.send_encoded(py, encoded, to, tag)
    }

    /// As `send`, for the result of a pickling module's `dumps`: a pickle, and its buffers.
    #[pyo3(signature = (pickled, to, tag = 0))]
    fn send_pickled(&self, py: Python<'_>, pickled: &Bound<'_, PyTuple>, to: i32, tag: i32) -> PyResult<()> {
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
        Ok(self.take(py, source, tag, timeout)?.0)
    }

    /// As `recv`; returns the object, the sender and the tag.
    #[pyo3(signature = (source = None, tag = None, timeout = None))]
    fn _recv_message<'py>(
        &self,
        py: Python<'py>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<(Bound<'py, PyAny>, i32, i32)> {
        self.take(py, source, tag, timeout)
    }

    /// The oldest matching message, which stays in the queue: sender, tag, bytes of data. `None`: there is none within the timeout.
    #[pyo3(signature = (source = None, tag = None, timeout = Some(0.0)))]
    fn _probe(
        &self,
        py: Python<'_>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<Option<(i32, i32, u64)>> {
        let api = process::api(py)?;
        let pattern = self.pattern(py, source, tag)?;
        let notes = notes(call::PROBE, pattern.from, tag.unwrap_or(-1), self.context);
        let limit = Limit::of(py, timeout)?;
        if !kept::is_empty()
            && let Some(found) = kept::probe(py, self.context, source, tag)
        {
            return Ok(Some(found));
        }
        let found = patience::wait(py, api, notes, limit, |notes| match api.probe(&pattern, notes) {
            Err(Status::Pending) if notes.limit == 0 && matches!(limit, Limit::Now) => Ok(None),
            found => found.map(Some),
        });
        match found {
            Ok(found) => Ok(found.map(|found| (sender(&found), found.tag, found.length))),
            Err(why) if errors::is_timeout(py, &why) => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// Receives an array or bytes into memory; returns the sender, the tag and the bytes of data. The exception has a message that does
    /// not fit.
    #[pyo3(signature = (buffer, source = None, tag = None, timeout = None))]
    fn recv_into<'py>(
        &self,
        py: Python<'py>,
        buffer: &Bound<'py, PyAny>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let buffer = Buffer::writable(buffer)?;
        let (api, message) = self.receive(py, source, tag, timeout)?;
        let length = into::fill(py, api, &buffer, &message)?;
        names::status(py, sender(&message), message.tag, length)
    }

    /// Starts to send an object. The object must not change until the request is complete.
    #[pyo3(signature = (obj, to, tag = 0))]
    fn _isend(&self, py: Python<'_>, obj: &Bound<'_, PyAny>, to: i32, tag: i32) -> PyResult<Operation> {
        let encoded = Encoded::of(obj)?;
        let api = process::api(py)?;
        let how = self.how(py, &encoded, to, tag, Buffering::Never)?;
        requests::start_send(py, api, how, encoded)
    }

    /// Starts to receive an object.
    #[pyo3(signature = (source = None, tag = None))]
    fn _irecv(&self, py: Python<'_>, source: Option<i32>, tag: Option<i32>) -> PyResult<Operation> {
        let api = process::api(py)?;
        let pattern = self.pattern(py, source, tag)?;
        if !kept::is_empty()
            && let Some((object, from, tag)) = kept::take(py, self.context, source, tag)?
        {
            return Ok(Operation::over(object.unbind(), from, tag));
        }
        Ok(requests::start_receive(api, &pattern, self.context))
    }
}

impl Vm {
    fn how(
        &self,
        py: Python<'_>,
        encoded: &Encoded,
        to: i32,
        tag: i32,
        buffering: Buffering,
    ) -> PyResult<SendTo> {
        if tag < 0 {
            return Err(errors::bad_argument(py, format!("tag {tag} is negative; tags are 0 and more")));
        }
        if !Tid(to).is_task() {
            return Err(errors::bad_argument(py, format!("{to} is no task's id")));
        }
        Ok(SendTo {
            to,
            tag,
            context: self.context,
            meta: encoded.word,
            buffering,
            completion: Completion::Copied,
        })
    }

    /// Sends a short array in one row by the fastest path. False: it was not sent.
    #[inline]
    fn sends_short(&self, py: Python<'_>, obj: &Bound<'_, PyAny>, to: i32, tag: i32) -> PyResult<bool> {
        let Some(row) = numpy::row(obj).filter(|row| row.length <= EAGER && tag >= 0 && Tid(to).is_task())
        else {
            return Ok(false);
        };
        if !process::knows(to) {
            return Ok(false);
        }
        let api = process::api(py)?;
        let meta = word_of_array(row.item, 1, false);
        let how = SendTo {
            to,
            tag,
            context: self.context,
            meta,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        // SAFETY: the caller holds the array, and no thread changes it while the interpreter's lock is held.
        let data = unsafe { bytes_at(row.start, row.length) };
        // SAFETY: `finish` holds the array until the request is complete.
        match unsafe { api.start_pieces(&how, &[data]) } {
            Ok(None) => Ok(true),
            Ok(Some(request)) => {
                requests::finish(py, api, request, how, Encoded::of(obj)?)?;
                Ok(true)
            }
            Err(status) => Err(errors::of(py, status, to, || api.last_error())),
        }
    }

    fn send_encoded(&self, py: Python<'_>, encoded: Encoded, to: i32, tag: i32) -> PyResult<()> {
        let api = process::api(py)?;
        let length = encoded.length();
        // The processor copies many short pieces faster than the kernel finds them.
        let asks = length >= LONG && length / encoded.pieces().len() >= PIECE;
        let buffering = if asks { Buffering::SenderIfUnposted } else { Buffering::AtSender };
        let how = self.how(py, &encoded, to, tag, buffering)?;
        let pieces = encoded.pieces();
        // SAFETY: `finish` holds the owner of the pieces until the request is complete.
        let begun = || unsafe { api.start_pieces(&how, &pieces) };
        // If the task is not known yet, the daemon must connect the two, and this may take long.
        let is_quick = length <= EAGER && process::has_met(to);
        let begun = if is_quick { begun() } else { process::outside(py, begun) };
        match begun {
            Ok(None) => Ok(()),
            Ok(Some(request)) => {
                drop(pieces);
                requests::finish(py, api, request, how, encoded)
            }
            Err(status) => Err(errors::of(py, status, to, || api.last_error())),
        }
    }

    /// The selected messages.
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

    /// The next matching object, its sender and its tag. A message that a signal kept from its receiver comes first.
    #[inline]
    fn take<'py>(
        &self,
        py: Python<'py>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<(Bound<'py, PyAny>, i32, i32)> {
        if !kept::is_empty()
            && let Some(found) = kept::take(py, self.context, source, tag)?
        {
            return Ok(found);
        }
        let (api, message) = self.receive(py, source, tag, timeout)?;
        let object = kept::hand(decode::object(py, api, &message)?, decode::place(&message))?;
        Ok((object, sender(&message), message.tag))
    }

    #[inline]
    fn receive(
        &self,
        py: Python<'_>,
        source: Option<i32>,
        tag: Option<i32>,
        timeout: Option<f64>,
    ) -> PyResult<(CoreApi, Message)> {
        let api = process::api(py)?;
        let pattern = self.pattern(py, source, tag)?;
        let notes = notes(call::RECEIVE, pattern.from, tag.unwrap_or(-1), self.context);
        let limit = Limit::of(py, timeout)?;
        let attempt = |notes: &_| api.receive_by_reference(&pattern, notes);
        if matches!(limit, Limit::Now) {
            return Ok((api, patience::wait(py, api, notes, limit, attempt)?));
        }
        // A message that comes within a microsecond is received without the release of the interpreter's lock.
        let quick = patience::until_signal(notes);
        for _ in 0..LOOKS {
            match attempt(&quick) {
                Err(Status::Pending) => std::hint::spin_loop(),
                Ok(message) => return Ok((api, message)),
                // The usual path reports the error.
                Err(_) => break,
            }
        }
        Ok((api, patience::wait_on(py, api, notes, limit, attempt)?))
    }
}

/// The sender of a message; 0: the daemon.
pub(crate) fn sender(message: &Message) -> i32 {
    message.from.max(0)
}
