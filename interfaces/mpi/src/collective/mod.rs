//! Collective operations: MPI's arguments made into plans of the room for operations of groups.
//!
//! A blocking call within one group is done [at once](at_once). For all others a [`Schedule`] is made: a nonblocking one goes on
//! beside the program, and a persistent one is made anew at each start. Which plan is taken follows from the bytes of the data alone, which are the same on
//! all ranks, however each describes them.

mod at_once;
mod blocks;
mod call;
mod exposed;
mod inter;
mod intra;
mod last;
mod neighbours;
#[allow(unsafe_code)]
pub(crate) mod plain;
mod ring;
mod trials;

pub(crate) use blocks::{Blocks, Layout};
pub(crate) use call::{Call, Op};
pub(crate) use last::last;

use crate::comms::comm::Comm;
use crate::errors::Mpi;
use crate::objects::numbers::IN_PLACE;
use crate::process::introspect;
use crate::process::machine::notes;
use crate::process::this::process;
use crate::requests::handles::Persistent;
use crate::requests::operations::{Operation, State};
use crate::requests::progress;
use crate::requests::schedule::Schedule;
use call::{among, combine_of, placement, refuse_revoked};
use parvum_api::call::WAIT;
use std::sync::Arc;

/// Whether a buffer says that the data lies where it shall go.
pub(crate) fn is_in_place(address: *const u8) -> bool {
    address.addr() == IN_PLACE
}

/// Does a call, and waits for its end.
pub(crate) fn run(comm: &Arc<Comm>, call: Call) -> Mpi {
    if comm.remote().is_none() && !matches!(call, Call::Neighbours { .. }) {
        return at_once::run(comm, call);
    }
    // All ranks must go the same way, as there.
    refuse_revoked(comm)?;
    let process = process()?;
    let (turn, kind) = (comm.next_turn(), call.kind());
    let (root, bytes) = call.extent();
    introspect::publish_turn(process, comm, turn, root, bytes);
    schedule(comm, call, Comm::tag_of(turn, kind))?.finish(process)
}

/// A barrier that waits.
#[inline]
pub(crate) fn barrier(comm: &Arc<Comm>) -> Mpi {
    match comm.remote() {
        None => plain::barrier(comm),
        Some(_) => run(comm, Call::Barrier),
    }
}

/// Begins a call, which goes on beside the program.
pub(crate) fn begin(comm: &Arc<Comm>, call: Call) -> Mpi<Arc<Operation>> {
    let tag = Comm::tag_of(comm.next_begun(), call.kind());
    start_as(comm, call, tag)
}

fn start_as(comm: &Arc<Comm>, call: Call, tag: i32) -> Mpi<Arc<Operation>> {
    refuse_revoked(comm)?;
    start_schedule(comm, schedule(comm, call, tag)?)
}

/// Has a schedule go on beside the program.
pub(crate) fn start_schedule(comm: &Arc<Comm>, schedule: Schedule) -> Mpi<Arc<Operation>> {
    let process = process()?;
    let told = notes(WAIT, -1, -1, comm.collective_context());
    let operation = Arc::new(Operation::new(State::Stepping(Box::new(schedule)), comm.handle(), told));
    if operation.poll(process).is_none() {
        progress::keep_moving(operation.clone());
    }
    Ok(operation)
}

/// A call to be begun again and again. Its place among the communicator's operations is that of this call.
pub(crate) fn prepare(comm: &Arc<Comm>, call: Call) -> Mpi<Persistent> {
    let (comm, tag) = (comm.clone(), Comm::tag_of(comm.next_begun(), call.kind()));
    // What is wrong is told now.
    schedule(&comm, call.clone(), tag)?;
    let on = comm.handle();
    let mut persistent = Persistent::new(on, move || start_as(&comm, call.clone(), tag));
    persistent.is_collective = true;
    Ok(persistent)
}

fn schedule(comm: &Arc<Comm>, call: Call, tag: i32) -> Mpi<Schedule> {
    let combine = combine_of(&call);
    let (parts, areas) = match comm.remote() {
        _ if matches!(call, Call::Neighbours { .. }) => neighbours::parts(comm, call)?,
        None => {
            let (plan, areas, then) = intra::plan(placement(comm), comm, call)?;
            ([among(comm, plan)].into_iter().chain(then).collect(), areas)
        }
        Some(remote) => inter::parts(comm, remote, call)?,
    };
    let peers = comm.peers().clone();
    let ranks = Arc::new(move |task| peers.rank_of(task));
    Ok(Schedule::new(parts, areas, combine, (comm.collective_context(), tag), ranks))
}
