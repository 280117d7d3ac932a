//! The pointer into a file that all its processes share.
//!
//! It is a number in the memory of the file's first process, whose service moves it for the others while the program computes. So it
//! begins where the file was opened, ends with the process, and leaves nothing behind.

use crate::errors::{Error, Mpi, class};
use crate::process::this::Process;
use crate::windows::questions::Question;
use crate::windows::serving::service;
use parvum_service::Trouble;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The pointers of files whose first process this is, by their numbers.
static PLACES: LazyLock<Mutex<HashMap<u32, Arc<Place>>>> = LazyLock::new(Mutex::default);

/// Where a pointer is, in etypes.
struct Place(Mutex<i64>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The shared pointer of an open file.
pub(crate) enum Pointer {
    /// In this process, with the number by which the others know it.
    Here(Arc<Here>),
    /// In the first process: its service, and the number there.
    There(i32, u32),
}

/// A pointer of this process, as long as the file is open.
pub(crate) struct Here {
    place: Arc<Place>,
    number: u32,
}

impl Drop for Here {
    fn drop(&mut self) {
        lock(&PLACES).remove(&self.number);
    }
}

/// What is done with a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It moves on by so many etypes.
    Advance(i64),
    /// It stands there from now on.
    Set(i64),
}

impl Place {
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
pub(crate) fn attend(number: u32, deed: Deed) -> Option<Mpi<i64>> {
    let place = lock(&PLACES).get(&number).cloned()?;
    Some(place.act(deed))
}

impl Pointer {
    /// The first process makes the pointer; others will ask its service, if there are any.
    pub(crate) fn make(process: &Process, at: i64, is_shared: bool) -> Mpi<Pointer> {
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        if is_shared {
            service(process)?;
        }
        // Relaxed: a number only.
        let (place, number) = (Arc::new(Place(Mutex::new(at))), NUMBERS.fetch_add(1, Ordering::Relaxed));
        lock(&PLACES).insert(number, place.clone());
        Ok(Pointer::Here(Arc::new(Here { place, number })))
    }

    /// What the others are told: the service, and the number there.
    pub(crate) fn told(&self, process: &Process, is_shared: bool) -> Mpi<[u32; 2]> {
        match self {
            Pointer::Here(here) if is_shared => Ok([service(process)?.tid() as u32, here.number]),
            Pointer::Here(here) => Ok([0, here.number]),
            Pointer::There(service, number) => Ok([*service as u32, *number]),
        }
    }

    /// Where the pointer was before the deed.
    pub(crate) fn act(&self, process: &Process, deed: Deed) -> Mpi<i64> {
        match self {
            Pointer::Here(here) => here.place.act(deed),
            Pointer::There(first, number) => {
                let said = service(process)?.request(*first, &Question::Pointer(deed).encode(*number), None);
                let said = said.map_err(failed)?;
                let class = said.first_chunk().map_or(class::INTERN, |class| i32::from_le_bytes(*class));
                match (class, said.get(4..12)) {
                    (0, Some(before)) => Ok(i64::from_le_bytes(before.try_into().expect("eight bytes"))),
                    (class::ARG, _) => Err(beyond()),
                    (class, _) => {
                        Err(Error::new(class, "the file's first process refused to move the shared pointer"))
                    }
                }
            }
        }
    }
}

#[cold]
fn failed(why: Trouble) -> Error {
    let class = if matches!(why, Trouble::Gone) { class::PROC_FAILED } else { class::OTHER };
    Error::new(class, format!("the file's first process, which has the shared pointer: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_moves_by_what_is_asked_and_never_wraps() {
        let place = Place(Mutex::new(5));
        assert_eq!((place.act(Deed::Advance(3)), place.act(Deed::Set(1))), (Ok(5), Ok(8)));
        assert_eq!(place.act(Deed::Advance(i64::MAX)).expect_err("too far").code, class::ARG);
        assert_eq!(place.act(Deed::Advance(0)), Ok(1));
        assert_eq!(attend(u32::MAX, Deed::Set(0)), None);
    }
}
