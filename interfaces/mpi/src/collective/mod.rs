//! Collective operations: MPI's arguments made into plans of the room for operations of groups.
//!
//! A blocking call within one group is done [at once](at_once). For all others a [`Schedule`] is made: a nonblocking one goes on
//! beside the program, and a persistent one is made anew at each start. Which plan is taken follows from the bytes of the data alone, which are the same on
//! all ranks, however each describes them.

mod at_once;
mod blocks;
mod exposed;
mod inter;
mod intra;
mod kinds;
mod neighbours;
mod trials;

pub(crate) use blocks::{Blocks, Layout};

use crate::comms::comm::Comm;
use crate::comms::revocation;
use crate::errors::Mpi;
use crate::messages::buffers::Data;
use crate::objects::combine::Combine;
use crate::objects::numbers::IN_PLACE;
use crate::process::introspect;
use crate::process::machine::notes;
use crate::process::this::process;
use crate::requests::handles::Persistent;
use crate::requests::operations::{Operation, State};
use crate::requests::progress;
use crate::requests::schedule::{Areas, Part, Schedule, Stage};
use parvum_api::call;
use parvum_collectives::plans::hosts::Placement;
use parvum_collectives::plans::{Group, Plan};
use std::sync::Arc;

/// A collective call.
#[derive(Clone)]
pub(crate) enum Call {
    Barrier,
    Bcast {
        data: Data,
        root: i32,
    },
    /// All blocks at the root, who gives `None` for its own when that lies there.
    Gather {
        give: Option<Data>,
        get: Blocks,
        root: i32,
        regular: bool,
    },
    Scatter {
        give: Blocks,
        get: Option<Data>,
        root: i32,
        regular: bool,
    },
    Allgather {
        give: Option<Data>,
        get: Blocks,
    },
    Alltoall {
        give: Option<Blocks>,
        get: Blocks,
        regular: bool,
    },
    Reduce {
        give: Option<Data>,
        get: Data,
        op: Op,
        root: i32,
    },
    Allreduce {
        give: Option<Data>,
        get: Data,
        op: Op,
    },
    /// `give` and the lengths of all parts in bytes.
    ReduceScatter {
        give: Data,
        get: Data,
        lengths: Vec<usize>,
        op: Op,
    },
    Scan {
        give: Option<Data>,
        get: Data,
        op: Op,
        exclusive: bool,
    },
    /// One block for each neighbour, or one that is the same for all.
    Neighbours {
        give: Blocks,
        same: bool,
        get: Blocks,
    },
}

/// How a reduction combines.
#[derive(Clone)]
pub(crate) struct Op {
    pub(crate) combine: Combine,
    pub(crate) order: parvum_collectives::plans::Order,
    pub(crate) unit: usize,
}

impl Op {
    /// Of a process that has no part in a reduction: what it says of it is not looked at.
    pub(crate) fn none() -> Op {
        Op { combine: Combine::NOTHING, order: parvum_collectives::plans::Order::Any, unit: 1 }
    }

    pub(crate) fn new(op: i32, datatype: i32) -> Mpi<Op> {
        let crate::objects::ops::Operation { combine, order, unit } =
            crate::objects::ops::operation(op, datatype)?;
        Ok(Op { combine, order, unit })
    }
}

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
    let (turn, kind) = (comm.next_turn(), kinds::kind_of(&call));
    let (root, bytes) = kinds::extent_of(&call);
    introspect::tell_turn(process, comm, turn, root, bytes);
    schedule(comm, call, Comm::tag_of(turn, kind))?.finish(process)
}

/// A barrier that waits.
#[inline]
pub(crate) fn barrier(comm: &Arc<Comm>) -> Mpi {
    match comm.remote() {
        None => at_once::barrier(comm),
        Some(_) => run(comm, Call::Barrier),
    }
}

/// A broadcast that waits.
#[inline]
pub(crate) fn broadcast(comm: &Arc<Comm>, data: Data, root: i32) -> Mpi {
    match comm.remote() {
        None => at_once::broadcast(comm, data, root),
        Some(_) => run(comm, Call::Bcast { data, root }),
    }
}

/// Begins a call, which goes on beside the program.
pub(crate) fn begin(comm: &Arc<Comm>, call: Call) -> Mpi<Arc<Operation>> {
    let tag = Comm::tag_of(comm.next_begun(), kinds::kind_of(&call));
    begin_as(comm, call, tag)
}

fn begin_as(comm: &Arc<Comm>, call: Call, tag: i32) -> Mpi<Arc<Operation>> {
    refuse_revoked(comm)?;
    begin_schedule(comm, schedule(comm, call, tag)?)
}

/// Has a schedule go on beside the program.
pub(crate) fn begin_schedule(comm: &Arc<Comm>, schedule: Schedule) -> Mpi<Arc<Operation>> {
    let process = process()?;
    let told = notes(call::WAIT, -1, -1, comm.collective_context());
    let operation = Arc::new(Operation::new(State::Stepping(Box::new(schedule)), comm.handle(), told));
    if operation.poll(process).is_none() {
        progress::keep_moving(operation.clone());
    }
    Ok(operation)
}

/// A call to be begun again and again. Its place among the communicator's operations is that of this call.
pub(crate) fn prepare(comm: &Arc<Comm>, call: Call) -> Mpi<Persistent> {
    let (comm, tag) = (comm.clone(), Comm::tag_of(comm.next_begun(), kinds::kind_of(&call)));
    // What is wrong is told now.
    schedule(&comm, call.clone(), tag)?;
    let on = comm.handle();
    let mut persistent = Persistent::new(on, move || begin_as(&comm, call.clone(), tag));
    persistent.is_collective = true;
    Ok(persistent)
}

fn refuse_revoked(comm: &Comm) -> Mpi {
    match comm.is_revoked() {
        true => Err(revocation::revoked()),
        false => Ok(()),
    }
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

fn combine_of(call: &Call) -> Combine {
    match call {
        Call::Reduce { op, .. }
        | Call::Allreduce { op, .. }
        | Call::ReduceScatter { op, .. }
        | Call::Scan { op, .. } => op.combine.clone(),
        _ => Combine::NOTHING,
    }
}

/// A plan among the members of a communicator's own side.
fn among(comm: &Comm, plan: Plan) -> Part {
    Part::Stage(Stage { plan, tasks: comm.group().tasks_in_plan(), own: comm.rank() })
}

fn placement(comm: &Comm) -> Placement<'_> {
    Placement::new(group(comm), comm.hosts())
}

fn group(comm: &Comm) -> Group {
    Group { own: comm.rank(), size: comm.size() }
}

/// What a part of a schedule is made with.
type Made = (Vec<Part>, Areas);
