//! Wishes: a request for a lock names the pages that the node will want, and the changes come with the lock.
//!
//! A node learns which pages it misses when it has got a lock from another. If this happened several times, always
//! after the same number of grants, the node expects it again. Its request then names the page, and the state of its
//! copy. The holder of the lock then sends the missing changes with the grant, if it has all of them. If the program
//! did not use a page that came, the node does not ask for it for a while. No message is needed.

use crate::message::{Fulfilled, PrefetchHint, Record};
use crate::pages::memory::Memory;
use crate::setup::Fault;
use crate::stamp::Stamp;
use crate::state::Node;
use crate::state::habits::Habit;
use crate::state::work::Miss;

impl Node {
    /// The pages that a request for a lock asks for.
    pub(crate) fn wishes(&mut self, lock: u32) -> Vec<PrefetchHint> {
        let Some(after) = self.setup.push else { return Vec::new() };
        let unused = std::mem::take(&mut self.wishes.unused);
        for (&page, &with) in &unused {
            self.wishes.habits.get_mut(&(with, page)).into_iter().for_each(Habit::stop);
        }
        let next = self.wishes.grants.get(&lock).map_or(1, |grants| grants + 1);
        let of_lock = self.wishes.habits.range((lock, 0)..=(lock, u32::MAX));
        let due = of_lock.filter(|(_, habit)| habit.is_due(next, after)).map(|(&(_, page), _)| page);
        let mut wishes: Vec<PrefetchHint> = Vec::new();
        for number in due {
            let page = self.pages.get(&number);
            // Local writes without a diff would conflict with the changes.
            let Some(page) = page.filter(|page| page.copy && page.home.is_none() && page.twin.is_none())
            else {
                continue;
            };
            match wishes.iter_mut().find(|wish| wish.has == page.applied) {
                Some(wish) => wish.pages.push(number),
                None => wishes.push(PrefetchHint { has: page.applied.clone(), pages: vec![number] }),
            }
        }
        wishes
    }

    pub(crate) fn are_sound_wishes(&self, wishes: &[PrefetchHint]) -> bool {
        let sound = |wish: &PrefetchHint| {
            wish.has.len() == self.setup.nodes && wish.pages.iter().all(|&page| page < self.setup.pages)
        };
        wishes.iter().all(sound)
    }

    /// A lock goes to another, who wishes for these: what is to go along.
    pub(crate) fn fulfil(
        &mut self,
        to: usize,
        wishes: Vec<PrefetchHint>,
        memory: &mut impl Memory,
    ) -> Vec<Fulfilled> {
        let mut all = Vec::new();
        for PrefetchHint { has, pages } in wishes {
            for page in pages {
                let Some(fulfilled) = self.changes_since(page, &has, memory) else { continue };
                self.note_given(to, page, fulfilled.has[self.own]);
                all.push(fulfilled);
            }
        }
        all
    }

    /// All changes of a page that a copy lacks which has so much, in their order, if they are all here.
    fn changes_since(&mut self, number: u32, seen: &Stamp, memory: &mut impl Memory) -> Option<Fulfilled> {
        let own = self.own;
        let page = self.pages.get(&number).filter(|page| page.home.is_none() && page.is_current(own))?;
        if page.span.is_some() {
            self.make_diff(number, memory);
        }
        let page = &self.pages[&number];
        if page.floor.iter().any(|(node, floor)| floor > seen[node]) {
            return None;
        }
        let is_new = |record: &Record| record.spans.iter().any(|span| span.last > seen[span.node as usize]);
        let first = page.log.iter().position(is_new)?;
        let records: Vec<&Record> = page.log[first..].iter().collect();
        let records = match records.len() {
            2.. if self.setup.fold => vec![crate::node::serve::folded(&records, self.setup.page_bytes)],
            _ => records.into_iter().cloned().collect(),
        };
        Some(Fulfilled { page: number, has: page.applied.clone(), records })
    }

    /// Whether what has come with a lock makes sense.
    pub(crate) fn are_sound_with_lock(&self, fulfilled: &[Fulfilled]) -> bool {
        let nodes = self.setup.nodes;
        let spans = |record: &Record| {
            let mut spans = record.spans.iter();
            !record.spans.is_empty()
                && spans.all(|span| (span.node as usize) < nodes && span.first <= span.last)
        };
        let mut all = fulfilled.iter();
        all.all(|one| {
            let mut records = one.records.iter();
            one.page < self.setup.pages
                && one.has.len() == nodes
                && records.all(|record| spans(record) && record.diff.is_sound(self.setup.page_bytes))
        })
    }

    /// A lock has come with these changes, and the node knows its intervals. Applies the changes to each page, if they
    /// are all that the page lacks.
    pub(crate) fn put_with_lock(
        &mut self,
        (from, lock): (usize, u32),
        fulfilled: Vec<Fulfilled>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let own = self.own;
        for Fulfilled { page: number, has, records } in fulfilled {
            // An older answer, for another task of the node, would later overwrite these changes.
            let is_asked_for = self.missed_page() == Some(number);
            let page = self.page(number);
            // The copy has what it had when the wish was made, or more; whatever more it has is put in once more, in its order.
            let fits = page.applied.iter().all(|(node, applied)| applied <= has[node])
                && page.noticed.iter().all(|(node, noticed)| node == own || noticed <= has[node]);
            let can = page.home.is_none() && page.copy && page.twin.is_none() && !is_asked_for;
            if !can || !fits || page.is_current(own) {
                continue;
            }
            let known = page.noticed.clone();
            self.put_in(from, &mut Miss::of_pushed(number, true, records, known), memory)?;
            self.counts.pushed += 1;
            self.wishes.unused.insert(number, lock);
        }
        Ok(())
    }

    /// A lock has come from another node.
    pub(crate) fn note_grant(&mut self, lock: u32) {
        *self.wishes.grants.entry(lock).or_default() += 1;
        self.wishes.held = Some(lock);
    }

    /// It is given back.
    pub(crate) fn note_release(&mut self, lock: u32) {
        self.wishes.held.take_if(|held| *held == lock);
    }

    /// The program touches a page that has come with a lock.
    pub(crate) fn uses_with_lock(&mut self, number: u32) {
        if let Some(lock) = self.wishes.unused.remove(&number) {
            self.note_wish(lock, number);
        }
    }

    /// The program touches a page that has to be fetched.
    pub(crate) fn misses_with_lock(&mut self, number: u32) {
        if let Some(lock) = self.wishes.held.filter(|_| self.setup.push.is_some()) {
            self.note_wish(lock, number);
        }
    }

    fn note_wish(&mut self, lock: u32, number: u32) {
        let now = self.wishes.grants.get(&lock).copied().unwrap_or_default();
        self.wishes.habits.entry((lock, number)).or_default().asked(now, true);
    }
}
