//! Objects to send: pieces of memory, and the word about them.

use crate::objects::buffers::Buffer;
use crate::objects::kinds::{ALIGNMENT, ITEMS, kind, word, word_of_array};
use crate::{objects::numpy, objects::pickles};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple};
use smallvec::{SmallVec, smallvec};

/// The owner of the memory of pieces.
#[expect(dead_code, reason = "they are kept, not read")]
pub(crate) enum PinnedMemory {
    Buffer(Buffer),
    Object(Py<PyAny>),
    Bytes(Box<[u8]>),
}

/// An object to send: the memory is valid while this exists.
pub(crate) struct Encoded {
    pub(crate) word: u32,
    pieces: SmallVec<[(*const u8, usize); 2]>,
    kept: SmallVec<[PinnedMemory; 1]>,
}

// SAFETY: the pieces point to memory of their owner, which any thread may use.
unsafe impl Send for Encoded {}
// SAFETY: as above; the memory is only read.
unsafe impl Sync for Encoded {}

static PADDING: [u8; ALIGNMENT] = [0; ALIGNMENT];
/// A strided array is sent as its own runs if they are long and few; otherwise it is copied first.
const RUN: usize = 64;
const RUNS: usize = 1 << 16;

impl Encoded {
    fn one(word: u32, start: *const u8, length: usize, kept: PinnedMemory) -> Encoded {
        Encoded { word, pieces: smallvec![(start, length)], kept: smallvec![kept] }
    }

    fn bytes(word: u32, bytes: &[u8]) -> Encoded {
        let own: Box<[u8]> = bytes.into();
        Encoded::one(word, own.as_ptr(), own.len(), PinnedMemory::Bytes(own))
    }

    /// The pieces, valid while this exists.
    pub(crate) fn pieces(&self) -> SmallVec<[&[u8]; 2]> {
        // SAFETY: the owner holds them in place, and the interpreter does not allow a free or a resize.
        self.pieces
            .iter()
            .map(|&(start, length)| unsafe { crate::objects::buffers::bytes_at(start, length) })
            .collect()
    }

    /// The total bytes.
    pub(crate) fn length(&self) -> usize {
        self.pieces.iter().map(|piece| piece.1).sum()
    }

    /// How to send an object.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Encoded> {
        if numpy::is_array(object) {
            return match Encoded::array(object)? {
                Some(encoded) => Ok(encoded),
                None => Encoded::pickle(object),
            };
        }
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            let data = bytes.as_bytes();
            let kept = PinnedMemory::Object(object.clone().unbind());
            return Ok(Encoded::one(word(kind::BYTES), data.as_ptr(), data.len(), kept));
        }
        if object.is_none() {
            return Ok(Encoded { word: word(kind::NONE), pieces: smallvec![], kept: smallvec![] });
        }
        if let Ok(number) = object.cast_exact::<PyInt>()
            && let Ok(number) = number.extract::<i64>()
        {
            return Ok(Encoded::bytes(word(kind::INT), &number.to_le_bytes()));
        }
        if let Ok(number) = object.cast_exact::<PyFloat>() {
            return Ok(Encoded::bytes(word(kind::FLOAT), &number.extract::<f64>()?.to_le_bytes()));
        }
        if let Ok(text) = object.cast_exact::<PyString>()
            // A string with lone surrogates is not UTF-8, and goes to pickle.
            && let Ok(text) = text.to_str()
        {
            let kept = PinnedMemory::Object(object.clone().unbind());
            return Ok(Encoded::one(word(kind::TEXT), text.as_ptr(), text.len(), kept));
        }
        if object.is_exact_instance_of::<PyByteArray>() {
            let buffer = Buffer::of(object)?;
            let (start, length) = (buffer.start().cast_const(), buffer.length());
            return Ok(Encoded::one(word(kind::BYTEARRAY), start, length, PinnedMemory::Buffer(buffer)));
        }
        if object.is_exact_instance_of::<PyMemoryView>()
            && let Some(encoded) = Encoded::array(object)?
        {
            return Ok(encoded);
        }
        if object.hasattr(intern!(object.py(), "__dlpack__"))? && !numpy::is_kind_of_array(object) {
            let array = numpy::from_dlpack(object)?;
            if let Some(encoded) = Encoded::array(&array)? {
                return Ok(encoded);
            }
        }
        Encoded::pickle(object)
    }

    /// An array as it is in memory; `None`: use pickle.
    fn array(object: &Bound<'_, PyAny>) -> PyResult<Option<Encoded>> {
        // Dates, for example, have no format there.
        let Ok(buffer) = Buffer::of(object) else { return Ok(None) };
        let format = buffer.format();
        let Some(item) = ITEMS.iter().position(|(letter, _)| letter.as_bytes() == format) else {
            return Ok(None);
        };
        let dimensions = buffer.shape().len();
        let in_rows = buffer.is_in_rows();
        let in_columns = !in_rows && buffer.is_in_columns();
        let word = word_of_array(item, dimensions, in_columns);
        if !in_rows && !in_columns {
            return Encoded::strided(object, word, buffer).map(Some);
        }
        let (start, length) = (buffer.start().cast_const(), buffer.length());
        if dimensions == 1 {
            return Ok(Some(Encoded::one(word, start, length, PinnedMemory::Buffer(buffer))));
        }
        let sides = sides_of(&buffer);
        Ok(Some(Encoded {
            word,
            pieces: smallvec![(start, length), (sides.as_ptr(), sides.len())],
            kept: smallvec![PinnedMemory::Buffer(buffer), PinnedMemory::Bytes(sides)],
        }))
    }

    /// The runs of a non-contiguous array.
    fn strided(object: &Bound<'_, PyAny>, word: u32, buffer: Buffer) -> PyResult<Encoded> {
        let mut pieces: SmallVec<[(*const u8, usize); 2]> = smallvec![];
        let sides = sides_of(&buffer);
        match runs(&buffer) {
            Some(runs) => pieces.extend(runs.into_iter().map(|(start, length)| (start.cast_const(), length))),
            None => {
                let copy = numpy::in_rows(object)?;
                let buffer = Buffer::of(&copy)?;
                pieces.push((buffer.start().cast_const(), buffer.length()));
                if buffer.shape().len() != 1 {
                    pieces.push((sides.as_ptr(), sides.len()));
                }
                let kept = smallvec![PinnedMemory::Buffer(buffer), PinnedMemory::Bytes(sides)];
                return Ok(Encoded { word, pieces, kept });
            }
        }
        if buffer.shape().len() != 1 {
            pieces.push((sides.as_ptr(), sides.len()));
        }
        Ok(Encoded {
            word,
            pieces,
            kept: smallvec![PinnedMemory::Buffer(buffer), PinnedMemory::Bytes(sides)],
        })
    }

    /// Any other object: a pickle, with large parts in place.
    pub(crate) fn pickle(object: &Bound<'_, PyAny>) -> PyResult<Encoded> {
        Encoded::pickled(&pickles::dumps(object)?)
    }

    /// A pickle and its buffers, as `dumps` of `parvum._pickles.pickling` returns them.
    pub(crate) fn pickled(pickled: &Bound<'_, PyTuple>) -> PyResult<Encoded> {
        let py = pickled.py();
        let stream = Buffer::of(&pickled.get_item(0)?)?;
        let list = pickled.get_item(1)?;
        let list = list.cast::<PyList>()?;
        let mut encoded = Encoded { word: word(kind::PICKLE), pieces: smallvec![], kept: smallvec![] };
        let mut tail = Vec::with_capacity(8 * list.len() + 24);
        for buffer in list.iter() {
            let buffer = Buffer::of(&buffer.call_method0("raw")?)?;
            let length = buffer.length();
            encoded.pieces.push((buffer.start().cast_const(), length));
            let padding = length.next_multiple_of(ALIGNMENT) - length;
            if padding != 0 {
                encoded.pieces.push((PADDING.as_ptr(), padding));
            }
            tail.extend_from_slice(&(length as u64).to_le_bytes());
            encoded.kept.push(PinnedMemory::Buffer(buffer));
        }
        encoded.pieces.push((stream.start().cast_const(), stream.length()));
        tail.extend_from_slice(&(stream.length() as u64).to_le_bytes());
        tail.extend_from_slice(&(list.len() as u64).to_le_bytes());
        tail.extend_from_slice(&pickles::versions(py)?.bytes());
        let tail: Box<[u8]> = tail.into();
        encoded.pieces.push((tail.as_ptr(), tail.len()));
        encoded.kept.push(PinnedMemory::Buffer(stream));
        encoded.kept.push(PinnedMemory::Bytes(tail));
        Ok(encoded)
    }
}

/// The lengths of the dimensions, which follow the items of an array.
fn sides_of(buffer: &Buffer) -> Box<[u8]> {
    buffer.shape().iter().flat_map(|side| (*side as u64).to_le_bytes()).collect()
}

/// The runs of an array in row order; `None`: they are too short or too many.
pub(crate) fn runs(buffer: &Buffer) -> Option<Vec<(*mut u8, usize)>> {
    let (shape, strides) = (buffer.shape(), buffer.strides());
    let mut run = buffer.item();
    let mut outer = shape.len();
    while outer > 0 && (shape[outer - 1] == 1 || strides[outer - 1] == run as isize) {
        run *= shape[outer - 1] as usize;
        outer -= 1;
    }
    let count: usize = shape[..outer].iter().product::<isize>() as usize;
    if run < RUN || count > RUNS || run == 0 {
        return None;
    }
    let mut runs = Vec::with_capacity(count);
    let mut at = vec![0; outer];
    for _ in 0..count {
        let offset: isize = at.iter().zip(strides).map(|(index, stride)| index * stride).sum();
        runs.push((buffer.start().wrapping_offset(offset), run));
        for side in (0..outer).rev() {
            at[side] += 1;
            if at[side] < shape[side] {
                break;
            }
            at[side] = 0;
        }
    }
    Some(runs)
}
