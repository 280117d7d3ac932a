//! Blocking calls by the broadcast ring of the segment, for data of any layout.

use super::at_once::put;
use super::blocks::{get_with, give};
use super::call::{Call, combine_of};
use crate::comms::comm::Comm;
use crate::messages::buffers::Data;
use crate::requests::schedule::{Areas, Bytes};
use parvum_collectives::segment::{self, Writers};
use parvum_collectives::{Failure, Fault};
use parvum_partition::AtSegment;

/// The members that write entries of the ring in a call for which the table of algorithms chooses the ring.
pub(super) fn writers(call: &Call, members: usize) -> Writers {
    match call {
        Call::Bcast { root, .. } | Call::Scatter { root, .. } => Writers::Root(*root as usize),
        Call::Gather { root, .. } | Call::Reduce { root, .. } => Writers::AllBut(*root as usize),
        // The last member's contribution is for itself.
        _ => Writers::AllBut(members - 1),
    }
}

/// Does a call for which the table of algorithms chooses the ring.
pub(super) fn run(segment: &mut AtSegment<'_>, comm: &Comm, call: Call) -> Result<(), Failure> {
    let (own, size) = (comm.rank(), comm.size());
    let combine = combine_of(&call);
    let combine = &mut |first: &mut [u8], second: &[u8]| combine.apply(first, second);
    match call {
        Call::Bcast { data, root } if root == own as i32 => segment::spread(segment, give(&data).slice()),
        Call::Bcast { data, root } => {
            let mut come = vec![0; data.length()];
            segment::hear(segment, root as usize, &mut come)?;
            data.unpack(&come);
            Ok(())
        }
        Call::Scatter { give, get, root, .. } if root == own as i32 => {
            let all = give.give();
            segment::give(segment, all.slice())?;
            if let Some(part) = get {
                // A part of another length is an error of the program. A longer part is cut off.
                let each = all.length() / size;
                part.unpack(&all.slice()[own * each..][..each]);
            }
            Ok(())
        }
        Call::Scatter { get, root, .. } => {
            let part = get.unwrap_or(Data::NONE);
            let mut come = vec![0; part.length()];
            segment::take(segment, root as usize, &mut come)?;
            part.unpack(&come);
            Ok(())
        }
        Call::Gather { give: mine, get: blocks, root, .. } if root == own as i32 => {
            let mine = mine.unwrap_or_else(|| blocks.of(own));
            let mut all = vec![0; mine.length() * size];
            all[own * mine.length()..][..mine.length()].copy_from_slice(give(&mine).slice());
            segment::gather(segment, &mut all)?;
            if blocks.of(own).length() < mine.length() {
                return Err(Failure::Fault(Fault::Disagreed));
            }
            for (block, bytes) in blocks.iter().zip(all.chunks_exact(mine.length().max(1))) {
                block.unpack(bytes);
            }
            Ok(())
        }
        Call::Gather { give: mine, root, .. } => {
            let mine = mine.unwrap_or(Data::NONE);
            segment::contribute(segment, root as usize, give(&mine).slice(), None)
        }
        Call::Reduce { give: mine, get, op, root } if root == own as i32 => {
            let (data, then) = get_with(mine.as_ref(), get);
            let mut areas = Areas { mine: Bytes::NONE, data };
            let outcome = segment::reduce(segment, areas.data.slice_mut(), op.unit, combine);
            put(then, &mut areas);
            outcome
        }
        Call::Reduce { give: mine, op, root, .. } => {
            let mine = mine.unwrap_or(Data::NONE);
            segment::contribute(segment, root as usize, give(&mine).slice(), Some(op.unit))
        }
        Call::Scan { give: mine, get, op, exclusive: true } if own == 0 => {
            // The result of the first member is undefined, so its memory stays as it is.
            let mut mine = mine.unwrap_or(get).packed();
            segment::scan(segment, &mut mine, true, op.unit, combine)
        }
        Call::Scan { give: mine, get, op, exclusive } => {
            let (data, then) = get_with(mine.as_ref(), get);
            let mut areas = Areas { mine: Bytes::NONE, data };
            let outcome = segment::scan(segment, areas.data.slice_mut(), exclusive, op.unit, combine);
            put(then, &mut areas);
            outcome
        }
        _ => unreachable!("not for the ring"),
    }
}
