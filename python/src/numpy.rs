//! NumPy, where it is installed. It is not loaded before an array is sent or received.

use crate::kinds::ITEMS;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySlice, PyTuple, PyType};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is used of it.
struct NumPy {
    array: Py<PyType>,
    types: Vec<Py<PyAny>>,
    in_rows: Py<PyAny>,
    empty: Py<PyAny>,
    from_dlpack: Py<PyAny>,
    version: (u8, u8),
}

static NUMPY: PyOnceLock<NumPy> = PyOnceLock::new();
/// The address of the type `numpy.ndarray`, once it is known. Relaxed: it is compared, and nothing is read there.
static ARRAY: AtomicUsize = AtomicUsize::new(0);

fn numpy(py: Python<'_>) -> PyResult<&NumPy> {
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let array: Bound<'_, PyType> = module.getattr("ndarray")?.cast_into()?;
        let make = module.getattr("dtype")?;
        let types =
            ITEMS.iter().map(|(_, name)| Ok(make.call1((*name,))?.unbind())).collect::<PyResult<_>>()?;
        ARRAY.store(array.as_ptr() as usize, Ordering::Relaxed);
        let version: String = module.getattr("__version__")?.extract()?;
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let function = |name| Ok::<_, PyErr>(module.getattr(name)?.unbind());
        let (in_rows, empty) = (function("ascontiguousarray")?, function("empty")?);
        let from_dlpack = function("from_dlpack")?;
        Ok(NumPy { array: array.unbind(), types, in_rows, empty, from_dlpack, version })
    })
}

/// NumPy if the program has loaded it.
fn loaded(py: Python<'_>) -> Option<&NumPy> {
    if let Some(numpy) = NUMPY.get(py) {
        return Some(numpy);
    }
    static MODULES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let modules = MODULES
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("sys")?.getattr("modules")?.unbind()))
        .ok()?
        .bind(py);
    // While it is being loaded it is there in part.
    let dictionary = modules.cast::<PyDict>().ok()?;
    dictionary
        .get_item(intern!(py, "numpy"))
        .ok()?
        .filter(|module| module.hasattr("ndarray").unwrap_or(false))?;
    numpy(py).ok()
}

/// Whether it is an array, and of no class derived from that.
#[inline]
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type_ptr() as usize;
    match ARRAY.load(Ordering::Relaxed) {
        0 => may_be_array(object) && loaded(object.py()).is_some() && class == ARRAY.load(Ordering::Relaxed),
        array => class == array,
    }
}

#[cold]
fn may_be_array(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().name().is_ok_and(|name| name == "ndarray")
}

/// Whether it is an array of a class derived from NumPy's, which pickle keeps.
pub(crate) fn is_kind_of_array(object: &Bound<'_, PyAny>) -> bool {
    let py = object.py();
    loaded(py).is_some_and(|numpy| object.is_instance(numpy.array.bind(py)).unwrap_or(false))
}

/// An array over the memory of another package's (DLPack), which must be the processor's.
pub(crate) fn from_dlpack<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    numpy(object.py())?.from_dlpack.bind(object.py()).call1((object,))
}

/// A copy whose items lie one behind the other.
pub(crate) fn in_rows<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    numpy(object.py())?.in_rows.bind(object.py()).call1((object,))
}

/// Fresh bytes, where NumPy is loaded.
pub(crate) fn bytes(py: Python<'_>, length: usize) -> Option<PyResult<Bound<'_, PyAny>>> {
    let numpy = loaded(py)?;
    Some(numpy.empty.bind(py).call1((length, "u1")))
}

/// The version in use, 0 for none.
pub(crate) fn version(py: Python<'_>) -> (u8, u8) {
    loaded(py).map_or((0, 0), |numpy| numpy.version)
}

/// An array over memory. Where NumPy is not installed, a `memoryview` of that form.
pub(crate) fn array_over<'py>(
    memory: Bound<'py, PyAny>,
    item: usize,
    sides: &[u64],
    in_columns: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = memory.py();
    let sides = PyTuple::new(py, sides)?;
    let Ok(numpy) = numpy(py) else { return view_over(memory, item, &sides) };
    let (array, kind) = (numpy.array.bind(py), &numpy.types[item]);
    match in_columns {
        false => array.call1((sides, kind, memory)),
        true => array.call1((sides, kind, memory, 0, py.None(), "F")),
    }
}

fn view_over<'py>(
    memory: Bound<'py, PyAny>,
    item: usize,
    sides: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = memory.py();
    let view = py.import("builtins")?.getattr("memoryview")?.call1((memory,))?;
    // The lengths of the dimensions stand behind the items.
    let items: u64 = sides.extract::<Vec<u64>>()?.iter().product();
    let length = items as usize * crate::kinds::item_bytes(item);
    let view = view.get_item(PySlice::new(py, 0, length as isize, 1))?;
    view.call_method1("cast", (ITEMS[item].0, sides))
}
