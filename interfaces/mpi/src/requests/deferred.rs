//! Short receives that were begun and not posted: the call that waits for them takes their messages one after the other, straight
//! from their links, and pays neither for posting nor for an operation of each.
//!
//! Nobody can tell the difference. Every other call [posts](post_all) them first, in their order ([`process`](crate::process::this::process)
//! does), and so does a wait whose next message does not come soon: whoever waits for one of the later receives is answered. Nothing
//! is deferred where several threads may call at a time, where the program waits by another interface of ours too, or where somebody has
//! to be heard of meanwhile.

use crate::comms::handles::InUse;
use crate::errors::{Error, Mpi};
use crate::messages::buffers::Data;
use crate::messages::send;
use crate::messages::status::Status;
use crate::objects::numbers::{Kind, REQUEST_NULL};
use crate::process::introspect;
use crate::process::machine::notes;
use crate::process::this::{self, Process};
use crate::requests::operations::{DONE, Operation};
use crate::requests::outcome::{Outcome, outcome_of_bytes};
use crate::requests::progress;
use parvum_api::{Came, Message, Pattern, SendTo, Wanted, call};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Longer messages gain nothing by it.
const SHORT: usize = 4 << 10;
/// So many at a time; with more all are posted.
const MOST: usize = 1024;

/// Receives that were begun one after the other.
#[derive(Default)]
pub(crate) struct Batch {
    /// The number of the first.
    first: u32,
    wanted: Vec<Wanted>,
    /// Of each: whom it is from, and its communicator.
    about: Vec<(i32, InUse)>,
    came: Vec<Came>,
    /// The number of first receives that have their messages already: this rank has sent them to itself.
    done: usize,
    /// Those that had to be posted after all, which are the last, and how they ended.
    posted: Vec<Outcome>,
}

/// What is deferred now, and the memory of an earlier batch.
struct Deferred {
    now: Option<Batch>,
    spare: Option<Batch>,
    /// The number of the next.
    next: u32,
}

static DEFERRED: Mutex<Deferred> = Mutex::new(Deferred { now: None, spare: None, next: 0 });

/// Those that have been posted, by their handles.
static POSTED: Mutex<BTreeMap<i32, Arc<Operation>>> = Mutex::new(BTreeMap::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The handle of the receive with that number. Numbers come again after millions.
fn handle(number: u32) -> i32 {
    2 << 30 | (Kind::Deferred as i32) << 26 | (number & 0x3ff_ffff) as i32
}

fn is_ours(handle: i32) -> bool {
    handle as u32 >> 26 == 2 << 4 | Kind::Deferred as u32
}

/// Begins a receive without posting it, if that may be; its handle.
#[inline]
pub(crate) fn defer(comm: InUse, pattern: &Pattern, data: &Data, source: i32) -> Result<i32, InUse> {
    let may_be = progress::is_quiet() && !comm.is_tolerant() && this::may_defer();
    let Some((start, length)) = data.run().filter(|&(_, length)| may_be && length <= SHORT) else {
        return Err(comm);
    };
    let mut deferred = lock(&DEFERRED);
    let Deferred { now, spare, next } = &mut *deferred;
    let number = *next;
    let batch = match now {
        Some(batch) if batch.wanted.len() == MOST => return Err(comm),
        Some(batch) => batch,
        None => {
            let batch = now.insert(spare.take().unwrap_or_default());
            batch.first = number;
            this::defers(true);
            batch
        }
    };
    batch.wanted.push(Wanted { pattern: *pattern, start, length });
    batch.about.push((source, comm));
    *next = number.wrapping_add(1);
    Ok(handle(number))
}

/// Posts all that is deferred, in its order.
#[cold]
pub(crate) fn post_all(process: &Process) {
    // First this lock: who does not find a handle among the deferred looks for it here, and is to find it.
    let mut posted = lock(&POSTED);
    let Some(batch) = take_now(&mut lock(&DEFERRED)) else { return };
    let done =
        (0..batch.done).map(|place| Operation::over(batch.outcome(place), batch.about[place].1.handle()));
    for (place, operation) in done.chain(batch.post_from(process, batch.done)).enumerate() {
        posted.insert(handle(batch.first.wrapping_add(place as u32)), Arc::new(operation));
    }
}

/// Hands a message of this rank to itself to the first deferred receive that has none, with one copy. False: the receive wants
/// another message, or an earlier message comes first. Nothing has happened then.
pub(crate) fn pass(process: &Process, how: SendTo, data: &[u8]) -> bool {
    let mut deferred = lock(&DEFERRED);
    let Some(batch) = &mut deferred.now else { return false };
    let Some(Wanted { pattern, start, length }) = batch.wanted.get(batch.done).copied() else { return false };
    let is_apart = {
        let (from, into) = (data.as_ptr() as usize, start as usize);
        from + data.len() <= into || into + length <= from
    };
    if !is_apart {
        return false;
    }
    let room = match length {
        0 => &mut [][..],
        // SAFETY: the program has lent the memory until the receive is over, and the memory is apart from the data.
        length => unsafe { std::slice::from_raw_parts_mut(start, length) },
    };
    let see = |message: &Message| Came { length: message.length, tag: message.tag, meta: message.meta };
    let Some(came) = process.api.pass_to_self(how, data, &pattern, room, see) else { return false };
    batch.came.resize(batch.wanted.len(), Came::default());
    batch.came[batch.done] = came;
    batch.done += 1;
    true
}

fn take_now(deferred: &mut Deferred) -> Option<Batch> {
    this::defers(false);
    deferred.now.take()
}

/// The operation of a receive that has been posted.
pub(crate) fn named(handle: i32) -> Option<Arc<Operation>> {
    if is_ours(handle) { lock(&POSTED).get(&handle).cloned() } else { None }
}

/// Forgets a handle. Whether it was one of these.
pub(crate) fn forget(handle: i32) -> bool {
    is_ours(handle) && lock(&POSTED).remove(&handle).is_some()
}

/// All that is deferred, if these handles name just that, in its order, and besides it only what is over.
#[inline]
pub(crate) fn take(handles: &[i32]) -> Option<Batch> {
    let is_over = |&&handle: &&i32| handle == DONE || handle == REQUEST_NULL;
    let mut deferred = lock(&DEFERRED);
    let Some(batch) = &deferred.now else {
        return handles.iter().all(|handle| is_over(&handle)).then(Batch::default);
    };
    let mut own = (0..batch.wanted.len()).map(|place| batch.handle(place));
    let names_them =
        handles.iter().filter(|handle| !is_over(handle)).all(|&handle| own.next() == Some(handle));
    if names_them && own.next().is_none() { take_now(&mut deferred) } else { None }
}

impl Batch {
    fn handle(&self, place: usize) -> i32 {
        handle(self.first.wrapping_add(place as u32))
    }

    /// Whether a handle names the receive at that place.
    #[inline]
    pub(crate) fn names(&self, handle: i32, place: usize) -> bool {
        place < self.wanted.len() && self.handle(place) == handle
    }

    fn post_from<'b>(&'b self, process: &'b Process, first: usize) -> impl Iterator<Item = Operation> + 'b {
        let later = self.wanted[first..].iter().zip(&self.about[first..]);
        later.map(|(Wanted { pattern, start, length }, (source, comm))| {
            send::post(process, comm, &Data::memory(*start, *length), pattern, *source)
        })
    }

    /// Waits for all of them.
    pub(crate) fn wait(&mut self, process: &Process) -> Mpi {
        let next = self.wanted.get(self.done).zip(self.about.get(self.done));
        let Some((first, (_, comm))) = next else { return Ok(()) };
        let told =
            notes(introspect::now(call::RECEIVE), first.pattern.from, first.pattern.tag, comm.context());
        self.came.resize(self.wanted.len(), Came::default());
        // SAFETY: the program has lent the memory of each receive until it is over.
        let came = unsafe {
            process.api.receive_each(&self.wanted[self.done..], &told, &mut self.came[self.done..])
        };
        let rest: Vec<_> = self.post_from(process, self.done + came).map(Arc::new).collect();
        for operation in &rest {
            self.posted.push(progress::wait_for_message(process, operation)?);
        }
        Ok(())
    }

    /// How the receive at that place ended.
    #[inline]
    pub(crate) fn ended(&mut self, place: usize) -> (Status, Option<Error>) {
        let posted = self.wanted.len() - self.posted.len();
        let outcome = match place.checked_sub(posted) {
            None => self.outcome(place),
            Some(place) => std::mem::replace(&mut self.posted[place], Outcome::EMPTY),
        };
        let on = |error: Error| error.of_comm(self.about[place].1.handle());
        (outcome.status, outcome.error.map(on))
    }

    /// The outcome of a receive whose message has come.
    fn outcome(&self, place: usize) -> Outcome {
        let Came { length, tag, meta } = self.came[place];
        outcome_of_bytes(meta as i32, tag, length, self.wanted[place].length)
    }

    /// It is over: its memory serves another.
    pub(crate) fn give_back(mut self) {
        self.done = 0;
        self.wanted.clear();
        self.about.clear();
        self.posted.clear();
        lock(&DEFERRED).spare.get_or_insert(self);
    }
}
