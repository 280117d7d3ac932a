//! The buffer protocol: memory of Python objects, held in place while it is read or written.
//!
//! CPython's stable interface has these functions from 3.11 on, and this module uses the interface of 3.10. Every CPython since 3.3
//! exports them with this layout, so the module looks them up by name.

use pyo3::ffi::{Py_ssize_t, PyObject};
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::sync::LazyLock;

/// `Py_buffer` of CPython.
#[repr(C)]
struct Raw {
    buf: *mut c_void,
    obj: *mut PyObject,
    len: Py_ssize_t,
    itemsize: Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut Py_ssize_t,
    strides: *mut Py_ssize_t,
    suboffsets: *mut Py_ssize_t,
    internal: *mut c_void,
}

const WRITABLE: c_int = 0x1;
const FORMAT: c_int = 0x4;
const ND: c_int = 0x8;
const STRIDES: c_int = 0x10 | ND;

/// The interpreter's functions for buffers.
struct Functions {
    get: Get,
    release: Release,
}

type Get = unsafe extern "C" fn(*mut PyObject, *mut Raw, c_int) -> c_int;
type Release = unsafe extern "C" fn(*mut Raw);

static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
    let find = |name: &CStr| {
        // SAFETY: a C string; the search in all loaded libraries changes nothing.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        assert!(!found.is_null(), "this interpreter has no {}", name.to_string_lossy());
        found
    };
    // SAFETY: functions of these names have these types in every CPython since 3.3.
    unsafe {
        Functions {
            get: transmute::<*mut c_void, Get>(find(c"PyObject_GetBuffer")),
            release: transmute::<*mut c_void, Release>(find(c"PyBuffer_Release")),
        }
    }
});

/// Memory of a Python object: the object cannot be freed or resized while this exists.
pub(crate) struct Buffer(BorrowedMemory);

enum BorrowedMemory {
    /// Held by the buffer protocol.
    View(Box<Raw>),
    /// A NumPy array: the buffer protocol would take a third of a microsecond for it.
    Array(Array),
}

/// The fields of a NumPy array. A reference holds the array: NumPy does not count buffers either.
pub(crate) struct Array {
    #[expect(dead_code, reason = "it is kept, not read")]
    pub(crate) object: Py<PyAny>,
    pub(crate) start: *mut u8,
    pub(crate) length: usize,
    /// The index in the table of item types.
    pub(crate) item: usize,
    pub(crate) shape: Sides,
    pub(crate) strides: Sides,
}

/// The lengths of a few dimensions.
pub(crate) type Sides = SmallVec<[Py_ssize_t; 4]>;

// SAFETY: the interpreter's reference count holds the memory, and the release takes the interpreter's lock.
unsafe impl Send for Buffer {}
// SAFETY: as above; a shared reference changes nothing.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// The memory of an object with any strides, and its format.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Buffer> {
        Buffer::get(object, FORMAT | STRIDES)
    }

    /// Writable memory of an object.
    pub(crate) fn writable(object: &Bound<'_, PyAny>) -> PyResult<Buffer> {
        Buffer::get(object, FORMAT | STRIDES | WRITABLE)
    }

    fn get(object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<Buffer> {
        if let Some(array) = crate::objects::numpy::described(object, flags & WRITABLE != 0) {
            return Ok(Buffer(BorrowedMemory::Array(array)));
        }
        // SAFETY: numbers and pointers, for which zero is a value.
        let mut raw: Box<Raw> = Box::new(unsafe { std::mem::zeroed() });
        // SAFETY: the interpreter is attached; the structure does not move until it is released.
        if unsafe { (FUNCTIONS.get)(object.as_ptr(), &mut *raw, flags) } != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        Ok(Buffer(BorrowedMemory::View(raw)))
    }

    /// The start address.
    pub(crate) fn start(&self) -> *mut u8 {
        match &self.0 {
            BorrowedMemory::View(raw) => raw.buf.cast(),
            BorrowedMemory::Array(array) => array.start,
        }
    }

    /// The length of the data in bytes.
    pub(crate) fn length(&self) -> usize {
        match &self.0 {
            BorrowedMemory::View(raw) => raw.len as usize,
            BorrowedMemory::Array(array) => array.length,
        }
    }

    /// The size of an item in bytes.
    pub(crate) fn item(&self) -> usize {
        match &self.0 {
            BorrowedMemory::View(raw) => raw.itemsize as usize,
            BorrowedMemory::Array(array) => crate::objects::kinds::item_bytes(array.item),
        }
    }

    /// The format of an item, as in `struct`.
    pub(crate) fn format(&self) -> &[u8] {
        match &self.0 {
            BorrowedMemory::View(raw) if raw.format.is_null() => b"B",
            // SAFETY: a C string that lives as long as the buffer is held.
            BorrowedMemory::View(raw) => unsafe { CStr::from_ptr(raw.format) }.to_bytes(),
            BorrowedMemory::Array(array) => crate::objects::kinds::ITEMS[array.item].0.as_bytes(),
        }
    }

    /// The number of items in each dimension.
    pub(crate) fn shape(&self) -> &[Py_ssize_t] {
        match &self.0 {
            BorrowedMemory::View(raw) => raw.numbers(raw.shape),
            BorrowedMemory::Array(array) => &array.shape,
        }
    }

    /// The bytes from one item to the next in each dimension.
    pub(crate) fn strides(&self) -> &[Py_ssize_t] {
        match &self.0 {
            BorrowedMemory::View(raw) => raw.numbers(raw.strides),
            BorrowedMemory::Array(array) => &array.strides,
        }
    }

    /// True if the items are contiguous with the last index fastest.
    pub(crate) fn is_in_rows(&self) -> bool {
        self.is_dense(self.shape().iter().zip(self.strides()).rev())
    }

    /// True if the items are contiguous with the first index fastest.
    pub(crate) fn is_in_columns(&self) -> bool {
        self.is_dense(self.shape().iter().zip(self.strides()))
    }

    fn is_dense<'a>(&self, mut sides: impl Iterator<Item = (&'a Py_ssize_t, &'a Py_ssize_t)>) -> bool {
        let mut step = self.item() as Py_ssize_t;
        self.length() == 0
            || sides.all(|(&items, &stride)| {
                let fits = items == 1 || stride == step;
                step *= items;
                fits
            })
    }
}

impl Raw {
    fn numbers(&self, start: *const Py_ssize_t) -> &[Py_ssize_t] {
        match self.ndim {
            0 => &[],
            _ if start.is_null() => &[],
            // SAFETY: the array has one entry for each dimension while the buffer is held.
            count => unsafe { std::slice::from_raw_parts(start, count as usize) },
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let BorrowedMemory::View(raw) = &mut self.0 else { return };
        // The thread is usually attached when a buffer is dropped; at the interpreter's end no release is needed.
        Python::try_attach(|_| {
            // SAFETY: the buffer was acquired, and is released once.
            unsafe { (FUNCTIONS.release)(&mut **raw) }
        });
    }
}

/// From this size on NumPy asks the system for huge pages.
const HUGE: usize = 4 << 20;

/// New memory of this many bytes with undefined content: a `bytearray`. If `plain` is false and it saves time, it is
/// a NumPy array.
pub(crate) fn fresh(py: Python<'_>, length: usize, plain: bool) -> PyResult<(Bound<'_, PyAny>, *mut u8)> {
    if length >= HUGE
        && !plain
        && let Some(made) = crate::objects::numpy::bytes(py, length)
    {
        let made = made?;
        let start = Buffer::writable(&made)?.start();
        return Ok((made, start));
    }
    // SAFETY: the interpreter is attached; without a source the bytes stay uninitialised.
    unsafe {
        let made = pyo3::ffi::PyByteArray_FromStringAndSize(std::ptr::null(), length as Py_ssize_t);
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        let start = pyo3::ffi::PyByteArray_AsString(made.as_ptr()).cast();
        Ok((made, start))
    }
}

/// New `bytes` with undefined content: fill them before any other code sees them.
pub(crate) fn fresh_bytes(py: Python<'_>, length: usize) -> PyResult<(Bound<'_, PyAny>, *mut u8)> {
    // SAFETY: the interpreter is attached; without a source the bytes stay uninitialised, and new bytes may be written.
    unsafe {
        let made = pyo3::ffi::PyBytes_FromStringAndSize(std::ptr::null(), length as Py_ssize_t);
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        let start = pyo3::ffi::PyBytes_AsString(made.as_ptr()).cast();
        Ok((made, start))
    }
}

/// A `memoryview` of memory for the time of a call.
pub(crate) fn lent(py: Python<'_>, start: *mut u8, length: usize) -> PyResult<Bound<'_, PyAny>> {
    const WRITE: c_int = 0x200;
    // SAFETY: the interpreter is attached. This code reads and writes nothing; the called function does so during the call.
    unsafe {
        let made = pyo3::ffi::PyMemoryView_FromMemory(start.cast(), length as Py_ssize_t, WRITE);
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// The bytes of a message at `start`.
///
/// # Safety
/// They must be readable and valid as long as the slice is used.
pub(crate) unsafe fn bytes_at<'a>(start: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, length) }
}

/// As [`bytes_at`], but writable.
///
/// # Safety
/// They must be writable, exclusive, and valid as long as the slice is used.
pub(crate) unsafe fn room_at<'a>(start: *mut u8, length: usize) -> &'a mut [u8] {
    if length == 0 {
        return &mut [];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(start, length) }
}
