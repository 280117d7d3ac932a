//! A call's stay inside the library: the process lock while it works, nothing while it sleeps.

use crate::endpoint::{self, Endpoint, EndpointCell};
use crate::runtime::Runtime;
use crate::segments::awaited::InSegment;
use crate::status::account;
use parvum_engine::RequestId;
use parvum_sync::BiasedGuard;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A call inside the library.
pub(crate) struct Inside {
    /// Inside which endpoint.
    pub(crate) place: &'static EndpointCell,
    /// The process lock; away only while this thread sleeps.
    lock: Option<BiasedGuard<'static, Option<Runtime>>>,
    /// It has spun for the wait that is about to begin.
    pub(crate) has_spun: bool,
    /// The wait's beginning was recorded.
    pub(crate) wait_is_noted: bool,
    /// The last wait of this call serves others.
    pub(crate) serves: bool,
    /// The receive that is this call's own: it is given up if the program jumps out of the wait.
    pub(crate) owns: Option<RequestId>,
    /// The segment in which the call waits for others.
    pub(crate) awaits_in_segment: Option<InSegment>,
}

impl Deref for Inside {
    type Target = Runtime;

    #[inline]
    fn deref(&self) -> &Runtime {
        match &self.lock {
            Some(lock) => lock.as_ref().expect("it stays as long as somebody is inside"),
            None => unreachable!("a thread without the lock touches nothing"),
        }
    }
}

impl DerefMut for Inside {
    #[inline]
    fn deref_mut(&mut self) -> &mut Runtime {
        match &mut self.lock {
            Some(lock) => lock.as_mut().expect("it stays as long as somebody is inside"),
            None => unreachable!("a thread without the lock touches nothing"),
        }
    }
}

impl Inside {
    /// `None` if there is no runtime for this call.
    #[inline]
    pub(crate) fn new(
        place: &'static EndpointCell,
        lock: BiasedGuard<'static, Option<Runtime>>,
    ) -> Option<Inside> {
        if lock.as_ref().is_none_or(|runtime| runtime.has_left) {
            return None;
        }
        let (owns, awaits_in_segment) = (None, None);
        let mut inside = Inside {
            place,
            lock: Some(lock),
            has_spun: false,
            wait_is_noted: false,
            serves: false,
            owns,
            awaits_in_segment,
        };
        if !inside.waits.waiters.is_empty() || !inside.waits.away.is_nobody() {
            inside.forget_abandoned();
        }
        Some(inside)
    }

    /// The program has jumped out of some waits of this thread: gives up what was theirs.
    #[cold]
    fn forget_abandoned(&mut self) {
        let here = 0u8;
        for request in self.waits.waiters.take_abandoned(std::ptr::from_ref(&here) as usize) {
            self.engine.give_up(request);
        }
        for receive in self.waits.away.take_abandoned(std::ptr::from_ref(&here) as usize) {
            self.engine.abandon_copy(receive);
        }
    }

    /// Sleeps in the wait with this number. The process lock is released during the sleep.
    pub(crate) fn without_lock<R>(&mut self, number: u64, sleep: impl FnOnce() -> R) -> R {
        self.unlocked(Some(number), sleep)
    }

    /// Gives the lock back for that time, as the wait of that number if it is one.
    pub(crate) fn unlocked<R>(&mut self, number: Option<u64>, work: impl FnOnce() -> R) -> R {
        self.rouse_others(number);
        self.lock = None;
        let result = work();
        self.lock = Some(self.place.runtime.take());
        result
    }

    /// Whether another thread waits for the process lock.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.place.runtime.is_wanted()
    }

    /// Wakes the threads whose wait is over. `own` is this thread's.
    pub(crate) fn rouse_others(&mut self, own: Option<u64>) {
        let runtime = &mut **self;
        if runtime.waits.waiters.is_empty() {
            return;
        }
        let engine = &runtime.engine;
        let changes_place = runtime.waits.waiters.is_driven()
            && runtime.waits.waiters.watches != runtime.connections.sources();
        // A call may leave data that waits for room in a link, after the driver fell asleep without such data.
        let has_new_output =
            runtime.waits.waiters.is_driven() && !runtime.waits.waiters.heeds_output && engine.has_output();
        let has_to_do = |request| engine.is_over(request) || engine.has_copy_for(request);
        let wakes_driver = runtime.waits.waiters.rouse(own, engine.changes(), engine.has_copies(), has_to_do);
        if has_new_output {
            // The driver is woken once. It sets this again before it sleeps.
            runtime.waits.waiters.heeds_output = true;
        }
        if wakes_driver || changes_place || has_new_output {
            runtime.identity.control_block.rouse(&runtime.identity.event);
        }
    }

    /// The call is over.
    #[inline]
    pub(crate) fn leave(mut self) {
        self.pass_calls();
        if !self.waits.waiters.is_empty() || self.has_left {
            self.leave_others();
        }
    }

    #[cold]
    fn leave_others(&mut self) {
        // Messages of this call to the task itself wake no sleeper.
        if !self.has_left {
            self.progress();
        }
        self.rouse_others(None);
        if self.has_left && self.waits.waiters.is_empty() && self.waits.away.is_nobody() {
            self.remove();
        }
    }

    /// Removes the runtime: no thread is inside any more.
    pub(crate) fn remove(&mut self) {
        if let Some(lock) = &mut self.lock {
            **lock = None;
        }
    }
}

/// Calls `work` with the runtime. Returns `otherwise` if this task has not enrolled, or if this is a signal handler
/// that has interrupted a working call of its own thread.
#[inline]
pub(crate) fn with<E: Endpoint, R>(otherwise: R, work: impl FnOnce(&mut Inside) -> R) -> R {
    let place = E::place();
    if place.forked.load(Ordering::Relaxed) {
        return otherwise;
    }
    let Some(mut inside) = place.runtime.take_unless_own().and_then(|lock| Inside::new(place, lock)) else {
        return otherwise;
    };
    let begun = inside.waits.time.begins_call();
    let result = work(&mut inside);
    if let Some(begun) = begun {
        inside.ends_call(begun);
    }
    inside.leave();
    result
}

/// Calls `work` with the runtime if no other thread is inside, working or waiting; otherwise returns `None`. `work`
/// must neither sleep nor send to the task itself. This is [`with`] for what can be over at once: it has nothing to
/// arrange for others.
#[inline(always)]
pub(crate) fn briefly<E: Endpoint, R>(work: impl FnOnce(&mut Runtime) -> R) -> Option<R> {
    let place = E::place();
    if place.forked.load(Ordering::Relaxed) {
        return None;
    }
    let mut lock = place.runtime.try_take()?;
    let runtime = lock.as_mut()?;
    if !runtime.waits.waiters.is_empty() || runtime.has_left {
        return None;
    }
    let begun = runtime.waits.time.begins_call();
    let result = work(runtime);
    if let Some(begun) = begun {
        runtime.ends_call(begun);
    }
    runtime.pass_calls();
    Some(result)
}

/// Calls `work` with the runtime if no thread is inside, working or waiting.
pub(crate) fn try_with<E: Endpoint, R>(work: impl FnOnce(&mut Inside) -> R) -> Option<R> {
    let place = E::place();
    if place.forked.load(Ordering::Relaxed) {
        return None;
    }
    let mut inside = place.runtime.try_take().and_then(|lock| Inside::new(place, lock))?;
    if !inside.waits.waiters.is_empty() {
        return None;
    }
    let result = work(&mut inside);
    inside.leave();
    Some(result)
}

/// Joins the machine if this endpoint has not.
pub(crate) fn join<E: Endpoint, F>(start: impl Fn() -> Result<Runtime, F>) -> Result<Option<Inside>, F> {
    // The time that threads may take to notice that the task has left.
    const PATIENCE: u32 = 1000;
    let place = E::place();
    for _ in 0..PATIENCE {
        let Some(mut lock) = place.runtime.take_unless_own() else { return Ok(None) };
        if place.forked.swap(false, Ordering::Relaxed) {
            // The parent's runtime must not be dropped here: the drop would change nothing in the parent, but would
            // send to the daemon in the parent's name.
            std::mem::forget(lock.take());
        }
        if lock.is_none() {
            *lock = Some(start()?);
        }
        match Inside::new(place, lock) {
            Some(inside) => return Ok(Some(inside)),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    Ok(None)
}

/// This is a forked child: the parent's identities are not ours.
pub(crate) fn forget() {
    for place in endpoint::all() {
        // Relaxed: the child has one thread.
        place.forked.store(true, Ordering::Relaxed);
        place.stops_pushing();
    }
    account::close();
    parvum_sync::global_fences::leave();
}
