//! Objects of the package's own classes, made quickly: each is a tuple or a number of a class that Python code defines.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::sync::Mutex;

struct Classes {
    status: Py<PyAny>,
    task: Py<PyAny>,
    make: Py<PyAny>,
}

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        let status = py.import("parvum._task.message")?.getattr("Status")?.unbind();
        let task = py.import("parvum._task.ids")?.getattr("TaskId")?.unbind();
        // The constructor of a NamedTuple takes its parts by name; the constructor of tuple takes them directly.
        let make = py.get_type::<PyTuple>().getattr("__new__")?.unbind();
        Ok(Classes { status, task, make })
    })
}

/// A `TaskId`.
fn task<'py>(py: Python<'py>, number: i32) -> PyResult<Bound<'py, PyAny>> {
    /// The last task id: it is often used again.
    static LAST: Mutex<Option<(i32, Py<PyAny>)>> = Mutex::new(None);
    if let Ok(last) = LAST.try_lock()
        && let Some((named, object)) = &*last
        && *named == number
    {
        return Ok(object.bind(py).clone());
    }
    let made = classes(py)?.task.bind(py).call1((number,))?;
    if let Ok(mut last) = LAST.try_lock() {
        *last = Some((number, made.clone().unbind()));
    }
    Ok(made)
}

/// The parts of a `Status`, and the `Status` itself.
type Said = ((i32, i32, u64), Py<PyAny>);

/// A `Status`.
pub(crate) fn status<'py>(py: Python<'py>, from: i32, tag: i32, length: u64) -> PyResult<Bound<'py, PyAny>> {
    /// The last one: the next message often has the same length, task and tag, and a tuple never changes.
    static LAST: Mutex<Option<Said>> = Mutex::new(None);
    let what = (from, tag, length);
    if let Ok(last) = LAST.try_lock()
        && let Some((said, object)) = &*last
        && *said == what
    {
        return Ok(object.bind(py).clone());
    }
    let classes = classes(py)?;
    let parts = (task(py, from)?, tag, length);
    let made = classes.make.bind(py).call1((classes.status.bind(py), parts))?;
    if let Ok(mut last) = LAST.try_lock() {
        *last = Some((what, made.clone().unbind()));
    }
    Ok(made)
}
