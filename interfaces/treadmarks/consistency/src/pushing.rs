//! Pushing: data that others have asked for again and again goes to them with the synchronisation, and they ask no more.
//!
//! Who changes a page learns who asks for the changes. When a node has done so between several barriers in a row, its habit is
//! taken to last: at the next barrier the changes go to it unasked, all pages in one letter, and the manager of barriers, who
//! hears whom each has written to, tells it for how many letters to wait. Likewise for a lock: when those who got it from here asked
//! for the same page each time, the page's changes go along in the grant.
//!
//! A page that was brought up to date so stays closed until it is touched, which costs a fault and no message. Pages that were not
//! touched by the next barrier are named to whoever pushed them, who stops. What does not fit (the reader lacks more than was
//! pushed, or has some of it) is thrown away, fetched as ever, and named likewise; who asks says what it has, so that a habit of
//! which that would come is seen as none.

use crate::memory::Memory;
use crate::message::{Interval, Message, Record, Wanted};
use crate::miss::Miss;
use crate::node::{Fault, Node};
use crate::stamp::Stamp;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// So many barriers are remembered.
const REMEMBERED: usize = 8;

/// Changes of a page, unasked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pushed {
    pub(crate) page: u32,
    pub(crate) records: Vec<Record>,
    /// With a lock: what the sender's copy has; the records are in an order in which they happened.
    pub(crate) has: Option<Stamp>,
}

/// How regularly somebody asks for a page.
#[derive(Default)]
struct Habit {
    /// When it was last asked for.
    last: u32,
    in_a_row: u32,
    /// When it was last pushed.
    pushed: Option<u32>,
    /// How often it was pushed for nothing: each time it takes four times as long to become a habit again.
    stops: u32,
}

impl Habit {
    /// It is asked for, between these two barriers, or after this grant; `fits`: had it been pushed, that would have been all.
    fn asked(&mut self, now: u32, fits: bool) {
        if self.pushed == Some(now) || !fits {
            self.stop();
        } else if self.last != now {
            // Also when it is between every other two barriers.
            let goes_on = self.last > 0 && now <= self.last.saturating_add(2);
            self.in_a_row = if goes_on { self.in_a_row + 1 } else { 1 };
            self.last = now;
        }
    }

    /// It was of no use.
    fn stop(&mut self) {
        self.stops += u32::from(self.pushed.take().is_some());
        self.in_a_row = 0;
        self.last = 0;
    }

    fn is_settled(&self, after: u32) -> bool {
        self.in_a_row >= after << (2 * self.stops).min(16)
    }
}

/// What a node has noticed, and what was pushed to it.
#[derive(Default)]
pub(crate) struct Habits {
    /// How many barriers there were.
    epoch: u32,
    /// By page and reader.
    readers: BTreeMap<(u32, usize), Habit>,
    /// By lock and page, counted in grants of the lock.
    of_locks: BTreeMap<(u32, u32), Habit>,
    grants: FxHashMap<u32, u32>,
    /// Which lock each node got from here last.
    granted: FxHashMap<usize, (u32, Stamp)>,
    /// How often this node has come to a barrier, and of the last times: which, and up to which interval it told its own.
    arrivals: u32,
    told: VecDeque<(u32, u32)>,
    /// What was pushed here and was not what the page lacked.
    misfits: Vec<(usize, u32, Option<u32>)>,
    /// What has come, with the number of its barrier and its sender.
    come: Vec<(u32, usize, Vec<Pushed>)>,
    /// Up to date by pushing, and not touched since: who pushed it, and with which lock.
    unused: BTreeMap<u32, Vec<(usize, Option<u32>)>>,
    /// The manager's answer, while letters are still to come.
    leave: Option<Leave>,
}

/// What the manager of barriers has answered.
pub(crate) struct Leave {
    pub(crate) from: usize,
    pub(crate) intervals: Vec<Arc<Interval>>,
    pub(crate) collect: bool,
    pub(crate) pushes: u32,
    pub(crate) carried: Option<Vec<u8>>,
}

impl Node {
    /// Somebody asks for changes of a page, who has so much of it.
    pub(crate) fn note_habit(&mut self, from: usize, number: u32, has: &Stamp, wanted: &[Wanted]) {
        let own = self.own;
        let Some(page) = self.pages.get(&number).filter(|_| self.setup.push.is_some()) else { return };
        let lacks = |upto: &dyn Fn(usize) -> u32| {
            let mut spans = page.log.iter().flat_map(|record| &record.spans);
            spans.any(|span| {
                let node = span.node as usize;
                node != from && span.first > has[node] && span.first <= upto(node)
            })
        };
        // At the barrier that told of the latest change it would have got what this node alone has changed since the one before.
        // Which barrier that is says the change: this node may not have left it yet, or be at the next.
        let at_barrier = match wanted {
            [one] if one.node as usize == own => {
                let told = self.habits.told.iter().position(|(_, upto)| *upto >= one.upto);
                told.map(|at| {
                    let before = if at == 0 { 0 } else { self.habits.told[at - 1].1 };
                    (self.habits.told[at].0, !lacks(&|node| if node == own { before } else { 0 }))
                })
            }
            _ => None,
        };
        // With the lock what it did not know of when it asked for that.
        let with_lock =
            self.habits.granted.get(&from).map(|(lock, known)| (*lock, !lacks(&|node| known[node])));
        let habit = self.habits.readers.entry((number, from)).or_default();
        match at_barrier {
            Some((now, fits)) => habit.asked(now, fits),
            None => habit.stop(),
        }
        if let Some((lock, fits)) = with_lock {
            let now = self.habits.grants[&lock];
            self.habits.of_locks.entry((lock, number)).or_default().asked(now, fits);
        }
    }

    /// The program has come to a barrier, and its interval is closed: changes since the last one, which others know of up to
    /// `told`, go to those who want them. To whom.
    pub(crate) fn push_at_barrier(&mut self, told: u32, memory: &mut impl Memory) -> Vec<u32> {
        let Some(after) = self.setup.push else { return Vec::new() };
        self.stop_others();
        let (own, now) = (self.own, self.habits.arrivals + 1);
        self.habits.arrivals = now;
        self.habits.told.push_back((now, self.stamp[own]));
        if self.habits.told.len() > REMEMBERED {
            self.habits.told.pop_front();
        }
        let settled = self.habits.readers.iter().filter(|(_, habit)| habit.is_settled(after));
        let settled: Vec<(u32, usize)> = settled.map(|(&key, _)| key).collect();
        let mut letters: BTreeMap<usize, Vec<Pushed>> = BTreeMap::new();
        for (number, reader) in settled {
            let page = self.page(number);
            if page.home.is_some() || page.noticed[own] <= told {
                continue;
            }
            if page.span.is_some() {
                self.make_diff(number, memory);
            }
            let is_new = |record: &&Record| {
                record.spans.iter().any(|span| span.node as usize == own && span.last > told)
            };
            let records: Vec<Record> = self.page(number).log.iter().filter(is_new).cloned().collect();
            if records.iter().all(|record| !record.folded) {
                letters.entry(reader).or_default().push(Pushed { page: number, records, has: None });
                let habit = self.habits.readers.entry((number, reader)).or_default();
                habit.pushed = Some(now);
                // The habit goes on as long as nothing is heard.
                habit.last = now;
            }
        }
        let epoch = self.habits.epoch;
        let readers = letters.keys().map(|&reader| reader as u32).collect();
        for (reader, pages) in letters {
            self.counts.pushes += 1;
            self.say(reader, Message::Push { epoch, pages });
        }
        readers
    }

    /// Tells those who have pushed what was not touched.
    fn stop_others(&mut self) {
        let mut unused: BTreeMap<usize, Vec<(u32, Option<u32>)>> = BTreeMap::new();
        for (page, by) in std::mem::take(&mut self.habits.unused) {
            by.into_iter().for_each(|(node, lock)| unused.entry(node).or_default().push((page, lock)));
        }
        for (node, page, lock) in std::mem::take(&mut self.habits.misfits) {
            unused.entry(node).or_default().push((page, lock));
        }
        for (node, pages) in unused {
            self.say(node, Message::Stop { pages });
        }
    }

    /// Somebody does not use what it was pushed.
    pub(crate) fn stop(&mut self, from: usize, pages: Vec<(u32, Option<u32>)>) {
        for (page, lock) in pages {
            let habit = match lock {
                None => self.habits.readers.get_mut(&(page, from)),
                Some(lock) => self.habits.of_locks.get_mut(&(lock, page)),
            };
            habit.into_iter().for_each(Habit::stop);
        }
    }

    /// Another's letter has come, for the barrier to which this node comes or at which it is.
    pub(crate) fn pushed(
        &mut self,
        from: usize,
        (epoch, pages): (u32, Vec<Pushed>),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let sound = pages.iter().all(|pushed| self.is_sound(pushed) && pushed.has.is_none());
        let twice = self.habits.come.iter().any(|(other, node, _)| (*other, *node) == (epoch, from));
        if !sound || twice || epoch < self.habits.epoch {
            return Err(Fault::Malformed(from));
        }
        self.habits.come.push((epoch, from, pages));
        self.go_on_leaving(memory)
    }

    fn is_sound(&self, pushed: &Pushed) -> bool {
        let nodes = self.setup.nodes;
        let spans = |record: &Record| {
            record.spans.iter().all(|span| (span.node as usize) < nodes && span.first <= span.last)
        };
        let records = pushed.records.iter();
        pushed.page < self.setup.pages
            && pushed.has.as_ref().is_none_or(|has| has.len() == nodes)
            && records.clone().all(|record| !record.spans.is_empty() && spans(record))
            && records.clone().all(|record| record.diff.is_sound(self.setup.page_bytes))
            && (pushed.has.is_some()
                || records.clone().all(|record| !record.folded && record.spans.len() == 1))
    }

    /// The manager's answer has come: the barrier is over when all letters have, too.
    pub(crate) fn leave(&mut self, leave: Leave, memory: &mut impl Memory) -> Result<(), Fault> {
        self.habits.leave = Some(leave);
        self.go_on_leaving(memory)
    }

    fn go_on_leaving(&mut self, memory: &mut impl Memory) -> Result<(), Fault> {
        let epoch = self.habits.epoch;
        let come = self.habits.come.iter().filter(|(of, ..)| *of == epoch).count();
        match self.habits.leave.take() {
            Some(leave) if leave.pushes as usize <= come => {
                let fitting = self.fitting_at_barrier();
                self.learn(leave.from, leave.intervals, memory)?;
                self.put_fitting(leave.from, fitting, memory)?;
                self.habits.epoch += 1;
                match self.replicas {
                    None => self.passed_barrier(leave.collect, memory),
                    Some(_) => self.begin_keeping(leave.carried, memory),
                }
            }
            waits => {
                self.habits.leave = waits;
                Ok(())
            }
        }
    }

    /// Before anything is learnt: of what has come for this barrier the pages that were up to date here.
    pub(crate) fn fitting_at_barrier(&mut self) -> BTreeMap<u32, Vec<(usize, Record)>> {
        let (own, epoch) = (self.own, self.habits.epoch);
        let (now, later) =
            std::mem::take(&mut self.habits.come).into_iter().partition(|(of, ..)| *of == epoch);
        self.habits.come = later;
        let mut fitting: BTreeMap<u32, Vec<(usize, Record)>> = BTreeMap::new();
        for (_, from, pages) in now {
            for pushed in pages {
                let is_current = self.pages.get(&pushed.page).is_some_and(|page| page.is_current(own));
                if !is_current {
                    self.habits.misfits.push((from, pushed.page, None));
                } else {
                    let of_page = fitting.entry(pushed.page).or_default();
                    of_page.extend(pushed.records.into_iter().map(|record| (from, record)));
                }
            }
        }
        fitting
    }

    /// When it is known what was changed: puts into each page what was pushed, if it is all that the page lacks.
    pub(crate) fn put_fitting(
        &mut self,
        from: usize,
        fitting: BTreeMap<u32, Vec<(usize, Record)>>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let own = self.own;
        for (number, pushed) in fitting {
            let page = self.page(number);
            let lacks = page.lacks(own);
            let covers = |wanted: &Wanted| {
                let spans = || {
                    let of = |(_, record): &(usize, Record)| record.spans[0];
                    pushed.iter().map(of).filter(|span| span.node == wanted.node)
                };
                spans().all(|span| span.first > wanted.after) && spans().any(|span| span.last >= wanted.upto)
            };
            let strangers = pushed.iter().any(|(_, record)| {
                let node = record.spans[0].node;
                !lacks.iter().any(|wanted| wanted.node == node)
            });
            let mut by: Vec<(usize, Option<u32>)> = pushed.iter().map(|(node, _)| (*node, None)).collect();
            by.dedup();
            if lacks.is_empty() || strangers || !lacks.iter().all(covers) {
                self.habits.misfits.extend(by.into_iter().map(|(node, lock)| (node, number, lock)));
                continue;
            }
            let records = pushed.into_iter().map(|(_, record)| record).collect();
            let known = self.page(number).noticed.clone();
            self.put_in(from, &mut Miss::of_pushed(number, false, records, known), memory)?;
            self.counts.pushed += 1;
            self.habits.unused.insert(number, by);
        }
        Ok(())
    }

    /// A lock goes to another, who knows so much: what is to go along.
    pub(crate) fn push_with_lock(
        &mut self,
        lock: u32,
        to: usize,
        known: &Stamp,
        memory: &mut impl Memory,
    ) -> Vec<Pushed> {
        let Some(after) = self.setup.push else { return Vec::new() };
        let grants = self.habits.grants.entry(lock).or_default();
        *grants += 1;
        let now = *grants;
        self.habits.granted.insert(to, (lock, known.clone()));
        let habits = self.habits.of_locks.range((lock, 0)..=(lock, u32::MAX));
        let settled = habits.filter(|(_, habit)| habit.is_settled(after));
        let settled: Vec<u32> = settled.map(|(&(_, page), _)| page).collect();
        let mut all = Vec::new();
        for page in settled {
            let Some(pushed) = self.changes_since(page, known, memory) else { continue };
            all.push(pushed);
            let habit = self.habits.of_locks.entry((lock, page)).or_default();
            habit.pushed = Some(now);
            habit.last = now;
        }
        all
    }

    /// All changes of a page that somebody lacks who knows so much, in their order, if they are all here.
    fn changes_since(&mut self, number: u32, known: &Stamp, memory: &mut impl Memory) -> Option<Pushed> {
        let own = self.own;
        let page = self.pages.get(&number).filter(|page| page.home.is_none() && page.is_current(own))?;
        if page.span.is_some() {
            self.make_diff(number, memory);
        }
        let page = &self.pages[&number];
        if page.floor.iter().any(|(node, floor)| floor > known[node]) {
            return None;
        }
        let is_new = |record: &Record| record.spans.iter().any(|span| span.last > known[span.node as usize]);
        let first = page.log.iter().position(is_new)?;
        let records: Vec<&Record> = page.log[first..].iter().collect();
        let records = match records.len() {
            2.. if self.setup.fold => vec![crate::serve::folded(&records, self.setup.page_bytes)],
            _ => records.into_iter().cloned().collect(),
        };
        Some(Pushed { page: number, records, has: Some(page.applied.clone()) })
    }

    /// A lock has come with changes: those of pages that were up to date, before the news that came with it.
    pub(crate) fn fitting_with_lock(
        &mut self,
        (from, lock): (usize, u32),
        pushed: Vec<Pushed>,
    ) -> Option<Vec<Pushed>> {
        let own = self.own;
        let is_current = |one: &Pushed| self.pages.get(&one.page).is_some_and(|page| page.is_current(own));
        if !pushed.iter().all(|one| self.is_sound(one) && one.has.is_some()) {
            return None;
        }
        let (fitting, others): (Vec<_>, Vec<_>) = pushed.into_iter().partition(is_current);
        self.habits.misfits.extend(others.iter().map(|one| (from, one.page, Some(lock))));
        Some(fitting)
    }

    /// Puts it in, where the sender's copy had all that this one has, and all that is known of now.
    pub(crate) fn put_with_lock(
        &mut self,
        (from, lock): (usize, u32),
        pushed: Vec<Pushed>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let own = self.own;
        for Pushed { page: number, records, has } in pushed {
            let Some(has) = has else { continue };
            let page = self.page(number);
            let fits = page.applied.iter().all(|(node, applied)| applied <= has[node])
                && page.noticed.iter().all(|(node, noticed)| node == own || noticed <= has[node]);
            if page.home.is_some() || page.twin.is_some() || page.is_current(own) || !fits {
                self.habits.misfits.push((from, number, Some(lock)));
                continue;
            }
            let known = page.noticed.clone();
            self.put_in(from, &mut Miss::of_pushed(number, true, records, known), memory)?;
            self.counts.pushed += 1;
            self.habits.unused.insert(number, vec![(from, Some(lock))]);
        }
        Ok(())
    }

    /// The program touches a page that is up to date.
    pub(crate) fn uses(&mut self, page: u32) {
        if !self.habits.unused.is_empty() {
            self.habits.unused.remove(&page);
        }
    }
}
