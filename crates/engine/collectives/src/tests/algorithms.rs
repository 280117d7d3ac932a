//! Every operation, by every algorithm, with 1 to 17 members, 32 and 33.

use super::simulated::{Chance, plans_of, run};
use crate::operators::Combine;
use crate::plans::hosts::{Hosts, Placement};
use crate::plans::{
    Group, Order, Plan, Span, allgather, allreduce, alltoall, barrier, broadcast, choose, gather, in_a_row,
    reduce, reduce_scatter, scan, scatter,
};

/// A plan of what each gives, and gets.
type Exchanging<'a> = dyn Fn(Group, &[Span], &[Span]) -> Plan + 'a;

/// Bytes of an element.
pub const UNIT: usize = 8;

fn sizes() -> impl Iterator<Item = usize> {
    (1..=17).chain([32, 33])
}

fn lengths() -> [usize; 4] {
    [0, 1, 7, 1000].map(|elements| elements * UNIT)
}

/// Some roots, all of them in small groups.
fn roots(size: usize) -> Vec<usize> {
    if size <= 6 { (0..size).collect() } else { vec![0, 1, size / 2, size - 1] }
}

/// A member's data, different for each.
pub fn content(member: usize, length: usize) -> Vec<u8> {
    let mut chance = Chance(member as u64 * 7919 + 1);
    let mut content: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| chance.number().to_le_bytes()).collect();
    content.truncate(length);
    content
}

/// Sums: any order will do.
pub fn sum(into: &mut [u8], with: &[u8]) {
    assert_eq!(into.len(), with.len());
    into.iter_mut().zip(with).for_each(|(into, with)| *into = into.wrapping_add(*with));
}

/// One linear function after the other, each two numbers: associative, and the order matters.
pub fn chain(into: &mut [u8], with: &[u8]) {
    assert_eq!((into.len(), into.len() % UNIT), (with.len(), 0), "whole elements");
    let pair = |bytes: &[u8]| {
        let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        (half(0), half(4))
    };
    for (into, with) in into.chunks_exact_mut(UNIT).zip(with.chunks_exact(UNIT)) {
        let ((a, b), (c, d)) = (pair(into), pair(with));
        into[..4].copy_from_slice(&a.wrapping_mul(c).to_le_bytes());
        into[4..].copy_from_slice(&b.wrapping_mul(c).wrapping_add(d).to_le_bytes());
    }
}

/// The data of all from `first` to before `end`, combined in their order.
pub fn combined(first: usize, end: usize, length: usize, combine: Combine) -> Vec<u8> {
    let mut all = content(first, length);
    (first + 1..end).for_each(|member| combine(&mut all, &content(member, length)));
    all
}

pub type Bytes<'a> = &'a dyn Fn(usize) -> Vec<u8>;

/// Runs an operation twice, with everything in another order, and compares what each member has with what it shall have.
pub fn check(
    what: &str,
    size: usize,
    plan: &dyn Fn(Group) -> Plan,
    (mine, data, want): (Bytes<'_>, Bytes<'_>, Bytes<'_>),
    combine: Combine,
) {
    let plans = plans_of(size, plan);
    for seed in [1, 2] {
        let given = (0..size).map(|member| (mine(member), data(member))).collect();
        let ended = run(&plans, given, combine, None, seed + size as u64);
        for (member, ended) in ended.into_iter().enumerate() {
            let ended = ended.expect("nobody dies");
            assert_eq!(ended.outcome, Ok(()), "{what}: {member} of {size}");
            assert!(ended.data.starts_with(&want(member)), "{what}: {member} of {size}, seed {seed}");
        }
    }
}

pub fn nothing(_: usize) -> Vec<u8> {
    Vec::new()
}

#[test]
fn barriers_complete() {
    for size in sizes() {
        check("barrier", size, &barrier::dissemination, (&nothing, &nothing, &nothing), sum);
    }
}

#[test]
fn broadcasts_reach_all_members() {
    for size in sizes() {
        for length in lengths() {
            for root in roots(size) {
                let data = |member| if member == root { content(root, length) } else { vec![0; length] };
                let check = |what, plan: &dyn Fn(Group) -> Plan| {
                    check(what, size, plan, (&nothing, &data, &|_| content(root, length)), sum);
                };
                check("straight", &|group| broadcast::straight(group, root, length));
                check("binomial", &|group| broadcast::binomial(group, root, length));
                check("scattered", &|group| broadcast::scattered(group, root, length));
                check("pipelined", &|group| broadcast::pipelined(group, root, length, 999));
                check("chosen", &|group| choose::broadcast(group, root, length));
            }
        }
    }
}

/// Parts of different lengths, some of them none, with gaps.
fn uneven(size: usize, length: usize) -> Vec<Span> {
    let lengths = (0..size).map(|member| (member * 5 % 4) * length / 3);
    let mut parts = in_a_row(lengths);
    parts.iter_mut().enumerate().for_each(|(member, part)| part.at += member * 3);
    parts
}

fn even(size: usize, each: usize) -> Vec<Span> {
    in_a_row((0..size).map(|_| each))
}

fn part_of(all: &[u8], part: Span) -> Vec<u8> {
    all[part.at..part.end()].to_vec()
}

#[test]
fn scatter_distributes_and_gather_collects() {
    for size in sizes() {
        for length in lengths() {
            for root in roots(size) {
                for parts in [even(size, length), uneven(size, length)] {
                    let whole = parts.last().map_or(0, |part| part.end());
                    let (all, own) = (content(root, whole), |member: usize| parts[member].length);
                    let check = |what, plan: &dyn Fn(Group) -> Plan| {
                        let mine = |member| if member == root { all.clone() } else { Vec::new() };
                        let want = |member: usize| part_of(&all, parts[member]);
                        check(what, size, plan, (&mine, &|member| vec![0; own(member)], &want), sum);
                    };
                    check("straight", &|group| scatter::straight(group, root, &parts, own(group.own)));
                    if parts == even(size, length) {
                        check("binomial", &|group| scatter::binomial(group, root, length));
                        check("chosen", &|group| choose::scatter(group, root, length));
                    }
                }
                for parts in [even(size, length), uneven(size, length)] {
                    let whole = parts.last().map_or(0, |part| part.end());
                    let mut all = vec![0; whole];
                    for (member, part) in parts.iter().enumerate() {
                        all[part.at..part.end()].copy_from_slice(&content(member, part.length));
                    }
                    let own = |member: usize| parts[member].length;
                    let check = |what, plan: &dyn Fn(Group) -> Plan| {
                        let data = |member| vec![0; if member == root { whole } else { 0 }];
                        let want = |member| if member == root { all.clone() } else { Vec::new() };
                        check(what, size, plan, (&|member| content(member, own(member)), &data, &want), sum);
                    };
                    check("straight", &|group| gather::straight(group, root, &parts, own(group.own)));
                    if parts == even(size, length) {
                        check("binomial", &|group| gather::binomial(group, root, length));
                        check("chosen", &|group| choose::gather(group, root, length));
                    }
                }
            }
        }
    }
}

#[test]
fn allgather_collects_on_every_member() {
    for size in sizes() {
        for length in lengths() {
            for parts in [even(size, length), uneven(size, length)] {
                let whole = parts.last().map_or(0, |part| part.end());
                let mut all = vec![0; whole];
                for (member, part) in parts.iter().enumerate() {
                    all[part.at..part.end()].copy_from_slice(&content(member, part.length));
                }
                let check = |what, plan: &dyn Fn(Group, &[Span]) -> Plan| {
                    let mine = |member: usize| content(member, parts[member].length);
                    let data = |_| vec![0; whole];
                    check(what, size, &|group| plan(group, &parts), (&mine, &data, &|_| all.clone()), sum);
                };
                check("straight", &allgather::straight);
                check("ring", &allgather::ring);
                check("bruck", &allgather::bruck);
                check("doubling", &allgather::doubling);
                check("chosen", &choose::allgather);
                let apart = Hosts::new(0..size as u32);
                let placed = |group| Placement::new(group, apart.as_ref());
                check("chosen, each on its host", &|group, parts| choose::allgather(placed(group), parts));
            }
        }
    }
}

#[test]
fn alltoall_delivers_data_of_every_length() {
    for size in sizes() {
        for length in lengths() {
            // What `from` gives to `to`.
            let length_of = |from: usize, to: usize| (from + 2 * to) % 3 * length / 2;
            let piece = |from: usize, to: usize, length| content(from * 64 + to, length);
            let check = |what, is_even: bool, plan: &Exchanging<'_>| {
                let length_of = |from, to| if is_even { length } else { length_of(from, to) };
                let mine =
                    |own| (0..size).flat_map(|to| piece(own, to, length_of(own, to))).collect::<Vec<u8>>();
                let want = |own| {
                    (0..size).flat_map(|from| piece(from, own, length_of(from, own))).collect::<Vec<u8>>()
                };
                let data = |own| vec![0; (0..size).map(|from| length_of(from, own)).sum()];
                let plan = |group: Group| {
                    let give = in_a_row((0..size).map(|to| length_of(group.own, to)));
                    let get = in_a_row((0..size).map(|from| length_of(from, group.own)));
                    plan(group, &give, &get)
                };
                check(what, size, &plan, (&mine, &data, &want), sum);
            };
            for is_even in [true, false] {
                check("straight", is_even, &alltoall::straight);
                for under_way in [1, 2, 3, 64] {
                    let pairwise =
                        |group, give: &[Span], get: &[Span]| alltoall::pairwise(group, give, get, under_way);
                    check("pairwise", is_even, &pairwise);
                }
                check("chosen", is_even, &|group, give, get| choose::alltoall_of_parts(group, give, get));
            }
            check("bruck", true, &|group, _, _| alltoall::bruck(group, length));
            check("chosen", true, &|group, _, _| choose::alltoall(group, length));
            let apart = Hosts::new(0..size as u32);
            let placed = |group| Placement::new(group, apart.as_ref());
            check("chosen, each on its host", true, &|group, _, _| choose::alltoall(placed(group), length));
        }
    }
}

const BOTH: [(Order, Combine); 2] = [(Order::Any, sum), (Order::Members, chain)];

#[test]
fn reduce_combines_at_the_root() {
    for size in sizes() {
        for length in lengths() {
            for root in roots(size) {
                for (order, combine) in BOTH {
                    let all = combined(0, size, length, combine);
                    let want = |member| if member == root { all.clone() } else { Vec::new() };
                    let check = |what, plan: &dyn Fn(Group) -> Plan| {
                        let data = |member| content(member, length);
                        check(what, size, plan, (&nothing, &data, &want), combine);
                    };
                    check("straight", &|group| reduce::straight(group, root, length, order));
                    check("binomial", &|group| reduce::binomial(group, root, length, order));
                    check("halving", &|group| reduce::halving(group, root, length, UNIT, order));
                    check("chosen", &|group| choose::reduce(group, root, length, UNIT, order));
                }
            }
        }
    }
}

#[test]
fn allreduce_combines_on_every_member() {
    for size in sizes() {
        for length in lengths() {
            for (order, combine) in BOTH {
                let all = combined(0, size, length, combine);
                let check = |what, plan: &dyn Fn(Group) -> Plan| {
                    let data = |member| content(member, length);
                    check(what, size, plan, (&nothing, &data, &|_| all.clone()), combine);
                };
                check("straight", &|group| allreduce::straight(group, length));
                check("doubling", &|group| allreduce::doubling(group, length));
                check("halving", &|group| allreduce::halving(group, length, UNIT, order));
                check("chosen", &|group| choose::allreduce(group, length, UNIT, order));
                if order == Order::Any {
                    check("ring", &|group| allreduce::ring(group, length, UNIT));
                }
            }
        }
    }
}

#[test]
fn reduce_scatter_distributes_combined_parts() {
    for size in sizes() {
        for length in lengths() {
            let uneven = in_a_row((0..size).map(|member| (member * 5 % 4) * length));
            for parts in [even(size, length), uneven] {
                let whole = parts.last().map_or(0, |part| part.end());
                for (order, combine) in BOTH {
                    let all = combined(0, size, whole, combine);
                    let check = |what, plan: &dyn Fn(Group) -> Plan| {
                        let mine = |member| content(member, whole);
                        let data = |member: usize| vec![0; parts[member].length];
                        let want = |member: usize| part_of(&all, parts[member]);
                        check(what, size, plan, (&mine, &data, &want), combine);
                    };
                    check("straight", &|group| reduce_scatter::straight(group, &parts));
                    check("pairwise", &|group| reduce_scatter::pairwise(group, &parts, order));
                    check("chosen", &|group| choose::reduce_scatter(group, &parts, order));
                    if order == Order::Any {
                        check("ring", &|group| reduce_scatter::ring(group, &parts));
                    }
                }
            }
        }
    }
}

#[test]
fn scan_combines_lower_members() {
    for size in sizes() {
        for length in lengths() {
            let check = |what, plan: &dyn Fn(Group) -> Plan, want: Bytes<'_>| {
                let data = |member| content(member, length);
                check(what, size, plan, (&nothing, &data, want), chain);
            };
            let inclusive = |member| combined(0, member + 1, length, chain);
            check("doubling", &|group| scan::doubling(group, length), &inclusive);
            check("chained", &|group| scan::chained(group, length), &inclusive);
            check("chosen", &|group| choose::scan(group, length), &inclusive);
            // Of the first there are none, and it keeps what it has.
            let exclusive = |member: usize| combined(0, member.max(1), length, chain);
            check("exclusive doubling", &|group| scan::exclusive_doubling(group, length), &exclusive);
            check("exclusive chained", &|group| scan::exclusive_chained(group, length), &exclusive);
            check("exclusive chosen", &|group| choose::exclusive_scan(group, length), &exclusive);
        }
    }
}

/// Numbers whose sum depends on the order, and an operator that does not even commute where it cannot compare.
#[test]
fn float_results_are_bitwise_equal_on_all_members() {
    use crate::operators::{Kind, Operator, combine};
    let add = combine(Operator::Sum, Kind::F64).expect("a sum");
    let value = |member: usize, at: usize| {
        1.0 / (7 + at + 13 * member) as f64 * if at.is_multiple_of(3) { 1e10 } else { 1e-7 }
    };
    let data = |member: usize| (0..100).flat_map(|at| value(member, at).to_ne_bytes()).collect::<Vec<u8>>();
    let ways: [&dyn Fn(Group) -> Plan; 4] = [
        &|group| allreduce::straight(group, 800),
        &|group| allreduce::doubling(group, 800),
        &|group| allreduce::halving(group, 800, 8, Order::Any),
        &|group| allreduce::ring(group, 800, 8),
    ];
    for size in sizes() {
        for way in ways {
            let plans = plans_of(size, way);
            let runs: Vec<Vec<Vec<u8>>> = (0..4)
                .map(|seed| {
                    let given = (0..size).map(|member| (Vec::new(), data(member))).collect();
                    let ended = run(&plans, given, add, None, seed);
                    ended.into_iter().map(|ended| ended.expect("nobody dies").data).collect()
                })
                .collect();
            assert!(runs.iter().flatten().all(|data| *data == runs[0][0]), "{size}");
        }
    }
}
