//! A collective call, and what all its ways have in common.

use super::blocks::Blocks;
use crate::comms::comm::Comm;
use crate::comms::revocation;
use crate::errors::Mpi;
use crate::messages::buffers::Data;
use crate::objects::combine::Combine;
use crate::requests::schedule::{Areas, Part, Stage};
use parvum_collectives::plans::hosts::Placement;
use parvum_collectives::plans::{Group, Plan};

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
