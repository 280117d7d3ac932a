//! The threads that wait inside the library, and their wakeups.
//!
//! A thread that waits has given its turn away. One of them *drives*: it sleeps on the control block's wakeup word (or
//! in poll(2)), which peers and the daemon wake, and receives messages for all. The others sleep on a word each. A
//! thread that leaves the library or goes to sleep wakes only threads whose wait it has seen to be over. A driver that
//! leaves wakes another thread to drive instead.
//!
//! A signal handler that interrupts a wait may wait itself: then its thread waits twice, the inner wait first. A handler that
//! jumps out of the wait (siglongjmp) leaves an entry behind, which the thread's next call finds by its place on the stack.

use crate::connecting::connections::Sources;
use crate::segments::awaited::InSegment;
use parvum_api::{Notes, call};
use parvum_engine::RequestId;
use parvum_sync::StandIn;
use parvum_sync::futex::{self, Among, Woken};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The condition that ends a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// This request is over.
    Over(RequestId),
    /// One of these requests is over.
    AnyOver(Arc<[RequestId]>),
    /// A condition that only the waiting thread itself can check. It checks after each progress.
    Changed,
}

impl Until {
    /// Whether the wait is for that receive.
    pub(crate) fn wants(&self, receive: RequestId) -> bool {
        match self {
            Until::Over(request) => *request == receive,
            Until::AnyOver(requests) => requests.contains(&receive),
            Until::Changed => false,
        }
    }
}

/// Whether a thread waits to serve others.
pub(crate) fn serves(notes: &Notes) -> bool {
    notes.call & !call::UNTIL_SIGNAL == call::SERVE
}

/// The word on which a thread sleeps that does not drive: 0 while it should sleep.
#[derive(Default)]
pub(crate) struct Word(AtomicU32);

impl Word {
    fn wake(&self) {
        // Release: partner of the acquire in `sleep`.
        self.0.store(1, Ordering::Release);
        futex::wake(&self.0, 1, Among::Threads);
    }

    /// Marks, with the lock held, that its thread is about to sleep.
    pub(crate) fn set(&self) {
        // Relaxed: who wakes it has the turn first, which orders the two.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Sleeps until another thread wakes it, a signal comes, or the time is over.
    pub(crate) fn sleep(&self, limit: Duration) -> Woken {
        // Acquire: partner of the release in `wake`.
        match self.0.load(Ordering::Acquire) {
            0 => futex::sleep(&self.0, 0, Some(limit), Among::Threads),
            _ => Woken::Rung,
        }
    }

    /// The same, or until the segment's barrier changes from `changes`.
    pub(crate) fn sleep_in(&self, shared: &InSegment, changes: u32, limit: Duration) -> Woken {
        // Acquire: partner of the release in `wake`.
        match self.0.load(Ordering::Acquire) {
            0 => shared.sleep_beside(changes, &self.0, limit),
            _ => Woken::Rung,
        }
    }
}

thread_local! {
    static WORD: Arc<Word> = Arc::default();
}

/// This thread's word, by which it is also known.
pub(crate) fn own_word() -> Arc<Word> {
    // A thread that ends has lost its own: another will do, for it is known by the entry that holds it.
    WORD.try_with(Arc::clone).unwrap_or_default()
}

/// One wait.
struct Waiter {
    number: u64,
    word: Arc<Word>,
    until: Until,
    notes: Notes,
    /// The position of its thread's stack.
    frame: usize,
    /// The receive that belongs to this wait, and is useless without it.
    owns: Option<RequestId>,
}

/// All waits of this process.
#[derive(Default)]
pub(crate) struct Waiters {
    list: Vec<Waiter>,
    numbers: u64,
    /// The wait that drives.
    driver: Option<u64>,
    /// Whether a thread looks instead of the driver.
    pub(crate) stand_in: Arc<StandIn>,
    /// The sockets that the driver watches where it sleeps.
    pub(crate) watches: Sources,
    /// The driver fell asleep with data that waits for room in a link: it wakes when there is room, and soon.
    pub(crate) heeds_output: bool,
    /// There was progress since the last check of threads that may continue.
    pub(crate) stirred: bool,
    /// How many operations had ended and copies been left to threads then.
    changes: u64,
}

impl Waiters {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether only serving threads wait. They look for others only while they sleep, so another waiting thread looks
    /// itself as long as this is likely to help.
    #[inline]
    pub(crate) fn are_servers(&self) -> bool {
        self.list.iter().all(|waiter| serves(&waiter.notes))
    }

    /// Whether the wait of a serving thread is over.
    pub(crate) fn has_service_to_do(&self, is_over: impl Fn(RequestId) -> bool) -> bool {
        self.list.iter().filter(|waiter| serves(&waiter.notes)).any(|waiter| match &waiter.until {
            Until::Over(request) => is_over(*request),
            Until::AnyOver(requests) => requests.iter().any(|request| is_over(*request)),
            Until::Changed => false,
        })
    }

    /// A wait of this thread begins; its number.
    pub(crate) fn add(&mut self, until: Until, notes: Notes, frame: usize, owns: Option<RequestId>) -> u64 {
        self.numbers += 1;
        let notes = Notes { call: notes.call & !call::UNTIL_SIGNAL, ..notes };
        self.list.push(Waiter { number: self.numbers, word: own_word(), until, notes, frame, owns });
        self.numbers
    }

    /// A wait is over. Returns the next wait that continues, for tools.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Notes> {
        if let Some(at) = self.list.iter().position(|waiter| waiter.number == number) {
            let over = self.list.remove(at);
            // The wait that this wait interrupted checks again, because its wakeup may have woken this one.
            if self.list.iter().any(|waiter| Arc::ptr_eq(&waiter.word, &over.word)) {
                over.word.wake();
            }
        }
        if self.driver == Some(number) {
            self.driver = None;
        }
        self.list.first().map(|waiter| waiter.notes)
    }

    /// Whether this wait drives; it does from now on if no other thread's wait does.
    pub(crate) fn drives(&mut self, number: u64) -> bool {
        // A thread that has ended inside a wait holds its word no more.
        self.list.retain(|waiter| waiter.number == number || Arc::strong_count(&waiter.word) > 1);
        let word = |number: u64| self.list.iter().find(|waiter| waiter.number == number).map(|w| &w.word);
        let is_others = match (self.driver.and_then(word), word(number)) {
            (Some(driver), Some(own)) => !Arc::ptr_eq(driver, own),
            _ => false,
        };
        if !is_others {
            self.driver = Some(number);
        }
        !is_others
    }

    /// This wait does not drive any more, if it did: another is to.
    pub(crate) fn stops_driving(&mut self, number: u64) {
        if self.driver == Some(number) {
            self.driver = None;
        }
    }

    /// Whether a thread drives.
    pub(crate) fn is_driven(&self) -> bool {
        self.driver.is_some()
    }

    /// Whether another wait than this one drives.
    pub(crate) fn is_driven_by_other(&self, number: u64) -> bool {
        self.driver.is_some_and(|driver| driver != number)
    }

    /// The word of a wait.
    pub(crate) fn word(&self, number: u64) -> Option<Arc<Word>> {
        self.list.iter().find(|waiter| waiter.number == number).map(|waiter| waiter.word.clone())
    }

    /// Wakes threads that may continue, except `own`: threads with a complete request or with data to copy, and after
    /// progress threads that check themselves. If no thread drives, it also wakes one to drive. If there are copies
    /// that no wait is for, one thread is woken to make them. Whether the driver is among them, which sleeps elsewhere
    /// and is not woken here. `changes`: lists of requests are looked through only when it is another number.
    pub(crate) fn rouse(
        &mut self,
        own: Option<u64>,
        changes: u64,
        has_copies: bool,
        has_to_do: impl Fn(RequestId) -> bool,
    ) -> bool {
        let stirred = std::mem::take(&mut self.stirred);
        let some_changed = std::mem::replace(&mut self.changes, changes) != changes;
        let mut wakes_driver = false;
        let mut is_for_nobody = has_copies;
        for waiter in &self.list {
            let goes_on = match &waiter.until {
                Until::Over(request) => has_to_do(*request),
                Until::AnyOver(requests) => {
                    some_changed && requests.iter().any(|request| has_to_do(*request))
                }
                // A message to the task itself ends a receive without a look at the links.
                Until::Changed => stirred || some_changed,
            };
            is_for_nobody &= !goes_on;
            match goes_on && Some(waiter.number) != own {
                true if self.driver == Some(waiter.number) => wakes_driver = true,
                true => waiter.word.wake(),
                false => {}
            }
        }
        if is_for_nobody && let Some(first) = self.list.iter().find(|waiter| Some(waiter.number) != own) {
            match self.driver == Some(first.number) {
                true => wakes_driver = true,
                false => first.word.wake(),
            }
        }
        if self.driver.is_none()
            && let Some(next) = self.list.iter().find(|waiter| Some(waiter.number) != own)
        {
            next.word.wake();
        }
        wakes_driver
    }

    /// Wakes all threads, because the task leaves.
    pub(crate) fn rouse_all(&self) {
        self.list.iter().for_each(|waiter| waiter.word.wake());
    }

    /// Drops waits of this thread that never return: their place on the stack is free again, because `here` is above
    /// it. The receives that were theirs.
    pub(crate) fn take_abandoned(&mut self, here: usize) -> Vec<RequestId> {
        let own = own_word();
        let is_dead = |waiter: &Waiter| Arc::ptr_eq(&waiter.word, &own) && waiter.frame < here;
        if !self.list.iter().any(is_dead) || is_on_other_stack() {
            return Vec::new();
        }
        let dead: Vec<_> = self.list.extract_if(.., |waiter| is_dead(waiter)).collect();
        if dead.iter().any(|waiter| self.driver == Some(waiter.number)) {
            self.driver = None;
        }
        dead.into_iter().filter_map(|waiter| waiter.owns).collect()
    }
}

/// Whether this thread runs a signal handler on a separate stack: then positions on the stack cannot be compared.
fn is_on_other_stack() -> bool {
    // SAFETY: plain memory that the call fills; zero is valid.
    let mut stack: libc::stack_t = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is changed, and `stack` is writable.
    let asked = unsafe { libc::sigaltstack(std::ptr::null(), &mut stack) };
    asked == 0 && stack.ss_flags & libc::SS_ONSTACK != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTES: Notes = Notes { limit: -1, call: 1, peer: -1, tag: -1, context: -1 };

    fn is_awake(waiters: &Waiters, number: u64) -> bool {
        waiters.word(number).is_some_and(|word| word.0.load(Ordering::Relaxed) != 0)
    }

    /// Adds a wait of another thread, which lives as long as the word that is returned.
    fn add_other(waiters: &mut Waiters, until: Until) -> (u64, Arc<Word>) {
        let number = waiters.add(until, NOTES, 0, None);
        let word = Arc::<Word>::default();
        waiters.list.last_mut().expect("just added").word = word.clone();
        (number, word)
    }

    #[test]
    fn waiter_wakes_only_when_its_request_is_over() {
        let mut waiters = Waiters::default();
        let (first, second) = (RequestId::from_number(1), RequestId::from_number(2));
        let (driver, _held) = add_other(&mut waiters, Until::Over(first));
        let (other, _kept) = add_other(&mut waiters, Until::Over(second));
        assert!(waiters.drives(driver) && !waiters.drives(other));
        assert!(!waiters.rouse(None, 1, false, |request| request == second));
        assert!(is_awake(&waiters, other) && !is_awake(&waiters, driver));
        assert!(waiters.rouse(None, 1, false, |request| request == first), "the driver sleeps elsewhere");
    }

    #[test]
    fn waiter_on_list_wakes_only_for_its_requests() {
        let mut waiters = Waiters::default();
        let (first, second) = (RequestId::from_number(1), RequestId::from_number(2));
        let (driver, _held) = add_other(&mut waiters, Until::Changed);
        let (other, _kept) = add_other(&mut waiters, Until::AnyOver([first, second].into()));
        assert!(waiters.drives(driver) && !waiters.drives(other));
        waiters.stirred = true;
        waiters.rouse(None, 1, false, |_| false);
        assert!(!is_awake(&waiters, other), "something moved that it does not wait for");
        waiters.rouse(None, 2, false, |request| request == second);
        assert!(is_awake(&waiters, other));
    }

    #[test]
    fn waiter_becomes_driver_when_driver_leaves() {
        let mut waiters = Waiters::default();
        let (driver, _held) = add_other(&mut waiters, Until::Changed);
        let (other, _kept) = add_other(&mut waiters, Until::Changed);
        assert!(waiters.drives(driver) && !waiters.drives(other));
        assert!(waiters.remove(driver).is_some());
        waiters.rouse(None, 1, false, |_| false);
        assert!(is_awake(&waiters, other) && waiters.drives(other));
    }

    #[test]
    fn ended_thread_stops_driving() {
        let mut waiters = Waiters::default();
        let (driver, held) = add_other(&mut waiters, Until::Changed);
        let (other, _kept) = add_other(&mut waiters, Until::Changed);
        assert!(waiters.drives(driver) && !waiters.drives(other));
        drop(held);
        assert!(waiters.drives(other));
    }

    #[test]
    fn handler_wait_drives_instead_of_interrupted_wait() {
        let mut waiters = Waiters::default();
        let outer = waiters.add(Until::Changed, NOTES, 2000, None);
        assert!(waiters.drives(outer));
        let inner = waiters.add(Until::Changed, NOTES, 1000, None);
        assert!(waiters.drives(inner));
        waiters.word(outer).expect("it waits").set();
        waiters.remove(inner);
        assert!(is_awake(&waiters, outer), "it looks anew");
        assert!(waiters.drives(outer));
    }

    #[test]
    fn abandoned_wait_is_found_by_stack_address() {
        let mut waiters = Waiters::default();
        let request = RequestId::from_number(7);
        let number = waiters.add(Until::Over(request), NOTES, 1000, Some(request));
        waiters.drives(number);
        assert!(waiters.take_abandoned(900).is_empty(), "deeper: a handler, and the wait is alive");
        assert_eq!(waiters.take_abandoned(1100), [request]);
        assert!(waiters.is_empty() && !waiters.is_driven());
    }
}
