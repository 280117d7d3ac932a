//! The contributions of those up to each member combined, in the order of members. They lie in `Data`, and so does the
//! result. An exclusive scan leaves a member's own out; the first member keeps what it has then.

use super::{Group, Plan, data, scratch};

/// In log2 n rounds: what comes from another twice as far away each time.
pub fn doubling(group: Group, length: usize) -> Plan {
    let mut plan = Plan::new();
    double(&mut plan, group, 0, length);
    plan
}

/// The same, exclusive: first each passes its own on to the next.
pub fn exclusive_doubling(group: Group, length: usize) -> Plan {
    let mut plan = Plan::new();
    let own = data(0, length);
    if group.own + 1 < group.size {
        plan.send(group.own + 1, own);
    }
    if group.own > 0 {
        plan.receive(group.own - 1, own);
        let rest = Group { own: group.own - 1, size: group.size - 1 };
        double(&mut plan, rest, 1, length);
    }
    plan
}

/// Among the members from `first` on.
fn double(plan: &mut Plan, group: Group, first: usize, length: usize) {
    let (mut have, mut come) = (data(0, length), scratch(0, length));
    let mut far = 1;
    while far < group.size {
        if group.own + far < group.size {
            plan.send(first + group.own + far, have);
        }
        if group.own >= far {
            plan.receive(first + group.own - far, come);
            std::mem::swap(&mut have, &mut come);
            plan.combine(have, come);
        }
        far *= 2;
    }
    plan.copy(data(0, length), have);
}

/// Each member sends to the next: n rounds, and the fewest bytes.
pub fn chained(group: Group, length: usize) -> Plan {
    let mut plan = Plan::new();
    let (own, come) = (data(0, length), scratch(0, length));
    if group.own > 0 {
        plan.receive(group.own - 1, come);
        plan.combine(come, own);
        plan.copy(own, come);
    }
    if group.own + 1 < group.size {
        plan.send(group.own + 1, own);
    }
    plan
}

/// The same, exclusive.
pub fn exclusive_chained(group: Group, length: usize) -> Plan {
    let mut plan = Plan::new();
    let (own, come, sum) = (data(0, length), scratch(0, length), scratch(length, length));
    if group.own == 0 {
        if group.size > 1 {
            plan.send(1, own);
        }
        return plan;
    }
    plan.receive(group.own - 1, come);
    if group.own + 1 < group.size {
        plan.copy(sum, come);
        plan.combine(sum, own);
        plan.send(group.own + 1, sum);
    }
    plan.copy(own, come);
    plan
}
