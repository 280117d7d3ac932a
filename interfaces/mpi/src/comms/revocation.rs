//! Revoked communicators: which they are, and the news of them that other members send (ULFM; Bland and others, 2013).

use crate::errors::{Error, class};
use crate::process::machine::{LOOK, Machine, machine, machine_notes};
use parvum_api::{ANY_TASK, Buffering, Completion, Pattern, Request, SendTo, TagKind};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Of the news that a communicator was revoked: its tag says which.
const REVOKE_CONTEXT: u32 = 0x7d69_000c;

/// The contexts that were revoked, and how many they are.
static REVOKED: Mutex<Revoked> = Mutex::new(Revoked { contexts: Vec::new(), left: VecDeque::new() });
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// News of a context that this process has left may come so much later, and concern nobody: another communicator gets the context
/// only when all contexts of the machine have been used meanwhile.
const LATE: Duration = Duration::from_secs(10);

/// What was revoked.
struct Revoked {
    contexts: Vec<u32>,
    /// Contexts that this process has left lately, the oldest first.
    left: VecDeque<(Instant, u32)>,
}

impl Revoked {
    /// News of a context.
    fn hear(&mut self, context: u32, now: Instant) {
        self.left.retain(|&(at, _)| now.duration_since(at) < LATE);
        let has_left = self.left.iter().any(|&(_, left)| left == context);
        if !has_left && !self.contexts.contains(&context) {
            self.contexts.push(context);
        }
    }

    /// The process's communicator with that context is gone: the next one with that context is another.
    fn leave(&mut self, context: u32, now: Instant) {
        self.contexts.retain(|&revoked| revoked != context);
        while self.left.front().is_some_and(|&(at, _)| now.duration_since(at) >= LATE) {
            self.left.pop_front();
        }
        self.left.push_back((now, context));
    }
}

/// The engine's receive for the next such news, once a program wants to go on after a death.
static NEWS: AtomicU64 = AtomicU64::new(0);

fn pattern() -> Pattern {
    let context = i64::from(REVOKE_CONTEXT);
    Pattern { from: ANY_TASK, tags: TagKind::Any, tag: 0, other: 0, context }
}

/// Whether a context was revoked.
#[inline]
pub(crate) fn is_revoked(context: u32) -> bool {
    // Acquire: pairs with the release in `change`, behind which the list has it.
    COUNT.load(Ordering::Acquire) > 0
        && REVOKED.lock().unwrap_or_else(PoisonError::into_inner).contexts.contains(&context)
}

fn change(what: impl FnOnce(&mut Revoked, Instant)) {
    let mut revoked = REVOKED.lock().unwrap_or_else(PoisonError::into_inner);
    what(&mut revoked, Instant::now());
    // Release: partner of the acquire in `is_revoked`.
    COUNT.store(revoked.contexts.len(), Ordering::Release);
}

fn hear_of(context: u32) {
    change(|revoked, now| revoked.hear(context, now));
}

/// A communicator is gone from this process. Who listens for no news has nothing to forget.
pub(crate) fn forget(context: u32) {
    // Acquire: as in `is_revoked`.
    if news().is_some() || COUNT.load(Ordering::Acquire) > 0 {
        change(|revoked, now| revoked.leave(context, now));
    }
}

/// From now on waits listen for such news.
pub(crate) fn listen() {
    let Ok(machine) = machine() else { return };
    if !machine.is_joined() {
        // Nobody could revoke anything yet.
        WANTED.store(true, Ordering::Relaxed);
        // Partner of the fence in `listen_if_wanted`: another thread that joins meanwhile sees the wish, or is seen to have joined.
        fence(Ordering::SeqCst);
        if !machine.is_joined() {
            return;
        }
    }
    // Acquire: as in `news`.
    if NEWS.load(Ordering::Acquire) == 0 {
        let request = machine.api.post(&pattern(), 0);
        // Release: partner of the acquire in `news`, behind which the engine has the receive. Acquire: another thread has posted one.
        if NEWS.compare_exchange(0, request.0, Ordering::AcqRel, Ordering::Acquire).is_err() {
            machine.api.cancel(request);
        }
    }
}

/// A communicator's program goes on after deaths, and its process was in no machine.
static WANTED: AtomicBool = AtomicBool::new(false);

/// The process has joined a machine.
pub(crate) fn listen_if_wanted() {
    // Partner of the fence in `listen`.
    fence(Ordering::SeqCst);
    if WANTED.load(Ordering::Relaxed) {
        listen();
    }
}

/// What a wait of a program that goes on after a death is woken by as well.
pub(crate) fn news() -> Option<Request> {
    // Acquire: partner of the releases in `listen` and `hear`.
    Some(NEWS.load(Ordering::Acquire)).filter(|&request| request != 0).map(Request)
}

/// Takes in the news that have come.
pub(crate) fn hear(machine: &Machine) {
    while let Some(request) = news() {
        let Ok(message) = machine.api.wait(request, &LOOK) else { return };
        machine.api.give_back(&message);
        hear_of(u32::from_ne_bytes(message.tag.to_ne_bytes()));
        let next = machine.api.post(&pattern(), 0);
        // Release: partner of the acquire in `news`.
        NEWS.store(next.0, Ordering::Release);
    }
}

/// This process revokes a communicator: everybody's calls on it fail from now on, those under way too.
pub(crate) fn revoke(machine: &Machine, context: u32, others: impl Iterator<Item = i32>) {
    hear_of(context);
    for task in others {
        let how = SendTo {
            to: task,
            tag: i32::from_ne_bytes(context.to_ne_bytes()),
            context: REVOKE_CONTEXT,
            meta: 0,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        // The dead need not be told.
        let _ = machine.api.send_one(how, &[], &machine_notes());
    }
}

/// The error of whatever is done on a communicator that was revoked.
#[cold]
pub(crate) fn revoked() -> Error {
    Error::new(class::REVOKED, "the communicator was revoked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reused_context_is_not_revoked_by_older_revocation() {
        let mut revoked = Revoked { contexts: Vec::new(), left: VecDeque::new() };
        let start = Instant::now();
        for round in 0..1000 {
            revoked.hear(2 * round, start);
            assert_eq!(revoked.contexts, [2 * round]);
            revoked.leave(2 * round, start);
            // Another member revokes it at the same time, and its news come late.
            revoked.hear(2 * round, start);
            assert!(revoked.contexts.is_empty());
        }
        revoked.hear(0, start + LATE);
        assert_eq!((&revoked.contexts[..], revoked.left.len()), (&[0][..], 0));
    }
}
