//! What onlookers and other members are told of a collective call: its kind, its root, its bytes.

use super::call::Call;
use crate::messages::buffers::Data;
use crate::process::introspect::NO_BYTES;
use parvum_collectives::table::{Case, Operation};

/// What the members of a communicator do together: its number is in the tags of their messages, so messages of different calls never
/// meet. `None`: a call for neighbours, of which the table of algorithms knows nothing.
pub(super) fn operation_of(call: &Call) -> Option<Operation> {
    Some(match call {
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
pub(super) fn kind_of(call: &Call) -> u32 {
    const NEIGHBOURS: u32 = 12;
    operation_of(call).map_or(NEIGHBOURS, |operation| operation as u32)
}

/// What the table of algorithms asks about a blocking call of members that have a shared segment.
pub(super) fn case_of(call: &Call, members: usize) -> Case {
    let case = |bytes| Case::in_segment(members, bytes);
    match call {
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
        Call::ReduceScatter { give, op, .. } => case(give.length()).elements(op.unit),
        Call::Scan { get, .. } => case(get.length()),
        Call::Barrier | Call::Neighbours { .. } => case(0),
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
