//! A thread that waits for operations, and can be woken for more.

use crate::requests::Operation;
use crate::task::patience::{self, Limit};
use crate::task::process::{self, notes};
use parvum_api::{CoreApi, Message, Notes, Pattern, Request, Status, TagKind, call};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The context of wake-up messages, which this task sends to itself.
const CONTEXT: u32 = 0x7079_fffe;

/// Wakes the one thread that waits with this bell.
#[pyclass(frozen, module = "parvum._parvum")]
pub(crate) struct Bell {
    tag: i32,
    /// The receive for the wake-up message.
    posted: Mutex<Option<Request>>,
}

#[pymethods]
impl Bell {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Bell> {
        // Relaxed: the number must only be unique.
        static NEXT: AtomicI32 = AtomicI32::new(0);
        let tag = NEXT.fetch_add(1, Ordering::Relaxed) & i32::MAX;
        let bell = Bell { tag, posted: Mutex::new(None) };
        bell.post(process::api(py)?);
        Ok(bell)
    }

    /// Ends the wait, or the next one.
    fn ring(&self, py: Python<'_>) -> PyResult<()> {
        let api = process::api(py)?;
        let (from, _) = process::identity(py)?;
        let message = Message { from, tag: self.tag, context: CONTEXT, ..Message::NONE };
        api.inject(&message, &[]).map_err(|status| errors_of(py, status, api))
    }

    /// Waits until one of the operations is complete, and returns its index. `None`: the bell rang.
    fn wait_any(&self, py: Python<'_>, operations: Vec<PyRef<'_, Operation>>) -> PyResult<Option<usize>> {
        let api = process::api(py)?;
        let bell = self.post(api);
        let mut list = vec![bell];
        for (at, operation) in operations.iter().enumerate() {
            match operation.number() {
                Some(number) => list.push(Request(number)),
                None => return Ok(Some(at)),
            }
        }
        let over = patience::wait(py, api, notes(call::SERVE, -1, -1, 0), Limit::Never, |notes| {
            match api.wait_any(&list, u64::MAX, notes) {
                at @ 0.. => Ok(at as usize),
                _ => Err(Status::Pending),
            }
        })?;
        let Some(at) = over.checked_sub(1) else {
            let test = Notes { limit: 0, ..notes(call::SERVE, -1, -1, 0) };
            if let Ok(message) = api.wait_seen(bell, &test) {
                api.give_back(&message);
            }
            *self.posted.lock().unwrap_or_else(PoisonError::into_inner) = None;
            return Ok(None);
        };
        operations[at].take(py, api)?;
        Ok(Some(at))
    }
}

impl Bell {
    fn post(&self, api: CoreApi) -> Request {
        let pattern =
            Pattern { from: -1, tags: TagKind::Exactly, tag: self.tag, other: 0, context: CONTEXT.into() };
        let mut posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
        *posted.get_or_insert_with(|| api.post(&pattern, 0))
    }
}

fn errors_of(py: Python<'_>, status: Status, api: CoreApi) -> PyErr {
    crate::task::errors::of(py, status, 0, || api.last_error())
}
