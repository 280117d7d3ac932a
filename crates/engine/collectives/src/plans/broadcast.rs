//! The root's data for all. It lies in `Data`, at the root and everywhere.

use super::{Group, Plan, Span, data, shares};

/// From the root to each.
pub fn straight(group: Group, root: usize, length: usize) -> Plan {
    let mut plan = Plan::new();
    match group.own == root {
        true => group.others().for_each(|other| plan.send(other, data(0, length))),
        false => plan.receive(root, data(0, length)),
    }
    plan
}

/// By a tree: members with the data pass it on, in log2 n rounds.
pub fn binomial(group: Group, root: usize, length: usize) -> Plan {
    let (mut plan, turned) = (Plan::new(), group.turned_to(root));
    if turned.own != 0 {
        plan.receive(turned.member(turned.parent()), data(0, length));
    }
    for (child, _) in turned.children() {
        plan.send(turned.member(child), data(0, length));
    }
    plan
}

/// Shares it out by a tree, and then all pass all shares around: each member sends twice the data, however many there are.
pub fn scattered(group: Group, root: usize, length: usize) -> Plan {
    let (mut plan, turned) = (Plan::new(), group.turned_to(root));
    let shares = shares(length, 1, group.size);
    let below = |place: usize, reach: usize| {
        let (first, last) = (shares[place], shares[(place + reach).min(group.size) - 1]);
        data(first.at, last.end() - first.at)
    };
    if turned.own != 0 {
        plan.receive(turned.member(turned.parent()), below(turned.own, turned.reach()));
    }
    for (child, reach) in turned.children() {
        plan.send(turned.member(child), below(child, reach));
    }
    let share = |places_before: usize| {
        let Span { at, length } = shares[(turned.own + group.size - places_before) % group.size];
        data(at, length)
    };
    for round in 1..group.size {
        plan.send(group.after(1), share(round - 1));
        plan.receive(group.before(1), share(round));
    }
    plan
}

/// In segments, from each member to the next: all are busy at once when there are more segments than members.
pub fn pipelined(group: Group, root: usize, length: usize, segment: usize) -> Plan {
    let (mut plan, turned) = (Plan::new(), group.turned_to(root));
    for at in (0..length.max(1)).step_by(segment.max(1)) {
        let piece = data(at, segment.max(1).min(length - at));
        if turned.own > 0 {
            plan.receive(group.before(1), piece);
        }
        if turned.own + 1 < group.size {
            plan.send(group.after(1), piece);
        }
    }
    plan
}
