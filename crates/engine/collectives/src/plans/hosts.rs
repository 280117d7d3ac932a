//! Which members live on one host: between those a message costs little, between hosts a hundred times as much.

use super::ways::ShortAlgorithm;
use super::{Area, Group, Piece, Plan, Step};
use std::collections::HashMap;

/// The members of each host. All members know the same, each from the hosts of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The members of each host in order; the hosts are in the order of their first members.
    members: Vec<Vec<usize>>,
    /// The place of each member's host there.
    host_of: Vec<usize>,
}

impl Hosts {
    /// The hosts of members: each host is any unique number. `None` where all live on one.
    pub fn new(hosts: impl IntoIterator<Item = u32>) -> Option<Hosts> {
        let (mut places, mut members, mut host_of) = (HashMap::new(), Vec::<Vec<usize>>::new(), Vec::new());
        for (member, number) in hosts.into_iter().enumerate() {
            let at = *places.entry(number).or_insert(members.len());
            if at == members.len() {
                members.push(Vec::new());
            }
            members[at].push(member);
            host_of.push(at);
        }
        (members.len() > 1).then_some(Hosts { members, host_of })
    }

    /// Whether some host has several: then some messages cost little, and those between hosts can be fewer.
    pub(crate) fn are_shared(&self) -> bool {
        self.members.len() < self.host_of.len()
    }

    /// How many hosts there are.
    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    /// The place of a member's host.
    pub(crate) fn host_of(&self, member: usize) -> usize {
        self.host_of[member]
    }

    /// The members of the host at that place.
    pub(super) fn members(&self, host: usize) -> &[usize] {
        &self.members[host]
    }

    /// The members on this member's host, including itself.
    pub(super) fn home(&self, own: usize) -> &[usize] {
        self.members(self.host_of(own))
    }

    /// One member of each host: the member this number of places after the first, with wrap-around.
    pub(super) fn leaders(&self, place: usize) -> Vec<usize> {
        self.members.iter().map(|home| home[place % home.len()]).collect()
    }

    /// The first member of each host, and this member for its own host.
    pub(super) fn leaders_with(&self, member: usize) -> Vec<usize> {
        let mut leaders = self.leaders(0);
        leaders[self.host_of(member)] = member;
        leaders
    }

    /// The fewest members that a host has.
    pub(super) fn fewest(&self) -> usize {
        self.members.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Whether the members of each host follow one another.
    pub fn are_rows(&self) -> bool {
        self.host_of.is_sorted()
    }
}

/// A group, and where its members live if they live on several hosts.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'h> {
    /// The group.
    pub group: Group,
    /// `None`: all live on one.
    pub hosts: Option<&'h Hosts>,
    /// The algorithm for short data of all between the hosts, if the members have tried it; otherwise their number
    /// decides.
    pub way: Option<ShortAlgorithm>,
}

impl<'h> Placement<'h> {
    /// A group whose members live there, of which no more is known.
    pub fn new(group: Group, hosts: Option<&'h Hosts>) -> Placement<'h> {
        Placement { group, hosts, way: None }
    }

    /// The hosts of a placement of which the table knows that some members share one.
    pub(super) fn shared_hosts(self) -> &'h Hosts {
        self.hosts.expect("two levels are for members on several hosts")
    }
}

impl From<Group> for Placement<'static> {
    fn from(group: Group) -> Self {
        Placement::new(group, None)
    }
}

/// The place of one of some members in a group of those alone.
pub(super) fn group_among(members: &[usize], own: usize) -> Option<Group> {
    let place = members.iter().position(|&member| member == own)?;
    Some(Group { own: place, size: members.len() })
}

impl Plan {
    /// The plan of a group of these members, whose data begins at that byte, as a part of a larger group's.
    pub(super) fn among(mut self, members: &[usize], at: usize) -> Plan {
        let moved = |piece: &mut Piece| {
            if piece.area == Area::Data {
                piece.at += at;
            }
        };
        for step in &mut self.steps {
            match step {
                Step::Send { to: peer, piece } | Step::Receive { from: peer, piece } => {
                    *peer = members[*peer];
                    moved(piece);
                }
                Step::Combine { into, with: other } | Step::Copy { into, from: other } => {
                    moved(into);
                    moved(other);
                }
            }
        }
        if self.needs[Area::Data as usize] > 0 {
            self.needs[Area::Data as usize] += at;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_group_members_by_host() {
        let hosts = Hosts::new([7, 7, 3, 7, 3]).expect("two hosts");
        assert_eq!((hosts.count(), hosts.home(3), hosts.members(1)), (2, &[0, 1, 3][..], &[2, 4][..]));
        assert_eq!(
            (hosts.leaders(0), hosts.leaders(2), hosts.leaders_with(3)),
            (vec![0, 2], vec![3, 2], vec![3, 2])
        );
        assert_eq!((hosts.fewest(), hosts.are_rows()), (2, false));
        assert!(Hosts::new([1, 1, 2]).expect("two hosts").are_rows());
        assert_eq!((Hosts::new([5, 5]), Hosts::new([])), (None, None));
        assert!(!Hosts::new([1, 2, 3]).expect("three hosts").are_shared() && hosts.are_shared());
    }
}
