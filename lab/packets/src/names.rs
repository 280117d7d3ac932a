//! A name server that all nodes of a network inside one process share.

use super::port::NameServer;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What several nodes share, each perhaps in its own thread.
pub(super) type Shared<T> = Arc<Mutex<T>>;

/// Takes it; a thread that has panicked has left nothing half done.
pub(super) fn lock<T>(shared: &Shared<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names known to all who have a copy of this.
pub struct SharedNames<A>(Shared<HashMap<String, (A, u32)>>);

impl<A> Default for SharedNames<A> {
    fn default() -> Self {
        SharedNames(Shared::default())
    }
}

impl<A> Clone for SharedNames<A> {
    fn clone(&self) -> Self {
        SharedNames(self.0.clone())
    }
}

impl<A: Copy> NameServer<A> for SharedNames<A> {
    fn bind(&mut self, name: &str, at: A, container: u32) -> bool {
        let mut names = lock(&self.0);
        let is_free = !names.contains_key(name);
        if is_free {
            names.insert(name.to_owned(), (at, container));
        }
        is_free
    }

    fn unbind(&mut self, name: &str) -> bool {
        lock(&self.0).remove(name).is_some()
    }

    fn lookup(&mut self, name: &str) -> Option<(A, u32)> {
        lock(&self.0).get(name).copied()
    }
}
