//! Objects and their handles.
//!
//! A handle has the object's kind, its place in a table, and a generation: a handle of an object that was freed is mostly known to
//! be stale, and not taken for its successor.

use crate::numbers::Kind;
use std::sync::{Arc, PoisonError, RwLock};

/// Bits of a place: so many objects of a kind at a time.
const PLACE_BITS: u32 = 20;
const GENERATION_MASK: u32 = (1 << (26 - PLACE_BITS)) - 1;
/// The first places are left to objects that are always there and are named as if a program had made them.
const FIRST: u32 = 16;

/// All objects of a kind that the program has made.
pub(crate) struct Objects<T> {
    kind: Kind,
    entries: RwLock<Entries<T>>,
}

struct Entries<T> {
    all: Vec<Entry<T>>,
    free: Vec<u32>,
}

struct Entry<T> {
    generation: u32,
    object: Option<Arc<T>>,
}

impl<T> Objects<T> {
    pub(crate) const fn new(kind: Kind) -> Objects<T> {
        Objects { kind, entries: RwLock::new(Entries { all: Vec::new(), free: Vec::new() }) }
    }

    fn handle(&self, place: u32, generation: u32) -> i32 {
        (2 << 30 | (self.kind as u32) << 26 | generation << PLACE_BITS | (place + FIRST)) as i32
    }

    /// Which entry a handle names, if it is of any object of this table's.
    #[inline(always)]
    pub(crate) fn entry_of(&self, handle: i32) -> usize {
        (handle as u32 & ((1 << PLACE_BITS) - 1)).wrapping_sub(FIRST) as usize
    }

    /// The entry that the handle names, if it is one of ours.
    fn place(&self, handle: i32) -> Option<(usize, u32)> {
        let handle = handle as u32;
        let is_ours = handle >> 26 == 2 << 4 | self.kind as u32;
        let place = (handle & ((1 << PLACE_BITS) - 1)).checked_sub(FIRST)?;
        is_ours.then_some((place as usize, handle >> PLACE_BITS & GENERATION_MASK))
    }

    /// Keeps an object; `None`: there are too many.
    pub(crate) fn insert(&self, object: Arc<T>) -> Option<i32> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = entries.free.pop() {
            let entry = &mut entries.all[place as usize];
            entry.object = Some(object);
            return Some(self.handle(place, entry.generation));
        }
        let place = u32::try_from(entries.all.len()).ok().filter(|&place| place + FIRST < 1 << PLACE_BITS)?;
        entries.all.push(Entry { generation: 0, object: Some(object) });
        Some(self.handle(place, 0))
    }

    /// The object of a handle, if there is one.
    #[inline]
    pub(crate) fn get(&self, handle: i32) -> Option<Arc<T>> {
        let (place, generation) = self.place(handle)?;
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.all.get(place)?;
        if entry.generation == generation { entry.object.clone() } else { None }
    }

    /// Forgets a handle, and gives what it named.
    pub(crate) fn remove(&self, handle: i32) -> Option<Arc<T>> {
        let (place, generation) = self.place(handle)?;
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.all.get_mut(place).filter(|entry| entry.generation == generation)?;
        let object = entry.object.take()?;
        entry.generation = (generation + 1) & GENERATION_MASK;
        entries.free.push(place as u32);
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_handle_names_nothing() {
        let objects = Objects::new(Kind::Group);
        let first = objects.insert(Arc::new(1)).expect("room");
        assert_eq!(objects.get(first).as_deref(), Some(&1));
        assert_eq!(objects.remove(first).as_deref(), Some(&1));
        let second = objects.insert(Arc::new(2)).expect("room");
        assert_ne!(first, second);
        assert_eq!((objects.get(first), objects.remove(first)), (None, None));
        assert_eq!(objects.get(second).as_deref(), Some(&2));
        assert_eq!(objects.get(second ^ 1 << 26), None, "another kind");
    }

    #[test]
    fn a_full_table_takes_no_more_until_one_is_freed() {
        let (objects, object) = (Objects::new(Kind::Comm), Arc::new(()));
        let all: Vec<i32> = std::iter::from_fn(|| objects.insert(object.clone())).collect();
        assert_eq!(all.len() as u32, (1 << PLACE_BITS) - FIRST);
        assert!(all.iter().all(|&handle| objects.get(handle).is_some()));
        objects.remove(all[7]);
        assert!(objects.insert(object.clone()).is_some_and(|again| again != all[7]));
        assert_eq!(objects.insert(object), None);
    }
}
