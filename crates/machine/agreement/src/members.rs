//! Who votes, and how the leader makes it so.

use crate::Member;
use crate::types::{Membership, Raft};
use openraft::ChangeMembers;
use std::collections::BTreeSet;

/// More voters make the machine no safer, and each change slower.
pub const MOST_VOTERS: usize = 7;

/// Who shall vote: the largest odd number of members, those who vote already first, then those who have
/// been there longest. The leader always, if it is a member.
pub(crate) fn voters(members: &[Member], now: &BTreeSet<u64>, leader: u64) -> BTreeSet<u64> {
    let count = if members.len().is_multiple_of(2) { members.len().saturating_sub(1) } else { members.len() };
    let mut lives: Vec<u64> = members.iter().map(|member| member.life).collect();
    lives.sort_unstable_by_key(|life| (*life != leader, !now.contains(life), *life));
    lives.into_iter().take(count.clamp(1, MOST_VOTERS)).collect()
}

/// Whether these are more than half of the voters, of both sets while one replaces the other.
pub(crate) fn is_majority(membership: &Membership, there: impl Fn(u64) -> bool) -> bool {
    let majority = |set: &BTreeSet<u64>| 2 * set.iter().filter(|life| there(**life)).count() > set.len();
    !membership.get_joint_config().is_empty() && membership.get_joint_config().iter().all(majority)
}

/// One step on the way to these members; none when they are. A leader that is to be a member no more
/// takes them too, and with the last one itself out: then it leads no longer, and the others vote for the next.
pub(crate) fn next_step(
    members: &[Member],
    membership: &Membership,
    leader: u64,
) -> Option<ChangeMembers<u64, u32>> {
    let known: BTreeSet<u64> = membership.nodes().map(|(life, _)| *life).collect();
    let new: Vec<_> = members.iter().filter(|member| !known.contains(&member.life)).collect();
    if !new.is_empty() {
        let nodes = new.into_iter().map(|member| (member.life, member.host)).collect();
        return Some(ChangeMembers::AddNodes(nodes));
    }
    let now: BTreeSet<u64> = membership.voter_ids().collect();
    let wanted = voters(members, &now, leader);
    if now != wanted || membership.get_joint_config().len() > 1 {
        return Some(ChangeMembers::ReplaceAllVoters(wanted));
    }
    let there: BTreeSet<u64> = members.iter().map(|member| member.life).collect();
    let gone: BTreeSet<u64> = known.difference(&there).copied().collect();
    (!gone.is_empty()).then_some(ChangeMembers::RemoveNodes(gone))
}

/// Takes a step. One that fails is tried again when the leader looks again, if it leads still.
pub(crate) async fn take(raft: Raft, step: ChangeMembers<u64, u32>) -> bool {
    raft.change_membership(step, true).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(lives: &[u64]) -> Vec<Member> {
        lives.iter().map(|life| Member { life: *life, host: *life as u32 }).collect()
    }

    fn of(lives: &[u64]) -> BTreeSet<u64> {
        lives.iter().copied().collect()
    }

    #[test]
    fn voters_are_odd_in_number() {
        let none = of(&[]);
        assert_eq!(voters(&members(&[1]), &none, 1), of(&[1]));
        assert_eq!(voters(&members(&[1, 2]), &none, 1), of(&[1]));
        assert_eq!(voters(&members(&[1, 2, 3]), &none, 1), of(&[1, 2, 3]));
        assert_eq!(voters(&members(&[1, 2, 3, 4]), &none, 1), of(&[1, 2, 3]));
        let many: Vec<u64> = (1..=20).collect();
        assert_eq!(voters(&members(&many), &none, 1).len(), MOST_VOTERS);
    }

    #[test]
    fn leader_and_voters_keep_voting() {
        assert_eq!(voters(&members(&[2, 3]), &of(&[1, 2, 3]), 3), of(&[3]));
        assert_eq!(voters(&members(&[1, 2, 3, 4]), &of(&[2, 3, 4]), 4), of(&[2, 3, 4]));
        // One that is to go leads until the others vote without it.
        assert_eq!(voters(&members(&[2, 3, 4]), &of(&[1, 2, 3]), 1), of(&[2, 3, 4]));
    }

    #[test]
    fn majority_needs_both_sets_during_change() {
        let membership = Membership::new(vec![of(&[1, 2, 3]), of(&[3])], None);
        assert!(is_majority(&membership, |life| life != 1));
        assert!(!is_majority(&membership, |life| life != 3));
        assert!(!is_majority(&Membership::new(vec![], None), |_| true));
    }
}
