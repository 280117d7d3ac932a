//! Every member's `Mine` in the `Data` of all. `parts` has the destination of each member's part; all members know the
//! lengths.

use super::{Area, Group, Plan, Span, data, mine, scratch};

fn begin(group: Group, parts: &[Span]) -> Plan {
    let mut plan = Plan::new();
    plan.copy(parts[group.own].of(Area::Data), mine(0, parts[group.own].length));
    plan
}

/// From each to each.
pub fn straight(group: Group, parts: &[Span]) -> Plan {
    let mut plan = begin(group, parts);
    let own = mine(0, parts[group.own].length);
    group.others().for_each(|other| plan.send(other, own));
    group.others().for_each(|other| plan.receive(other, parts[other].of(Area::Data)));
    plan
}

/// Around: each passes on to the next what it got last.
pub fn ring(group: Group, parts: &[Span]) -> Plan {
    let mut plan = begin(group, parts);
    for round in 1..group.size {
        plan.send(group.after(1), parts[group.before(round - 1)].of(Area::Data));
        plan.receive(group.before(1), parts[group.before(round)].of(Area::Data));
    }
    plan
}

/// In log2 n rounds, rounded up; everything is copied once more at the end (Bruck and others, 1997).
pub fn bruck(group: Group, parts: &[Span]) -> Plan {
    let mut plan = Plan::new();
    // In scratch the parts lie in the order in which they come: the own, the next member's, and so on.
    let starts: Vec<usize> = (0..=group.size)
        .scan(0, |sum, place| {
            let start = *sum;
            *sum += parts[group.after(place)].length;
            Some(start)
        })
        .collect();
    plan.copy(scratch(0, parts[group.own].length), mine(0, parts[group.own].length));
    let mut have = 1;
    while have < group.size {
        let more = have.min(group.size - have);
        plan.send(group.before(have), scratch(0, starts[more]));
        plan.receive(group.after(have), scratch(starts[have], starts[have + more] - starts[have]));
        have += more;
    }
    for (place, &start) in starts[..group.size].iter().enumerate() {
        let part = parts[group.after(place)];
        plan.copy(part.of(Area::Data), scratch(start, part.length));
    }
    plan
}

/// In log2 n rounds and without further copies, if the number of members is a power of two and the parts are
/// consecutive; otherwise as [`bruck`].
pub fn doubling(group: Group, parts: &[Span]) -> Plan {
    let is_row = parts.windows(2).all(|pair| pair[0].end() == pair[1].at);
    if !group.size.is_power_of_two() || !is_row {
        return bruck(group, parts);
    }
    let mut plan = begin(group, parts);
    let mut have = 1;
    while have < group.size {
        let (partner, first) = (group.own ^ have, group.own & !(have - 1));
        let block = |first: usize| {
            let start = parts[first].at;
            data(start, parts[first + have - 1].end() - start)
        };
        plan.send(partner, block(first));
        plan.receive(partner, block(first ^ have));
        have *= 2;
    }
    plan
}
