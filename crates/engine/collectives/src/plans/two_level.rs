//! Operations of members on several hosts: inside each host as on one, and between hosts as little as can be.
//!
//! One member of each host, its leader, speaks for it to the others; of long data each of several speaks for a share.
//! Results have the same bits as on one host. Either any grouping is allowed ([`Order::Exact`]), or the members of each
//! host are consecutive, and combine from host to host in their order.

use super::hosts::{Hosts, group_among};
use super::{Area, Group, Order, Piece, Plan, Span, barrier, choose, data, scratch, shares};
use crate::table::LONGEST_IN_SEGMENT;

/// The bytes of a broadcast that are under way at a time: while a host distributes one segment inside, the next segment
/// comes.
const SEGMENT: usize = 128 << 10;

/// Waits until all have come: the members of a host wait for their leader, and the leaders wait for each other.
pub fn meet(own: usize, hosts: &Hosts) -> Plan {
    let (leader, rest, nothing) = (hosts.home(own)[0], &hosts.home(own)[1..], data(0, 0));
    let mut plan = Plan::new();
    if own != leader {
        plan.send(leader, nothing);
        plan.receive(leader, nothing);
        return plan;
    }
    rest.iter().for_each(|&member| plan.receive(member, nothing));
    let mut plan = plan.then(between(&hosts.leaders(0), own, 0, barrier::dissemination));
    rest.iter().for_each(|&member| plan.send(member, nothing));
    plan
}

/// The root's data for all.
pub fn broadcast(own: usize, hosts: &Hosts, root: usize, length: usize) -> Plan {
    let (leaders, home) = (hosts.leaders_with(root), hosts.home(own));
    let leader = leaders[hosts.host_of(own)];
    let first = home.iter().position(|&member| member == leader).unwrap_or(0);
    let root_host = hosts.host_of(root);
    let mut plan = Plan::new();
    for at in (0..length.max(1)).step_by(SEGMENT) {
        let length = SEGMENT.min(length - at);
        plan = plan
            .then(between(&leaders, own, at, |group| choose::broadcast(group, root_host, length)))
            .then(between(home, own, at, |group| choose::broadcast(group, first, length)));
    }
    plan
}

/// Every member's data for all: the leaders exchange what their hosts have.
pub fn allgather(own: usize, hosts: &Hosts, parts: &[Span]) -> Plan {
    let (home, host) = (hosts.home(own), hosts.host_of(own));
    let there: Vec<Span> = home.iter().map(|&member| parts[member]).collect();
    let mut plan = between(home, own, 0, |group| choose::allgather(group, &there));
    let leaders = hosts.leaders(0);
    if let Some(group) = group_among(&leaders, own) {
        for other in group.others() {
            runs(hosts.members(host), parts).for_each(|run| plan.send(leaders[other], run));
        }
        for other in group.others() {
            runs(hosts.members(other), parts).for_each(|run| plan.receive(leaders[other], run));
        }
    }
    let away: Vec<usize> = (0..parts.len()).filter(|&member| hosts.host_of(member) != host).collect();
    for run in runs(&away, parts) {
        plan = plan.then(between(home, own, run.at, |group| choose::broadcast(group, 0, run.length)));
    }
    plan
}

/// The contributions of all combined at the root.
pub fn reduce(own: usize, hosts: &Hosts, root: usize, (length, unit): (usize, usize), order: Order) -> Plan {
    let shared = Shared::new(own, hosts, (length, unit), order);
    let (mut plan, sums) = shared.combine();
    // The members that have a share of the common data.
    let host = if shared.is_exact() { hosts.host_of(root) } else { hosts.count() - 1 };
    if let Some((share, sum)) = sums {
        let owners = shared.owners(share);
        plan = match shared.is_exact() {
            true => plan.then(between(&owners, own, shared.shares[share].at, |group| {
                choose::reduce(group, host, shared.shares[share].length, unit, Order::Any)
            })),
            false => plan,
        };
        if owners[host] == own && own != root {
            plan.send(root, sum);
        } else if own == root && owners[host] == own {
            plan.copy(shared.shares[share].of(Area::Data), sum);
        }
    }
    if own == root {
        for (share, span) in shared.shares.iter().enumerate() {
            let owner = shared.owners(share)[host];
            if owner != root {
                plan.receive(owner, span.of(Area::Data));
            }
        }
    }
    plan
}

/// The same for all.
pub fn allreduce(own: usize, hosts: &Hosts, (length, unit): (usize, usize), order: Order) -> Plan {
    let shared = Shared::new(own, hosts, (length, unit), order);
    let (mut plan, sums) = shared.combine();
    if let Some((share, sum)) = sums {
        let (owners, span) = (shared.owners(share), shared.shares[share]);
        let last = hosts.count() - 1;
        if shared.is_exact() {
            plan = plan.then(between(&owners, own, span.at, |group| {
                choose::allreduce(group, span.length, unit, Order::Any)
            }));
        } else {
            if owners[last] == own {
                plan.copy(span.of(Area::Data), sum);
            }
            plan = plan
                .then(between(&owners, own, span.at, |group| choose::broadcast(group, last, span.length)));
        }
        shared.others().for_each(|member| plan.send(member, span.of(Area::Data)));
    }
    let host = hosts.host_of(own);
    for (share, span) in shared.shares.iter().enumerate() {
        let owner = shared.owners(share)[host];
        if owner != own {
            plan.receive(owner, span.of(Area::Data));
        }
    }
    plan
}

/// A reduction's data, shared out among as many members of each host as all hosts have.
struct Shared<'h> {
    own: usize,
    hosts: &'h Hosts,
    shares: Vec<Span>,
    order: Order,
}

impl Shared<'_> {
    fn new(own: usize, hosts: &Hosts, (length, unit): (usize, usize), order: Order) -> Shared<'_> {
        let parts = if length > LONGEST_IN_SEGMENT { hosts.fewest() } else { 1 };
        let parts = parts.clamp(1, (length / unit.max(1)).max(1));
        Shared { own, hosts, shares: shares(length, unit, parts), order }
    }

    fn is_exact(&self) -> bool {
        self.order == Order::Exact
    }

    /// The member of each host that combines a share.
    fn owners(&self, share: usize) -> Vec<usize> {
        self.hosts.leaders(share)
    }

    /// The others of this host.
    fn others(&self) -> impl Iterator<Item = usize> {
        self.hosts.home(self.own).iter().copied().filter(|&member| member != self.own)
    }

    /// Each host combines what its members have; if grouping matters, behind what the hosts before have. The share that this member
    /// combines, and where its sum lies: of the host, or of all up to it.
    fn combine(&self) -> (Plan, Option<(usize, Piece)>) {
        let (home, host) = (self.hosts.home(self.own), self.hosts.host_of(self.own));
        let mut plan = Plan::new();
        for (share, &owner) in home.iter().enumerate().take(self.shares.len()) {
            if owner != self.own {
                plan.send(owner, self.shares[share].of(Area::Data));
            }
        }
        let place = home.iter().position(|&member| member == self.own);
        let Some(share) = place.filter(|&place| place < self.shares.len()) else { return (plan, None) };
        let (owners, own) = (self.owners(share), self.shares[share].of(Area::Data));
        let slot = |place: usize| match home[place] == self.own {
            true => own,
            false => scratch(place * own.length, own.length),
        };
        for (place, &member) in home.iter().enumerate().filter(|(_, member)| **member != self.own) {
            plan.receive(member, slot(place));
        }
        let before = (!self.is_exact() && host > 0).then(|| scratch(home.len() * own.length, own.length));
        if let Some(before) = before {
            plan.receive(owners[host - 1], before);
        }
        let sum = before.unwrap_or(slot(0));
        (usize::from(before.is_none())..home.len()).for_each(|place| plan.combine(sum, slot(place)));
        if self.is_exact() {
            plan.copy(own, sum);
            return (plan, Some((share, own)));
        }
        if let Some(&next) = owners.get(host + 1) {
            plan.send(next, sum);
        }
        (plan, Some((share, sum)))
    }
}

/// The steps of one member in a plan of some members, whose data begins at this byte. The steps are empty if it is not
/// one of these members.
fn between(members: &[usize], own: usize, at: usize, plan: impl FnOnce(Group) -> Plan) -> Plan {
    group_among(members, own).map_or_else(Plan::new, |group| plan(group).among(members, at))
}

/// The parts of some members, in as few pieces as possible: adjacent parts are one piece.
fn runs<'p>(members: &'p [usize], parts: &'p [Span]) -> impl Iterator<Item = Piece> + 'p {
    let mut members = members.iter().map(|&member| parts[member]).peekable();
    std::iter::from_fn(move || {
        let mut run = members.next()?;
        while let Some(next) = members.next_if(|next| next.at == run.end()) {
            run.length += next.length;
        }
        Some(run.of(Area::Data))
    })
}
