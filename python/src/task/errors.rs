//! Failures as the exceptions of `parvum.errors`.

use parvum_api::Status;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An exception of this class of `parvum.errors` with this cause; the class has the code and the remedy.
pub(crate) fn new(py: Python<'_>, class: &str, cause: impl AsRef<str>) -> PyErr {
    let make = || {
        let class = py.import("parvum.errors")?.getattr(class)?;
        class.call1((cause.as_ref(),))
    };
    make().map_or_else(|why| why, PyErr::from_value)
}

/// A refusal of the daemon.
pub(crate) fn refused(py: Python<'_>, failure: &Failure) -> PyErr {
    let kind = failure.kind;
    let class = match kind {
        ErrorKind::NoSuchTask => "TaskGone",
        ErrorKind::NoSuchEntry => "NoEntry",
        ErrorKind::GoingDown => "MachineGone",
        ErrorKind::HostLost => "HostGone",
        _ => "Refused",
    };
    let make = || {
        let class = py.import("parvum.errors")?.getattr(class)?;
        let more = PyDict::new(py);
        more.set_item("code", kind.code())?;
        more.set_item("remedy", failure.remedy())?;
        class.call((failure.cause(),), Some(&more))
    };
    make().map_or_else(|why| why, PyErr::from_value)
}

/// The text if it is not empty, otherwise the other text.
fn or_else(words: String, others: &str) -> String {
    if words.is_empty() { others.to_owned() } else { words }
}

/// An invalid argument.
pub(crate) fn bad_argument(py: Python<'_>, cause: impl AsRef<str>) -> PyErr {
    new(py, "BadArgument", cause)
}

/// The exception for the engine's status of a message from or to this task; `said` is the engine's text for a lost virtual machine.
pub(crate) fn of(py: Python<'_>, status: Status, peer: i32, said: impl FnOnce() -> String) -> PyErr {
    let name = Tid(peer);
    match status {
        Status::Gone | Status::Unknown if peer > 0 => {
            let gone = || {
                let class = py.import("parvum.errors")?.getattr("TaskGone")?;
                class.call1((format!("task {name} is gone"), peer))
            };
            gone().map_or_else(|why| why, PyErr::from_value)
        }
        Status::Gone => new(py, "TaskGone", "nobody is there who could send it"),
        Status::Unknown => new(py, "TaskGone", "there is no such task or message"),
        Status::NoMachine => {
            let cause = match said() {
                text if text.is_empty() => "the machine is gone".to_owned(),
                text => text,
            };
            new(py, "MachineGone", cause)
        }
        Status::Pending => new(py, "TimedOut", "the time was over"),
        Status::Cancelled => new(py, "Cancelled", "the request was cancelled"),
        Status::Cut => new(py, "Truncated", "the message is longer than the memory for it"),
        Status::BadArgument => bad_argument(py, "the engine cannot use the arguments"),
        Status::Refused => new(py, "Refused", or_else(said(), "the machine refused and gave no reason")),
        Status::NoMemory => new(py, "Refused", or_else(said(), "there is no memory for the message")),
        Status::Done => bad_argument(py, "nothing went wrong"),
    }
}

/// True if the error is a timeout.
pub(crate) fn is_timeout(py: Python<'_>, why: &PyErr) -> bool {
    why.is_instance_of::<pyo3::exceptions::PyTimeoutError>(py)
}
