//! Operations under way.

use crate::objects::encode::Encoded;
use crate::task::patience::{self, Limit};
use crate::task::process::{self, notes};
use crate::{kept, objects::decode, task::errors};
use parvum_api::{CoreApi, Message, Notes, Pattern, Request, SendTo, Status, call};
use parvum_sync::fork;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// What an operation was started as.
enum StartedAs {
    Send(Encoded),
    Receive,
}

/// Where an operation is.
enum State {
    UnderWay(Request, StartedAs),
    /// Its object, who sent it, and its tag.
    Over(Py<PyAny>, i32, i32),
    /// Its word and data, who sent it, and its tag: a signal's handler has raised while its object was made.
    Again(u32, Py<PyAny>, i32, i32),
    Failed(PyErr),
}

/// An operation under way. `parvum.Request` is made of it.
#[pyclass(frozen, module = "parvum._parvum")]
pub(crate) struct Operation {
    state: Mutex<State>,
    notes: Notes,
    generation: u32,
}

/// Sends that nobody has seen the end of: their memory stays until then.
static LEFT: Mutex<Vec<(Request, Encoded)>> = Mutex::new(Vec::new());

/// Sends that read the program's memory, some of them over: an interpreter that ends waits for them.
static OPEN: Mutex<Vec<Request>> = Mutex::new(Vec::new());

/// Waits until nothing reads the program's memory any more, for the interpreter ends and frees it.
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
        // What a machine that is gone would have read it does not read.
        Err(why) if !why.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => Ok(()),
        other => other,
    }
}

fn note_open(request: Request) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    // A request that is over is none any more; the list is not to grow with them.
    if open.len() >= 64
        && let Some(api) = process::any_waist()
    {
        let test = Notes { limit: 0, ..notes(call::WAIT, -1, -1, 0) };
        open.retain(|request| api.wait_any(&[*request], u64::MAX, &test) != 0);
    }
    open.push(request);
}

/// Gives up those that are over.
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
    // Objects end without the lock: their ends may call anything.
    drop(over);
}

fn leave(request: Request, encoded: Encoded) {
    note_open(request);
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).push((request, encoded));
}

/// Waits until a send is over; when a signal's handler raises meanwhile, its memory stays as long as it is read.
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
        // That it is over in whatever way is told apart from a signal's end.
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

/// Starts to send.
pub(crate) fn start_send(py: Python<'_>, api: CoreApi, how: SendTo, encoded: Encoded) -> PyResult<Operation> {
    tidy(api);
    let pieces = encoded.pieces();
    // SAFETY: the operation keeps what holds the pieces until it is over.
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

/// Starts to receive.
pub(crate) fn start_receive(api: CoreApi, pattern: &Pattern, context: u32) -> Operation {
    let request = api.post_by_reference(pattern, 0);
    let tag = if pattern.tags == parvum_api::TagKind::Any { -1 } else { pattern.tag };
    let notes = notes(call::WAIT, pattern.from, tag, context);
    let state = Mutex::new(State::UnderWay(request, StartedAs::Receive));
    Operation { state, notes, generation: fork::generation() }
}

#[pymethods]
impl Operation {
    /// The number of the engine's request; `None`: it is over.
    pub(crate) fn number(&self) -> Option<u64> {
        match &*self.lock() {
            State::UnderWay(request, _) => Some(request.0),
            _ => None,
        }
    }

    /// Whether it is over; waits so many seconds for that, `None`: without end.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let Some(number) = self.number() else { return Ok(true) };
        let api = process::api(py)?;
        let limit = Limit::of(py, timeout)?;
        // Several threads may wait, and one takes what has come.
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

    /// What came of it: the object, who sent it, and its tag. Raises what went wrong.
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

    /// Takes a receive back. False: it is too late, or it is a send.
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

    /// One that is over from its beginning.
    pub(crate) fn over(object: Py<PyAny>, from: i32, tag: i32) -> Operation {
        let state = Mutex::new(State::Over(object, from, tag));
        Operation { state, notes: notes(call::WAIT, from, tag, 0), generation: fork::generation() }
    }

    /// Takes what has come, if no other thread has. Raises what a signal's handler has raised meanwhile.
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
            // This request has it, and no other receive.
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
                // One that is over, and nobody has asked for, has a block.
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

/// Waits until one of the operations is over: its place. `None`: the time is over.
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
