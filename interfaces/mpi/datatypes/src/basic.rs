//! The predefined types: what each is called, how long it is, and what it holds.

/// What kind of value a basic type holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A signed whole number.
    Integer,
    /// A whole number without sign.
    Unsigned,
    /// A floating point number.
    Real,
    /// Two floating point numbers: real part, imaginary part.
    Complex,
    /// A truth value.
    Logical,
    /// Bits that nobody interprets: `MPI_BYTE`, `MPI_PACKED`.
    Byte,
    /// A character.
    Text,
    /// A value and an index, or two values: see [`Basic::parts`].
    Pair,
}

/// One row for each type: variant, name, size, alignment, length in external32, class.
macro_rules! basics {
    ($($variant:ident $name:literal $size:literal $align:literal $external:literal $class:ident;)*) => {
        /// A predefined type. Sizes are those of x86-64 and AArch64 Linux, and of gfortran without options.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "they are their names")]
        pub enum Basic { $($variant,)* }

        impl Basic {
            /// All of them.
            pub const ALL: &[Basic] = &[$(Basic::$variant,)*];

            const fn row(self) -> Row {
                match self {
                    $(Basic::$variant => Row {
                        name: $name, size: $size, align: $align, external: $external, class: Class::$class,
                    },)*
                }
            }
        }
    };
}

struct Row {
    name: &'static str,
    size: u8,
    align: u8,
    external: u8,
    class: Class,
}

basics! {
    Char               "MPI_CHAR"                    1  1  1 Text;
    SignedChar         "MPI_SIGNED_CHAR"             1  1  1 Integer;
    UnsignedChar       "MPI_UNSIGNED_CHAR"           1  1  1 Unsigned;
    Byte               "MPI_BYTE"                    1  1  1 Byte;
    Wchar              "MPI_WCHAR"                   4  4  2 Text;
    Short              "MPI_SHORT"                   2  2  2 Integer;
    UnsignedShort      "MPI_UNSIGNED_SHORT"          2  2  2 Unsigned;
    Int                "MPI_INT"                     4  4  4 Integer;
    Unsigned           "MPI_UNSIGNED"                4  4  4 Unsigned;
    Long               "MPI_LONG"                    8  8  4 Integer;
    UnsignedLong       "MPI_UNSIGNED_LONG"           8  8  4 Unsigned;
    LongLong           "MPI_LONG_LONG_INT"           8  8  8 Integer;
    UnsignedLongLong   "MPI_UNSIGNED_LONG_LONG"      8  8  8 Unsigned;
    Float              "MPI_FLOAT"                   4  4  4 Real;
    Double             "MPI_DOUBLE"                  8  8  8 Real;
    LongDouble         "MPI_LONG_DOUBLE"            16 16 16 Real;
    Int8               "MPI_INT8_T"                  1  1  1 Integer;
    Int16              "MPI_INT16_T"                 2  2  2 Integer;
    Int32              "MPI_INT32_T"                 4  4  4 Integer;
    Int64              "MPI_INT64_T"                 8  8  8 Integer;
    Uint8              "MPI_UINT8_T"                 1  1  1 Unsigned;
    Uint16             "MPI_UINT16_T"                2  2  2 Unsigned;
    Uint32             "MPI_UINT32_T"                4  4  4 Unsigned;
    Uint64             "MPI_UINT64_T"                8  8  8 Unsigned;
    Bool               "MPI_C_BOOL"                  1  1  1 Logical;
    ComplexFloat       "MPI_C_COMPLEX"               8  4  8 Complex;
    ComplexDouble      "MPI_C_DOUBLE_COMPLEX"       16  8 16 Complex;
    ComplexLongDouble  "MPI_C_LONG_DOUBLE_COMPLEX"  32 16 32 Complex;
    Packed             "MPI_PACKED"                  1  1  1 Byte;
    Aint               "MPI_AINT"                    8  8  8 Integer;
    Offset             "MPI_OFFSET"                  8  8  8 Integer;
    Count              "MPI_COUNT"                   8  8  8 Integer;
    FloatInt           "MPI_FLOAT_INT"               8  4  8 Pair;
    DoubleInt          "MPI_DOUBLE_INT"             12  8 12 Pair;
    LongInt            "MPI_LONG_INT"               12  8  8 Pair;
    TwoInt             "MPI_2INT"                    8  4  8 Pair;
    ShortInt           "MPI_SHORT_INT"               6  4  6 Pair;
    LongDoubleInt      "MPI_LONG_DOUBLE_INT"        20 16 20 Pair;
    Character          "MPI_CHARACTER"               1  1  1 Text;
    Logical            "MPI_LOGICAL"                 4  4  4 Logical;
    Integer            "MPI_INTEGER"                 4  4  4 Integer;
    Real               "MPI_REAL"                    4  4  4 Real;
    DoublePrecision    "MPI_DOUBLE_PRECISION"        8  8  8 Real;
    Complex            "MPI_COMPLEX"                 8  4  8 Complex;
    DoubleComplex      "MPI_DOUBLE_COMPLEX"         16  8 16 Complex;
    TwoReal            "MPI_2REAL"                   8  4  8 Pair;
    TwoDoublePrecision "MPI_2DOUBLE_PRECISION"      16  8 16 Pair;
    TwoInteger         "MPI_2INTEGER"                8  4  8 Pair;
    Integer1           "MPI_INTEGER1"                1  1  1 Integer;
    Integer2           "MPI_INTEGER2"                2  2  2 Integer;
    Integer4           "MPI_INTEGER4"                4  4  4 Integer;
    Integer8           "MPI_INTEGER8"                8  8  8 Integer;
    Integer16          "MPI_INTEGER16"              16 16 16 Integer;
    Real2              "MPI_REAL2"                   2  2  2 Real;
    Real4              "MPI_REAL4"                   4  4  4 Real;
    Real8              "MPI_REAL8"                   8  8  8 Real;
    Real16             "MPI_REAL16"                 16 16 16 Real;
    Complex4           "MPI_COMPLEX4"                4  2  4 Complex;
    Complex8           "MPI_COMPLEX8"                8  4  8 Complex;
    Complex16          "MPI_COMPLEX16"              16  8 16 Complex;
    Complex32          "MPI_COMPLEX32"              32 16 32 Complex;
    Logical1           "MPI_LOGICAL1"                1  1  1 Logical;
    Logical2           "MPI_LOGICAL2"                2  2  2 Logical;
    Logical4           "MPI_LOGICAL4"                4  4  4 Logical;
    Logical8           "MPI_LOGICAL8"                8  8  8 Logical;
    Logical16          "MPI_LOGICAL16"              16 16 16 Logical;
    CFloat16           "MPIX_C_FLOAT16"              2  2  2 Real;
    CxxBool            "MPI_CXX_BOOL"                1  1  1 Logical;
    CxxComplexFloat    "MPI_CXX_FLOAT_COMPLEX"       8  4  8 Complex;
    CxxComplexDouble   "MPI_CXX_DOUBLE_COMPLEX"     16  8 16 Complex;
    CxxComplexLongDouble "MPI_CXX_LONG_DOUBLE_COMPLEX" 32 16 32 Complex;
}

impl Basic {
    /// The name that `MPI_Type_get_name` gives. Of synonyms it is one: `MPI_LONG_LONG_INT`, `MPI_C_COMPLEX`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bytes of data: those of both parts of a pair, without the hole between them.
    pub const fn size(self) -> i64 {
        self.row().size as i64
    }

    /// What C aligns it to, in bytes.
    pub const fn alignment(self) -> i64 {
        self.row().align as i64
    }

    /// Bytes in external32. A long has 4 there, a wide character 2, an extended real 16.
    pub const fn external_size(self) -> i64 {
        self.row().external as i64
    }

    /// What it holds.
    pub const fn class(self) -> Class {
        self.row().class
    }

    /// Bytes from one to the next in an array.
    pub const fn extent(self) -> i64 {
        match self.parts() {
            None => self.size(),
            Some((_, second, at)) => round_up(at + second.size(), self.alignment()),
        }
    }

    /// Of a pair: its first part, its second part, and where the second begins.
    pub const fn parts(self) -> Option<(Basic, Basic, i64)> {
        use Basic::*;
        let (first, second) = match self {
            FloatInt => (Float, Int),
            DoubleInt => (Double, Int),
            LongInt => (Long, Int),
            TwoInt => (Int, Int),
            ShortInt => (Short, Int),
            LongDoubleInt => (LongDouble, Int),
            TwoReal => (Real, Real),
            TwoDoublePrecision => (DoublePrecision, DoublePrecision),
            TwoInteger => (Integer, Integer),
            _ => return None,
        };
        Some((first, second, round_up(first.size(), second.alignment())))
    }

    /// The pair of a value and an index of these types, as `MPI_Type_get_value_index` finds it among the predefined ones.
    pub fn pair_of(value: Basic, index: Basic) -> Option<Basic> {
        let pairs = Basic::ALL.iter().copied().filter(|basic| basic.class() == Class::Pair);
        pairs.into_iter().find(|pair| pair.parts().is_some_and(|(v, i, _)| (v, i) == (value, index)))
    }
}

pub(crate) const fn round_up(value: i64, to: i64) -> i64 {
    value + (to - value.rem_euclid(to)) % to
}
