//! Message ids: operations that go on after the call that started them.

#![allow(unsafe_code)]

use crate::account::{self, Call};
use crate::errors::{Nx, NxError};
use crate::exchange::{self, Info, Memory, Sending, finish_send, outcome, remember, wait_over};
use crate::interrupt;
use crate::task::{Task, ptype_in_use};
use crate::words;
use parvum_api::{Notes, Pattern, Request};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of ids of a process at the same time; `NX_IDS` of `nx.h`.
pub(crate) const LIMIT: usize = 1024;
/// An id is its place, and above it how often the place was used, so that an id that was given back names nothing.
const PLACE_BITS: u32 = 10;
const GENERATIONS: u32 = 1 << 20;

/// Post a receive so that a message that has come is claimed now and copied later.
const CLAIM: u32 = 4;

/// One operation behind an id.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// A send under way.
    Send(Sending),
    /// A receive, the bytes of its memory, and where its info array lies; null for none.
    Receive { request: Request, room: usize, info: InfoPlace },
}

/// The place where a program wants the properties of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InfoPlace {
    None,
    /// `long info[8]`.
    C(*mut libc::c_long),
    /// `integer info(8)`.
    Fortran(*mut i32),
}

// SAFETY: it only names memory, which the program keeps until the receive is over.
unsafe impl std::marker::Send for InfoPlace {}

impl InfoPlace {
    /// Writes type, count, node and ptype there.
    pub(crate) fn write(self, task: &Task, info: &Info) {
        let numbers = info.numbers(task);
        for (at, number) in numbers.into_iter().enumerate() {
            match self {
                InfoPlace::None => {}
                // SAFETY: the program gave an array of eight numbers, which it keeps until the receive is over.
                InfoPlace::C(place) => unsafe { place.add(at).write(number) },
                // SAFETY: as above.
                InfoPlace::Fortran(place) => unsafe { place.add(at).write(number as i32) },
            }
        }
    }
}

#[derive(Default)]
struct Slot {
    generation: u32,
    in_use: bool,
    /// The program will not wait for it: the place is free when the operation is complete.
    ignored: bool,
    operations: Vec<Operation>,
}

struct Ids {
    slots: Vec<Slot>,
    free: Vec<u32>,
    ignored: usize,
}

static IDS: Mutex<Ids> = Mutex::new(Ids { slots: Vec::new(), free: Vec::new(), ignored: 0 });
/// Receives that may have claimed a message.
static RECEIVES: AtomicUsize = AtomicUsize::new(0);

/// Whether an irecv may have claimed a message that is not copied yet.
#[inline]
pub(crate) fn may_have_claims() -> bool {
    // Relaxed: only the thread that posted them reads it.
    RECEIVES.load(Ordering::Relaxed) > 0
}

fn lock() -> MutexGuard<'static, Ids> {
    IDS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ids {
    /// A free place. Ignored operations that are complete have free places.
    fn place(&mut self, task: &Task) -> Nx<u32> {
        if self.free.is_empty() && self.slots.len() == LIMIT && self.ignored > 0 {
            self.sweep(task);
        }
        match self.free.pop() {
            Some(place) => Ok(place),
            None if self.slots.len() < LIMIT => {
                self.slots.push(Slot::default());
                Ok(self.slots.len() as u32 - 1)
            }
            None => Err(NxError::NoMid),
        }
    }

    fn sweep(&mut self, task: &Task) {
        for place in 0..self.slots.len() {
            if self.slots[place].ignored {
                let operations = std::mem::take(&mut self.slots[place].operations);
                let left: Vec<_> = operations.into_iter().filter(|one| !is_over(task, one)).collect();
                if left.is_empty() {
                    self.release(place as u32);
                } else {
                    self.slots[place].operations = left;
                }
            }
        }
    }

    fn release(&mut self, place: u32) {
        let slot = &mut self.slots[place as usize];
        self.ignored -= usize::from(slot.ignored);
        slot.generation = (slot.generation + 1) % GENERATIONS;
        (slot.in_use, slot.ignored) = (false, false);
        self.free.push(place);
    }

    /// The place of an id that a program may use.
    fn find(&self, mid: i64) -> Nx<u32> {
        let place = (mid & ((1 << PLACE_BITS) - 1)) as usize;
        let slot = self.slots.get(place).filter(|_| mid >= 0).ok_or(NxError::Mid)?;
        let is_it = slot.in_use && !slot.ignored && i64::from(slot.generation) == mid >> PLACE_BITS;
        if is_it { Ok(place as u32) } else { Err(NxError::Mid) }
    }

    fn name(&self, place: u32) -> i64 {
        i64::from(self.slots[place as usize].generation) << PLACE_BITS | i64::from(place)
    }
}

/// Whether an ignored operation is complete.
fn is_over(task: &Task, operation: &Operation) -> bool {
    let request = match operation {
        Operation::Send(sending) => sending.request,
        Operation::Receive { request, .. } => *request,
    };
    let notes = Notes { limit: 0, call: words::msgwait(), peer: -1, tag: -1, context: -1 };
    let over = task.api.wait(request, &notes).err() != Some(parvum_api::Status::Pending);
    if over && matches!(operation, Operation::Receive { .. }) {
        RECEIVES.fetch_sub(1, Ordering::Relaxed);
    }
    over
}

/// Takes an id, then starts the operation for it; without an id nothing is started.
pub(crate) fn begin(task: &Task, start: impl FnOnce(&mut Vec<Operation>) -> Nx<()>) -> Nx<i64> {
    let mut ids = lock();
    let place = ids.place(task)?;
    let mut operations = std::mem::take(&mut ids.slots[place as usize].operations);
    let started = start(&mut operations);
    let slot = &mut ids.slots[place as usize];
    slot.operations = operations;
    if let (Err(why), true) = (&started, slot.operations.is_empty()) {
        // The place was never named.
        ids.free.push(place);
        return Err(*why);
    }
    slot.in_use = true;
    if let Err(why) = started {
        // The operation continues, but the program can no longer wait for it.
        slot.ignored = true;
        ids.ignored += 1;
        return Err(why);
    }
    Ok(ids.name(place))
}

/// Posts a receive.
pub(crate) fn post(task: &'static Task, pattern: &Pattern, room: Memory, info: InfoPlace) -> Nx<Operation> {
    ptype_in_use()?;
    interrupt::serve_if_long(task, room.length());
    let flags = if task.copies_in_irecv { 0 } else { CLAIM };
    let request = exchange::post(task, pattern, room, flags);
    // Relaxed, here and where it falls: a number to look at. A lock protects the operations of the ids.
    RECEIVES.fetch_add(1, Ordering::Relaxed);
    Ok(Operation::Receive { request, room: room.length(), info })
}

/// Waits for everything behind an id, and frees it. Gives the message, when there was one.
pub(crate) fn wait(task: &Task, mid: i64) -> Nx<Option<Info>> {
    let operations = take(mid)?;
    let mut result = Ok(None);
    for operation in &operations {
        match finish(task, operation, words::msgwait()) {
            Ok(Some(info)) => result = result.map(|_| Some(info)),
            Ok(None) => {}
            Err(why) => result = Err(why),
        }
    }
    account::copied_in(task, Call::Msgwait);
    give_back(operations, mid);
    if let Ok(Some(info)) = &result {
        remember(info);
    }
    result
}

/// Whether everything behind an id is over; then it is freed. Gives the message, when there was one.
pub(crate) fn done(task: &Task, mid: i64) -> Nx<bool> {
    let notes = Notes { limit: 0, call: words::msgwait(), peer: -1, tag: -1, context: -1 };
    let operations = {
        let ids = lock();
        let place = ids.find(mid)?;
        ids.slots[place as usize].operations.clone()
    };
    let requests = operations.iter().map(|operation| match operation {
        Operation::Send(sending) => sending.request,
        Operation::Receive { request, .. } => *request,
    });
    let mut over = true;
    for request in requests {
        task.api.fetch_claims(Some(request));
        over &= task.api.wait_any(&[request], u64::MAX, &notes) == 0;
    }
    account::copied_in(task, Call::Msgdone);
    if over { wait(task, mid).map(|_| true) } else { Ok(false) }
}

/// Completes an operation.
fn finish(task: &Task, operation: &Operation, call: u32) -> Nx<Option<Info>> {
    match *operation {
        Operation::Send(sending) => finish_send(task, sending, call).map(|()| None),
        Operation::Receive { request, room, info } => {
            RECEIVES.fetch_sub(1, Ordering::Relaxed);
            task.api.fetch_claims(Some(request));
            let notes = Notes { limit: -1, call, peer: -1, tag: -1, context: -1 };
            wait_over(task, request, None, &notes)?;
            let message = outcome(task, request, room)?;
            account::received(message.length);
            let told = Info::from(&message);
            info.write(task, &told);
            Ok(Some(told))
        }
    }
}

/// Takes what an id stands for. The id is in use until it is returned.
fn take(mid: i64) -> Nx<Vec<Operation>> {
    let mut ids = lock();
    let place = ids.find(mid)?;
    let slot = &mut ids.slots[place as usize];
    slot.in_use = false;
    Ok(std::mem::take(&mut slot.operations))
}

/// Frees an id, and keeps the list's memory for the next.
fn give_back(mut operations: Vec<Operation>, mid: i64) {
    operations.clear();
    let mut ids = lock();
    let place = (mid & ((1 << PLACE_BITS) - 1)) as u32;
    ids.slots[place as usize].operations = operations;
    ids.release(place);
}

/// Gives an id up: what it names goes on, and the id is free when it is over.
pub(crate) fn ignore(task: &Task, mid: i64) -> Nx<()> {
    let mut ids = lock();
    let place = ids.find(mid)?;
    ids.slots[place as usize].ignored = true;
    ids.ignored += 1;
    ids.sweep(task);
    drop(ids);
    account::copied_in(task, Call::Other);
    Ok(())
}

/// Withdraws what an id names, and frees it.
pub(crate) fn cancel(task: &Task, mid: i64) -> Nx<()> {
    let operations = take(mid)?;
    for operation in &operations {
        if let Operation::Receive { request, .. } = operation
            && task.api.cancel(*request)
        {
            RECEIVES.fetch_sub(1, Ordering::Relaxed);
            let notes = Notes { limit: 0, call: words::msgcancel(), peer: -1, tag: -1, context: -1 };
            let _ = task.api.wait(*request, &notes);
        } else {
            // A send, or a receive whose data is coming: its memory is not free before. The program ignores the
            // outcome.
            let _ = finish(task, operation, words::msgcancel());
        }
    }
    account::copied_in(task, Call::Other);
    give_back(operations, mid);
    Ok(())
}

/// Makes one id of two.
pub(crate) fn merge(first: i64, second: i64) -> Nx<i64> {
    let mut ids = lock();
    if first == -1 || second == -1 {
        let other = if first == -1 { second } else { first };
        if other != -1 {
            ids.find(other)?;
        }
        return Ok(other);
    }
    let (one, two) = (ids.find(first)?, ids.find(second)?);
    if one == two {
        return Err(NxError::Mid);
    }
    let mut moved = std::mem::take(&mut ids.slots[two as usize].operations);
    ids.slots[one as usize].operations.append(&mut moved);
    ids.slots[two as usize].operations = moved;
    ids.release(two);
    let slot = &mut ids.slots[one as usize];
    slot.generation = (slot.generation + 1) % GENERATIONS;
    Ok(ids.name(one))
}
