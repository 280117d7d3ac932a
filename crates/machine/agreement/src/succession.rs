//! Who stands for election, and when.
//!
//! A member that votes and has lost its leader says so to the others that vote. One stands only when most of the
//! voters have said it: a single broken link unseats nobody. Those who may stand do it one after the other,
//! in their rank, until somebody leads.
//!
//! Those who do not vote, most of a large machine, say nothing. They are told one thing: that the
//! member which they think leads does so in vain.

use crate::members::is_majority;
use crate::types::Membership;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Default)]
pub(crate) struct Succession {
    /// Others that have nobody who leads.
    leaderless: BTreeSet<u64>,
    /// Whether this member is.
    mine: bool,
    /// It may be taken for the leader, and is none: it leads in vain, or did when it lost the others.
    vain: bool,
    /// To whom it has said that it is leaderless.
    told: BTreeSet<u64>,
    /// For whom that was found out.
    told_for: (bool, bool, BTreeSet<u64>),
    /// When it stands.
    pub stands_at: Option<Instant>,
}

impl Succession {
    /// Another has, or has not, somebody who leads.
    pub fn hear(&mut self, life: u64, leaderless: bool) {
        if leaderless {
            self.leaderless.insert(life);
        } else {
            self.leaderless.remove(&life);
        }
    }

    /// Whether that life says of itself that it does not lead with a majority.
    pub fn is_leaderless(&self, life: u64) -> bool {
        self.leaderless.contains(&life)
    }

    /// This member is, or is not, without a leader; whether it leads, or did until now.
    pub fn find(&mut self, leaderless: bool, leads: bool) {
        self.mine = leaderless;
        self.vain = leaderless && (leads || self.vain);
    }

    /// What this member says to that one.
    fn says(&self, me: u64, membership: &Membership, to: u64) -> bool {
        let votes = |life: u64| membership.voter_ids().any(|voter| voter == life);
        self.vain || (self.mine && votes(me) && votes(to))
    }

    /// Who must hear something else than it has heard: its life, its host, what.
    pub fn news(
        &mut self,
        me: u64,
        membership: &Membership,
        reaches: impl Fn(u64) -> bool,
    ) -> Vec<(u64, u32, bool)> {
        if !self.mine && self.told.is_empty() {
            self.told_for = Default::default();
            return Vec::new();
        }
        let now = (self.mine, self.vain, membership.voter_ids().collect());
        if now == self.told_for {
            return Vec::new();
        }
        self.told_for = now;
        self.told.retain(|life| membership.get_node(life).is_some());
        let others = membership.nodes().filter(|(life, _)| **life != me && reaches(**life));
        let mut news = Vec::new();
        for (life, host) in others {
            let says = self.says(me, membership, *life);
            if says != self.told.contains(life) {
                news.push((*life, *host, says));
            }
        }
        for (life, _, says) in &news {
            self.record(*life, *says);
        }
        news
    }

    /// What a member must hear that is reached again, if anything.
    pub fn says_again(&mut self, me: u64, membership: &Membership, to: u64) -> Option<bool> {
        let says = self.says(me, membership, to);
        let matters = says || self.told.contains(&to);
        self.record(to, says);
        matters.then_some(says)
    }

    fn record(&mut self, life: u64, says: bool) {
        if says {
            self.told.insert(life);
        } else {
            self.told.remove(&life);
        }
    }

    /// Looks at how things are. True: this member stands for election now.
    pub fn update(
        &mut self,
        me: u64,
        membership: &Membership,
        reaches: impl Fn(u64) -> bool,
        step: Duration,
    ) -> bool {
        let voters: BTreeSet<u64> = membership.voter_ids().collect();
        let without = |life: u64| life == me || (self.leaderless.contains(&life) && reaches(life));
        if !self.mine || !voters.contains(&me) || !is_majority(membership, without) {
            self.stands_at = None;
            return false;
        }
        let rank = voters.iter().filter(|life| **life < me && reaches(**life)).count() as u32;
        let now = Instant::now();
        let stands = *self.stands_at.get_or_insert(now + step * rank) <= now;
        if stands {
            // A vote takes a moment, and the others wait for their turn.
            self.stands_at = Some(now + step * (2 + rank));
        }
        stands
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const STEP: Duration = Duration::from_millis(100);

    fn three() -> Membership {
        Membership::new(vec![BTreeSet::from([1, 2, 3])], None)
    }

    #[tokio::test(start_paused = true)]
    async fn candidate_stands_when_majority_lacks_leader() {
        let mut mine = Succession::default();
        mine.find(true, false);
        assert!(!mine.update(2, &three(), |life| life != 1, STEP), "one of three");
        mine.hear(3, true);
        assert!(mine.update(2, &three(), |life| life != 1, STEP), "two of three, the first in rank");
        assert!(!mine.update(2, &three(), |life| life != 1, STEP), "not twice at once");
        mine.find(false, false);
        assert!(!mine.update(2, &three(), |life| life != 1, STEP));
        assert_eq!(mine.stands_at, None);
    }

    #[tokio::test(start_paused = true)]
    async fn candidate_of_second_rank_waits_for_first() {
        let mut mine = Succession::default();
        mine.find(true, false);
        mine.hear(2, true);
        assert!(!mine.update(3, &three(), |life| life != 1, STEP));
        assert_eq!(mine.stands_at, Some(Instant::now() + STEP));
        tokio::time::advance(STEP).await;
        assert!(mine.update(3, &three(), |life| life != 1, STEP));
    }

    #[tokio::test(start_paused = true)]
    async fn non_voter_never_stands() {
        let mut mine = Succession::default();
        mine.find(true, false);
        mine.hear(2, true);
        mine.hear(3, true);
        assert!(!mine.update(4, &three(), |_| true, STEP));
    }

    /// Five members, of whom the first three vote.
    fn five() -> Membership {
        let nodes: BTreeMap<u64, u32> = (1..=5).map(|life| (life, life as u32)).collect();
        Membership::new(vec![BTreeSet::from([1, 2, 3])], nodes)
    }

    fn told(mine: &mut Succession, me: u64) -> Vec<(u64, bool)> {
        let reaches = |life: u64| life != 5;
        mine.news(me, &five(), reaches).into_iter().map(|(life, _, says)| (life, says)).collect()
    }

    #[test]
    fn voters_alone_report_missing_leader() {
        let (mut votes, mut learns) = (Succession::default(), Succession::default());
        votes.find(true, false);
        learns.find(true, false);
        assert_eq!(told(&mut votes, 2), [(1, true), (3, true)]);
        assert_eq!(told(&mut votes, 2), [], "once");
        assert_eq!(told(&mut learns, 4), []);
        votes.find(false, false);
        assert_eq!(told(&mut votes, 2), [(1, false), (3, false)]);
    }

    #[test]
    fn leader_in_vain_reports_start_and_end_to_all() {
        let mut mine = Succession::default();
        mine.find(true, true);
        assert_eq!(told(&mut mine, 1), [(2, true), (3, true), (4, true)]);
        // It leads no more, and still has nobody who does.
        mine.find(true, false);
        assert_eq!(told(&mut mine, 1), []);
        assert_eq!(mine.says_again(1, &five(), 5), Some(true));
        mine.find(false, false);
        assert_eq!(told(&mut mine, 1), [(2, false), (3, false), (4, false)]);
        assert_eq!(
            mine.says_again(1, &five(), 5),
            Some(false),
            "it was told, and could not hear the end of it"
        );
        assert_eq!(mine.says_again(1, &five(), 5), None);
    }
}
