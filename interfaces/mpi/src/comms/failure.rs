//! Deaths: what a communicator knows of them, and what the survivors agree on (ULFM; Bland and others, 2013).

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::process::this::{Process, machine_notes, process};
use crate::requests::operations::{LOOK, Operation, Outcome};
use crate::requests::progress;
use parvum_api::{ANY_TASK, Notes, Pattern, Request as Awaited, SendTo, TagKind};
use parvum_api::{Buffering, Completion};
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request, TaskState};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Who waits for anyone asks after deaths so often: the machine tells nobody unasked.
pub(crate) const ASKING: Duration = Duration::from_millis(250);

/// Waits for a receive that anyone may satisfy. When somebody dies whose death the program has not acknowledged, it is given up, or
/// goes on and that is told, where the program has a request of it.
pub(crate) fn wait_for_anyone(
    process: &Process,
    comm: &Arc<Comm>,
    operation: &Arc<Operation>,
    has_request: bool,
) -> Mpi<Outcome> {
    loop {
        if let Some(outcome) = operation.poll(process) {
            return Ok(outcome);
        }
        progress::move_all(process);
        let mut requests = Vec::new();
        operation.awaited(&mut requests);
        progress::awaited_by_all(&mut requests);
        let notes = Notes { limit: ASKING.as_nanos() as i64, ..*operation.notes() };
        if process.api.wait_any(&requests, u64::MAX, &notes) != -1 {
            continue;
        }
        if process.api.progress().lost {
            return Err(process.failed(parvum_api::Status::NoMachine, None));
        }
        if let Err(error) = refuse_unknown_deaths(process, comm) {
            if has_request && error.code == class::PROC_FAILED {
                return Ok(Outcome::failed(may_be_lost(&error)));
            }
            if operation.cancel(process) {
                return Err(error);
            }
        }
    }
}

fn may_be_lost(error: &Error) -> Error {
    Error::new(class::PROC_FAILED_PENDING, format!("{}; the request goes on", error.text))
}

/// Whether a wait for the operation is to hear of deaths.
pub(crate) fn concerns(operation: &Operation) -> bool {
    operation.awaits_anyone().is_some_and(|comm| comm.is_tolerant())
}

/// When the machine was asked last who is there, and who was.
static ASKED: Mutex<Option<(Instant, Vec<i32>)>> = Mutex::new(None);

/// What is told of a receive of the program's that anyone may satisfy, when somebody has died who may be the one: it goes on. The
/// machine is not asked each time.
pub(crate) fn tell_of_deaths(process: &Process, operation: &Operation) -> Option<Outcome> {
    let comm = operation.awaits_anyone().filter(|comm| comm.is_tolerant())?;
    let known = comm.acknowledged();
    let tasks = comm.peers().tasks();
    let all_there = |there: &[i32]| {
        tasks.iter().enumerate().all(|(rank, task)| there.contains(task) || known.contains(&rank))
    };
    let lately = |at: &Instant| at.elapsed() < ASKING;
    let asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if asked.is_some_and(|(at, there)| lately(&at) && all_there(&there)) {
        return None;
    }
    // What was told before says nothing of processes that have come since.
    let error = refuse_unknown_deaths(process, &comm).err();
    if error.is_none() {
        *ASKED.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), tasks.to_vec()));
    }
    let error = error.filter(|error| error.code == class::PROC_FAILED)?;
    Some(Outcome::failed(may_be_lost(&error)))
}

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
    COUNT.store(revoked.contexts.len(), Ordering::Release);
}

fn revoked(context: u32) {
    change(|revoked, now| revoked.hear(context, now));
}

/// A communicator is gone from this process. Who listens for no news has nothing to forget.
pub(crate) fn forget(context: u32) {
    if news().is_some() || COUNT.load(Ordering::Acquire) > 0 {
        change(|revoked, now| revoked.leave(context, now));
    }
}

/// From now on waits listen for such news.
pub(crate) fn listen() {
    let Ok(process) = process() else { return };
    if !process.is_joined() {
        // Nobody could revoke anything yet.
        WANTED.store(true, Ordering::Relaxed);
    } else if NEWS.load(Ordering::Acquire) == 0 {
        let request = process.api.post(&pattern(), 0);
        if NEWS.compare_exchange(0, request.0, Ordering::AcqRel, Ordering::Acquire).is_err() {
            process.api.cancel(request);
        }
    }
}

/// A communicator's program goes on after deaths, and its process was in no machine.
static WANTED: AtomicBool = AtomicBool::new(false);

/// The process has joined a machine.
pub(crate) fn listen_if_wanted() {
    if WANTED.load(Ordering::Relaxed) {
        listen();
    }
}

/// What a wait of a program that goes on after a death is woken by as well.
pub(crate) fn news() -> Option<Awaited> {
    Some(NEWS.load(Ordering::Acquire)).filter(|&request| request != 0).map(Awaited)
}

/// Takes in the news that have come.
pub(crate) fn hear(process: &Process) {
    while let Some(request) = news() {
        let Ok(message) = process.api.wait(request, &LOOK) else { return };
        process.api.give_back(&message);
        revoked(u32::from_ne_bytes(message.tag.to_ne_bytes()));
        let next = process.api.post(&pattern(), 0);
        NEWS.store(next.0, Ordering::Release);
    }
}

/// Revokes a communicator: everybody's calls on it fail from now on, those under way too.
pub(crate) fn revoke(process: &Process, comm: &Comm) -> Mpi {
    revoked(comm.context());
    let remote = comm.remote().map(|remote| remote.group.tasks().clone());
    let others = comm.group().tasks().iter().chain(remote.iter().flat_map(|tasks| tasks.iter()));
    for &task in others.filter(|&&task| task != process.me()) {
        let tag = i32::from_ne_bytes(comm.context().to_ne_bytes());
        let how = SendTo {
            to: task,
            tag,
            context: REVOKE_CONTEXT,
            meta: 0,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        // The dead need not be told.
        let _ = process.api.send_one(how, &[], &machine_notes());
    }
    Ok(())
}

/// Fails when a peer has died whose death the program has not acknowledged.
pub(crate) fn refuse_unknown_deaths(process: &Process, comm: &Comm) -> Mpi {
    if comm.is_revoked() {
        return Err(Error::new(class::REVOKED, "the communicator was revoked"));
    }
    let known = comm.acknowledged();
    let unknown = dead(process, comm.peers().tasks())?.into_iter().find(|rank| !known.contains(rank));
    match unknown {
        None => Ok(()),
        Some(rank) => {
            let text = format!("rank {rank} is gone, and may be whom the message was to come from");
            Err(Error::new(class::PROC_FAILED, text))
        }
    }
}

/// The ranks among these tasks that are no more.
pub(crate) fn dead(process: &Process, tasks: &[i32]) -> Mpi<Vec<usize>> {
    let asked = Request::Tasks { of: None, deep: false };
    let answer = process.ask(&asked).map_err(|status| process.failed(status, None))?;
    let Ok(Reply::Tasks(rows)) = answer else {
        return Err(Error::new(class::OTHER, "the machine does not say which tasks there are"));
    };
    let is_there =
        |task: i32| rows.iter().any(|row| row.tid == Tid(task) && row.state != TaskState::Departed);
    Ok(tasks.iter().enumerate().filter(|&(_, &task)| !is_there(task)).map(|(rank, _)| rank).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_that_comes_round_is_not_revoked_because_the_last_one_was() {
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
