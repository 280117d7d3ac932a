//! Every member's `Mine` in the root's `Data`.

use super::{Area, Group, Plan, Span, data, mine, scratch};

/// From each to the root. `parts` has the destination of each member's part; only the root needs it. `own` is the
/// length of this member's.
pub fn straight(group: Group, root: usize, parts: &[Span], own: usize) -> Plan {
    let mut plan = Plan::new();
    if group.own != root {
        plan.send(root, mine(0, own));
        return plan;
    }
    plan.copy(parts[root].of(Area::Data), mine(0, own));
    group.others().for_each(|other| plan.receive(other, parts[other].of(Area::Data)));
    plan
}

/// By a tree, for parts of `each` bytes, in the order of members: fewer messages for the root, more bytes in all.
pub fn binomial(group: Group, root: usize, each: usize) -> Plan {
    let (mut plan, turned) = (Plan::new(), group.turned_to(root));
    let count = |place: usize, reach: usize| (place + reach).min(group.size) - place;
    let here = |place: usize, parts: usize| match turned.own {
        0 if root == 0 => data(place * each, parts * each),
        _ => scratch((place - turned.own) * each, parts * each),
    };
    plan.copy(here(turned.own, 1), mine(0, each));
    // The nearest first: they have the least to collect.
    for (child, reach) in turned.children().rev() {
        plan.receive(turned.member(child), here(child, count(child, reach)));
    }
    if turned.own != 0 {
        plan.send(turned.member(turned.parent()), here(turned.own, count(turned.own, turned.reach())));
    } else if root != 0 {
        let behind = group.size - root;
        plan.copy(data(root * each, behind * each), scratch(0, behind * each));
        plan.copy(data(0, root * each), scratch(behind * each, root * each));
    }
    plan
}
