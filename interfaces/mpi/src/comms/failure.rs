//! Deaths: what a communicator knows of them (ULFM; Bland and others, 2013).

use crate::comms::comm::Comm;
use crate::comms::revocation;
use crate::errors::{Error, Mpi, class};
use crate::process::this::Process;
use crate::requests::operations::Operation;
use crate::requests::outcome::Outcome;
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request, TaskState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Who waits for anyone asks after deaths so often: the machine tells nobody unasked.
pub(crate) const ASKING: Duration = Duration::from_millis(250);

/// What is told of a receive that goes on, though its sender may have died.
pub(crate) fn may_be_lost(error: &Error) -> Error {
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

/// Revokes a communicator, of both sides.
pub(crate) fn revoke(process: &Process, comm: &Comm) -> Mpi {
    let remote = comm.remote().map(|remote| remote.group.tasks().clone());
    let all = comm.group().tasks().iter().chain(remote.iter().flat_map(|tasks| tasks.iter()));
    let me = process.me();
    revocation::revoke(process, comm.context(), all.copied().filter(|&task| task != me));
    Ok(())
}

/// Fails when a peer has died whose death the program has not acknowledged.
pub(crate) fn refuse_unknown_deaths(process: &Process, comm: &Comm) -> Mpi {
    if comm.is_revoked() {
        return Err(revocation::revoked());
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
