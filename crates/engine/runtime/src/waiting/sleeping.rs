//! Sleeping: on the control block's wakeup word, on a segment's, or in poll(2). If another thread already sleeps there,
//! a thread sleeps on its own word ([`crate::waiting::waiters`]).

use crate::connecting::connections::{DEAF, Watched};
use crate::inside::Inside;
use crate::runtime::Runtime;
use crate::waiting::deadlock::HELD;
use crate::waiting::patience::{IDLE, sleep_limit, woken_from_own_core};
use crate::waiting::waiters::Until;
use parvum_api::{Notes, call};
use parvum_control::{WaitingFor, monotonic_ns};
use parvum_engine::Counter;
use parvum_sync::futex::Woken;
use parvum_wire::Tid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// The longest sleep of a task that has something to hand over.
pub(crate) const NAP: Duration = Duration::from_millis(1);

/// The outcome of an attempt to sleep.
enum Nap<T> {
    /// The awaited thing has come in between.
    Found(T),
    /// Something else has: look again.
    Moved,
    /// It has slept. Whether the waker has published its core, and whether a signal handler has run.
    Slept { waker_is_known: bool, interrupted: bool },
}

impl Inside {
    /// Whether this task sleeps in poll(2).
    pub(crate) fn must_poll(&self) -> bool {
        self.has_sockets()
    }

    /// Looks for the daemon now and then.
    pub(crate) fn look_after(&mut self, slept: Duration) {
        if self.waits.must_look(slept) {
            self.attend();
            self.rest(Instant::now());
        }
    }

    /// Sleeps until something comes. `Some` when the wait is over, either way.
    pub(crate) fn sleep_until<T>(
        &mut self,
        notes: &Notes,
        until: &Until,
        deadline: Option<Instant>,
        done: &mut impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<Option<T>> {
        if !self.connections.unheard.is_empty() {
            self.look_after_sources();
            if let Some(found) = done(self) {
                return Some(Some(found));
            }
        }
        let began = Instant::now();
        let frame = std::ptr::from_ref(&began) as usize;
        let owns = self.owns;
        let number = self.waits.waiters.add(until.clone(), *notes, frame, owns);
        self.show_wait(notes, deadline);
        self.identity.control_block.door().set_own_cpu(rustix::thread::sched_getcpu() as u32);
        let mut slept = Duration::ZERO;
        let mut moved_last = began;
        let mut still_since = self.waits.still_since(began);
        // A waker by a socket or a barrier does not publish its core, and the control block still has an earlier waker.
        let mut waker_is_known = false;
        let over = loop {
            if self.engine.has_copies() {
                let may_help = !slept.is_zero() || self.waits.waiting <= 1;
                if self.make_copies(until, Some(number), may_help) {
                    moved_last = Instant::now();
                    still_since = moved_last;
                    if let Some(found) = done(self) {
                        break Some(Some(found));
                    }
                    continue;
                }
            }
            let is_idle = still_since.elapsed() >= IDLE && self.may_be_idle();
            let was_interrupted;
            (waker_is_known, was_interrupted) = match self.sleep_once(number, until, deadline, is_idle, done)
            {
                Nap::Found(found) => break Some(Some(found)),
                Nap::Moved if deadline.is_some_and(|end| Instant::now() >= end) => break Some(None),
                Nap::Moved => {
                    // Progress may continue for long, for example pieces that are copied for a peer.
                    if self.is_wanted() {
                        self.unlocked(Some(number), || ());
                    }
                    match self.has_left {
                        true => break Some(None),
                        false => continue,
                    }
                }
                Nap::Slept { waker_is_known, interrupted } => (waker_is_known, interrupted),
            };
            let before = std::mem::replace(&mut slept, began.elapsed());
            if self.has_left {
                break Some(None);
            }
            if self.look() {
                moved_last = Instant::now();
                still_since = moved_last;
            }
            if let Some(found) = done(self) {
                break Some(Some(found));
            }
            if moved_last.elapsed() >= HELD {
                self.break_circle(until, moved_last.elapsed());
            }
            self.look_after(slept - before);
            if self.is_over() || deadline.is_some_and(|end| Instant::now() >= end) {
                break Some(None);
            }
            if was_interrupted && notes.call & call::UNTIL_SIGNAL != 0 {
                break Some(None);
            }
        };
        if matches!(over, Some(None)) {
            self.waits.ends_still(still_since);
        }
        let others = self.waits.waiters.remove(number);
        match others {
            Some(notes) => self.show_wait(&notes, None),
            None => self.identity.control_block.wait_over(),
        }
        if !slept.is_zero() {
            self.note_sleep(Tid(notes.peer), slept, waker_is_known);
        }
        over
    }

    /// Shows tools what a thread of this task waits for.
    fn show_wait(&self, notes: &Notes, deadline: Option<Instant>) {
        let Notes { peer, tag, context, .. } = *notes;
        let call = notes.call & !call::UNTIL_SIGNAL;
        let since = monotonic_ns();
        let until = deadline.map_or(0, |end| {
            let left = end.saturating_duration_since(Instant::now());
            since.saturating_add(left.as_nanos() as u64)
        });
        self.identity.control_block.wait_for(WaitingFor { call, peer, tag, context, since, until });
    }

    fn note_sleep(&mut self, peer: Tid, slept: Duration, waker_is_known: bool) {
        let nanoseconds = slept.as_nanos() as u64;
        self.waits.time.asleep += nanoseconds;
        self.engine.ledger().add(Counter::Asleep, nanoseconds);
        self.engine.ledger().add(Counter::Sleeps, 1);
        if peer.is_task() {
            self.engine.waited_for(peer, nanoseconds);
        }
        let woken_from_own_core = waker_is_known && woken_from_own_core(&self.identity.control_block);
        self.patience().slept(slept, woken_from_own_core);
    }

    /// Sleeps once, if there is still nothing to do then.
    fn sleep_once<T>(
        &mut self,
        number: u64,
        until: &Until,
        deadline: Option<Instant>,
        is_idle: bool,
        done: &mut impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Nap<T> {
        let mut limit = sleep_limit(deadline, is_idle);
        if matches!(until, Until::Over(request) if self.engine.is_held_up(*request)) {
            limit = limit.min(HELD);
        }
        if self.engine.has_output() || self.engine.is_pulling() {
            // A reader that makes room rings, but may just have missed that we wait for it; who fills in data does not.
            limit = limit.min(NAP);
        }
        let drives = self.waits.waiters.drives(number);
        if !drives {
            // The driver does not look at what this thread meets in.
            let shared = self.awaits_in_segment.clone().map(|shared| (shared.fall_asleep(), shared));
            // The driver does not wake either for a message of this task to itself that this thread has just moved a
            // step.
            let moved = self.look();
            if let Some(found) = done(self) {
                return Nap::Found(found);
            }
            if moved {
                return Nap::Moved;
            }
            let Some(word) = self.waits.waiters.word(number) else { return Nap::Moved };
            word.set();
            let awake = self.without_lock(number, || match shared {
                Some((changes, shared)) => word.sleep_in(&shared, changes, limit),
                None => word.sleep(limit),
            });
            return Nap::Slept { waker_is_known: false, interrupted: awake == Woken::Interrupted };
        }
        let in_poll = self.has_sockets() || is_idle;
        if drives {
            self.waits.waiters.watches = self.connections.sources();
            self.waits.waiters.heeds_output = self.engine.has_output();
        }
        let changes = self.awaits_in_segment.as_ref().map(|shared| shared.fall_asleep());
        let rings = self.falls_asleep(in_poll);
        let moved = self.look();
        if let Some(found) = done(self) {
            self.stays_awake(number);
            return Nap::Found(found);
        }
        // Progress may have made more work, such as reading from a new link, and a sleeper on the futex does not notice
        // sockets.
        if moved || (!in_poll && self.has_sockets()) {
            self.stays_awake(number);
            return Nap::Moved;
        }
        let control_block = self.identity.control_block.clone();
        let awake = if in_poll {
            // No control block wakes who sleeps there.
            let limit = if self.awaits_in_segment.is_some() { limit.min(NAP) } else { limit };
            self.sleep_in_poll(number, limit)
        } else if let (Some(shared), Some(changes)) = (self.awaits_in_segment.clone(), changes) {
            self.without_lock(number, || shared.sleep(changes, &control_block, rings, limit))
        } else {
            self.without_lock(number, || control_block.sleep(rings, Some(limit)))
        };
        self.stays_awake(number);
        Nap::Slept { waker_is_known: control_block.was_rung(rings), interrupted: awake == Woken::Interrupted }
    }

    /// Whether all pending work will wake the sleeper, so that it need not check itself. Nothing rings when the daemon
    /// dies, but its socket ends, which is heard in poll(2).
    fn may_be_idle(&self) -> bool {
        let connections = &self.connections;
        self.awaits_in_segment.is_none()
            && !self.engine.has_leaving()
            && connections.unheard.is_empty()
            && connections.unmapped.is_empty()
    }

    /// Marks in the control block that a thread is about to sleep there, and prepares the links' sockets for poll(2). Returns the
    /// number of wakeups so far.
    pub(crate) fn falls_asleep(&mut self, in_poll: bool) -> u32 {
        if !in_poll {
            return self.identity.control_block.fall_asleep();
        }
        self.engine.doze();
        self.identity.control_block.fall_asleep_in_poll()
    }

    /// This thread no longer sleeps on the control block's wakeup word. Another thread that sleeps there must declare
    /// its sleep again.
    fn stays_awake(&mut self, number: u64) {
        self.identity.control_block.stay_awake();
        if self.waits.waiters.is_driven_by_other(number) {
            self.identity.control_block.rouse(&self.identity.event);
        }
    }

    /// Sleeps in poll(2) on the eventfd and all sockets.
    fn sleep_in_poll(&mut self, number: u64, limit: Duration) -> Woken {
        let limit = if self.connections.is_deaf() { limit.min(DEAF) } else { limit };
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        // The daemon's own socket has the id of this task, and carries messages for all peers. A socket with room must
        // not end the sleep if the data waits for another link.
        let flags = |one: &Watched| {
            let waits = self.engine.waits_for_room(one.peer, one.route);
            PollFlags::IN | PollFlags::RDHUP | if waits { PollFlags::OUT } else { PollFlags::empty() }
        };
        // SAFETY: another thread may close a socket while this one sleeps. The number then names nothing, or something else:
        // the sleep ends early or late, within its limit, and nothing is read or written by that number.
        let named = |fd: BorrowedFd<'_>| unsafe { BorrowedFd::borrow_raw(fd.as_raw_fd()) };
        let mut sources = vec![
            PollFd::from_borrowed_fd(named(self.identity.event.as_fd()), PollFlags::IN),
            PollFd::from_borrowed_fd(named(self.identity.session.fd()), PollFlags::IN),
        ];
        let sockets = self
            .connections
            .watched
            .iter()
            .map(|one| PollFd::from_borrowed_fd(named(one.socket.as_fd()), flags(one)));
        sources.extend(sockets);
        let watched = 2..sources.len();
        let silent = self.connections.silent.iter().map(|silent| named(silent.greeting.socket()));
        let listening = self.connections.listening().iter().map(|(_, socket)| named(socket.as_fd()));
        sources.extend(silent.chain(listening).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let stand_in = self.waits.waiters.stand_in.clone();
        let (slept, interrupted) = self.without_lock(number, || {
            let slept = poll(&mut sources, Some(&limit));
            (slept, stand_in.await_end(NAP))
        });
        let over = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        let has_ended = sources[watched].iter().any(|socket| socket.revents().intersects(over));
        let daemon_has_ended = sources[1].revents().intersects(over);
        let _ = rustix::io::read(&self.identity.event, &mut [0; 8]);
        if has_ended {
            self.forget_ended();
        }
        if daemon_has_ended {
            self.attend();
        }
        match slept {
            _ if interrupted => Woken::Interrupted,
            Err(Errno::INTR) => Woken::Interrupted,
            Ok(0) => Woken::TimedOut,
            _ => Woken::Rung,
        }
    }

    /// A connection that has ended is readable for ever. The daemon reports the end of the peer later, after seconds if
    /// its host was lost. Until then threads must not wait for this socket.
    fn forget_ended(&mut self) {
        self.progress();
        let Runtime { engine, connections, .. } = &mut **self;
        connections.watched.retain(|one| one.peer == engine.me() || engine.is_attached(one.peer, one.route));
    }
}
