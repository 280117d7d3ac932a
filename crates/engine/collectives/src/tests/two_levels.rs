//! Operations of members on several hosts: the same results, and few messages between hosts.

use super::algorithms::{UNIT, chain, check, combined, content, nothing, sum};
use super::simulated::plans_of;
use crate::plans::hosts::{Hosts, Placement};
use crate::plans::{Group, Order, Plan, Step, choose, in_a_row, two_level};

/// Members on this number of hosts; the members of each host are consecutive.
pub fn rows(size: usize, hosts: usize) -> Option<Hosts> {
    Hosts::new((0..size).map(|member| (member * hosts / size) as u32))
}

/// Members on this number of hosts, in turns.
pub fn cyclic(size: usize, hosts: usize) -> Option<Hosts> {
    Hosts::new((0..size).map(|member| (member % hosts) as u32))
}

/// Groups of several sizes on several hosts, with consecutive members and without.
fn placed() -> Vec<(usize, Hosts)> {
    let mut all = Vec::new();
    for size in (3..=9).chain([16, 17]) {
        for hosts in 2..=4 {
            all.extend(
                [rows(size, hosts), cyclic(size, hosts)].into_iter().flatten().map(|made| (size, made)),
            );
        }
        // Most on one of them.
        all.extend(
            Hosts::new((0..size).map(|member| u32::from(member + 1 == size))).map(|made| (size, made)),
        );
    }
    all
}

/// The longest are shared out, and go in segments; they are tried with few members.
fn lengths(size: usize) -> Vec<usize> {
    let longest = [100_000, 300_000].into_iter().filter(|_| size <= 5);
    [0, UNIT, 7 * UNIT]
        .into_iter()
        .chain(longest)
        .map(|length: usize| length.next_multiple_of(UNIT))
        .collect()
}

fn on(hosts: &Hosts, plan: impl Fn(usize, &Hosts) -> Plan) -> impl Fn(Group) -> Plan {
    move |group| plan(group.own, hosts)
}

#[test]
fn barriers_and_broadcasts_reach_all_across_hosts() {
    for (size, hosts) in placed() {
        check("barrier", size, &on(&hosts, two_level::meet), (&nothing, &nothing, &nothing), sum);
        for length in lengths(size) {
            for root in [0, size / 2, size - 1] {
                let all = content(root, length);
                let data = |member| if member == root { all.clone() } else { vec![0; length] };
                let plan = on(&hosts, |own, hosts| two_level::broadcast(own, hosts, root, length));
                check("broadcast", size, &plan, (&nothing, &data, &|_| all.clone()), sum);
            }
        }
    }
}

#[test]
fn allgather_delivers_all_parts_across_hosts() {
    for (size, hosts) in placed() {
        for length in lengths(size) {
            let even = in_a_row((0..size).map(|_| length));
            let uneven = in_a_row((0..size).map(|member| member % 3 * length / 2));
            let backwards = even.iter().rev().copied().collect();
            for parts in [even, uneven, backwards] {
                let mut all = vec![0; size * length];
                for (member, part) in parts.iter().enumerate() {
                    all[part.at..part.end()].copy_from_slice(&content(member, part.length));
                }
                let mine = |member: usize| content(member, parts[member].length);
                let plan = on(&hosts, |own, hosts| two_level::allgather(own, hosts, &parts));
                check("allgather", size, &plan, (&mine, &|_| vec![0; size * length], &|_| all.clone()), sum);
            }
        }
    }
}

#[test]
fn reductions_across_hosts_equal_those_on_one_host() {
    for (size, hosts) in placed() {
        for length in lengths(size) {
            let mut kinds = vec![(Order::Exact, sum as crate::operators::Combine), (Order::Any, sum)];
            kinds.push((Order::Members, chain));
            // Hosts that are not rows cannot keep the order.
            kinds.retain(|(order, _)| *order == Order::Exact || hosts.are_rows());
            for (order, combine) in kinds {
                let all = combined(0, size, length, combine);
                let data = |member| content(member, length);
                let plan = on(&hosts, |own, hosts| two_level::allreduce(own, hosts, (length, UNIT), order));
                check("allreduce", size, &plan, (&nothing, &data, &|_| all.clone()), combine);
                for root in [0, size / 2, size - 1] {
                    let want = |member| if member == root { all.clone() } else { Vec::new() };
                    let plan =
                        on(&hosts, |own, hosts| two_level::reduce(own, hosts, root, (length, UNIT), order));
                    check("reduce", size, &plan, (&nothing, &data, &want), combine);
                }
            }
        }
    }
}

#[test]
fn short_data_between_hosts_uses_few_messages() {
    let parts = |size| in_a_row((0..size).map(|_| 8));
    let of_all = |size: usize, hosts: usize| {
        let hosts = rows(size, hosts).expect("several hosts");
        let gathered = between(size, &hosts, |placed| choose::allgather(placed, &parts(size))).0;
        (gathered, between(size, &hosts, |placed| choose::alltoall(placed, 8)).0)
    };
    assert_eq!([of_all(8, 2), of_all(8, 4), of_all(8, 8)], [(8, 14), (16, 20), (24, 24)]);
    // Few send to all at once: one message's time, not two.
    let four = Hosts::new(0..4).expect("four hosts");
    assert_eq!(between(4, &four, |placed| choose::allgather(placed, &parts(4))).0, 12);
    assert_eq!(between(4, &four, |placed| choose::alltoall(placed, 8)).0, 12);
}

/// Messages between hosts, and the bytes in them.
fn between(size: usize, hosts: &Hosts, plan: impl Fn(Placement<'_>) -> Plan) -> (usize, usize) {
    let plans = plans_of(size, &|group| plan(Placement::new(group, Some(hosts))));
    let mut all = (0, 0);
    for (own, plan) in plans.iter().enumerate() {
        for step in plan.steps() {
            if let Step::Send { to, piece } = *step
                && hosts.host_of(own) != hosts.host_of(to)
            {
                all = (all.0 + 1, all.1 + piece.length);
            }
        }
    }
    all
}

#[test]
fn data_for_all_members_of_host_is_sent_once() {
    let (hosts, length) = (rows(8, 2).expect("two hosts"), 1000 * UNIT);
    let parts = in_a_row((0..8).map(|_| length));
    assert_eq!(between(8, &hosts, |placed| choose::barrier(placed)), (2, 0));
    assert_eq!(between(8, &hosts, |placed| choose::broadcast(placed, 2, length)), (1, length));
    assert_eq!(between(8, &hosts, |placed| choose::allgather(placed, &parts)), (2, 8 * length));
    assert_eq!(between(8, &hosts, |placed| choose::reduce(placed, 7, length, UNIT, Order::Any)), (1, length));
    assert_eq!(
        between(8, &hosts, |placed| choose::allreduce(placed, length, UNIT, Order::Any)),
        (2, 2 * length)
    );
    // Long data is combined by all: no more bytes, in a message from each.
    let length = 8 * length;
    let long = between(8, &hosts, |placed| choose::allreduce(placed, 8 * length, UNIT, Order::Any));
    assert_eq!(long, (8, 16 * length));
}
