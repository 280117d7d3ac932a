//! What makes no sense in the arguments of a constructor, in words.

use std::fmt;

/// An argument that makes no sense. Nothing was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A count or length below 0. `place` is its index when it stands in an array.
    #[allow(missing_docs, reason = "they are their names")]
    Negative { argument: &'static str, place: Option<usize>, value: i64 },
    /// A value that must lie between two others, both included.
    #[allow(missing_docs, reason = "they are their names")]
    Outside { argument: &'static str, place: Option<usize>, value: i64, least: i64, most: i64 },
    /// Arrays that go together and do not have one length.
    #[allow(missing_docs, reason = "they are their names")]
    Uneven { first: &'static str, long: usize, second: &'static str, other: usize },
    /// Sizes, or places, that no 64-bit number holds.
    #[allow(missing_docs, reason = "they are their names")]
    TooLarge { what: &'static str },
    /// The process grid does not have as many places as there are processes.
    #[allow(missing_docs, reason = "they are their names")]
    Grid { processes: i64, places: i64 },
    /// Blocks that do not cover a dimension of a distributed array.
    #[allow(missing_docs, reason = "they are their names")]
    Uncovered { dimension: usize, block: i64, processes: i64, elements: i64 },
    /// Fortran has no kind with this precision and range.
    #[allow(missing_docs, reason = "they are their names")]
    NoKind { class: &'static str, precision: Option<i64>, range: Option<i64> },
    /// A value that external32 cannot hold.
    #[allow(missing_docs, reason = "they are their names")]
    Unrepresentable { name: &'static str, value: i128, bytes: i64 },
    /// A buffer too short for what must lie in it.
    #[allow(missing_docs, reason = "they are their names")]
    Short { needed: u64, has: u64 },
}

/// The family of a [`Wrong`]: an interface makes its error class of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A count or length.
    Count,
    /// A rank.
    Rank,
    /// Any other argument.
    Argument,
    /// The value of an element, in a conversion.
    Conversion,
}

impl Wrong {
    /// Its family.
    pub fn about(&self) -> About {
        match self {
            Wrong::Negative { .. } => About::Count,
            Wrong::Outside { argument: "rank", .. } => About::Rank,
            Wrong::Unrepresentable { .. } => About::Conversion,
            _ => About::Argument,
        }
    }
}

/// `blocklengths[3]`, or `count`.
struct Named(&'static str, Option<usize>);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(place) => write!(f, "{}[{place}]", self.0),
            None => f.write_str(self.0),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Wrong::Negative { argument, place, value } => {
                write!(f, "{} is {value}, and must not be negative", Named(argument, place))
            }
            Wrong::Outside { argument, place, value, least, most } if least > most => {
                write!(f, "{} is {value}, and nothing fits there", Named(argument, place))
            }
            Wrong::Outside { argument, place, value, least, most: i64::MAX } => {
                write!(f, "{} is {value}, and must be at least {least}", Named(argument, place))
            }
            Wrong::Outside { argument, place, value, least, most } if least == most => {
                write!(f, "{} is {value}, and must be {least}", Named(argument, place))
            }
            Wrong::Outside { argument, place, value, least, most } => {
                write!(f, "{} is {value}, and must lie in {least} to {most}", Named(argument, place))
            }
            Wrong::Uneven { first, long, second, other } => {
                write!(f, "{first} has {long} entries and {second} {other}: they must have as many")
            }
            Wrong::TooLarge { what } => write!(f, "{what} of the new type exceeds 64 bits"),
            Wrong::Grid { processes, places } => {
                write!(f, "the process grid psizes has {places} places for {processes} processes (size)")
            }
            Wrong::Uncovered { dimension, block, processes, elements } => write!(
                f,
                "dargs[{dimension}] is {block}: blocks of {block} on {processes} processes do not cover the {elements} \
                 elements of that dimension; take at least {}",
                elements.div_euclid(processes) + i64::from(elements.rem_euclid(processes) > 0)
            ),
            Wrong::NoKind { class, precision, range } => {
                write!(f, "Fortran has no {class} kind")?;
                if let Some(digits) = precision {
                    write!(f, " of {digits} digits")?;
                }
                match range {
                    Some(range) => write!(f, " with exponents up to {range}"),
                    None => Ok(()),
                }
            }
            Wrong::Unrepresentable { name, value, bytes } => {
                write!(
                    f,
                    "a value of {name}, {value}, does not fit the {bytes} bytes that external32 has for it"
                )
            }
            Wrong::Short { needed, has } => {
                write!(f, "the packed data takes {needed} bytes, and the buffer has {has}")
            }
        }
    }
}

impl std::error::Error for Wrong {}
