//! Messages that were received but not delivered, because a signal handler raised in between. The next matching receive gets them.

use crate::objects::decode::{self, Data};
use crate::{task::errors, task::process};
use parvum_sync::fork;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a message was received.
enum Progress {
    /// The object was complete.
    Object(Py<PyAny>),
    /// The word and the data: the object was not complete.
    Data(u32, Py<PyAny>),
}

struct Unfinished {
    from: i32,
    tag: i32,
    context: u32,
    what: Progress,
    /// The task of the message. A forked child, or a later task of this process, must not get it.
    owner: (u32, i32),
}

static KEPT: Mutex<VecDeque<Unfinished>> = Mutex::new(VecDeque::new());
/// The number of kept messages. Release: a thread that sees a message must find it (Acquire in [`is_empty`]).
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn owner(py: Python<'_>) -> (u32, i32) {
    (fork::generation(), process::identity(py).map_or(0, |(own, _)| own))
}

/// True if there is none, which is the usual case.
#[inline]
pub(crate) fn is_empty() -> bool {
    COUNT.load(Ordering::Acquire) == 0
}

fn add(py: Python<'_>, from: i32, tag: i32, context: u32, what: Progress) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push_back(Unfinished { from, tag, context, what, owner: owner(py) });
    COUNT.store(kept.len(), Ordering::Release);
}

/// Keeps data that has not become an object.
pub(crate) fn add_data(py: Python<'_>, (from, tag, context): (i32, i32, u32), meta: u32, data: &[u8]) {
    add(py, from, tag, context, Progress::Data(meta, PyByteArray::new(py, data).into_any().unbind()));
}

/// Delivers an object to its receiver, or keeps it if a signal handler raises at this moment.
pub(crate) fn hand<'py>(
    object: Bound<'py, PyAny>,
    (from, tag, context): (i32, i32, u32),
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    py.check_signals()
        .inspect_err(|_| add(py, from, tag, context, Progress::Object(object.clone().unbind())))?;
    Ok(object)
}

/// True if an exception does not come from the object itself: then the message is kept.
pub(crate) fn interrupts(py: Python<'_>, why: &PyErr) -> bool {
    !why.is_instance_of::<pyo3::exceptions::PyException>(py)
}

/// The index of the first matching kept message. Messages of another task are dropped.
fn find(
    kept: &mut VecDeque<Unfinished>,
    owner: (u32, i32),
    context: u32,
    from: Option<i32>,
    tag: Option<i32>,
) -> Option<usize> {
    kept.retain(|one| one.owner == owner);
    COUNT.store(kept.len(), Ordering::Release);
    kept.iter().position(|one| {
        one.context == context
            && from.is_none_or(|from| one.from == from)
            && tag.is_none_or(|tag| tag < 0 || one.tag == tag)
    })
}

/// The sender and the tag of the first matching kept message, and the bytes of its data if known.
pub(crate) fn probe(
    py: Python<'_>,
    context: u32,
    from: Option<i32>,
    tag: Option<i32>,
) -> Option<(i32, i32, u64)> {
    let owner = owner(py);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let at = find(&mut kept, owner, context, from, tag)?;
    let one = &kept[at];
    let length = match &one.what {
        Progress::Object(object) | Progress::Data(_, object) => object.bind(py).len().unwrap_or(0),
    };
    Some((one.from, one.tag, length as u64))
}

/// The object, the sender and the tag of the first matching kept message.
pub(crate) fn take<'py>(
    py: Python<'py>,
    context: u32,
    from: Option<i32>,
    tag: Option<i32>,
) -> PyResult<Option<(Bound<'py, PyAny>, i32, i32)>> {
    let owner = owner(py);
    let taken = {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let at = find(&mut kept, owner, context, from, tag);
        let taken = at.and_then(|at| kept.remove(at));
        COUNT.store(kept.len(), Ordering::Release);
        taken
    };
    let Some(Unfinished { from, tag, context, what, .. }) = taken else { return Ok(None) };
    let object = match what {
        Progress::Object(object) => object.into_bound(py),
        Progress::Data(meta, data) => of_data(py, meta, &data).inspect_err(|why| {
            if interrupts(py, why) {
                add(py, from, tag, context, Progress::Data(meta, data.clone_ref(py)));
            }
        })?,
    };
    Ok(Some((hand(object, (from, tag, context))?, from, tag)))
}

/// The newest kept data of this sender and tag: the request that received the data takes it back.
pub(crate) fn take_data(py: Python<'_>, context: u32, from: i32, tag: i32) -> Option<(u32, Py<PyAny>)> {
    let owner = owner(py);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let fits =
        |one: &Unfinished| one.owner == owner && (one.context, one.from, one.tag) == (context, from, tag);
    let at = kept.iter().rposition(|one| fits(one) && matches!(one.what, Progress::Data(..)))?;
    let taken = kept.remove(at);
    COUNT.store(kept.len(), Ordering::Release);
    match taken?.what {
        Progress::Data(meta, data) => Some((meta, data)),
        Progress::Object(_) => None,
    }
}

/// The object of data in a `bytearray`.
pub(crate) fn of_data<'py>(py: Python<'py>, meta: u32, data: &Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let bytes =
        data.bind(py).cast::<PyByteArray>().map_err(|_| errors::bad_argument(py, "no data"))?.to_vec();
    decode::of(py, meta, Data::Lent(&bytes))
}
