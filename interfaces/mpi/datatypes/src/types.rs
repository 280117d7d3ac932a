//! The type itself: immutable, counted, cheap to clone.

use crate::Basic;
use crate::data::layout::Piece;
use crate::elements::Signature;
use crate::facts::{Facts, Kinds};
use crate::recipe::Recipe;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

/// An MPI datatype. It never changes; clones share it, and it lives as long as one of them or of the types made from it.
#[derive(Clone)]
pub struct Type(pub(crate) Arc<Inner>);

#[derive(Clone)]
pub(crate) struct Inner {
    pub facts: Facts,
    /// `facts.dense()`, where one load finds it.
    pub dense: bool,
    pub map: Map,
    pub recipe: Recipe,
    pub signature: OnceLock<Signature>,
    layout: OnceLock<Piece>,
}

/// The type map, as it was made. Parts without data are left out.
#[derive(Clone)]
pub(crate) enum Map {
    Basic(Basic),
    /// Another type's, with other bounds perhaps.
    Same(Type),
    /// `count` blocks, `stride` bytes from one to the next, each of `block` elements in a row.
    Grid {
        count: i64,
        stride: i64,
        block: i64,
        of: Type,
    },
    Members(Vec<Member>),
}

/// `count` elements in a row, `at` bytes from the beginning.
#[derive(Clone)]
pub(crate) struct Member {
    pub at: i64,
    pub count: i64,
    pub of: Type,
}

impl Type {
    pub(crate) fn new(facts: Facts, map: Map, recipe: Recipe) -> Type {
        Type(Arc::new(Inner {
            facts,
            dense: facts.dense(),
            map,
            recipe,
            signature: OnceLock::new(),
            layout: OnceLock::new(),
        }))
    }

    /// A predefined type: for the same `basic` the same type.
    pub fn basic(basic: Basic) -> Type {
        static ALL: LazyLock<Vec<Type>> = LazyLock::new(|| {
            let make = |&basic: &Basic| Type::new(Facts::basic(basic), Map::Basic(basic), Recipe::named());
            Basic::ALL.iter().map(make).collect()
        });
        ALL[basic as usize].clone()
    }

    /// A type without data that marks one bound of whatever it is a part of: `MPI_LB`, or `MPI_UB` if it is the `upper` one.
    pub fn mark(upper: bool) -> Type {
        static BOTH: LazyLock<[Type; 2]> = LazyLock::new(|| {
            [false, true].map(|upper| {
                let facts = Facts { low: !upper, high: upper, ..Facts::EMPTY };
                Type::new(facts, Map::Members(Vec::new()), Recipe::named())
            })
        });
        BOTH[usize::from(upper)].clone()
    }

    /// Whether two are one and the same type, not only alike.
    pub fn same(a: &Type, b: &Type) -> bool {
        Arc::ptr_eq(&a.0, &b.0)
    }

    /// Itself, made by the form of its constructor with large counts: its envelope and contents say so.
    pub fn large(mut self) -> Type {
        if self.0.recipe.counts_can_be_large() {
            Arc::make_mut(&mut self.0).recipe.large = true;
        }
        self
    }

    /// Bytes of data in one item.
    pub fn size(&self) -> i64 {
        self.0.facts.size
    }

    /// Where an item begins, in bytes from its address. A mark made by [`Type::resized`] wins over data.
    pub fn lb(&self) -> i64 {
        self.0.facts.lb
    }

    /// Bytes from one item to the next. May be negative, if [`Type::resized`] made it so.
    pub fn extent(&self) -> i64 {
        self.0.facts.extent()
    }

    /// Where the lowest byte of data lies.
    pub fn true_lb(&self) -> i64 {
        self.0.facts.true_lb
    }

    /// Bytes from the lowest byte of data to behind the highest one.
    pub fn true_extent(&self) -> i64 {
        self.0.facts.true_ub - self.0.facts.true_lb
    }

    /// Whether items are one run of bytes without a hole, that begins [`Type::lb`] from the address and is as long as their data.
    #[inline]
    pub fn is_dense(&self) -> bool {
        self.0.dense
    }

    /// The basic type of all elements, if it is one. A pair is one here.
    pub fn basic_kind(&self) -> Option<Basic> {
        match self.0.facts.kinds {
            Kinds::One(basic) => Some(basic),
            _ => None,
        }
    }

    /// The predefined type that it is.
    pub fn as_basic(&self) -> Option<Basic> {
        match self.0.map {
            Map::Basic(basic) => Some(basic),
            _ => None,
        }
    }

    /// How its data lies, worked out when first wanted.
    pub(crate) fn layout(&self) -> &Piece {
        self.0.layout.get_or_init(|| Piece::of(&self.0.map))
    }

    /// Works out how the data lies, which the first use would do otherwise: what `MPI_Type_commit` is for.
    pub fn commit(&self) {
        self.layout();
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_basic() {
            Some(basic) => f.write_str(basic.name()),
            None => {
                let combiner = self.0.recipe.combiner;
                write!(f, "{combiner:?}(size {}, lb {}, extent {})", self.size(), self.lb(), self.extent())
            }
        }
    }
}
