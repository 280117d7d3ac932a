//! Homes that move: a page's home goes to the node that alone writes to the page. This node then need not send its
//! changes.
//!
//! At each barrier the manager gets the writers of pages since the last barrier, and its answer contains the homes that
//! move. The first node that alone has written a page before a barrier becomes its home: the rule of first touch. Later
//! the home moves to a node that alone wrote the page between three barriers in a row. The move sends no data: a node
//! that alone writes a page has updated its copy before, so it has everything that the home has.
//!
//! Some know of a barrier's end before others. If a node gets a request as home before it knows that it is the home, it
//! keeps the request until then. Late messages of the new home to the old home have no effect.

use crate::message::{Interval, Message};
use crate::setup::Fault;
use crate::state::Node;
use crate::state::work::Work;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of times in a row that one node must be the only writer before the home moves again.
const SETTLED: u32 = 2;

impl Node {
    /// At the manager: of what was done since the last barrier, the homes that move.
    pub(crate) fn homes_to_move(&mut self, intervals: &[Arc<Interval>]) -> Vec<(u32, u32, u32)> {
        let mut writers: BTreeMap<u32, Option<usize>> = BTreeMap::new();
        for interval in intervals {
            let owner = interval.owner as usize;
            for page in interval.pages.iter().flat_map(|&(first, count)| first..first + count) {
                let writer = writers.entry(page).or_insert(Some(owner));
                *writer = writer.filter(|other| *other == owner);
            }
        }
        let mut moves: Vec<(u32, u32, u32)> = Vec::new();
        for (page, writer) in writers {
            let Some(writer) = writer else {
                self.meeting.movers.alone.remove(&page);
                continue;
            };
            let Some(first) = self.first_home(page).filter(|_| self.view_of(page).is_none()) else {
                continue;
            };
            let movers = &mut self.meeting.movers;
            let home = movers.homes.get(&page).copied();
            let (who, times) = movers.alone.entry(page).or_insert((writer, 0));
            *times = if *who == writer { *times + 1 } else { 1 };
            *who = writer;
            if home.unwrap_or(first) == writer || home.is_some() && *times < SETTLED {
                // A node that has the home of a page without a move has also written the page first.
                movers.homes.entry(page).or_insert(first);
                continue;
            }
            movers.homes.insert(page, writer);
            match moves.last_mut() {
                Some((first, count, home)) if *first + *count == page && *home == writer as u32 => {
                    *count += 1
                }
                _ => moves.push((page, 1, writer as u32)),
            }
        }
        moves
    }

    /// Records the new homes. Returns the messages that came early to this node as a home.
    pub(crate) fn take_moves(
        &mut self,
        from: usize,
        moves: &[(u32, u32, u32)],
    ) -> Result<Vec<(usize, Message)>, Fault> {
        let (own, end) = (self.own, self.setup.pages);
        let sound = |&(first, count, home): &(u32, u32, u32)| {
            first.checked_add(count).is_some_and(|behind| behind <= end) && (home as usize) < self.setup.nodes
        };
        if !moves.is_empty() && !self.setup.move_homes || !moves.iter().all(sound) {
            return Err(Fault::Malformed(from));
        }
        for &(first, count, home) in moves {
            for number in first..first + count {
                let page = self.page(number);
                let was = page.home.replace(home as usize);
                if was.is_none() || home as usize == own && !page.is_current(own) {
                    return Err(Fault::Malformed(from));
                }
                self.counts.homes_moved += u64::from(home as usize == own);
                if was == Some(own) {
                    self.gone_homes.insert(number);
                }
            }
        }
        Ok(std::mem::take(&mut self.meeting.early))
    }

    /// Whether this node may soon learn that it is the page's home.
    pub(crate) fn may_become_home(&self, number: u32) -> bool {
        let home = || self.pages.get(&number).map_or(self.home(number), |page| page.home);
        self.setup.move_homes
            && matches!(self.work, Some(Work::Barrier))
            && number < self.setup.pages
            && home().is_some_and(|home| home != self.own)
    }

    /// Whether it was the page's home.
    pub(crate) fn was_home(&self, number: u32) -> bool {
        self.gone_homes.contains(&number)
    }
}
