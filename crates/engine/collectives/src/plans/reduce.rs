//! The contributions of all combined at the root. They lie in `Data`, which is scratch afterwards everywhere else.

use super::allreduce::{combine_share, halve};
use super::{Area, Group, Order, Plan, data, scratch, shares};

/// Each sends to the root, which combines: its own first, or with [`Order::Members`] in their order.
pub fn straight(group: Group, root: usize, length: usize, order: Order) -> Plan {
    let mut plan = Plan::new();
    let (own, come) = (data(0, length), scratch(0, length));
    if group.own != root {
        plan.send(root, own);
        return plan;
    }
    if order != Order::Members || root == 0 {
        for other in (0..group.size).filter(|other| *other != root) {
            plan.receive(other, come);
            plan.combine(own, come);
        }
        return plan;
    }
    let sum = scratch(length, length);
    plan.receive(0, sum);
    for member in 1..group.size {
        if member == root {
            plan.combine(sum, own);
        } else {
            plan.receive(member, come);
            plan.combine(sum, come);
        }
    }
    plan.copy(own, sum);
    plan
}

/// By a tree, in log2 n rounds.
pub fn binomial(group: Group, root: usize, length: usize, order: Order) -> Plan {
    let (mut plan, own) = (Plan::new(), data(0, length));
    // A tree around the end would not keep the order: the first member combines then, and tells the root.
    let top = if order == Order::Members { 0 } else { root };
    let turned = group.turned_to(top);
    for (child, _) in turned.children().rev() {
        plan.receive(turned.member(child), scratch(0, length));
        plan.combine(own, scratch(0, length));
    }
    if turned.own != 0 {
        plan.send(turned.member(turned.parent()), own);
    }
    if top != root && group.own == top {
        plan.send(root, own);
    } else if top != root && group.own == root {
        plan.receive(top, own);
    }
    plan
}

/// Each combines a share in the order of members, and the shares go to the root.
pub fn shared_out(group: Group, root: usize, length: usize, unit: usize) -> Plan {
    let (mut plan, shares) = (Plan::new(), shares(length, unit, group.size));
    combine_share(&mut plan, group, &shares);
    if group.own != root {
        plan.send(root, shares[group.own].of(Area::Data));
    } else {
        group.others().for_each(|other| plan.receive(other, shares[other].of(Area::Data)));
    }
    plan
}

/// The same in log2 n rounds, by halves (Rabenseifner, 2004).
pub fn halving(group: Group, root: usize, length: usize, unit: usize, order: Order) -> Plan {
    let mut plan = Plan::new();
    let halves = halve(&mut plan, group, length, unit, order);
    for index in 0..halves.takers {
        let (member, share) = (halves.member(index), halves.share(index).of(Area::Data));
        if group.own == member && member != root {
            plan.send(root, share);
        } else if group.own == root && member != root {
            plan.receive(member, share);
        }
    }
    plan
}
