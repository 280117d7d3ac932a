//! NumPy, if it is installed. It is loaded only when an array is sent or received.

use crate::objects::buffers::{Array, Sides};
use crate::objects::kinds::ITEMS;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySlice, PyTuple, PyType};
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The functions of NumPy that this module uses.
struct NumPy {
    array: Py<PyType>,
    types: Vec<Py<PyAny>>,
    in_rows: Py<PyAny>,
    empty: Py<PyAny>,
    from_dlpack: Py<PyAny>,
    version: (u8, u8),
    /// The index in `ITEMS` of each of NumPy's type numbers; empty: NumPy's arrays do not have the known layout.
    known: Vec<Option<usize>>,
}

/// The first fields of an array, as in NumPy's own headers since 1.0.
#[repr(C)]
struct Fields {
    head: pyo3::ffi::PyObject,
    data: *mut u8,
    count: c_int,
    shape: *const isize,
    strides: *const isize,
    base: *mut pyo3::ffi::PyObject,
    kind: *const Kind,
    flags: c_int,
}

/// The first fields of a dtype.
#[repr(C)]
struct Kind {
    head: pyo3::ffi::PyObject,
    class: *mut pyo3::ffi::PyObject,
    kind: u8,
    letter: u8,
    order: u8,
    flags: u8,
    number: c_int,
}

const WRITABLE: c_int = 0x400;
const IN_ROWS: c_int = 0x1;
const DIMENSIONS: usize = 64;

static NUMPY: PyOnceLock<NumPy> = PyOnceLock::new();
/// The address of the type `numpy.ndarray`, if known. Relaxed: the address is only compared.
static ARRAY: AtomicUsize = AtomicUsize::new(0);

fn numpy(py: Python<'_>) -> PyResult<&NumPy> {
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let array: Bound<'_, PyType> = module.getattr("ndarray")?.cast_into()?;
        let make = module.getattr("dtype")?;
        let types: Vec<Py<PyAny>> =
            ITEMS.iter().map(|(_, name)| Ok(make.call1((*name,))?.unbind())).collect::<PyResult<_>>()?;
        ARRAY.store(array.as_ptr() as usize, Ordering::Relaxed);
        let version: String = module.getattr("__version__")?.extract()?;
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let function = |name| Ok::<_, PyErr>(module.getattr(name)?.unbind());
        let (in_rows, empty) = (function("ascontiguousarray")?, function("empty")?);
        let from_dlpack = function("from_dlpack")?;
        let known = known(&array, &types, empty.bind(py)).unwrap_or_default();
        Ok(NumPy { array: array.unbind(), types, in_rows, empty, from_dlpack, version, known })
    })
}

/// NumPy, if the program has loaded it.
fn loaded(py: Python<'_>) -> Option<&NumPy> {
    if let Some(numpy) = NUMPY.get(py) {
        return Some(numpy);
    }
    static MODULES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let modules = MODULES
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("sys")?.getattr("modules")?.unbind()))
        .ok()?
        .bind(py);
    // During its import the module is incomplete.
    let dictionary = modules.cast::<PyDict>().ok()?;
    dictionary
        .get_item(intern!(py, "numpy"))
        .ok()?
        .filter(|module| module.hasattr("ndarray").unwrap_or(false))?;
    numpy(py).ok()
}

/// The index in `ITEMS` of each of NumPy's type numbers, if the fields of an array agree with its attributes.
fn known(
    array: &Bound<'_, PyType>,
    types: &[Py<PyAny>],
    empty: &Bound<'_, PyAny>,
) -> Option<Vec<Option<usize>>> {
    let py = array.py();
    let size: usize = array.getattr("__basicsize__").ok()?.extract().ok()?;
    if size < size_of::<Fields>() {
        return None;
    }
    let mut places = Vec::new();
    for (place, kind) in types.iter().enumerate() {
        let sample = empty.call1(((2, 3), kind)).ok()?;
        let number: usize = kind.bind(py).getattr("num").ok()?.extract().ok()?;
        let data: usize = sample.getattr("ctypes").ok()?.getattr("data").ok()?.extract().ok()?;
        let strides: (isize, isize) = sample.getattr("strides").ok()?.extract().ok()?;
        // SAFETY: the object has at least this many bytes, which are read as numbers and addresses. The code follows no address before
        // the first fields have their expected values.
        let same = unsafe {
            let fields = &*sample.as_ptr().cast::<Fields>();
            fields.data as usize == data
                && fields.count == 2
                && std::slice::from_raw_parts(fields.shape, 2) == [2, 3]
                && std::slice::from_raw_parts(fields.strides, 2) == [strides.0, strides.1]
                && fields.kind.cast() == kind.as_ptr().cast_const()
                && (*fields.kind).number as usize == number
                && fields.flags & WRITABLE != 0
        };
        // The type for bytes has no fixed length.
        let is_number = ITEMS[place].0 != "c";
        if !same || number > 99 {
            return None;
        }
        if places.len() <= number {
            places.resize(number + 1, None);
        }
        if is_number && places[number].is_none() {
            places[number] = Some(place);
        }
    }
    Some(places)
}

/// A contiguous array of one dimension.
pub(crate) struct Row {
    pub(crate) start: *const u8,
    pub(crate) length: usize,
    pub(crate) item: usize,
}

/// An array that is one row of plain items. `None`: it has another form.
#[inline]
pub(crate) fn row(object: &Bound<'_, PyAny>) -> Option<Row> {
    let (fields, item) = fields(object)?;
    if fields.count != 1 || fields.flags & IN_ROWS == 0 {
        return None;
    }
    // SAFETY: it has one dimension.
    let items = unsafe { *fields.shape } as usize;
    Some(Row { start: fields.data, length: items * crate::objects::kinds::item_bytes(item), item })
}

/// The fields of an array of plain items. `None`: use the buffer protocol, which describes or refuses it.
#[inline]
pub(crate) fn described(object: &Bound<'_, PyAny>, writable: bool) -> Option<Array> {
    let (fields, item) = fields(object)?;
    let count = fields.count as usize;
    if (writable && fields.flags & WRITABLE == 0) || count > DIMENSIONS {
        return None;
    }
    let numbers = |start: *const isize| match count {
        0 => Sides::new(),
        // SAFETY: the array has one entry for each dimension.
        count => Sides::from_slice(unsafe { std::slice::from_raw_parts(start, count) }),
    };
    let (shape, strides) = (numbers(fields.shape), numbers(fields.strides));
    let length = shape.iter().product::<isize>() as usize * crate::objects::kinds::item_bytes(item);
    Some(Array { object: object.clone().unbind(), start: fields.data, length, item, shape, strides })
}

/// The fields of an array of plain items in native byte order, and the item type.
#[inline]
fn fields<'a>(object: &'a Bound<'_, PyAny>) -> Option<(&'a Fields, usize)> {
    if !is_array(object) {
        return None;
    }
    let known = &NUMPY.get(object.py())?.known;
    if known.is_empty() {
        return None;
    }
    // SAFETY: a NumPy array with the layout that `known` has checked. The interpreter's lock is held, so no thread changes the array.
    let (fields, kind) = unsafe {
        let fields = &*object.as_ptr().cast::<Fields>();
        (fields, &*fields.kind)
    };
    let item = (*known.get(kind.number as usize)?)?;
    matches!(kind.order, b'=' | b'|').then_some((fields, item))
}

/// True if it is an array of NumPy's own class, not of a derived one.
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

/// True if it is an array of a class derived from NumPy's, which pickle preserves.
pub(crate) fn is_kind_of_array(object: &Bound<'_, PyAny>) -> bool {
    let py = object.py();
    loaded(py).is_some_and(|numpy| object.is_instance(numpy.array.bind(py)).unwrap_or(false))
}

/// An array over the memory of another package (DLPack), which must be memory of the processor.
pub(crate) fn from_dlpack<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    numpy(object.py())?.from_dlpack.bind(object.py()).call1((object,))
}

/// A contiguous copy.
pub(crate) fn in_rows<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    numpy(object.py())?.in_rows.bind(object.py()).call1((object,))
}

/// New bytes, if NumPy is loaded.
pub(crate) fn bytes(py: Python<'_>, length: usize) -> Option<PyResult<Bound<'_, PyAny>>> {
    let numpy = loaded(py)?;
    Some(numpy.empty.bind(py).call1((length, "u1")))
}

/// The version in use, 0 for none.
pub(crate) fn version(py: Python<'_>) -> (u8, u8) {
    loaded(py).map_or((0, 0), |numpy| numpy.version)
}

/// An array over memory. Without NumPy, a `memoryview` of the same form.
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
    // The lengths of the dimensions follow the items.
    let items: u64 = sides.extract::<Vec<u64>>()?.iter().product();
    let length = items as usize * crate::objects::kinds::item_bytes(item);
    let view = view.get_item(PySlice::new(py, 0, length as isize, 1))?;
    view.call_method1("cast", (ITEMS[item].0, sides))
}
