//! The shared pointers of files whose first process this is: where each stands, and how it moves.

use crate::errors::{Error, Mpi, class};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The pointers of files whose first process this is, by their numbers.
static PLACES: LazyLock<Mutex<HashMap<u32, Arc<Position>>>> = LazyLock::new(Mutex::default);

/// Where a pointer is, in etypes.
struct Position(Mutex<i64>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is done with a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It moves on by so many etypes.
    Advance(i64),
    /// It stands there from now on.
    Set(i64),
}

/// A pointer of this process, as long as the file is open.
pub(crate) struct Here {
    place: Arc<Position>,
    number: u32,
}

impl Here {
    /// A pointer that others of the file know by a number.
    pub(crate) fn new(at: i64) -> Arc<Here> {
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        // Relaxed: a number only.
        let (place, number) = (Arc::new(Position(Mutex::new(at))), NUMBERS.fetch_add(1, Ordering::Relaxed));
        lock(&PLACES).insert(number, place.clone());
        Arc::new(Here { place, number })
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Where the pointer was before the deed.
    pub(crate) fn act(&self, deed: Deed) -> Mpi<i64> {
        self.place.act(deed)
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        lock(&PLACES).remove(&self.number);
    }
}

impl Position {
    /// Where the pointer was.
    fn act(&self, deed: Deed) -> Mpi<i64> {
        let mut place = lock(&self.0);
        let before = *place;
        *place = match deed {
            Deed::Set(to) => to,
            Deed::Advance(steps) => before.checked_add(steps).ok_or_else(beyond)?,
        };
        Ok(before)
    }
}

/// A pointer cannot go so far.
#[cold]
pub(crate) fn beyond() -> Error {
    Error::new(class::ARG, "the place lies beyond 2^63 bytes, where no file has any")
}

/// Does what another process asks, on the service's thread; `None`: the file has been closed.
pub(crate) fn act(number: u32, deed: Deed) -> Option<Mpi<i64>> {
    let place = lock(&PLACES).get(&number).cloned()?;
    Some(place.act(deed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_pointer_moves_as_asked_and_never_wraps() {
        let place = Position(Mutex::new(5));
        assert_eq!((place.act(Deed::Advance(3)), place.act(Deed::Set(1))), (Ok(5), Ok(8)));
        assert_eq!(place.act(Deed::Advance(i64::MAX)).expect_err("too far").code, class::ARG);
        assert_eq!(place.act(Deed::Advance(0)), Ok(1));
        assert_eq!(act(u32::MAX, Deed::Set(0)), None);
    }
}
