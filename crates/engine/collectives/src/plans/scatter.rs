//! To each member its part of the root's `Mine`. It lies at the beginning of `Data`.

use super::{Area, Group, Plan, Span, data, mine, scratch};

/// From the root to each. `parts` are the parts of all members, in order; only the root needs them. `own` is the length
/// of this member's.
pub fn straight(group: Group, root: usize, parts: &[Span], own: usize) -> Plan {
    let mut plan = Plan::new();
    if group.own != root {
        plan.receive(root, data(0, own));
        return plan;
    }
    group.others().for_each(|other| plan.send(other, parts[other].of(Area::Mine)));
    plan.copy(data(0, own), parts[root].of(Area::Mine));
    plan
}

/// By a tree, for parts of `each` bytes: fewer messages for the root, more bytes in all.
pub fn binomial(group: Group, root: usize, each: usize) -> Plan {
    let (mut plan, turned) = (Plan::new(), group.turned_to(root));
    let count = |place: usize, reach: usize| (place + reach).min(group.size) - place;
    // The parts for this member and those below it, in the order of places.
    let here = |place: usize, parts: usize| match turned.own {
        0 if root == 0 => mine(place * each, parts * each),
        _ => scratch((place - turned.own) * each, parts * each),
    };
    if turned.own != 0 {
        plan.receive(turned.member(turned.parent()), here(turned.own, count(turned.own, turned.reach())));
    } else if root != 0 {
        // Those behind the root first.
        let behind = group.size - root;
        plan.copy(scratch(0, behind * each), mine(root * each, behind * each));
        plan.copy(scratch(behind * each, root * each), mine(0, root * each));
    }
    for (child, reach) in turned.children() {
        plan.send(turned.member(child), here(child, count(child, reach)));
    }
    plan.copy(data(0, each), here(turned.own, 1));
    plan
}
