//! The contributions of all combined, for all, bit for bit the same. They lie in `Data`.

use super::{Area, Group, Order, Plan, Span, broadcast, data, reduce, scratch, shares};

/// Each sends to the first, which combines in the order of members and sends to each.
pub fn straight(group: Group, length: usize) -> Plan {
    reduce::straight(group, 0, length, Order::Members).then(broadcast::straight(group, 0, length))
}

/// Each member combines a share in the order of members, and then sends it to all. This takes as many bytes as
/// [`halving`], in more messages, and keeps the order of [`straight`].
pub fn shared_out(group: Group, length: usize, unit: usize) -> Plan {
    let (mut plan, shares) = (Plan::new(), shares(length, unit, group.size));
    let own = shares[group.own].of(Area::Data);
    combine_share(&mut plan, group, &shares);
    group.others().for_each(|other| plan.send(other, own));
    group.others().for_each(|other| plan.receive(other, shares[other].of(Area::Data)));
    plan
}

/// Each gets the others' contributions to its share, and combines them with its own in the order of members.
pub(super) fn combine_share(plan: &mut Plan, group: Group, shares: &[Span]) {
    group.others().for_each(|other| plan.send(other, shares[other].of(Area::Data)));
    let own = shares[group.own].of(Area::Data);
    let come = scratch(0, own.length);
    // The first member's own data is at the destination of the result.
    let sum = if group.own == 0 { own } else { scratch(own.length, own.length) };
    for member in 0..group.size {
        match (member, member == group.own) {
            (0, true) => {}
            (0, false) => plan.receive(member, sum),
            (_, true) => plan.combine(sum, own),
            (_, false) => {
                plan.receive(member, come);
                plan.combine(sum, come);
            }
        }
    }
    plan.copy(own, sum);
}

/// As many members as the largest power of two: of the first ones, two by two, one stands aside, and the other acts for both.
#[derive(Clone, Copy)]
struct Folded {
    group: Group,
    /// How many act.
    takers: usize,
}

impl Folded {
    fn new(group: Group) -> Folded {
        Folded { group, takers: (group.size + 1).next_power_of_two() / 2 }
    }

    fn aside(self) -> usize {
        self.group.size - self.takers
    }

    /// This member's number among the active members.
    fn index(self) -> Option<usize> {
        let (own, aside) = (self.group.own, self.aside());
        match own < 2 * aside {
            true => own.is_multiple_of(2).then_some(own / 2),
            false => Some(own - aside),
        }
    }

    fn member(self, index: usize) -> usize {
        if index < self.aside() { 2 * index } else { index + self.aside() }
    }

    /// An inactive member sends its data to the member before it.
    fn fold(self, plan: &mut Plan, length: usize) {
        let own = self.group.own;
        if own >= 2 * self.aside() {
        } else if own.is_multiple_of(2) {
            plan.receive(own + 1, scratch(0, length));
            plan.combine(data(0, length), scratch(0, length));
        } else {
            plan.send(own - 1, data(0, length));
        }
    }

    /// And gets the result.
    fn unfold(self, plan: &mut Plan, length: usize) {
        let own = self.group.own;
        if own >= 2 * self.aside() {
        } else if own.is_multiple_of(2) {
            plan.send(own + 1, data(0, length));
        } else {
            plan.receive(own - 1, data(0, length));
        }
    }
}

/// In log2 n rounds two members exchange all they have, and both combine it in the order of members.
pub fn doubling(group: Group, length: usize) -> Plan {
    let (mut plan, folded) = (Plan::new(), Folded::new(group));
    folded.fold(&mut plan, length);
    if let Some(own) = folded.index() {
        // The result of a round lies where its first operand lay.
        let (mut have, mut come) = (data(0, length), scratch(0, length));
        let mut far = 1;
        while far < folded.takers {
            let partner = folded.member(own ^ far);
            plan.send(partner, have);
            plan.receive(partner, come);
            if own & far != 0 {
                std::mem::swap(&mut have, &mut come);
            }
            plan.combine(have, come);
            far *= 2;
        }
        plan.copy(data(0, length), have);
    }
    folded.unfold(&mut plan, length);
    plan
}

/// The share of each member after [`halve`].
pub(super) struct Halves {
    folded: Folded,
    pub(super) takers: usize,
    length: usize,
    unit: usize,
}

impl Halves {
    pub(super) fn member(&self, index: usize) -> usize {
        self.folded.member(index)
    }

    fn half(&self, whole: Span, upper: bool) -> Span {
        let lower = whole.length / 2 / self.unit * self.unit;
        match upper {
            false => Span { at: whole.at, length: lower },
            true => Span { at: whole.at + lower, length: whole.length - lower },
        }
    }

    /// The span of member `index` after this number of rounds.
    fn after(&self, index: usize, rounds: u32) -> Span {
        let whole = Span { at: 0, length: self.length };
        (0..rounds).fold(whole, |whole, round| self.half(whole, index >> round & 1 != 0))
    }

    fn rounds(&self) -> u32 {
        self.takers.trailing_zeros()
    }

    pub(super) fn share(&self, index: usize) -> Span {
        self.after(index, self.rounds())
    }
}

/// In each of log2 n rounds two members divide what both are responsible for, and each gets the other's contribution to its
/// half. With members near each other first, what is combined are always members in a row.
pub(super) fn halve(plan: &mut Plan, group: Group, length: usize, unit: usize, order: Order) -> Halves {
    let folded = Folded::new(group);
    let halves = Halves { folded, takers: folded.takers, length, unit: unit.max(1) };
    folded.fold(plan, length);
    let Some(own) = folded.index() else { return halves };
    for round in 0..halves.rounds() {
        let partner = own ^ (1 << round);
        let (keep, give) = (halves.after(own, round + 1), halves.after(partner, round + 1));
        let (keep, come) = (keep.of(Area::Data), scratch(0, keep.length));
        plan.send(folded.member(partner), give.of(Area::Data));
        plan.receive(folded.member(partner), come);
        if partner < own && order == Order::Members {
            plan.combine(come, keep);
            plan.copy(keep, come);
        } else {
            plan.combine(keep, come);
        }
    }
    halves
}

/// Each combines a share, and then all exchange their shares: each sends about twice the data, however many there are
/// (Rabenseifner, 2004).
pub fn halving(group: Group, length: usize, unit: usize, order: Order) -> Plan {
    let mut plan = Plan::new();
    let halves = halve(&mut plan, group, length, unit, order);
    if let Some(own) = halves.folded.index() {
        for round in (0..halves.rounds()).rev() {
            let partner = own ^ (1 << round);
            plan.send(halves.member(partner), halves.after(own, round + 1).of(Area::Data));
            plan.receive(halves.member(partner), halves.after(partner, round + 1).of(Area::Data));
        }
    }
    halves.folded.unfold(&mut plan, length);
    plan
}

/// The same around a ring: in more rounds, but each speaks with its neighbours only. The order is that of members from
/// another one on for each share: for operators that commute.
pub fn ring(group: Group, length: usize, unit: usize) -> Plan {
    let mut plan = Plan::new();
    let shares = shares(length, unit, group.size);
    let share = |places_before: usize| shares[group.before(places_before)].of(Area::Data);
    for round in 1..group.size {
        let (keep, come) = (share(round), scratch(0, share(round).length));
        plan.send(group.after(1), share(round - 1));
        plan.receive(group.before(1), come);
        plan.combine(keep, come);
    }
    // This member has the whole of the share of the next one.
    for round in 1..group.size {
        plan.send(group.after(1), share(group.size + round - 2));
        plan.receive(group.before(1), share(round - 1));
    }
    plan
}
