//! Pickling: Python's own, called without detours; what that refuses goes to `parvum._pickles.pickling`.

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

/// Takes the buffers of a pickle that stay where they are.
#[pyclass(frozen)]
struct Beside(Py<PyList>);

#[pymethods]
impl Beside {
    fn __call__(&self, buffer: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.0.bind(buffer.py()).append(buffer)?;
        Ok(false)
    }
}

/// An object's stream, and the buffers beside it.
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
        // Arrays in files are sent by the names of their files.
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

/// The object of a stream, and of buffers if there are any.
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

/// The versions that this process's pickles are of.
pub(crate) fn versions(py: Python<'_>) -> PyResult<Versions> {
    Ok(Versions { python: pickle(py)?.python, numpy: numpy::version(py) })
}

/// That a pickle of another Python or NumPy is not read here.
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
