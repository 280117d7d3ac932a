//! This process as a task that has containers and representatives of others'.
//!
//! Tasks exchange few notes. The first message to a container comes with a greeting, so that its task can notify the
//! sender when the container ends ([`HELLO`], [`ENDED`]). Notes are among the unexpected messages until a call reads
//! them. A call looks for notes when another task has notified this one ([`Sight::take_notices`]). Tasks without shared
//! memory cannot notify. For them a call looks when an unexpected message has come ([`look_after`]).

use super::{CALL_SHIFT, CONTEXT, CONTROL, FAILED, REPLIES, call_of, memory};
use crate::errors::Error;
use parvum_api::{ANY_TASK, CoreApi, Message, Notes, Pattern, Receiving, SendTo, Status, TagKind, call};
use parvum_api::{Buffering, Completion};
use parvum_sync::{BiasedGuard, BiasedLock, fork};
use parvum_wire::encoding;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// I send to your container of that number.
pub(super) const HELLO: i32 = 1;
/// My container of that number is gone.
const ENDED: i32 = 2;

static STATION: BiasedLock<Option<Station>> = BiasedLock::new(None);
/// The number of unexpected messages at the last look for notes.
static SEEN: AtomicU64 = AtomicU64::new(0);
/// The number of notices at the last look.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// What a process has.
pub(super) struct Station {
    generation: u32,
    pub(super) api: CoreApi,
    pub(super) me: i32,
    last: i32,
    last_call: u32,
    /// The containers by number, with the senders of each.
    live: HashMap<i32, Vec<i32>>,
    /// The containers to which representatives send: task and number.
    links: HashMap<(i32, i32), Vec<Weak<Link>>>,
    /// Cancelled calls: their answers, if they come, are dropped.
    abandoned: Vec<u32>,
    /// A container has ended, so messages without a receiver may come.
    has_ended: bool,
}

/// The state of a representative's container, as far as this process knows.
#[derive(Default)]
pub(super) struct Link {
    gone: AtomicBool,
}

impl Link {
    #[inline]
    pub(super) fn is_gone(&self) -> bool {
        // Relaxed: the flag carries no other data.
        self.gone.load(Ordering::Relaxed)
    }
}

/// This process, joined to its machine.
pub(super) fn station() -> Result<BiasedGuard<'static, Option<Station>>, Error> {
    let mut guard = STATION.take();
    if guard.as_ref().is_none_or(|station| station.generation != fork::generation()) {
        *guard = Some(join()?);
    }
    Ok(guard)
}

/// Runs `work` with the station.
pub(super) fn with<R>(work: impl FnOnce(&mut Station) -> Result<R, Error>) -> Result<R, Error> {
    let mut guard = station()?;
    match &mut *guard {
        Some(station) => work(station),
        None => Err(Error::NoMachine("E-NOTENROLLED: not joined".into())),
    }
}

fn join() -> Result<Station, Error> {
    let api = CoreApi::open().map_err(|why| Error::NoMachine(why.to_string()))?;
    fork::watch();
    super::words::publish(api);
    let me = api.enrol("containers").map_err(|_| Error::NoMachine(api.last_error()))?.tid;
    let generation = fork::generation();
    SEEN.store(api.arrivals(), Ordering::Relaxed);
    TAKEN.store(0, Ordering::Relaxed);
    let (live, links) = (HashMap::new(), HashMap::new());
    Ok(Station {
        generation,
        api,
        me,
        last: 0,
        last_call: 0,
        live,
        links,
        abandoned: Vec::new(),
        has_ended: false,
    })
}

/// The engine's id of this task.
pub(crate) fn me() -> Result<i32, Error> {
    with(|station| Ok(station.me))
}

/// Why the machine refused something, in its own words.
pub(crate) fn reason() -> String {
    with(|station| Ok(station.api.last_error())).unwrap_or_else(|why| why.to_string())
}

/// An index of the task's counters: unexpected messages that wait now. A note is one until it is taken.
const WAITING: usize = 20;
/// An index of the task's counters: the number of notifications from other tasks.
const NOTICES: usize = 30;

/// The published counters of this process. Reading one costs one load.
#[derive(Clone, Copy)]
pub(super) struct Sight(Option<&'static [AtomicU64; 32]>);

impl Sight {
    pub(super) fn new(api: CoreApi) -> Sight {
        Sight(api.cells())
    }

    /// Whether an unexpected message waits. It may be a note of a task that cannot notify this one.
    pub(super) fn has_unasked(&self) -> bool {
        // Relaxed: written by this task's own engine.
        self.0.is_none_or(|cells| cells[WAITING].load(Ordering::Relaxed) != 0)
    }

    /// Takes the notes of tasks that share memory with this one: those notify it.
    #[inline]
    pub(super) fn take_notices(&self) {
        // Acquire: partner of the release in `ControlBlock::notify`, so that the note is found.
        let notices = self.0.map_or(0, |cells| cells[NOTICES].load(Ordering::Acquire));
        // Relaxed: a thread that does not see the newest value looks once too often.
        if notices != TAKEN.load(Ordering::Relaxed) {
            TAKEN.store(notices, Ordering::Relaxed);
            attend();
        }
    }
}

/// Looks for notes of other tasks, from any task, if an unexpected message has come.
#[cold]
pub(super) fn look_after(api: CoreApi) {
    let arrivals = api.arrivals();
    // Relaxed: as in `heed`.
    if arrivals != SEEN.load(Ordering::Relaxed) {
        SEEN.store(arrivals, Ordering::Relaxed);
        attend();
    }
}

#[cold]
fn attend() {
    let _ = with(|station| {
        station.attend();
        Ok(())
    });
}

/// A look that does not wait.
const LOOK: Notes = Notes { limit: 0, call: call::RECEIVE, peer: ANY_TASK, tag: -1, context: CONTROL as i32 };

const fn any_of(context: u32) -> Pattern {
    Pattern { from: ANY_TASK, tags: TagKind::Any, tag: 0, other: 0, context: context as i64 }
}

impl Station {
    /// A number for a new container.
    pub(super) fn open(&mut self) -> Result<i32, Error> {
        self.last =
            self.last.checked_add(1).ok_or(Error::Unable("a process makes 2147483647 containers at most"))?;
        self.live.insert(self.last, Vec::new());
        Ok(self.last)
    }

    /// Closes the container: senders are notified, and the messages in it are lost.
    pub(super) fn close(&mut self, number: i32) {
        for holder in self.live.remove(&number).unwrap_or_default() {
            self.send_notice(holder, ENDED, number);
        }
        self.has_ended = true;
        self.drop_orphans();
    }

    /// Begins to send to a container: asks its task to report its end.
    pub(super) fn greet(&mut self, task: i32, number: i32) -> Arc<Link> {
        let link = Arc::new(Link::default());
        let links = self.links.entry((task, number)).or_default();
        links.retain(|link| link.strong_count() > 0);
        links.push(Arc::downgrade(&link));
        if task == self.me {
            // No greeting: this very process ends it.
            let is_there = self.live.contains_key(&number);
            link.gone.store(!is_there, Ordering::Relaxed);
            if is_there && let Some(holders) = self.live.get_mut(&number) {
                holders.retain(|holder| *holder != task);
                holders.push(task);
            }
        } else {
            self.send_notice(task, HELLO, number);
        }
        link
    }

    /// The link has no more senders.
    pub(super) fn forget_link(&mut self, task: i32, number: i32) {
        if let Some(links) = self.links.get_mut(&(task, number)) {
            links.retain(|link| link.strong_count() > 0);
            if links.is_empty() {
                self.links.remove(&(task, number));
            }
        }
    }

    /// As many call numbers in a row; gives the first.
    pub(super) fn number_calls(&mut self, count: u32) -> u32 {
        if self.last_call + count >= super::CALL_NUMBERS {
            self.last_call = 0;
        }
        let first = self.last_call + 1;
        self.last_call += count;
        if !self.abandoned.is_empty() {
            self.abandoned.retain(|number| !(first..first + count).contains(number));
        }
        first
    }

    /// From now on the answer of this call is dropped.
    pub(super) fn abandon(&mut self, number: u32) {
        // Servers that answered in time left no entry, so the list stays short.
        if self.abandoned.len() >= 4096 {
            self.abandoned.remove(0);
        }
        self.abandoned.push(number);
    }

    fn send_notice(&mut self, task: i32, what: i32, number: i32) {
        if task == self.me {
            return self.handle_notice(task, what, number);
        }
        let how = SendTo {
            to: task,
            tag: what,
            context: CONTROL,
            meta: encoding::RAW,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        let notes = Notes { limit: -1, call: call::SEND, peer: task, tag: what, context: CONTROL as i32 };
        // A task that is gone needs no note.
        let _ = self.api.send(how, &[&number.to_le_bytes()], &notes);
        self.api.notify(task);
    }

    /// Reads the notes that have come, and drops messages without a receiver.
    fn attend(&mut self) {
        let pattern = any_of(CONTROL);
        while let Ok(note) = self.api.receive(&pattern, Receiving::Block, &LOOK) {
            let bytes = memory::bytes_of(&note);
            if let Some(number) = bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes)) {
                self.handle_notice(note.from, note.tag, number);
            }
            self.api.give_back(&note);
        }
        // A message that was sent before its sender read the note arrives after the note.
        if self.has_ended {
            self.drop_orphans();
        }
        if !self.abandoned.is_empty() {
            self.drop_late_answers();
        }
    }

    fn handle_notice(&mut self, from: i32, what: i32, number: i32) {
        match what {
            HELLO => match self.live.get_mut(&number) {
                Some(holders) if holders.contains(&from) => {}
                Some(holders) => holders.push(from),
                None => self.send_notice(from, ENDED, number),
            },
            ENDED => {
                for link in self.links.get(&(from, number)).into_iter().flatten() {
                    if let Some(link) = link.upgrade() {
                        link.gone.store(true, Ordering::Relaxed);
                    }
                }
            }
            _ => {}
        }
    }

    /// Messages whose container is gone. Answers calls with an error.
    fn drop_orphans(&mut self) {
        let live = &self.live;
        let orphans = self.api.unexpected(|m| m.context == CONTEXT && !live.contains_key(&m.tag));
        for found in orphans {
            if let Ok(message) = self.api.take(&found, Receiving::Block, &LOOK) {
                self.api.give_back(&message);
                if let Some(number) = call_of(message.meta) {
                    let _ = answer(self.api, message.from, number, &[], FAILED);
                }
            }
        }
    }

    fn drop_late_answers(&mut self) {
        let abandoned = &self.abandoned;
        let late = self.api.unexpected(|m| m.context == REPLIES && abandoned.contains(&(m.tag as u32)));
        for found in late {
            if let Ok(message) = self.api.take(&found, Receiving::Block, &LOOK) {
                self.api.give_back(&message);
                self.abandoned.retain(|number| *number != message.tag as u32);
            }
        }
    }
}

/// Answers a call.
#[inline]
pub(super) fn answer(api: CoreApi, to: i32, number: u32, data: &[u8], mark: u32) -> Result<(), Status> {
    let (tag, meta) = (number as i32, encoding::RAW | mark);
    let how = SendTo {
        to,
        tag,
        context: REPLIES,
        meta,
        buffering: Buffering::AtSender,
        completion: Completion::Copied,
    };
    let notes = Notes { limit: -1, call: call::SEND, peer: to, tag, context: REPLIES as i32 };
    api.send_one(how, data, &notes)
}

/// The `meta` of a call.
pub(super) fn meta_of_call(number: u32) -> u32 {
    encoding::RAW | super::CALL | number << CALL_SHIFT
}

/// Whether an answer reports a failure.
pub(super) fn is_failure(answer: &Message) -> bool {
    answer.meta & FAILED != 0
}
