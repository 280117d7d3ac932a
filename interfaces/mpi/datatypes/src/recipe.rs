//! How a type was made: envelope and contents.

use crate::Type;

/// The constructor of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "they are their names")]
pub enum Combiner {
    /// None: it is predefined.
    Named,
    Dup,
    Contiguous,
    Vector,
    Hvector,
    Indexed,
    Hindexed,
    IndexedBlock,
    HindexedBlock,
    Struct,
    Subarray,
    Darray,
    Resized,
    F90Real,
    F90Complex,
    F90Integer,
}

/// How an array lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last dimension varies fastest.
    C,
    /// The first dimension varies fastest.
    Fortran,
}

/// How a dimension of an array is dealt out to processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// One block each. Its length is given, or the least that covers the dimension.
    Block,
    /// Blocks in turn. Their length is given, or 1.
    Cyclic,
    /// Not at all.
    None,
}

/// The numbers that an interface has for what a constructor was told in words. [`Words::OWN`] are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are their names")]
pub struct Words {
    pub order_c: i64,
    pub order_fortran: i64,
    pub block: i64,
    pub cyclic: i64,
    pub none: i64,
    /// The length of blocks, if it is not given.
    pub default: i64,
    /// A precision or range that is not given.
    pub undefined: i64,
}

impl Words {
    /// What [`Type::contents`] uses: no interface's numbers.
    pub const OWN: Words = Words {
        order_c: 0,
        order_fortran: 1,
        block: 0,
        cyclic: 1,
        none: 2,
        default: i64::MIN,
        undefined: i64::MIN,
    };

    fn of_order(&self, own: i64) -> i64 {
        if own == Words::OWN.order_c { self.order_c } else { self.order_fortran }
    }

    fn of_distribution(&self, own: i64) -> i64 {
        [self.block, self.cyclic, self.none][own as usize]
    }

    fn of_length(&self, own: i64) -> i64 {
        if own == Words::OWN.default { self.default } else { own }
    }
}

impl Order {
    pub(crate) fn own(self) -> i64 {
        self as i64
    }
}

impl Distribution {
    pub(crate) fn own(self) -> i64 {
        self as i64
    }
}

/// How many arguments of each sort [`Type::contents`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are their names")]
pub struct Envelope {
    pub combiner: Combiner,
    pub integers: usize,
    pub addresses: usize,
    /// Above 0 only for what [`Type::large`] was said of: the forms of the calls without large counts must refuse it.
    pub large: usize,
    pub types: usize,
}

/// The arguments of a constructor, in the standard's order. A predefined type has none.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "they are their names")]
pub struct Contents {
    pub integers: Vec<i64>,
    pub addresses: Vec<i64>,
    /// Large counts: empty unless [`Type::large`] was said.
    pub large: Vec<i64>,
    pub types: Vec<Type>,
}

/// The arguments as the form without large counts sorts them, words as [`Words::OWN`].
#[derive(Clone)]
pub(crate) struct Recipe {
    pub combiner: Combiner,
    pub integers: Vec<i64>,
    pub addresses: Vec<i64>,
    pub types: Vec<Type>,
    pub large: bool,
}

impl Recipe {
    pub fn named() -> Recipe {
        Recipe::new(Combiner::Named, Vec::new(), Vec::new(), Vec::new())
    }

    pub fn new(combiner: Combiner, integers: Vec<i64>, addresses: Vec<i64>, types: Vec<Type>) -> Recipe {
        Recipe { combiner, integers, addresses, types, large: false }
    }

    pub fn counts_can_be_large(&self) -> bool {
        use Combiner::*;
        !matches!(self.combiner, Named | Dup | F90Real | F90Complex | F90Integer)
    }

    /// How many of `integers` stay integers when counts are large.
    fn integers_when_large(&self) -> usize {
        match self.combiner {
            // Dimensions and order; the processes' arrays too, but not the sizes of the array.
            Combiner::Subarray => 2,
            Combiner::Darray => 4 + 3 * self.integers[2] as usize,
            _ => 0,
        }
    }

    /// `integers` with the numbers of an interface.
    fn in_words(&self, words: &Words) -> Vec<i64> {
        let mut all = self.integers.clone();
        match self.combiner {
            Combiner::Subarray | Combiner::Darray => {
                if let Some(order) = all.last_mut() {
                    *order = words.of_order(*order);
                }
            }
            Combiner::F90Real | Combiner::F90Complex => {
                for value in all.iter_mut().filter(|value| **value == Words::OWN.undefined) {
                    *value = words.undefined;
                }
            }
            _ => {}
        }
        if self.combiner == Combiner::Darray {
            let dimensions = all[2] as usize;
            let (distributions, lengths) = all[3 + dimensions..].split_at_mut(dimensions);
            distributions.iter_mut().for_each(|own| *own = words.of_distribution(*own));
            lengths[..dimensions].iter_mut().for_each(|own| *own = words.of_length(*own));
        }
        all
    }
}

impl Type {
    /// By what it was made, and from how many arguments.
    pub fn envelope(&self) -> Envelope {
        let recipe = &self.0.recipe;
        let (all, addresses) = (recipe.integers.len(), recipe.addresses.len());
        let types = recipe.types.len();
        let combiner = recipe.combiner;
        if recipe.large {
            let integers = recipe.integers_when_large();
            Envelope { combiner, integers, addresses: 0, large: all - integers + addresses, types }
        } else {
            Envelope { combiner, integers: all, addresses, large: 0, types }
        }
    }

    /// The arguments it was made from, words as the numbers of [`Words::OWN`].
    pub fn contents(&self) -> Contents {
        self.contents_in(&Words::OWN)
    }

    /// The arguments it was made from, with an interface's numbers for words.
    pub fn contents_in(&self, words: &Words) -> Contents {
        let recipe = &self.0.recipe;
        let types = recipe.types.clone();
        let all = recipe.in_words(words);
        if !recipe.large {
            return Contents { integers: all, addresses: recipe.addresses.clone(), large: Vec::new(), types };
        }
        let (integers, mut large) = match recipe.combiner {
            Combiner::Subarray => {
                let last = all.len() - 1;
                (vec![all[0], all[last]], all[1..last].to_vec())
            }
            Combiner::Darray => {
                let sizes = 3..3 + all[2] as usize;
                ([&all[..3], &all[sizes.end..]].concat(), all[sizes].to_vec())
            }
            _ => (Vec::new(), all),
        };
        large.extend(&recipe.addresses);
        Contents { integers, addresses: Vec::new(), large, types }
    }
}
