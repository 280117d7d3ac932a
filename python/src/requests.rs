//! Nonblocking operations.

use crate::objects::encode::Encoded;
use crate::task::patience::{self, Limit};
use crate::task::process::{self, notes};
use crate::{kept, objects::decode, task::errors};
use parvum_api::{CoreApi, Message, Notes, Pattern, Request, SendTo, Status, call};
use parvum_sync::fork;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The kind of an operation.
enum StartedAs {
    Send(Encoded),
    Receive,
}

/// The state of an operation.
enum State {
    UnderWay(Request, StartedAs),
    /// The object, the sender and the tag.
    Over(Py<PyAny>, i32, i32),
    /// The word, the data, the sender and the tag: a signal handler raised before the object was complete.
    Again(u32, Py<PyAny>, i32, i32),
    Failed(PyErr),
}

/// A nonblocking operation. The base of `parvum.Request`.
#[pyclass(frozen, module = "parvum._parvum")]
pub(crate) struct Operation {
    state: Mutex<State>,
    notes: Notes,
    generation: u32,
}

/// Sends whose end no caller has seen: their memory must stay valid until then.
static LEFT: Mutex<Vec<(Request, Encoded)>> = Mutex::new(Vec::new());

/// Sends that read the program's memory, some of them complete: at its end the interpreter waits for them.
static OPEN: Mutex<Vec<Request>> = Mutex::new(Vec::new());

/// Waits until no send reads the program's memory, because the interpreter ends and frees the memory.
#[pyfunction]
pub(crate) fn finish_all(py: Python<'_>) -> PyResult<()> {
    process::outside(py, process::finish_undoing);
    let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    let Ok(api) = process::api(py) else { return Ok(()) };
    let waits = notes(call::EXIT, -1, -1, 0);
    let all = open.iter().try_for_each(|request| {
        let over = patience::wait(py, api, waits, Limit::Never, |notes| {
            match api.wait_any(&[*request], u64::MAX, notes) {
                0 => Ok(()),
                _ => Err(Status::Pending),
            }
        });
        over.map(|_| ())
    });
    process::ends();
    match all {
        // If the virtual machine is gone, the memory is no longer read.
        Err(why) if !why.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => Ok(()),
        other => other,
    }
}

fn note_open(request: Request) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    // Removes complete requests, so that the list does not grow.
    if open.len() >= 64
        && let Some(api) = process::any_waist()
    {
        let test = Notes { limit: 0, ..notes(call::WAIT, -1, -1, 0) };
        open.retain(|request| api.wait_any(&[*request], u64::MAX, &test) != 0);
    }
    open.push(request);
}

/// Removes complete sends.
fn tidy(api: CoreApi) {
    let over = {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        if left.is_empty() {
            return;
        }
        let test = Notes { limit: 0, ..notes(call::SEND, -1, -1, 0) };
        left.extract_if(.., |(request, _)| !matches!(api.wait(*request, &test), Err(Status::Pending)))
            .collect::<Vec<_>>()
    };
    // Objects are freed without the lock: their destructors may call anything.
    drop(over);
}

fn leave(request: Request, encoded: Encoded) {
    note_open(request);
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).push((request, encoded));
}

/// Waits until a send is complete. If a signal handler raises in this time, the memory stays valid as long as it is read.
pub(crate) fn finish(
    py: Python<'_>,
    api: CoreApi,
    request: Request,
    how: SendTo,
    encoded: Encoded,
) -> PyResult<()> {
    let waits = notes(call::SEND, how.to, how.tag, how.context);
    let ended = patience::wait(py, api, waits, Limit::Never, |notes| match api.wait(request, notes) {
        Err(Status::Pending) => Err(Status::Pending),
        // Distinguishes a completed send, in whatever state, from the end by a signal.
        other => Ok(other.map(|_| ())),
    });
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(status)) => Err(errors::of(py, status, how.to, || api.last_error())),
        Err(why) => {
            leave(request, encoded);
            Err(why)
        }
    }
}

/// Starts a send.
pub(crate) fn start_send(py: Python<'_>, api: CoreApi, how: SendTo, encoded: Encoded) -> PyResult<Operation> {
    tidy(api);
    let pieces = encoded.pieces();
    // SAFETY: the operation owns the holder of the pieces until it is complete.
    let begun = process::outside(py, || unsafe { api.start_pieces(&how, &pieces) });
    drop(pieces);
    let state = match begun {
        Ok(None) => State::Over(py.None(), 0, how.tag),
        Ok(Some(request)) => {
            note_open(request);
            State::UnderWay(request, StartedAs::Send(encoded))
        }
        Err(status) => return Err(errors::of(py, status, how.to, || api.last_error())),
    };
    let notes = notes(call::WAIT, how.to, how.tag, how.context);
    Ok(Operation { state: Mutex::new(state), notes, generation: fork::generation() })
}

/// Starts a receive.
pub(crate) fn start_receive(api: CoreApi, pattern: &Pattern, context: u32) -> Operation {
    let request = api.post_by_reference(pattern, 0);
    let tag = if pattern.tags == parvum_api::TagKind::Any { -1 } else { pattern.tag };
    let notes = notes(call::WAIT, pattern.from, tag, context);
    let state = Mutex::new(State::UnderWay(request, StartedAs::Receive));
    Operation { state, notes, generation: fork::generation() }
}

#[pymethods]
impl Operation {
    /// The number of the engine's request; `None`: it is complete.
    pub(crate) fn number(&self) -> Option<u64> {
        match &*self.lock() {
            State::UnderWay(request, _) => Some(request.0),
            _ => None,
        }
    }

    /// True if the operation is complete; waits this many seconds for it, `None`: no limit.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let Some(number) = self.number() else { return Ok(true) };
        let api = process::api(py)?;
        let limit = Limit::of(py, timeout)?;
        // Several threads may wait, and one of them takes the result.
        let seen = patience::wait(py, api, self.notes, limit, |notes| {
            match api.wait_any(&[Request(number)], u64::MAX, notes) {
                0 => Ok(true),
                _ if notes.limit == 0 && matches!(limit, Limit::Now) => Ok(false),
                _ => Err(Status::Pending),
            }
        });
        match seen {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(why) if errors::is_timeout(py, &why) => return Ok(false),
            Err(why) => return Err(why),
        }
        self.take(py, api)?;
        Ok(true)
    }

    /// The result: the object, the sender and the tag. Raises the exception of the operation.
    fn outcome(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, i32, i32)> {
        let (meta, data, from, tag) = match &*self.lock() {
            State::Over(object, from, tag) => return Ok((object.clone_ref(py), *from, *tag)),
            State::Failed(why) => return Err(why.clone_ref(py)),
            State::UnderWay(..) => return Err(errors::new(py, "TimedOut", "the request is not over")),
            State::Again(meta, data, from, tag) => (*meta, data.clone_ref(py), *from, *tag),
        };
        let made = kept::of_data(py, meta, &data).map(Bound::unbind);
        *self.lock() = match &made {
            Ok(object) => State::Over(object.clone_ref(py), from, tag),
            Err(why) if kept::interrupts(py, why) => State::Again(meta, data, from, tag),
            Err(why) => State::Failed(why.clone_ref(py)),
        };
        Ok((made?, from, tag))
    }

    /// Cancels a receive. False: it is too late, or the operation is a send.
    fn cancel(&self, py: Python<'_>) -> PyResult<bool> {
        let api = process::api(py)?;
        let mut state = self.lock();
        match &*state {
            State::UnderWay(request, StartedAs::Receive) if api.cancel(*request) => {
                *state = State::Failed(errors::new(py, "Cancelled", "the receive was cancelled"));
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

impl Operation {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An operation that is complete from the start.
    pub(crate) fn over(object: Py<PyAny>, from: i32, tag: i32) -> Operation {
        let state = Mutex::new(State::Over(object, from, tag));
        Operation { state, notes: notes(call::WAIT, from, tag, 0), generation: fork::generation() }
    }

    /// Takes the result if no other thread has taken it. Raises the exception of a signal handler in the meantime.
    pub(crate) fn take(&self, py: Python<'_>, api: CoreApi) -> PyResult<()> {
        let mut state = self.lock();
        let State::UnderWay(request, _) = &*state else { return Ok(()) };
        let test = Notes { limit: 0, ..self.notes };
        let came = api.wait_seen(*request, &test);
        let before = std::mem::replace(&mut *state, State::Over(py.None(), 0, 0));
        let State::UnderWay(_, what) = before else { return Ok(()) };
        drop(state);
        let mut raised = None;
        let after = match (came, &what) {
            (Ok(_), StartedAs::Send(_)) => State::Over(py.None(), 0, self.notes.tag),
            (Ok(message), StartedAs::Receive) => received(py, api, &message, &mut raised),
            (Err(status), _) => State::Failed(errors::of(py, status, self.notes.peer, || api.last_error())),
        };
        *self.lock() = after;
        raised.map_or(Ok(()), Err)
    }
}

fn received(py: Python<'_>, api: CoreApi, message: &Message, raised: &mut Option<PyErr>) -> State {
    let (from, tag, context) = decode::place(message);
    match decode::object(py, api, message) {
        Ok(object) => State::Over(object.unbind(), from, tag),
        Err(why) if kept::interrupts(py, &why) => {
            *raised = Some(why);
            // This request has the message, and other receives do not.
            match kept::take_data(py, context, from, tag) {
                Some((meta, data)) => State::Again(meta, data, from, tag),
                None => State::Failed(errors::new(py, "Refused", "the message was lost in a signal")),
            }
        }
        Err(why) => State::Failed(why),
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        let state = std::mem::replace(
            self.state.get_mut().unwrap_or_else(PoisonError::into_inner),
            State::Failed(PyErr::new::<pyo3::exceptions::PyRuntimeError, _>("")),
        );
        let State::UnderWay(request, what) = state else { return };
        if self.generation != fork::generation() {
            return;
        }
        match what {
            StartedAs::Send(encoded) => leave(request, encoded),
            StartedAs::Receive => {
                // A complete receive whose result was never taken still has a block.
                Python::try_attach(|py| {
                    let Ok(api) = process::api(py) else { return };
                    if !api.cancel(request)
                        && let Ok(message) = api.wait_seen(request, &Notes { limit: 0, ..self.notes })
                    {
                        api.give_back(&message);
                    }
                });
            }
        }
    }
}

/// Waits until one of the operations is complete, and returns its index. `None`: the timeout has passed.
#[pyfunction]
#[pyo3(signature = (operations, timeout = None))]
pub(crate) fn wait_any(
    py: Python<'_>,
    operations: Vec<PyRef<'_, Operation>>,
    timeout: Option<f64>,
) -> PyResult<Option<usize>> {
    let api = process::api(py)?;
    let mut list = Vec::with_capacity(operations.len());
    for (at, operation) in operations.iter().enumerate() {
        match operation.number() {
            Some(number) => list.push(Request(number)),
            None => return Ok(Some(at)),
        }
    }
    let limit = Limit::of(py, timeout)?;
    let waits = notes(call::WAIT, -1, -1, 0);
    let over = patience::wait(py, api, waits, limit, |notes| match api.wait_any(&list, u64::MAX, notes) {
        at @ 0.. => Ok(at as usize),
        _ => Err(Status::Pending),
    });
    match over {
        Ok(at) => {
            operations[at].take(py, api)?;
            Ok(Some(at))
        }
        Err(why) if errors::is_timeout(py, &why) => Ok(None),
        Err(why) => Err(why),
    }
}
