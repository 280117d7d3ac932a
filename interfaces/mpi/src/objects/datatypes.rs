//! Datatypes by their handles.

use crate::errors::{Error, Mpi, class};
use crate::objects::attributes::Attributes;
use crate::objects::handles::Objects;
use crate::objects::numbers::{DATATYPE_NULL, Kind};
use parvum_datatypes::{About, Basic, Class, Combiner, Type, Wrong};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// A datatype that the program has made, or named.
pub(crate) struct Datatype {
    pub(crate) layout: Type,
    committed: AtomicBool,
    pub(crate) attributes: Attributes,
    name: Mutex<Option<Vec<u8>>>,
}

pub(crate) static DATATYPES: Objects<Datatype> = Objects::new(Kind::Datatype);

/// The handles of predefined types: what is always there, and its bits 15 to 8 are the size.
#[rustfmt::skip]
const BUILT_IN: &[(i32, Basic)] = {
    use Basic::*;
    &[
        (0x4c000101, Char), (0x4c000102, UnsignedChar), (0x4c000203, Short), (0x4c000204, UnsignedShort),
        (0x4c000405, Int), (0x4c000406, Unsigned), (0x4c000807, Long), (0x4c000808, UnsignedLong),
        (0x4c000809, LongLong), (0x4c00040a, Float), (0x4c00080b, Double), (0x4c00100c, LongDouble),
        (0x4c00010d, Byte), (0x4c00040e, Wchar), (0x4c00010f, Packed), (0x4c000816, TwoInt),
        (0x4c000118, SignedChar), (0x4c000819, UnsignedLongLong), (0x4c00011a, Character), (0x4c00041b, Integer),
        (0x4c00041c, Real), (0x4c00041d, Logical), (0x4c00081e, Complex), (0x4c00081f, DoublePrecision),
        (0x4c000820, TwoInteger), (0x4c000821, TwoReal), (0x4c001022, DoubleComplex), (0x4c001023, TwoDoublePrecision),
        (0x4c000226, Real2), (0x4c000427, Real4), (0x4c000828, Complex8), (0x4c000829, Real8),
        (0x4c00102a, Complex16), (0x4c00102b, Real16), (0x4c00202c, Complex32), (0x4c00012d, Integer1),
        (0x4c00042e, Complex4), (0x4c00022f, Integer2), (0x4c000430, Integer4), (0x4c000831, Integer8),
        (0x4c001032, Integer16), (0x4c000133, CxxBool), (0x4c000834, CxxComplexFloat), (0x4c001035, CxxComplexDouble),
        (0x4c002036, CxxComplexLongDouble), (0x4c000137, Int8), (0x4c000238, Int16), (0x4c000439, Int32),
        (0x4c00083a, Int64), (0x4c00013b, Uint8), (0x4c00023c, Uint16), (0x4c00043d, Uint32),
        (0x4c00083e, Uint64), (0x4c00013f, Bool), (0x4c000840, ComplexFloat), (0x4c001041, ComplexDouble),
        (0x4c002042, ComplexLongDouble), (0x4c000843, Aint), (0x4c000844, Offset), (0x4c000845, Count),
        (0x4c000147, Logical1), (0x4c000248, Logical2), (0x4c000449, Logical4), (0x4c00084a, Logical8),
        (0x4c00104b, Logical16), (0x4c000246, CFloat16),
        (PAIRS, FloatInt), (PAIRS + 1, DoubleInt), (PAIRS + 2, LongInt), (PAIRS + 3, ShortInt), (PAIRS + 4, LongDoubleInt),
    ]
};

/// The handles of pairs are written as if a program had made them.
const PAIRS: i32 = 0x8c00_0000_u32 as i32;

/// The predefined types, by the low byte of their handles; those of pairs are behind them.
static PREDEFINED: LazyLock<[Option<Arc<Datatype>>; 256 + 5]> = LazyLock::new(|| {
    let mut all = [const { None }; 256 + 5];
    for &(handle, basic) in BUILT_IN {
        all[place(handle)] = Some(Arc::new(Datatype::new(Type::basic(basic), true)));
    }
    all
});

fn place(handle: i32) -> usize {
    if handle < 0 { 256 + (handle - PAIRS) as usize } else { (handle & 0xff) as usize }
}

/// The handles of MPI-1's marks, which only MPICH's header still has, and their names.
const MARKS: [(i32, &str); 2] = [(0x4c00_0010, "MPI_LB"), (0x4c00_0011, "MPI_UB")];

static MARK_TYPES: LazyLock<[Arc<Datatype>; 2]> =
    LazyLock::new(|| [false, true].map(|upper| Arc::new(Datatype::new(Type::mark(upper), true))));

fn mark_of(handle: i32) -> Option<usize> {
    MARKS.iter().position(|(mark, _)| *mark == handle)
}

/// The handle of a predefined type.
pub(crate) fn handle_of(basic: Basic) -> i32 {
    BUILT_IN.iter().find(|(_, other)| *other == basic).map_or(DATATYPE_NULL, |&(handle, _)| handle)
}

/// Whether the handle is a predefined type's.
pub(crate) fn is_predefined(handle: i32) -> bool {
    BUILT_IN.iter().any(|&(other, _)| other == handle) || mark_of(handle).is_some()
}

/// The bytes of a predefined type that has no holes, by its handle alone.
#[inline]
pub(crate) fn plain_size(handle: i32) -> Option<usize> {
    let size = (handle >> 8 & 0xff) as usize;
    ((handle as u32) >> 16 == 0x4c00 && size != 0).then_some(size)
}

/// A predefined type that is not one of the pairs, as calls for single elements look at it.
#[derive(Clone, Copy)]
pub(crate) struct Element {
    handle: i32,
    pub(crate) basic: Basic,
    pub(crate) class: Class,
    pub(crate) size: u8,
}

/// By the low byte of their handles.
pub(crate) static ELEMENTS: [Option<Element>; 256] = {
    let mut all = [None; 256];
    let mut next = 0;
    while next < BUILT_IN.len() {
        let (handle, basic) = BUILT_IN[next];
        if handle > 0 {
            let (class, size) = (basic.class(), basic.size() as u8);
            all[(handle & 0xff) as usize] = Some(Element { handle, basic, class, size });
        }
        next += 1;
    }
    all
};

/// The predefined type of a handle. `None`: it is another, a pair, or no handle at all.
#[inline(always)]
pub(crate) fn element(handle: i32) -> Option<Element> {
    ELEMENTS[(handle & 0xff) as usize].filter(|element| element.handle == handle)
}

/// The datatype of a handle, committed or not.
pub(crate) fn any_datatype(handle: i32) -> Mpi<Arc<Datatype>> {
    let predefined = handle > 0 || (PAIRS..PAIRS + 5).contains(&handle);
    let found = match predefined {
        true if mark_of(handle).is_some() => mark_of(handle).map(|place| MARK_TYPES[place].clone()),
        true if is_predefined(handle) => PREDEFINED[place(handle)].clone(),
        true => None,
        false => DATATYPES.get(handle),
    };
    found.ok_or_else(|| {
        let text = match handle {
            DATATYPE_NULL => "the datatype is MPI_DATATYPE_NULL",
            _ => "the handle names no datatype; it may have been freed",
        };
        Error::new(class::TYPE, text)
    })
}

/// The datatype of a handle, to be used for data.
#[inline]
pub(crate) fn datatype(handle: i32) -> Mpi<Arc<Datatype>> {
    let found = any_datatype(handle)?;
    // Relaxed: the program itself orders its commit before the use.
    match found.committed.load(Ordering::Relaxed) {
        true => Ok(found),
        false => Err(Error::new(class::TYPE, "the datatype is not committed; call MPI_Type_commit first")),
    }
}

/// The types that Fortran asks for by precision and range, by what they were asked for: each is one type, whoever asks.
static OF_PRECISION: Mutex<BTreeMap<(Combiner, Vec<i64>), i32>> = Mutex::new(BTreeMap::new());

/// The elements of a type that Fortran asks for by precision.
pub(crate) fn of_precision(layout: &Type) -> Option<Basic> {
    let is_asked_for =
        matches!(layout.envelope().combiner, Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer);
    layout.basic_kind().filter(|_| is_asked_for)
}

/// The handle of a type that Fortran asks for by precision. It is there from its first use on, as a predefined one.
pub(crate) fn keep_of_precision(layout: Type) -> Mpi<i32> {
    let asked = (layout.envelope().combiner, layout.contents().integers);
    let mut all = OF_PRECISION.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&handle) = all.get(&asked) {
        return Ok(handle);
    }
    let handle = keep(Datatype::new(layout, true))?;
    all.insert(asked, handle);
    Ok(handle)
}

/// The handle by which the program knows a type that others are made of.
pub(crate) fn handle_within(layout: Type) -> Mpi<i32> {
    match layout.as_basic() {
        Some(basic) => Ok(handle_of(basic)),
        None if Type::same(&layout, &Type::mark(false)) => Ok(MARKS[0].0),
        None if Type::same(&layout, &Type::mark(true)) => Ok(MARKS[1].0),
        None if of_precision(&layout).is_some() => keep_of_precision(layout),
        None => keep(Datatype::new(layout, true)),
    }
}

/// Keeps a new datatype for the program.
pub(crate) fn keep(datatype: Datatype) -> Mpi<i32> {
    let none = || Error::new(class::OTHER, "there are too many datatypes");
    DATATYPES.insert(Arc::new(datatype)).ok_or_else(none)
}

impl Datatype {
    pub(crate) fn new(layout: Type, committed: bool) -> Datatype {
        let (attributes, name) = (Attributes::default(), Mutex::new(None));
        Datatype { layout, committed: AtomicBool::new(committed), attributes, name }
    }

    /// The same with attributes.
    pub(crate) fn with_attributes(mut self, attributes: Attributes) -> Datatype {
        self.attributes = attributes;
        self
    }

    pub(crate) fn commit(&self) {
        self.committed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Relaxed)
    }

    pub(crate) fn name(&self, handle: i32) -> Vec<u8> {
        let given = self.name.lock().unwrap_or_else(PoisonError::into_inner).clone();
        given.unwrap_or_else(|| match self.layout.as_basic() {
            Some(basic) if is_predefined(handle) => basic.name().as_bytes().to_vec(),
            _ => mark_of(handle).map_or(Vec::new(), |place| MARKS[place].1.as_bytes().to_vec()),
        })
    }

    pub(crate) fn set_name(&self, name: Vec<u8>) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
    }
}

/// What a constructor has refused.
impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Error {
        let class = match wrong.about() {
            About::Count => class::COUNT,
            About::Rank => class::RANK,
            About::Argument => class::ARG,
            About::Conversion => class::CONVERSION,
        };
        Error::new(class, wrong.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datatype_handles_encode_their_size() {
        for &(handle, basic) in BUILT_IN {
            if handle > 0 {
                assert_eq!(i64::from(handle >> 8 & 0xff), basic.size(), "{basic:?}");
                assert_eq!(element(handle).map(|element| element.basic), Some(basic));
            }
            assert_eq!(any_datatype(handle).expect("there").layout.as_basic(), Some(basic));
            assert_eq!(handle_of(basic), handle);
        }
        assert_eq!(Basic::ALL.len(), BUILT_IN.len());
        assert_eq!(
            (plain_size(0x4c00_080b), plain_size(PAIRS + 1), plain_size(DATATYPE_NULL)),
            (Some(8), None, None)
        );
        assert!(
            [0x4c00_0999, 0x4c00_0405 - 256, PAIRS, DATATYPE_NULL].iter().all(|&one| element(one).is_none())
        );
        assert_eq!(any_datatype(0x4c00_0999).err().map(|error| error.code), Some(class::TYPE));
        assert_eq!(any_datatype(DATATYPE_NULL).err().map(|error| error.code), Some(class::TYPE));
    }
}
