//! A table of objects that threads find and use without a lock and without an exchange; who takes an object out waits until
//! nobody uses it.
//!
//! A thread that wants an object has a place as a reader, which it keeps, and says there which entry it uses; then it looks
//! whether the entry has an object. Who takes an object out empties the entry, and then looks at what the readers say. It is
//! Dekker's game, as in [`crate::bias`]: who takes out pays for the fences of both, and only if other threads read at all.
//!
//! ```text
//! reader                             who takes out
//!   pinned = entry                     entry = none
//!   (nothing: the other's fence)       membarrier, if others read
//!   entry: an object? use it           pinned: wait while it is this entry
//!   pinned = nothing
//! ```
//!
//! Checked under loom, with the kernel's fence played by one on each side.

use crate::fences::{heavy_fence, light_fence};
use crate::fork;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

/// So many threads at a time may be readers, and so many objects be there.
const READERS: usize = if cfg!(loom) { 2 } else { 64 };
const ENTRIES: usize = if cfg!(loom) { 1 } else { 64 };

/// The entry that a reader uses, as this process says it, counted from one; what a parent of it has written counts as none.
#[inline(always)]
fn pin_of(entry: usize) -> u32 {
    fork::generation() << 8 | (entry as u32 + 1)
}

/// A reader's word, in a line of its own: each reader writes all the time.
#[repr(align(64))]
struct Reader(AtomicU32);

/// The table.
pub struct Hazards<T> {
    readers: [Reader; READERS],
    /// Which places are somebody's, a bit each.
    claimed: AtomicU64,
    entries: [AtomicPtr<T>; ENTRIES],
    /// It owns what is in it.
    objects: PhantomData<Arc<T>>,
}

/// An object, which stays as long as this does.
pub struct Pinned<'p, T> {
    object: &'p T,
    reader: &'p AtomicU32,
}

impl<T> Hazards<T> {
    /// An empty one.
    #[cfg(not(loom))]
    pub const fn new() -> Hazards<T> {
        Hazards {
            readers: [const { Reader(AtomicU32::new(0)) }; READERS],
            claimed: AtomicU64::new(0),
            entries: [const { AtomicPtr::new(std::ptr::null_mut()) }; ENTRIES],
            objects: PhantomData,
        }
    }

    /// An empty one.
    #[cfg(loom)]
    pub fn new() -> Hazards<T> {
        Hazards {
            readers: std::array::from_fn(|_| Reader(AtomicU32::new(0))),
            claimed: AtomicU64::new(0),
            entries: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
            objects: PhantomData,
        }
    }

    /// A reader's place, for the thread that calls. `None`: all are others'.
    #[cold]
    pub fn claim(&self) -> Option<usize> {
        let mut claimed = self.claimed.load(Ordering::Relaxed);
        let place = loop {
            let place = claimed.trailing_ones() as usize;
            if place >= READERS {
                return None;
            }
            // Acquire: pairs with the release in `disclaim` of whoever had the place before.
            let taken = claimed | 1 << place;
            match self.claimed.compare_exchange(claimed, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break place,
                Err(now) => claimed = now,
            }
        };
        // Partner: that in `take`. Who does not see the place claimed has emptied the entry before this thread looks at it.
        fence(Ordering::SeqCst);
        Some(place)
    }

    /// The thread that claimed the place reads no more.
    pub fn disclaim(&self, reader: usize) {
        // Release: pairs with the acquires in `claim` and `take`.
        self.claimed.fetch_and(!(1 << reader), Ordering::Release);
    }

    /// Puts an object into an empty entry. False: there is no such entry.
    pub fn set(&self, entry: usize, object: &Arc<T>) -> bool {
        let Some(place) = self.entries.get(entry) else { return false };
        // Release: pairs with the acquire in `get`.
        let before = place.swap(Arc::into_raw(object.clone()).cast_mut(), Ordering::Release);
        assert!(before.is_null(), "the entry was empty");
        true
    }

    /// The object of an entry, if it has one and this thread is in the midst of no other.
    ///
    /// # Safety
    /// The thread has claimed the reader's place, and has not given it back.
    #[inline(always)]
    pub unsafe fn get(&self, reader: usize, entry: usize) -> Option<Pinned<'_, T>> {
        let (Some(Reader(reader)), Some(place)) = (self.readers.get(reader), self.entries.get(entry)) else {
            return None;
        };
        let pin = pin_of(entry);
        // Relaxed: what this thread itself has stored. A handler of signals that has interrupted its use of an object goes another way.
        let before = reader.load(Ordering::Relaxed);
        if before & 0xff != 0 && before >> 8 == pin >> 8 {
            return None;
        }
        reader.store(pin, Ordering::Relaxed);
        // Partner: the heavy one in `take`.
        light_fence();
        // Acquire: pairs with the release in `set`.
        let object = place.load(Ordering::Acquire);
        if object.is_null() {
            // Release: nothing was used; as in the guard's drop.
            reader.store(0, Ordering::Release);
            return None;
        }
        // SAFETY: the entry owns a count of the object's. Who takes it out drops that when this reader no longer says the entry: either
        // it has seen what was stored above, or the load above has seen what it had stored.
        Some(Pinned { object: unsafe { &*object }, reader })
    }

    /// Takes the object of an entry out, and waits until nobody uses it. `reader` is the place of the thread that calls, if it has one:
    /// it uses none.
    pub fn take(&self, entry: usize, reader: Option<usize>) -> Option<Arc<T>> {
        let place = self.entries.get(entry)?;
        // Acquire: pairs with the release in `set`.
        let object = place.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if object.is_null() {
            return None;
        }
        // Partner: that in `claim`.
        fence(Ordering::SeqCst);
        let own = reader.map_or(0, |reader| 1 << reader);
        // Acquire: pairs with the release in `disclaim`: whoever had the place is done with the object.
        let others = self.claimed.load(Ordering::Acquire) & !own;
        if others != 0 {
            // Partner: the light one in `get`.
            heavy_fence();
        }
        for Reader(other) in
            (0..READERS).filter(|place| others & 1 << place != 0).map(|place| &self.readers[place])
        {
            // Acquire: pairs with the release in the guard's drop.
            while other.load(Ordering::Acquire) == pin_of(entry) {
                pause();
            }
        }
        // SAFETY: the pointer is of `set`, whose count this is, and nobody else has taken it out: the swap above gave it to this thread.
        Some(unsafe { Arc::from_raw(object) })
    }
}

/// It uses the object for a moment only; but it may be of lower priority than this thread, and must run.
fn pause() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::thread::sleep(std::time::Duration::from_micros(50));
}

impl<T> Default for Hazards<T> {
    fn default() -> Hazards<T> {
        Hazards::new()
    }
}

impl<T> Deref for Pinned<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.object
    }
}

impl<T> Drop for Pinned<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: pairs with the acquire in `take`.
        self.reader.store(0, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell as Watched;

    type Table = Hazards<Watched<u32>>;

    /// Looks at the object, if it is still there: loom ends the test when somebody changes it meanwhile.
    fn look(table: &Table, reader: usize) {
        // SAFETY: the caller has claimed the place.
        if let Some(object) = unsafe { table.get(reader, 0) } {
            // SAFETY: whoever changes it has taken it out before, which loom checks.
            let seen = object.with(|value| unsafe { *value });
            assert_eq!(seen, 1);
        }
    }

    /// Takes it out, and then changes it.
    fn end(table: &Table, reader: Option<usize>) {
        let object = table.take(0, reader).expect("it is there");
        // SAFETY: nobody uses it any more, which loom checks.
        object.with_mut(|value| unsafe { *value = 0 });
    }

    fn table() -> loom::sync::Arc<Table> {
        let table = loom::sync::Arc::new(Table::new());
        assert!(table.set(0, &Arc::new(Watched::new(1))));
        table
    }

    #[test]
    fn removal_waits_for_reader() {
        loom::model(|| {
            let table = table();
            let reader = table.claim().expect("free");
            let other = table.clone();
            let other = loom::thread::spawn(move || (0..2).for_each(|_| look(&other, reader)));
            end(&table, None);
            other.join().expect("it ends");
        });
    }

    /// One that has just come is known, or finds the entry empty.
    #[test]
    fn removal_waits_for_reader_that_just_came() {
        loom::model(|| {
            let table = table();
            let own = table.claim().expect("free");
            look(&table, own);
            let other = table.clone();
            let other = loom::thread::spawn(move || {
                let reader = other.claim().expect("free");
                look(&other, reader);
                other.disclaim(reader);
            });
            end(&table, Some(own));
            other.join().expect("it ends");
        });
    }

    /// What comes into the entry next is another object: who reads it is not taken for a reader of the first for ever.
    #[test]
    fn entry_is_reused_for_another_object() {
        loom::model(|| {
            let table = table();
            let reader = table.claim().expect("free");
            let other = table.clone();
            let other = loom::thread::spawn(move || look(&other, reader));
            end(&table, None);
            assert!(table.set(0, &Arc::new(Watched::new(1))));
            other.join().expect("it ends");
            end(&table, None);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn object_lives_until_removed() {
        let pins = Hazards::new();
        let reader = pins.claim().expect("free");
        // SAFETY: the place is this thread's.
        let get = |entry| unsafe { pins.get(reader, entry) };
        assert!(get(3).is_none() && get(ENTRIES).is_none());
        let object = Arc::new(7);
        assert!(pins.set(3, &object) && !pins.set(ENTRIES, &object));
        {
            let pinned = get(3).expect("there");
            assert_eq!(*pinned, 7);
            assert!(get(3).is_none(), "a handler that has interrupted its use");
        }
        assert_eq!(get(3).as_deref(), Some(&7));
        assert_eq!(pins.take(3, Some(reader)), Some(object.clone()));
        assert!(get(3).is_none() && pins.take(3, None).is_none());
        assert_eq!(Arc::strong_count(&object), 1);
    }

    #[test]
    fn hazard_places_are_returned() {
        let pins = Hazards::<u32>::new();
        let all: Vec<_> = std::iter::from_fn(|| pins.claim()).collect();
        assert_eq!(all.len(), READERS);
        pins.disclaim(5);
        assert_eq!((pins.claim(), pins.claim()), (Some(5), None));
    }

    #[test]
    fn objects_come_and_go_while_threads_use_them() {
        static PINS: Hazards<AtomicBool> = Hazards::new();
        static OVER: AtomicBool = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let reader = PINS.claim().expect("free");
                    while !OVER.load(Ordering::Relaxed) {
                        // SAFETY: the place is this thread's.
                        if let Some(object) = unsafe { PINS.get(reader, 0) } {
                            assert!(object.load(Ordering::Relaxed), "in use, and not over");
                        }
                    }
                    PINS.disclaim(reader);
                });
            }
            for _ in 0..2000 {
                assert!(PINS.set(0, &Arc::new(AtomicBool::new(true))));
                std::thread::yield_now();
                let object = PINS.take(0, None).expect("there");
                object.store(false, Ordering::Relaxed);
            }
            OVER.store(true, Ordering::Relaxed);
        });
    }
}
