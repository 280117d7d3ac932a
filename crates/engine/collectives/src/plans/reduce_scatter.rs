//! The contributions of all combined, of which each member gets its part. They lie in `Mine`; the part at the beginning
//! of `Data`. `parts` has the place in `Mine` of each member's part.

use super::{Area, Group, Order, Plan, Span, data, scratch};

/// All is sent, and then received and combined in the order of members.
pub fn straight(group: Group, parts: &[Span]) -> Plan {
    let mut plan = Plan::new();
    group.others().for_each(|other| plan.send(other, parts[other].of(Area::Mine)));
    let own = parts[group.own];
    let (sum, come) = (data(0, own.length), scratch(0, own.length));
    for member in 0..group.size {
        match (member, member == group.own) {
            (0, true) => plan.copy(sum, own.of(Area::Mine)),
            (0, false) => plan.receive(member, sum),
            (_, true) => plan.combine(sum, own.of(Area::Mine)),
            (_, false) => {
                plan.receive(member, come);
                plan.combine(sum, come);
            }
        }
    }
    plan
}

/// In n - 1 rounds, in which each sends to one and receives from one. To keep the order all is kept until the end.
pub fn pairwise(group: Group, parts: &[Span], order: Order) -> Plan {
    let mut plan = Plan::new();
    let own = parts[group.own];
    let sum = data(0, own.length);
    let kept = |member: usize| scratch(member * own.length, own.length);
    if order != Order::Members {
        plan.copy(sum, own.of(Area::Mine));
    }
    for places in 1..group.size {
        let from = group.before(places);
        plan.send(group.after(places), parts[group.after(places)].of(Area::Mine));
        if order != Order::Members {
            plan.receive(from, kept(0));
            plan.combine(sum, kept(0));
        } else {
            plan.receive(from, kept(from));
        }
    }
    if order == Order::Members {
        for member in 0..group.size {
            let one = if member == group.own { own.of(Area::Mine) } else { kept(member) };
            if member == 0 { plan.copy(sum, one) } else { plan.combine(sum, one) }
        }
    }
    plan
}

/// In a ring: each member adds its contribution to a part and passes it on, until the part has come to its owner. For
/// operators that commute.
pub fn ring(group: Group, parts: &[Span]) -> Plan {
    let mut plan = Plan::new();
    let of = |places_before: usize| parts[group.before(places_before)].of(Area::Mine);
    if group.size == 1 {
        plan.copy(data(0, parts[0].length), of(0));
        return plan;
    }
    let longest = parts.iter().map(|part| part.length).max().unwrap_or(0);
    plan.send(group.after(1), of(1));
    for round in 2..=group.size {
        let own = of(round);
        // What was sent last may still be under way.
        let place = scratch(round % 2 * longest, own.length);
        let sum = if round == group.size { data(0, own.length) } else { place };
        plan.receive(group.before(1), sum);
        plan.combine(sum, own);
        if round < group.size {
            plan.send(group.after(1), sum);
        }
    }
    plan
}
