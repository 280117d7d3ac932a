//! A collective call, and what all its ways have in common.

use super::blocks::Blocks;
use crate::comms::comm::Comm;
use crate::comms::revocation;
use crate::errors::Mpi;
use crate::messages::buffers::Data;
use crate::objects::combine::Combine;
use crate::process::introspect::NO_BYTES;
use crate::requests::schedule::{Areas, Part, Stage};
use parvum_collectives::plans::hosts::Placement;
use parvum_collectives::plans::{Group, Plan};
use parvum_collectives::table::{Case, Operation};

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

impl Call {
    /// What the members of a communicator do together: its number is in the tags of their messages, so messages of different calls never
    /// meet. `None`: a call for neighbours, of which the table of algorithms knows nothing.
    pub(super) fn operation(&self) -> Option<Operation> {
        Some(match self {
            Call::Barrier => Operation::Barrier,
            Call::Bcast { .. } => Operation::Broadcast,
            Call::Gather { .. } => Operation::Gather,
            Call::Scatter { .. } => Operation::Scatter,
            Call::Allgather { .. } => Operation::Allgather,
            Call::Alltoall { .. } => Operation::Alltoall,
            Call::Reduce { .. } => Operation::Reduce,
            Call::Allreduce { .. } => Operation::Allreduce,
            Call::ReduceScatter { .. } => Operation::ReduceScatter,
            Call::Scan { exclusive: false, .. } => Operation::Scan,
            Call::Scan { exclusive: true, .. } => Operation::ExclusiveScan,
            Call::Neighbours { .. } => return None,
        })
    }

    /// The number in the tags of a call's messages.
    pub(super) fn kind(&self) -> u32 {
        const NEIGHBOURS: u32 = 12;
        self.operation().map_or(NEIGHBOURS, |operation| operation as u32)
    }

    /// What the table of algorithms asks about a blocking call of members that have a shared segment.
    pub(super) fn case(&self, members: usize) -> Case {
        let case = |bytes| Case::in_segment(members, bytes);
        match self {
            Call::Bcast { data, .. } => case(data.length()),
            // Only the root has blocks. A member that is not the root has its own part.
            Call::Gather { give, get, regular, .. } => {
                let part = give.as_ref().map_or_else(|| get.of(0).length(), Data::length);
                Case { is_regular: *regular, ..case(part) }
            }
            Call::Scatter { give, get, regular, .. } => {
                let part = get.as_ref().map_or_else(|| give.of(0).length(), Data::length);
                Case { is_regular: *regular, ..case(part) }
            }
            Call::Allgather { get, .. } => case(get.length()),
            Call::Alltoall { get, regular, .. } => Case { is_regular: *regular, ..case(get.length()) },
            Call::Reduce { give, get, op, .. } => {
                case(give.as_ref().unwrap_or(get).length()).elements(op.unit).ordered(op.order)
            }
            Call::Allreduce { get, op, .. } => case(get.length()).elements(op.unit).ordered(op.order),
            Call::ReduceScatter { give, op, .. } => case(give.length()).elements(op.unit).ordered(op.order),
            Call::Scan { get, .. } => case(get.length()),
            Call::Barrier | Call::Neighbours { .. } => case(0),
        }
    }

    /// Root and bytes of a collective call; the bytes where all members must name as many.
    pub(super) fn extent(&self) -> (i32, u64) {
        match self {
            Call::Bcast { data, root } => (*root, data.length() as u64),
            Call::Reduce { get, give, root, .. } => {
                (*root, give.as_ref().map_or(get.length(), |give| give.length()) as u64)
            }
            Call::Allreduce { get, .. } | Call::Scan { get, .. } => (-1, get.length() as u64),
            Call::Gather { root, .. } | Call::Scatter { root, .. } => (*root, NO_BYTES),
            Call::ReduceScatter { give, .. } => (-1, give.length() as u64),
            _ => (-1, NO_BYTES),
        }
    }
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

pub(super) fn refuse_revoked(comm: &Comm) -> Mpi {
    match comm.is_revoked() {
        true => Err(revocation::revoked()),
        false => Ok(()),
    }
}

pub(super) fn combine_of(call: &Call) -> Combine {
    match call {
        Call::Reduce { op, .. }
        | Call::Allreduce { op, .. }
        | Call::ReduceScatter { op, .. }
        | Call::Scan { op, .. } => op.combine.clone(),
        _ => Combine::NOTHING,
    }
}

/// A plan among the members of a communicator's own side.
pub(super) fn among(comm: &Comm, plan: Plan) -> Part {
    Part::Stage(Stage { plan, tasks: comm.group().tasks_in_plan(), own: comm.rank() })
}

pub(super) fn placement(comm: &Comm) -> Placement<'_> {
    Placement::new(group(comm), comm.hosts())
}

pub(super) fn group(comm: &Comm) -> Group {
    Group { own: comm.rank(), size: comm.size() }
}

/// What a part of a schedule is made with.
pub(super) type Made = (Vec<Part>, Areas);
