//! The plan of the algorithm that the [table](crate::table) names, for operations by messages.

use super::hosts::Placement;
use super::{Group, Order, Plan, Span, barrier as barriers, two_level};
use super::{allgather, allreduce, alltoall, broadcast, gather, reduce, reduce_scatter, scan, scatter};
use crate::table::{Algorithm, Case, FEW_TRIED, LONGEST_IN_ROUNDS, Operation, SHORT, choose};

/// Why an algorithm of the table has no plan: the table has a rule of shared memory for messages.
const NO_PLAN: &str = "the table names an algorithm that this operation has by messages";

/// All wait until all have come.
pub fn barrier<'h>(placement: impl Into<Placement<'h>>) -> Plan {
    let placement = placement.into();
    let algorithm = choose(Operation::Barrier, &Case::of(placement, 0));
    let plan = match algorithm {
        Algorithm::TwoLevels => two_level::meet(placement.group.own, placement.shared_hosts()),
        Algorithm::Dissemination => barriers::dissemination(placement.group),
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

/// The root's data for all.
pub fn broadcast<'h>(placement: impl Into<Placement<'h>>, root: usize, length: usize) -> Plan {
    let placement = placement.into();
    let group = placement.group;
    let algorithm = choose(Operation::Broadcast, &Case::of(placement, length));
    let plan = match algorithm {
        Algorithm::TwoLevels => two_level::broadcast(group.own, placement.shared_hosts(), root, length),
        Algorithm::Straight => broadcast::straight(group, root, length),
        Algorithm::ScatterAllgather => broadcast::scattered(group, root, length),
        Algorithm::Binomial => broadcast::binomial(group, root, length),
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

/// Parts of `each` bytes from the root.
pub fn scatter(group: Group, root: usize, each: usize) -> Plan {
    let algorithm = choose(Operation::Scatter, &Case::new(group.size, each));
    let plan = match algorithm {
        Algorithm::Binomial => scatter::binomial(group, root, each),
        Algorithm::Straight => scatter::straight(group, root, &parts(group, each), each),
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

/// Parts of `each` bytes to the root.
pub fn gather(group: Group, root: usize, each: usize) -> Plan {
    let algorithm = choose(Operation::Gather, &Case::new(group.size, each));
    let plan = match algorithm {
        Algorithm::Binomial => gather::binomial(group, root, each),
        Algorithm::Straight => gather::straight(group, root, &parts(group, each), each),
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

fn parts(group: Group, each: usize) -> Vec<Span> {
    (0..group.size).map(|member| Span { at: member * each, length: each }).collect()
}

/// Every member's data for all.
pub fn allgather<'h>(placement: impl Into<Placement<'h>>, parts: &[Span]) -> Plan {
    let placement = placement.into();
    let group = placement.group;
    let whole: usize = parts.iter().map(|part| part.length).sum();
    let algorithm = choose(Operation::Allgather, &Case::of(placement, whole));
    let plan = match algorithm {
        Algorithm::TwoLevels => two_level::allgather(group.own, placement.shared_hosts(), parts),
        Algorithm::Ring => allgather::ring(group, parts),
        Algorithm::Doubling => allgather::doubling(group, parts),
        Algorithm::Straight => allgather::straight(group, parts),
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

/// Sends each member its part of every member's data, with parts of `each` bytes.
pub fn alltoall<'h>(placement: impl Into<Placement<'h>>, each: usize) -> Plan {
    let placement = placement.into();
    let group = placement.group;
    let case = Case::of(placement, each * group.size);
    match choose(Operation::Alltoall, &case) {
        Algorithm::Bruck => alltoall::bruck(group, each).by(Algorithm::Bruck),
        algorithm => {
            let parts = parts(group, each);
            exchange(placement, algorithm, &parts, &parts)
        }
    }
}

/// The same of any lengths. Members do not know each other's parts, so the table has no common rule for them. Both
/// algorithms fit together.
pub fn alltoall_of_parts<'h>(placement: impl Into<Placement<'h>>, give: &[Span], get: &[Span]) -> Plan {
    let placement = placement.into();
    let whole: usize = give.iter().map(|part| part.length).sum();
    let case = Case { is_regular: false, ..Case::of(placement, whole) };
    exchange(placement, choose(Operation::Alltoall, &case), give, get)
}

fn exchange(placement: Placement<'_>, algorithm: Algorithm, give: &[Span], get: &[Span]) -> Plan {
    let Placement { group, hosts, .. } = placement;
    let plan = match algorithm {
        Algorithm::Pairwise => {
            alltoall::pairwise(group, give, get, if hosts.is_some() { UNDER_WAY } else { 1 })
        }
        Algorithm::Straight => alltoall::straight(group, give, get),
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

/// The number of parts of a member that are under way between hosts. With only one part, a member waits for the slowest
/// member, and its link is idle. Four tasks on four hosts exchange 1 MiB over an emulated ATM in 0.31 to 0.36 s, before
/// 0.57 to 0.64 s. Over HIPPI they take 50 ms, before 76 to 89 ms. If the hosts are on one computer, this gains
/// nothing, and more parts use more memory: with 4 MiB each, 49 ms instead of 41 ms.
const UNDER_WAY: usize = 3;

/// The contributions of all combined at the root; `unit` is the bytes of an element. Up to 64 members they are combined one by one in
/// their order, however long the data is.
pub fn reduce<'h>(
    placement: impl Into<Placement<'h>>,
    root: usize,
    length: usize,
    unit: usize,
    order: Order,
) -> Plan {
    let placement = placement.into();
    let group = placement.group;
    let case = Case::of(placement, length).elements(unit).ordered(order);
    let algorithm = choose(Operation::Reduce, &case);
    let plan = match algorithm {
        Algorithm::TwoLevels => {
            two_level::reduce(group.own, placement.shared_hosts(), root, (length, unit), order)
        }
        Algorithm::Halving => reduce::halving(group, root, length, unit, order),
        Algorithm::Binomial => reduce::binomial(group, root, length, order),
        Algorithm::Straight => reduce::straight(group, root, length, Order::Members),
        Algorithm::SharedOut => reduce::shared_out(group, root, length, unit),
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

/// The contributions of all combined, for all; `unit` is the bytes of an element. Up to 64 members, contributions are
/// combined one by one in the order of members, for any length, with the same bits as in a [segment](crate::segment).
pub fn allreduce<'h>(placement: impl Into<Placement<'h>>, length: usize, unit: usize, order: Order) -> Plan {
    let placement = placement.into();
    let group = placement.group;
    let case = Case::of(placement, length).elements(unit).ordered(order);
    let algorithm = choose(Operation::Allreduce, &case);
    let plan = match algorithm {
        Algorithm::TwoLevels => {
            two_level::allreduce(group.own, placement.shared_hosts(), (length, unit), order)
        }
        Algorithm::Doubling => allreduce::doubling(group, length),
        // Two members keep the order of members whatever the operator allows.
        Algorithm::Halving if group.size == 2 => allreduce::halving(group, length, unit, Order::Members),
        Algorithm::Halving => allreduce::halving(group, length, unit, order),
        Algorithm::Straight => allreduce::straight(group, length),
        Algorithm::SharedOut => allreduce::shared_out(group, length, unit),
        Algorithm::StraightThenBroadcast => {
            reduce::straight(group, 0, length, Order::Members).then(broadcast::binomial(group, 0, length))
        }
        Algorithm::BinomialThenBroadcast => {
            reduce::binomial(group, 0, length, order).then(broadcast::binomial(group, 0, length))
        }
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

/// The contributions of all combined, of which each gets its part.
pub fn reduce_scatter(group: Group, parts: &[Span], order: Order) -> Plan {
    let whole: usize = parts.iter().map(|part| part.length).sum();
    let algorithm = choose(Operation::ReduceScatter, &Case::new(group.size, whole));
    let plan = match algorithm {
        Algorithm::Pairwise => reduce_scatter::pairwise(group, parts, order),
        Algorithm::Straight => reduce_scatter::straight(group, parts),
        _ => unreachable!("{NO_PLAN}"),
    };
    plan.by(algorithm)
}

/// The contributions of those up to each member combined.
pub fn scan(group: Group, length: usize) -> Plan {
    scan::doubling(group, length).by(Algorithm::Doubling)
}

/// Each member gets the combined contributions of the members before it.
pub fn exclusive_scan(group: Group, length: usize) -> Plan {
    scan::exclusive_doubling(group, length).by(Algorithm::Doubling)
}

/// Whether [`allgather`] of this number of bytes may go between hosts straight or in rounds, so that
/// [trials](super::ways) find the faster algorithm.
pub fn has_two_ways(placement: Placement<'_>, whole: usize) -> bool {
    // Two members have the same messages either way. For empty data, straight sends no message at all.
    let is_short = placement.hosts.is_some() && (1..=SHORT).contains(&whole);
    is_short && (3..=FEW_TRIED).contains(&placement.group.size)
}

/// The same for [`alltoall`] with this number of bytes from each to each.
pub fn alltoall_has_two_ways(placement: Placement<'_>, each: usize) -> bool {
    each <= LONGEST_IN_ROUNDS && has_two_ways(placement, each * placement.group.size)
}
