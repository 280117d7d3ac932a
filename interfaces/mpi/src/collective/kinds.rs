//! What onlookers and other members are told of a collective call: its kind, its root, its bytes.

use super::call::Call;
use crate::process::introspect::NO_BYTES;

pub(super) const BARRIER: u32 = 1;
pub(super) const BROADCAST: u32 = 2;

/// What the members of a communicator do together, by the number in the tags of their messages: those of different calls never meet.
pub(super) fn kind_of(call: &Call) -> u32 {
    match call {
        Call::Barrier => BARRIER,
        Call::Bcast { .. } => BROADCAST,
        Call::Gather { .. } => 3,
        Call::Scatter { .. } => 4,
        Call::Allgather { .. } => 5,
        Call::Alltoall { .. } => 6,
        Call::Reduce { .. } => 7,
        Call::Allreduce { .. } => 8,
        Call::ReduceScatter { .. } => 9,
        Call::Scan { exclusive: false, .. } => 10,
        Call::Scan { exclusive: true, .. } => 11,
        Call::Neighbours { .. } => 12,
    }
}

/// Root and bytes of a collective call; the bytes where all members must name as many.
pub(super) fn extent_of(call: &Call) -> (i32, u64) {
    match call {
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
