//! With the neighbours that a topology names.

use super::call::{Call, Made, among};
use crate::comms::comm::Comm;
use crate::comms::topology::Topology;
use crate::errors::Mpi;
use crate::objects::numbers::PROC_NULL;
use crate::requests::schedule::Areas;
use parvum_collectives::plans::{Span, neighbours};

pub(super) fn parts(comm: &Comm, call: Call) -> Mpi<Made> {
    let Call::Neighbours { give, same, get } = call else { unreachable!("only these") };
    let topology = comm.topology.as_ref().ok_or_else(|| crate::comms::topology::other("neighbourhood"))?;
    let (to, from) = topology.neighbours(comm.rank() as i32)?;
    let is_there = |ranks: &[i32], slot: usize| ranks[slot] != PROC_NULL;
    // Nobody's slot is neither sent nor written.
    let get = get.only(|slot| is_there(&from, slot));
    let (mine, give_spans) = match same {
        true => (give.give(), vec![give.spans()[0]; to.len()]),
        false => {
            let give = give.only(|slot| is_there(&to, slot));
            (give.give(), give.spans())
        }
    };
    let pairs = |ranks: Vec<i32>, spans: Vec<Span>| -> Vec<(usize, Span)> {
        let peers = ranks.into_iter().filter(|&rank| rank != PROC_NULL);
        peers.map(|rank| rank as usize).zip(spans).collect()
    };
    let receives = match topology {
        Topology::Cart(_) => in_order(&from, get.spans()),
        _ => pairs(from, get.spans()),
    };
    let sends = pairs(to, give_spans);
    let (data, then) = get.get();
    let plan = neighbours::exchange(&sends, &receives);
    Ok(([among(comm, plan)].into_iter().chain(then).collect(), Areas { mine, data }))
}

/// Whom a rank of a grid receives from, of each side of each dimension, and where that goes: nobody has no place.
///
/// In a grid what went to the negative side comes as from the positive one, also if both are one rank: in each dimension that side's
/// message is the first.
fn in_order(from: &[i32], spans: Vec<Span>) -> Vec<(usize, Span)> {
    let mut spans = spans.into_iter();
    let mut all: Vec<Option<(usize, Span)>> = from
        .iter()
        .map(|&rank| if rank == PROC_NULL { None } else { spans.next().map(|span| (rank as usize, span)) })
        .collect();
    all.chunks_mut(2).for_each(|sides| sides.reverse());
    all.into_iter().flatten().collect()
}
