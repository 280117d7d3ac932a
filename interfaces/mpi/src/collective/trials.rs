//! Short data of all ranks to all, between hosts: which of the two ways a communicator takes it finds out in its first such operations.

use super::at_once;
use super::call::{Call, placement};
use crate::comms::comm::Comm;
use crate::errors::Mpi;
use crate::requests::schedule::Guarded;
use parvum_collectives::plans::hosts::Placement;
use parvum_collectives::plans::ways::{Turn, add};
use parvum_collectives::plans::{Area, Order, choose};
use parvum_collectives::{Failure, Members, Memory};
use std::time::Instant;

/// Does a blocking call by messages.
pub(super) fn send(comm: &Comm, members: Members<'_>, call: Call) -> Mpi<Result<(), Failure>> {
    let placed = placement(comm);
    let Some(whole) = with_two_ways(placed, &call) else { return at_once::send(placed, comm, members, call) };
    // Nothing is held while it waits: a program may leave a wait by a jump.
    let turn = comm.trials().next(whole);
    let way = match turn {
        Turn::Known(way) => return at_once::send(Placement { way, ..placed }, comm, members, call),
        Turn::Tried(way) => Some(way),
    };
    let began = Instant::now();
    if let Err(failure) = at_once::send(Placement { way, ..placed }, comm, members, call)? {
        return Ok(Err(failure));
    }
    let took = began.elapsed().as_nanos() as u64;
    let Some(mut sums) = comm.trials().took(took) else { return Ok(Ok(())) };
    let plan = choose::allreduce(placed, sums.len(), sums.len(), Order::Any);
    let mut scratch = vec![0; plan.needs(Area::Scratch)];
    let memory = Memory { mine: &[], data: &mut sums, scratch: &mut scratch };
    let outcome =
        parvum_collectives::run(&mut Guarded(members), &plan, memory, &mut |sums: &mut [u8], more: &[u8]| {
            add(sums, more)
        });
    if outcome.is_ok() {
        comm.trials().agree(&sums);
    }
    Ok(outcome)
}

/// How many bytes all ranks have together, of a call that can go either way; the same on all of them.
fn with_two_ways(placed: Placement<'_>, call: &Call) -> Option<usize> {
    placed.hosts?;
    match call {
        Call::Allgather { get, .. } => {
            Some(get.length()).filter(|&whole| choose::has_two_ways(placed, whole))
        }
        Call::Alltoall { get, regular: true, .. } => {
            let each = get.of(0).length();
            choose::alltoall_has_two_ways(placed, each).then(|| each * placed.group.size)
        }
        _ => None,
    }
}
