//! The layout of Python's objects in messages, and the word that describes the data of a message.
//!
//! ```text
//! bits 0-7   the encoding: `parvum_wire::encoding::RAW`
//! bits 8-15  the kind
//! bits 16-23 of arrays: the item type, an index of `ITEMS`
//! bits 24-29 of arrays: the number of dimensions
//! bit  30    of arrays: the first index is the fastest
//! ```
//!
//! An array of one dimension is its items. For other arrays the lengths of the dimensions follow, 8 bytes each. A pickle is its buffers,
//! each padded to [`ALIGNMENT`], the stream, the lengths of the buffers and of the stream, 8 bytes each, and [`Versions`].

/// The kinds.
pub(crate) mod kind {
    /// A message of another interface: plain bytes.
    pub(crate) const FOREIGN: u32 = 0;
    pub(crate) const BYTES: u32 = 1;
    pub(crate) const BYTEARRAY: u32 = 2;
    pub(crate) const NONE: u32 = 3;
    /// 8 bytes.
    pub(crate) const INT: u32 = 4;
    /// 8 bytes.
    pub(crate) const FLOAT: u32 = 5;
    /// UTF-8.
    pub(crate) const TEXT: u32 = 6;
    pub(crate) const ARRAY: u32 = 7;
    pub(crate) const PICKLE: u32 = 8;
}

const KIND: u32 = 8;
const ITEM: u32 = 16;
const DIMENSIONS: u32 = 24;
const IN_COLUMNS: u32 = 1 << 30;

/// The alignment of each buffer of a pickle.
pub(crate) const ALIGNMENT: usize = 64;

/// Item types of arrays that are sent as they are in memory: their formats in the buffer protocol, and NumPy's names.
pub(crate) const ITEMS: [(&str, &str); 19] = [
    ("?", "?"),
    ("b", "i1"),
    ("B", "u1"),
    ("h", "i2"),
    ("H", "u2"),
    ("i", "i4"),
    ("I", "u4"),
    ("l", "i8"),
    ("L", "u8"),
    ("q", "i8"),
    ("Q", "u8"),
    ("e", "f2"),
    ("f", "f4"),
    ("d", "f8"),
    ("g", "g"),
    ("Zf", "c8"),
    ("Zd", "c16"),
    ("Zg", "G"),
    ("c", "S1"),
];

/// The size of each type in bytes.
const BYTES_OF: [usize; 19] = [1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 2, 4, 8, 16, 8, 16, 32, 1];

/// The size of an item in bytes.
pub(crate) fn item_bytes(item: usize) -> usize {
    BYTES_OF[item]
}

/// The word for data of this kind.
pub(crate) const fn word(kind: u32) -> u32 {
    kind << KIND
}

/// The word for an array.
pub(crate) fn word_of_array(item: usize, dimensions: usize, in_columns: bool) -> u32 {
    let order = if in_columns { IN_COLUMNS } else { 0 };
    word(kind::ARRAY) | (item as u32) << ITEM | (dimensions as u32) << DIMENSIONS | order
}

/// The meaning of a word.
#[derive(Clone, Copy)]
pub(crate) struct Word(pub(crate) u32);

impl Word {
    pub(crate) fn encoding(self) -> u32 {
        self.0 & parvum_wire::encoding::MASK
    }
    pub(crate) fn kind(self) -> u32 {
        (self.0 >> KIND) & 0xff
    }
    pub(crate) fn item(self) -> usize {
        ((self.0 >> ITEM) & 0xff) as usize
    }
    pub(crate) fn dimensions(self) -> usize {
        ((self.0 >> DIMENSIONS) & 0x3f) as usize
    }
    pub(crate) fn is_in_columns(self) -> bool {
        self.0 & IN_COLUMNS != 0
    }
}

/// The Python and NumPy versions of a pickle; 0 for no NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Versions {
    pub(crate) python: (u8, u8),
    pub(crate) numpy: (u8, u8),
}

impl Versions {
    pub(crate) fn bytes(self) -> [u8; 8] {
        let Versions { python, numpy } = self;
        [python.0, python.1, numpy.0, numpy.1, 0, 0, 0, 0]
    }

    pub(crate) fn read(bytes: [u8; 8]) -> Versions {
        Versions { python: (bytes[0], bytes[1]), numpy: (bytes[2], bytes[3]) }
    }

    /// True if one side can read the other's pickles: the same Python, and the same line of NumPy if both have NumPy.
    pub(crate) fn fits(self, other: Versions) -> bool {
        self.python == other.python
            && (self.numpy.0 == other.numpy.0 || self.numpy.0 == 0 || other.numpy.0 == 0)
    }

    pub(crate) fn text(self) -> String {
        let number = |(major, minor): (u8, u8)| format!("{major}.{minor}");
        match self.numpy {
            (0, 0) => format!("Python {} without NumPy", number(self.python)),
            numpy => format!("Python {} with NumPy {}", number(self.python), number(numpy)),
        }
    }
}
