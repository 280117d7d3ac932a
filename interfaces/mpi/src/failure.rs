//! Deaths: what a communicator knows of them, and what the survivors agree on (ULFM; Bland and others, 2013).

use crate::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::operations::{Operation, Outcome};
use crate::process::{Process, machine_notes};
use crate::progress;
use parvum_waist::Notes;
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request, TaskState};
use std::sync::Arc;

/// Who waits for anyone asks after deaths so often, nanoseconds: the machine tells nobody unasked.
const ASKING: i64 = 250_000_000;

/// Waits for a receive that anyone may satisfy. When somebody dies whose death the program has not acknowledged, it is given up.
pub(crate) fn wait_for_anyone(
    process: &Process,
    comm: &Arc<Comm>,
    operation: &Arc<Operation>,
) -> Mpi<Outcome> {
    loop {
        if let Some(outcome) = operation.poll(process) {
            return Ok(outcome);
        }
        progress::move_all(process);
        let mut requests = Vec::new();
        operation.awaited(&mut requests);
        progress::awaited_by_all(&mut requests);
        let notes = Notes { limit: ASKING, ..*operation.notes() };
        if process.waist.wait_any(&requests, u64::MAX, &notes) != -1 {
            continue;
        }
        if process.waist.progress().lost {
            return Err(process.failed(parvum_waist::Status::NoMachine, None));
        }
        if let Err(error) = refuse_unknown_deaths(process, comm)
            && operation.cancel(process)
        {
            return Err(error);
        }
    }
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
            let text = format!("rank {rank} has died, and may be whom the message was to come from");
            Err(Error::new(class::PROC_FAILED, text))
        }
    }
}

/// The ranks among these tasks that are no more.
pub(crate) fn dead(process: &Process, tasks: &[i32]) -> Mpi<Vec<usize>> {
    let asked = Request::Tasks { of: None, deep: false };
    let answer =
        process.waist.ask(&asked, &machine_notes()).map_err(|status| process.failed(status, None))?;
    let Ok(Reply::Tasks(rows)) = answer else {
        return Err(Error::new(class::OTHER, "the machine does not say which tasks there are"));
    };
    let is_there =
        |task: i32| rows.iter().any(|row| row.tid == Tid(task) && row.state != TaskState::Departed);
    Ok(tasks.iter().enumerate().filter(|&(_, &task)| !is_there(task)).map(|(rank, _)| rank).collect())
}
