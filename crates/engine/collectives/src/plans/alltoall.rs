//! Sends each member its part of every member's `Mine`.
//!
//! `give` has the place in `Mine` of the part for each member, and `get` the destination in `Data` of the part from
//! each member. Empty parts need no message, because both sides know the length.

use super::{Area, Group, Plan, Span, data, mine, scratch};

fn begin(group: Group, give: &[Span], get: &[Span]) -> Plan {
    let mut plan = Plan::new();
    plan.copy(get[group.own].of(Area::Data), give[group.own].of(Area::Mine));
    plan
}

fn send(plan: &mut Plan, to: usize, give: &[Span]) {
    if give[to].length > 0 {
        plan.send(to, give[to].of(Area::Mine));
    }
}

fn receive(plan: &mut Plan, from: usize, get: &[Span]) {
    if get[from].length > 0 {
        plan.receive(from, get[from].of(Area::Data));
    }
}

/// All is sent, and then received.
pub fn straight(group: Group, give: &[Span], get: &[Span]) -> Plan {
    let mut plan = begin(group, give, get);
    group.others().for_each(|other| send(&mut plan, other, give));
    group.others().for_each(|other| receive(&mut plan, other, get));
    plan
}

/// In n - 1 rounds, in which each member sends to one and receives from one: a member has at most `under_way` parts
/// under way.
pub fn pairwise(group: Group, give: &[Span], get: &[Span], under_way: usize) -> Plan {
    let mut plan = begin(group, give, get);
    for places in 1..group.size + under_way - 1 {
        if places < group.size {
            send(&mut plan, group.after(places), give);
        }
        if places >= under_way {
            receive(&mut plan, group.before(places + 1 - under_way), get);
        }
    }
    plan
}

/// In log2 n rounds, rounded up, for consecutive parts of `each` bytes: each part travels by the bits of its distance
/// (Bruck and others, 1997).
pub fn bruck(group: Group, each: usize) -> Plan {
    let mut plan = Plan::new();
    // The parts by distance; behind them what is sent in a round, and what comes.
    let slot = |distance: usize| scratch(distance * each, each);
    let half = group.size.div_ceil(2);
    let packed = |at: usize, parts: usize| scratch((group.size + at) * each, parts * each);
    for distance in 0..group.size {
        plan.copy(slot(distance), mine(group.after(distance) * each, each));
    }
    let mut far = 1;
    while far < group.size {
        let moved: Vec<usize> = (0..group.size).filter(|distance| distance & far != 0).collect();
        for (at, &distance) in moved.iter().enumerate() {
            plan.copy(packed(at, 1), slot(distance));
        }
        plan.send(group.after(far), packed(0, moved.len()));
        plan.receive(group.before(far), packed(half, moved.len()));
        for (at, &distance) in moved.iter().enumerate() {
            plan.copy(slot(distance), packed(half + at, 1));
        }
        far *= 2;
    }
    for distance in 0..group.size {
        plan.copy(data(group.before(distance) * each, each), slot(distance));
    }
    plan
}
