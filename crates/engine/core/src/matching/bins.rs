//! Finding one among very many: bins by context, sender and tag beside the order of all.
//!
//! With few entries a look at each in turn is the quickest; with [`MANY`] a search should not depend on how many others
//! there are. A pattern's exact parts are its *shape*. A message searches for its receive in one bin for each shape in
//! use, at most eight. A receive searches for its message in the one bin of its own shape, which is made at the first
//! use of the shape. Within a bin the oldest is first. Masks and ranges of tags are not part of a shape. Such receives
//! of one context and sender share a bin, and the search checks them in order.

use crate::receiving::message::{Envelope, Pattern, TagMatch};
use parvum_wire::Tid;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// More entries than this are kept in bins, until none is left.
pub(crate) const MANY: usize = 64;

/// The position of an entry among all: the lowest is the oldest. The second number distinguishes entries that were put
/// back at the same place.
pub(crate) type Order = (u64, u64);

/// The common part of the entries of a bin; `None` for what differs within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    context: Option<u32>,
    from: Option<Tid>,
    tag: Option<i32>,
}

/// Which parts of a key are exact: a bit each.
pub(crate) type Shape = usize;

impl Key {
    const SHAPES: usize = 8;

    pub(crate) fn of_message(envelope: &Envelope) -> Key {
        Key { context: Some(envelope.context), from: Some(envelope.from), tag: Some(envelope.tag) }
    }

    pub(crate) fn of_pattern(pattern: &Pattern) -> Key {
        let tag = if let TagMatch::Exactly(tag) = pattern.tag { Some(tag) } else { None };
        Key { context: pattern.context, from: pattern.from, tag }
    }

    fn shape(self) -> Shape {
        usize::from(self.context.is_some())
            | usize::from(self.from.is_some()) << 1
            | usize::from(self.tag.is_some()) << 2
    }

    /// The same with no more than the shape's parts.
    fn only(self, shape: Shape) -> Key {
        Key {
            context: self.context.filter(|_| shape & 1 != 0),
            from: self.from.filter(|_| shape & 2 != 0),
            tag: self.tag.filter(|_| shape & 4 != 0),
        }
    }
}

/// Entries by key; the entries of a bin are in order.
#[derive(Debug)]
struct Bins<T>(FxHashMap<Key, BTreeMap<Order, T>>);

impl<T: Copy> Bins<T> {
    fn insert(&mut self, key: Key, order: Order, entry: T) {
        self.0.entry(key).or_default().insert(order, entry);
    }

    fn remove(&mut self, key: Key, order: Order) {
        if let Some(bin) = self.0.get_mut(&key) {
            bin.remove(&order);
            if bin.is_empty() {
                self.0.remove(&key);
            }
        }
    }

    /// A bin's entries, the oldest first.
    fn of(&self, key: Key) -> impl Iterator<Item = (Order, T)> {
        self.0.get(&key).into_iter().flatten().map(|(&order, &entry)| (order, entry))
    }
}

/// Very many posted receives, each named by `T`.
#[derive(Debug)]
pub(crate) struct ManyPosted<T> {
    bins: Bins<(Pattern, T)>,
    /// How many there are of each shape.
    shapes: [usize; Key::SHAPES],
    /// The receives that only one task can satisfy, by this task.
    by_sender: FxHashMap<Tid, BTreeMap<Order, Pattern>>,
    /// All, in order.
    all: BTreeMap<Order, (Pattern, T)>,
}

impl<T: Copy> ManyPosted<T> {
    pub(crate) fn new() -> ManyPosted<T> {
        let (bins, shapes, by_sender) = (Bins(FxHashMap::default()), [0; Key::SHAPES], FxHashMap::default());
        ManyPosted { bins, shapes, by_sender, all: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn insert(&mut self, order: Order, pattern: Pattern, entry: T) {
        let key = Key::of_pattern(&pattern);
        self.shapes[key.shape()] += 1;
        self.bins.insert(key, order, (pattern, entry));
        if let Some(from) = pattern.from {
            self.by_sender.entry(from).or_default().insert(order, pattern);
        }
        self.all.insert(order, (pattern, entry));
    }

    pub(crate) fn remove(&mut self, order: Order) -> Option<T> {
        let (pattern, entry) = self.all.remove(&order)?;
        let key = Key::of_pattern(&pattern);
        self.shapes[key.shape()] -= 1;
        self.bins.remove(key, order);
        if let Some(from) = pattern.from
            && let Some(orders) = self.by_sender.get_mut(&from)
        {
            orders.remove(&order);
            if orders.is_empty() {
                self.by_sender.remove(&from);
            }
        }
        Some(entry)
    }

    /// The oldest that wants such a message; The call passes each checked entry to `looked`.
    pub(crate) fn oldest_for(&self, envelope: &Envelope, mut looked: impl FnMut()) -> Option<Order> {
        let key = Key::of_message(envelope);
        let mut oldest: Option<Order> = None;
        for shape in (0..Key::SHAPES).filter(|&shape| self.shapes[shape] > 0) {
            for (order, (pattern, _)) in self.bins.of(key.only(shape)) {
                looked();
                if oldest.is_some_and(|oldest| oldest < order) {
                    break;
                }
                if pattern.matches(envelope) {
                    oldest = Some(order);
                    break;
                }
            }
        }
        oldest
    }

    /// The oldest that only this task could satisfy.
    pub(crate) fn first_for(&self, from: Tid) -> Option<&Pattern> {
        self.by_sender.get(&from)?.values().next()
    }

    /// All, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Order, Pattern, T)> {
        self.all.iter().map(|(&order, &(pattern, entry))| (order, pattern, entry))
    }
}

/// Very many unexpected messages, each named by `T`.
#[derive(Debug)]
pub(crate) struct ManyUnexpected<T> {
    bins: Bins<T>,
    /// The shapes that were asked for: every message is in a bin of each.
    shapes: [bool; Key::SHAPES],
    /// All, in order, with their own keys.
    all: BTreeMap<Order, (Key, T)>,
}

impl<T: Copy> ManyUnexpected<T> {
    pub(crate) fn new() -> ManyUnexpected<T> {
        let (bins, shapes) = (Bins(FxHashMap::default()), [false; Key::SHAPES]);
        ManyUnexpected { bins, shapes, all: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn insert(&mut self, order: Order, key: Key, entry: T) {
        for shape in (0..Key::SHAPES).filter(|&shape| self.shapes[shape]) {
            self.bins.insert(key.only(shape), order, entry);
        }
        self.all.insert(order, (key, entry));
    }

    /// Whether it was there.
    pub(crate) fn remove(&mut self, order: Order) -> bool {
        let Some((key, _)) = self.all.remove(&order) else { return false };
        for shape in (0..Key::SHAPES).filter(|&shape| self.shapes[shape]) {
            self.bins.remove(key.only(shape), order);
        }
        true
    }

    /// The entries with the pattern's exact parts, the oldest first.
    pub(crate) fn alike(&mut self, pattern: &Pattern) -> impl Iterator<Item = T> {
        let key = Key::of_pattern(pattern);
        let shape = key.shape();
        if !std::mem::replace(&mut self.shapes[shape], true) {
            for (&order, &(key, entry)) in &self.all {
                self.bins.insert(key.only(shape), order, entry);
            }
        }
        self.bins.of(key).map(|(_, entry)| entry)
    }

    /// All, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        self.all.values().map(|&(_, entry)| entry)
    }
}
