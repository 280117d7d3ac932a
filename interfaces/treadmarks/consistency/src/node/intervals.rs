//! Intervals: closing the own, and learning of others'.

use crate::message::{Interval, Message, Record, Span};
use crate::pages::diff::Diff;
use crate::pages::memory::{Access, Memory};
use crate::setup::Fault;
use crate::stamp::Stamp;
use crate::state::Node;
use std::sync::Arc;

/// Pages as runs of pages: the first, and how many.
pub(crate) fn runs(mut pages: Vec<u32>) -> Vec<(u32, u32)> {
    pages.sort_unstable();
    pages.dedup();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for page in pages {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == page => *count += 1,
            _ => runs.push((page, 1)),
        }
    }
    runs
}

impl Node {
    /// Ends the open interval, if the program has written to anything in it: others are about to learn of this node, or it of
    /// others. The pages are closed to writes, so that the next interval knows what it changes; no diff is made.
    pub(crate) fn close_interval(&mut self, memory: &mut impl Memory) {
        self.close_ahead(memory);
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.retain(|number| self.pages.get(number).is_some_and(|page| page.dirty));
        if dirty.is_empty() {
            return;
        }
        let number = self.stamp[self.own] + 1;
        self.stamp[self.own] = number;
        self.counts.intervals += 1;
        let runs = runs(dirty);
        for &(first, count) in &runs {
            memory.protect(first, count, Access::Read);
            for page in first..first + count {
                self.note_own_write(page, number, memory);
            }
        }
        let (owner, stamp) = (self.own as u32, self.stamp.clone());
        let interval = Interval { owner, number, stamp, pages: runs };
        self.hold(interval.bytes());
        self.intervals[self.own].push_back(Arc::new(interval));
    }

    fn note_own_write(&mut self, number: u32, interval: u32, memory: &mut impl Memory) {
        let own = self.own;
        let page = self.pages.get_mut(&number).expect("it is dirty, so it is known");
        page.dirty = false;
        page.access = Access::Read;
        page.noticed[own] = interval;
        match page.home {
            None => page.span = Some((page.span.map_or(interval, |(first, _)| first), interval)),
            Some(home) => {
                page.applied[own] = interval;
                if home != own {
                    self.flush(number, interval, home, memory);
                }
            }
        }
    }

    /// The intervals that a node with this knowledge lacks.
    pub(crate) fn lacking(&self, known: &Stamp) -> Vec<Arc<Interval>> {
        let of = |(node, list): (usize, &std::collections::VecDeque<Arc<Interval>>)| {
            let after = known[node].saturating_sub(self.thrown[node]) as usize;
            list.iter().skip(after).cloned().collect::<Vec<_>>()
        };
        self.intervals.iter().enumerate().flat_map(of).collect()
    }

    /// The record of an interval, as long as it is held.
    pub(crate) fn interval(&self, node: usize, number: u32) -> Option<&Arc<Interval>> {
        let at = number.checked_sub(self.thrown[node] + 1)?;
        self.intervals[node].get(at as usize)
    }

    /// Learns of intervals. The pages that these intervals changed become invalid here. If this node has also changed
    /// such a page, it first makes a diff.
    pub(crate) fn learn(
        &mut self,
        from: usize,
        mut intervals: Vec<Arc<Interval>>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let sound = |interval: &Arc<Interval>| {
            let pages = interval
                .pages
                .iter()
                .all(|&(first, count)| first.checked_add(count).is_some_and(|end| end <= self.setup.pages));
            pages
                && (interval.owner as usize) < self.setup.nodes
                && interval.stamp.len() == self.setup.nodes
                && interval.stamp[interval.owner as usize] == interval.number
        };
        if !intervals.iter().all(sound) {
            return Err(Fault::Malformed(from));
        }
        intervals.retain(|interval| interval.number > self.stamp[interval.owner as usize]);
        if intervals.is_empty() {
            return Ok(());
        }
        // Writes after this point know the new intervals, so they belong to another interval than the writes before.
        self.close_interval(memory);
        intervals.sort_by_key(|interval| (interval.owner, interval.number));
        let mut invalid = Vec::new();
        for interval in intervals {
            let owner = interval.owner as usize;
            if interval.number <= self.stamp[owner] {
                continue;
            }
            if owner == self.own || interval.number != self.stamp[owner] + 1 {
                return Err(Fault::Malformed(from));
            }
            self.stamp[owner] = interval.number;
            for &(first, count) in &interval.pages {
                for page in first..first + count {
                    if self.notice(page, owner, interval.number, memory) {
                        invalid.push(page);
                    }
                }
            }
            self.hold(interval.bytes());
            self.intervals[owner].push_back(interval);
        }
        for (first, count) in runs(invalid) {
            memory.protect(first, count, Access::None);
        }
        Ok(())
    }

    /// Handles a write notice. Whether the page was open to the program and must not be any more.
    fn notice(&mut self, number: u32, owner: usize, interval: u32, memory: &mut impl Memory) -> bool {
        let page = self.page(number);
        page.noticed[owner] = interval;
        // This is also done if the copy already has the change from a whole page or a folded diff. Later writes come
        // after the change, and all writes of one diff must know the same changes.
        if page.twin.is_some() {
            self.make_diff(number, memory);
        }
        if self.page(number).applied[owner] >= interval {
            return false;
        }
        let own = self.own;
        if self.page(number).home == Some(own) {
            self.replicas.iter_mut().for_each(|replicas| _ = replicas.late.insert(number));
        }
        let page = self.page(number);
        let was_open = page.access != Access::None;
        page.access = Access::None;
        self.counts.invalidations += u64::from(was_open);
        was_open
    }

    /// Makes the diff of the own writes to a page that has a twin, some of them of closed intervals. Later writes are of a new
    /// twin.
    pub(crate) fn make_diff(&mut self, number: u32, memory: &mut impl Memory) {
        let (own, bytes) = (self.own, self.setup.page_bytes);
        let page = self.pages.get_mut(&number).expect("it has a twin");
        if page.access == Access::Write {
            memory.protect(number, 1, Access::Read);
            page.access = Access::Read;
        }
        let (Some(twin), Some((first, last))) = (page.twin.take(), page.span.take()) else {
            unreachable!("a diff is made of closed intervals")
        };
        page.dirty = false;
        let mut now = vec![0; bytes];
        memory.load(number, &mut now);
        let whole = std::mem::take(&mut page.whole);
        let diff = if whole { Diff::whole(&now) } else { Diff::between(&twin, &now) };
        page.applied[own] = last;
        self.counts.diffs_made += 1;
        self.counts.diff_bytes += diff.bytes() as u64;
        let held = diff.bytes();
        page.log.push(Record { spans: vec![Span { node: own as u32, first, last }], folded: false, diff });
        self.release_held(bytes);
        self.hold(held);
    }

    /// Sends what an interval has changed in a page to its home.
    fn flush(&mut self, number: u32, interval: u32, home: usize, memory: &mut impl Memory) {
        let bytes = self.setup.page_bytes;
        let page = self.pages.get_mut(&number).expect("it was written to");
        let twin = page.twin.take().expect("a dirty page has a twin, but at its home");
        let mut now = vec![0; bytes];
        memory.load(number, &mut now);
        let diff = Diff::between(&twin, &now);
        self.counts.diffs_made += 1;
        self.counts.diff_bytes += diff.bytes() as u64;
        self.release_held(bytes);
        self.say(home, Message::Flush { page: number, interval, diff });
    }
}
