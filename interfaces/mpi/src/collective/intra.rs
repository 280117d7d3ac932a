//! Within one group.

use super::blocks::{get, get_with, give, give_and_get, of_root};
use super::call::Call;
use super::last;
use crate::comms::comm::Comm;
use crate::errors::Mpi;
use crate::requests::schedule::{Areas, Bytes, Part};
use parvum_collectives::plans::hosts::Placement;
use parvum_collectives::plans::{Area, Plan, choose, gather, in_a_row, scatter};

/// The plan of a call, its memory, and what is to be done when the plan is.
pub(super) fn plan(placed: Placement<'_>, comm: &Comm, call: Call) -> Mpi<(Plan, Areas, Option<Part>)> {
    let group = placed.group;
    let made = match call {
        Call::Barrier => (choose::barrier(placed), Areas { mine: Bytes::NONE, data: Bytes::NONE }, None),
        Call::Bcast { data, root } => {
            let root = comm.root(root)?;
            let plan = choose::broadcast(placed, root, data.length());
            let (data, then) = of_root(data, root == group.own);
            (plan, Areas { mine: Bytes::NONE, data }, then)
        }
        Call::Gather { give: own, get: blocks, root, regular } => {
            let root = comm.root(root)?;
            let is_root = root == group.own;
            let mine = match &own {
                Some(data) => give(data),
                None => Bytes::Own(blocks.of(group.own).packed()),
            };
            let spans = blocks.spans();
            let plan = match regular {
                true => choose::gather(group, root, mine.length()),
                false => gather::straight(group, root, &spans, mine.length()).straight(),
            };
            let (data, then) = if is_root { blocks.get() } else { (Bytes::NONE, None) };
            (plan, Areas { mine, data }, then)
        }
        Call::Scatter { give: blocks, get: own, root, regular } => {
            let root = comm.root(root)?;
            let is_root = root == group.own;
            let spans = blocks.spans();
            let mine = if is_root { blocks.give() } else { Bytes::NONE };
            let length = own.as_ref().map_or_else(|| blocks.of(root).length(), |data| data.length());
            let plan = match regular {
                true => choose::scatter(group, root, length),
                false => scatter::straight(group, root, &spans, length).straight(),
            };
            // In place the root's own part stays where it is; the plan's copy of it goes nowhere.
            let (data, then) = own.map_or_else(|| (Bytes::Own(vec![0; length]), None), get);
            (plan, Areas { mine, data }, then)
        }
        Call::Allgather { give: own, get: blocks } => {
            let mine = own.as_ref().map_or_else(|| Bytes::Own(blocks.of(group.own).packed()), give);
            let plan = choose::allgather(placed, &blocks.spans());
            let (data, then) = blocks.get();
            (plan, Areas { mine, data }, then)
        }
        Call::Alltoall { give: own, get: blocks, regular } => {
            let spans = blocks.spans();
            let (mine, given) = match &own {
                Some(own) => (own.give(), own.spans()),
                None => (blocks.copy(), spans.clone()),
            };
            let plan = match regular {
                true => choose::alltoall(placed, spans[0].length),
                false => choose::alltoall_of_parts(placed, &given, &spans),
            };
            let (data, then) = blocks.get();
            (plan, Areas { mine, data }, then)
        }
        Call::Reduce { give: own, get: result, op, root } => {
            let root = comm.root(root)?;
            let length = own.as_ref().unwrap_or(&result).length();
            let plan = choose::reduce(placed, root, length, op.unit, op.order);
            let (data, then) = match root == group.own {
                true => get_with(own.as_ref(), result),
                // Who only sends it needs no copy.
                false if plan.only_reads(Area::Data) => (give(own.as_ref().unwrap_or(&result)), None),
                false => (Bytes::Own(own.unwrap_or(result).packed()), None),
            };
            (plan, Areas { mine: Bytes::NONE, data }, then)
        }
        Call::Allreduce { give: own, get: result, op } => {
            let (data, then) = get_with(own.as_ref(), result);
            let plan = choose::allreduce(placed, data.length(), op.unit, op.order);
            (plan, Areas { mine: Bytes::NONE, data }, then)
        }
        Call::ReduceScatter { give: own, get: result, lengths, op } => {
            let plan = choose::reduce_scatter(group, &in_a_row(lengths), op.order);
            let (mine, data, then) = give_and_get(&own, result);
            (plan, Areas { mine, data }, then)
        }
        Call::Scan { give: own, get: result, op: _, exclusive } => {
            let length = result.length();
            let plan = match exclusive {
                true => choose::exclusive_scan(group, length),
                false => choose::scan(group, length),
            };
            // The first rank's result of an exclusive scan is nobody's to write.
            let (data, then) = match exclusive && group.own == 0 {
                true => (Bytes::Own(own.unwrap_or(result).packed()), None),
                false => get_with(own.as_ref(), result),
            };
            (plan, Areas { mine: Bytes::NONE, data }, then)
        }
        Call::Neighbours { .. } => unreachable!("made elsewhere"),
    };
    if let Some(algorithm) = made.0.algorithm() {
        last::note(algorithm);
    }
    Ok(made)
}
