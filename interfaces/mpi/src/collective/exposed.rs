//! Long blocking calls of ranks on one host: each reads what it needs out of the others' memory.

use super::blocks::{get, get_with, give, give_and_get};
use super::call::{Call, combine_of};
use crate::comms::comm::Comm;
use crate::errors::Mpi;
use crate::requests::schedule::{Areas, Bytes, Part};
use parvum_collectives::Failure;
use parvum_collectives::exposed::{self, Exposed, OpenMemory};
use parvum_collectives::plans::in_a_row;

/// Does such a call, which stays as it was when that is refused.
pub(super) fn run(memory: &mut impl OpenMemory, comm: &Comm, call: &Call) -> Mpi<Result<Exposed, Failure>> {
    let combine = combine_of(call);
    let combine = &mut |first: &mut [u8], second: &[u8]| combine.apply(first, second);
    let (outcome, mut areas, then);
    match call {
        Call::Reduce { give: own, get: result, op, root } => {
            let root = comm.root(*root)?;
            let (mine, data, put) = match (root == comm.rank(), own) {
                (true, Some(own)) => {
                    let (data, put) = get(result.clone());
                    (Some(give(own)), data, put)
                }
                (true, None) => {
                    let (data, put) = get_with(None, result.clone());
                    (None, data, put)
                }
                (false, own) => (Some(give(own.as_ref().unwrap_or(result))), Bytes::NONE, None),
            };
            (areas, then) = (Areas { mine: Bytes::NONE, data }, put);
            let mine = mine.as_ref().map(Bytes::slice);
            outcome = exposed::reduce(memory, root, mine, areas.data.slice_mut(), op.unit, combine);
        }
        Call::Allreduce { give: own, get: result, op } => {
            let (data, put) = match own {
                Some(_) => get(result.clone()),
                None => get_with(None, result.clone()),
            };
            (areas, then) = (Areas { mine: Bytes::NONE, data }, put);
            let mine = own.as_ref().map(give);
            let mine = mine.as_ref().map(Bytes::slice);
            outcome = exposed::allreduce(memory, mine, areas.data.slice_mut(), op.unit, combine);
        }
        Call::Alltoall { give: own, get: blocks, .. } => {
            let mine = own.as_ref().map_or_else(|| blocks.copy(), |own| own.give());
            let (data, put) = blocks.clone().get();
            (areas, then) = (Areas { mine: Bytes::NONE, data }, put);
            outcome = exposed::alltoall(memory, mine.slice(), areas.data.slice_mut());
        }
        Call::ReduceScatter { give: own, get: result, lengths, op } => {
            let (mine, data, put) = give_and_get(own, result.clone());
            (areas, then) = (Areas { mine: Bytes::NONE, data }, put);
            let parts = in_a_row(lengths.iter().copied());
            let data = areas.data.slice_mut();
            outcome = exposed::reduce_scatter(memory, mine.slice(), &parts, data, op.unit, combine);
        }
        _ => unreachable!("not for memory"),
    }
    if let (Ok(Exposed::Done), Some(Part::Then(then))) = (&outcome, then) {
        then(&mut areas);
    }
    Ok(outcome)
}
