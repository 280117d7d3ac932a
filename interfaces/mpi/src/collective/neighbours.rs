//! With the neighbours that a topology names.

use super::{Call, Made, among};
use crate::comm::Comm;
use crate::errors::Mpi;
use crate::numbers::PROC_NULL;
use crate::schedule::Areas;
use crate::topology::Topology;
use parvum_collectives::plans::{Span, neighbours};

pub(super) fn parts(comm: &Comm, call: Call) -> Mpi<Made> {
    let Call::Neighbours { give, same, get } = call else { unreachable!("only these") };
    let topology = comm.topology.as_ref().ok_or_else(|| crate::topology::other("neighbourhood"))?;
    let (to, from) = topology.neighbours(comm.rank() as i32)?;
    let pairs = |ranks: &[i32], spans: Vec<Span>| -> Vec<(usize, Span)> {
        let all = ranks.iter().zip(spans);
        all.filter(|(rank, _)| **rank != PROC_NULL).map(|(&rank, span)| (rank as usize, span)).collect()
    };
    let give_spans = if same { vec![give.spans()[0]; to.len()] } else { give.spans() };
    let (sends, mut receives) = (pairs(&to, give_spans), pairs_in_order(topology, &from, get.spans()));
    receives.retain(|(rank, _)| *rank != usize::MAX);
    let mine = give.give();
    let (data, then) = get.get();
    let plan = neighbours::exchange(&sends, &receives);
    Ok(([among(comm, plan)].into_iter().chain(then).collect(), Areas { mine, data }))
}

/// In a grid what went to the negative side comes as from the positive one, also where both are one rank: in each dimension that
/// side's message is the first.
fn pairs_in_order(topology: &Topology, from: &[i32], spans: Vec<Span>) -> Vec<(usize, Span)> {
    let mut all: Vec<(usize, Span)> = from
        .iter()
        .zip(spans)
        .map(|(&rank, span)| (if rank == PROC_NULL { usize::MAX } else { rank as usize }, span))
        .collect();
    if let Topology::Cart(_) = topology {
        all.chunks_mut(2).for_each(|sides| sides.reverse());
    }
    all
}
