//! Pickles: Python's own pickler, called directly; objects that it refuses go to `parvum._pickles.pickling`.

use crate::objects::kinds::Versions;
use crate::objects::numpy;
use crate::task::errors;
use pyo3::exceptions::{PyAttributeError, PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{intern, pyclass};

struct Pickle {
    dumps: Py<PyAny>,
    loads: Py<PyAny>,
    error: Py<PyAny>,
    python: (u8, u8),
}

fn pickle(py: Python<'_>) -> PyResult<&Pickle> {
    static PICKLE: PyOnceLock<Pickle> = PyOnceLock::new();
    PICKLE.get_or_try_init(py, || {
        let module = py.import("pickle")?;
        let part = |name| Ok::<_, PyErr>(module.getattr(name)?.unbind());
        let info = py.version_info();
        let python = (info.major, info.minor);
        Ok(Pickle { dumps: part("dumps")?, loads: part("loads")?, error: part("PicklingError")?, python })
    })
}

/// Collects the buffers outside a pickle.
#[pyclass(frozen)]
struct Beside(Py<PyList>);

#[pymethods]
impl Beside {
    fn __call__(&self, buffer: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.0.bind(buffer.py()).append(buffer)?;
        Ok(false)
    }
}

/// The pickle of an object, and its buffers.
pub(crate) fn dumps<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let py = object.py();
    let pickle = pickle(py)?;
    let buffers = PyList::empty(py);
    let beside = Beside(buffers.clone().unbind());
    let made = if numpy::version(py) == (0, 0) {
        let how = PyDict::new(py);
        how.set_item(intern!(py, "protocol"), 5)?;
        how.set_item(intern!(py, "buffer_callback"), beside)?;
        pickle.dumps.bind(py).call((object,), Some(&how))
    } else {
        // Arrays in files are sent by file name.
        py.import(intern!(py, "parvum._pickles.by_reference"))?
            .getattr(intern!(py, "dumps"))?
            .call1((object, beside))
    };
    match made {
        Ok(stream) => (stream, buffers).into_pyobject(py),
        Err(why) => {
            let refused = why.is_instance_of::<PyTypeError>(py)
                || why.is_instance_of::<PyAttributeError>(py)
                || why.is_instance_of::<PyRecursionError>(py)
                || why.is_instance(py, pickle.error.bind(py));
            if !refused {
                return Err(why);
            }
            let made = py.import("parvum._pickles.pickling")?.getattr("dumps")?.call1((object,))?;
            Ok(made.cast_into::<PyTuple>()?)
        }
    }
}

/// The object of a pickle and its buffers.
pub(crate) fn loads<'py>(
    stream: &Bound<'py, PyAny>,
    buffers: Option<Bound<'py, PyList>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = stream.py();
    let loads = pickle(py)?.loads.bind(py);
    let Some(buffers) = buffers else { return loads.call1((stream,)) };
    let how = PyDict::new(py);
    how.set_item(intern!(py, "buffers"), buffers)?;
    loads.call((stream,), Some(&how))
}

/// The versions of this process's pickles.
pub(crate) fn versions(py: Python<'_>) -> PyResult<Versions> {
    Ok(Versions { python: pickle(py)?.python, numpy: numpy::version(py) })
}

/// The error that a pickle of another Python or NumPy cannot be read.
pub(crate) fn check(py: Python<'_>, theirs: Versions) -> PyResult<()> {
    let own = versions(py)?;
    match theirs.fits(own) {
        true => Ok(()),
        false => {
            let text = format!("the sender has {}, this task {}", theirs.text(), own.text());
            Err(errors::new(py, "VersionMismatch", text))
        }
    }
}
