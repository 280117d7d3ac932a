//! Objects and their handles.
//!
//! A handle has the object's kind, its place in a table, and a generation: a handle of an object that was freed is mostly known to
//! be stale, and not taken for its successor.

use crate::objects::numbers::Kind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Bits of a place: so many objects of a kind at a time.
const PLACE_BITS: u32 = 20;
const GENERATION_MASK: u32 = (1 << (26 - PLACE_BITS)) - 1;
/// The first places are left to objects that are always there and are named as if a program had made them.
const FIRST: u32 = 16;

/// So many places are left when a call is told that there is no room: more than threads that have asked and not inserted yet.
const SPARE: u32 = 4096;

/// All objects of a kind that the program has made.
pub(crate) struct Objects<T> {
    kind: Kind,
    /// So many objects there are.
    count: AtomicU32,
    entries: RwLock<Entries<T>>,
}

struct Entries<T> {
    all: Vec<Entry<T>>,
    free: Vec<u32>,
    /// Places of objects that the program has freed and others still use; and when they are looked at again.
    retired: Vec<u32>,
    looks_at: usize,
}

struct Entry<T> {
    generation: u32,
    object: Option<Arc<T>>,
    /// The program has freed the handle.
    is_retired: bool,
}

/// So many retired objects are kept without a look at them.
const FEW_RETIRED: usize = 64;

impl<T> Entries<T> {
    /// Forgets retired objects that nobody uses any more; how many.
    fn sweep(&mut self) -> u32 {
        let before = self.retired.len();
        let Entries { all, free, retired, looks_at } = self;
        retired.retain(|&place| {
            let entry = &mut all[place as usize];
            let is_used = entry.object.as_ref().is_some_and(|object| Arc::strong_count(object) > 1);
            if entry.is_retired && !is_used {
                *entry = Entry {
                    generation: (entry.generation + 1) & GENERATION_MASK,
                    object: None,
                    is_retired: false,
                };
                free.push(place);
            }
            entry.is_retired
        });
        // Twice as many as are in use now: so the looks cost little for each.
        *looks_at = 2 * retired.len() + FEW_RETIRED;
        (before - retired.len()) as u32
    }
}

impl<T> Objects<T> {
    pub(crate) const fn new(kind: Kind) -> Objects<T> {
        Objects {
            kind,
            count: AtomicU32::new(0),
            entries: RwLock::new(Entries {
                all: Vec::new(),
                free: Vec::new(),
                retired: Vec::new(),
                looks_at: FEW_RETIRED,
            }),
        }
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

    /// Whether one more object will find a place: what is begun must be named.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        // Relaxed: what other threads do meanwhile the spare places are for.
        self.count.load(Ordering::Relaxed) < (1 << PLACE_BITS) - FIRST - SPARE
    }

    /// Keeps an object; `None`: there are too many.
    pub(crate) fn insert(&self, object: Arc<T>) -> Option<i32> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = entries.free.pop() {
            self.count.fetch_add(1, Ordering::Relaxed);
            let entry = &mut entries.all[place as usize];
            entry.object = Some(object);
            return Some(self.handle(place, entry.generation));
        }
        let place = u32::try_from(entries.all.len()).ok().filter(|&place| place + FIRST < 1 << PLACE_BITS)?;
        self.count.fetch_add(1, Ordering::Relaxed);
        entries.all.push(Entry { generation: 0, object: Some(object), is_retired: false });
        Some(self.handle(place, 0))
    }

    /// The object of a handle, if there is one.
    #[inline]
    pub(crate) fn get(&self, handle: i32) -> Option<Arc<T>> {
        let (place, generation) = self.place(handle)?;
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.all.get(place)?;
        if entry.generation == generation && !entry.is_retired { entry.object.clone() } else { None }
    }

    /// All objects that have handles.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.all.iter().filter_map(|entry| entry.object.clone()).collect()
    }

    /// The program has freed a handle whose object others may still use: it names nothing until it is [revived](Self::revive), and
    /// no other object gets it before the last has let go.
    pub(crate) fn retire(&self, handle: i32) {
        let Some((place, generation)) = self.place(handle) else { return };
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = entries.all.get_mut(place).filter(|entry| entry.generation == generation) else {
            return;
        };
        if entry.object.is_some() && !std::mem::replace(&mut entry.is_retired, true) {
            entries.retired.push(place as u32);
        }
        if entries.retired.len() >= entries.looks_at {
            self.count.fetch_sub(entries.sweep(), Ordering::Relaxed);
        }
    }

    /// Whether the program has freed a handle whose object somebody still uses.
    pub(crate) fn is_kept(&self, handle: i32) -> bool {
        let Some((place, generation)) = self.place(handle) else { return false };
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.all.get(place).filter(|entry| entry.generation == generation && entry.is_retired);
        entry.and_then(|entry| entry.object.as_ref()).is_some_and(|object| Arc::strong_count(object) > 1)
    }

    /// The handle of an object that somebody still uses names it again.
    pub(crate) fn revive(&self, handle: i32) {
        let Some((place, generation)) = self.place(handle) else { return };
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = entries.all.get_mut(place).filter(|entry| entry.generation == generation) else {
            return;
        };
        if std::mem::replace(&mut entry.is_retired, false) {
            entries.retired.retain(|&retired| retired as usize != place);
        }
    }

    /// Forgets a handle, and gives what it named.
    pub(crate) fn remove(&self, handle: i32) -> Option<Arc<T>> {
        let (place, generation) = self.place(handle)?;
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let entry =
            entries.all.get_mut(place).filter(|entry| entry.generation == generation && !entry.is_retired)?;
        let object = entry.object.take()?;
        entry.generation = (generation + 1) & GENERATION_MASK;
        self.count.fetch_sub(1, Ordering::Relaxed);
        entries.free.push(place as u32);
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_handle_names_nothing() {
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
    fn retired_handle_names_nothing_until_revived() {
        let objects = Objects::new(Kind::Errhandler);
        let used = Arc::new(());
        let handle = objects.insert(used.clone()).expect("room");
        objects.retire(handle);
        assert_eq!((objects.get(handle), objects.remove(handle)), (None, None));
        assert!(objects.is_kept(handle));
        // Nobody else gets it while somebody uses the object, however many come and go.
        for _ in 0..10_000 {
            let other = objects.insert(Arc::new(())).expect("room");
            assert_ne!(other, handle);
            objects.retire(other);
            assert!(!objects.is_kept(other), "nobody uses it");
        }
        assert!(objects.count.load(Ordering::Relaxed) <= 2 * FEW_RETIRED as u32);
        objects.revive(handle);
        assert!(objects.get(handle).is_some());
        assert!(objects.remove(handle).is_some());
    }

    #[test]
    fn full_object_table_refuses_insert_until_one_is_freed() {
        let (objects, object) = (Objects::new(Kind::Comm), Arc::new(()));
        let all: Vec<i32> = std::iter::from_fn(|| objects.insert(object.clone())).collect();
        assert_eq!(all.len() as u32, (1 << PLACE_BITS) - FIRST);
        assert!(all.iter().all(|&handle| objects.get(handle).is_some()));
        assert!(!objects.has_room());
        objects.remove(all[7]);
        assert!(objects.insert(object.clone()).is_some_and(|again| again != all[7]));
        assert_eq!(objects.insert(object), None);
        for &handle in &all[100..] {
            objects.remove(handle);
        }
        assert!(objects.has_room());
    }
}
