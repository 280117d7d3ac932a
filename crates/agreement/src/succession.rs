//! Who stands for election, and when.
//!
//! A member that has lost its leader says so to the others. One that votes stands only when most of the
//! voters have said it: a single broken link unseats nobody. Those who may stand do it one after the other,
//! in their rank, until somebody leads.

use crate::members::is_majority;
use crate::types::Membership;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Default)]
pub(crate) struct Succession {
    /// Others that have nobody who leads.
    leaderless: BTreeSet<u64>,
    /// What this member has said of itself.
    said: bool,
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

    /// Whether it is news that this member is, or is not, without a leader.
    pub fn is_news(&mut self, leaderless: bool) -> bool {
        std::mem::replace(&mut self.said, leaderless) != leaderless
    }

    pub fn has_said(&self) -> bool {
        self.said
    }

    /// Looks at how things are. True: this member stands for election now.
    pub fn look(
        &mut self,
        me: u64,
        membership: &Membership,
        reaches: impl Fn(u64) -> bool,
        step: Duration,
    ) -> bool {
        let voters: BTreeSet<u64> = membership.voter_ids().collect();
        let without = |life: u64| life == me || (self.leaderless.contains(&life) && reaches(life));
        if !self.said || !voters.contains(&me) || !is_majority(membership, without) {
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

    const STEP: Duration = Duration::from_millis(100);

    fn three() -> Membership {
        Membership::new(vec![BTreeSet::from([1, 2, 3])], None)
    }

    #[tokio::test(start_paused = true)]
    async fn one_stands_when_most_are_without_a_leader() {
        let mut mine = Succession::default();
        mine.is_news(true);
        assert!(!mine.look(2, &three(), |life| life != 1, STEP), "one of three");
        mine.hear(3, true);
        assert!(mine.look(2, &three(), |life| life != 1, STEP), "two of three, the first in rank");
        assert!(!mine.look(2, &three(), |life| life != 1, STEP), "not twice at once");
        mine.is_news(false);
        assert!(!mine.look(2, &three(), |life| life != 1, STEP));
        assert_eq!(mine.stands_at, None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_second_in_rank_waits_for_the_first() {
        let mut mine = Succession::default();
        mine.is_news(true);
        mine.hear(2, true);
        assert!(!mine.look(3, &three(), |life| life != 1, STEP));
        assert_eq!(mine.stands_at, Some(Instant::now() + STEP));
        tokio::time::advance(STEP).await;
        assert!(mine.look(3, &three(), |life| life != 1, STEP));
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_vote_does_not_stand() {
        let mut mine = Succession::default();
        mine.is_news(true);
        mine.hear(2, true);
        mine.hear(3, true);
        assert!(!mine.look(4, &three(), |_| true, STEP));
    }
}
