//! Pushing: data that others have asked for again and again goes to them with the synchronisation, and they ask no more.
//!
//! A node that changes a page learns which nodes ask for the changes. A node may ask several times, always after the
//! same number of barriers (a step of a program often has two or three). This is a habit. At the barrier of its next
//! request, the changes go to the node without a request, all pages in one message. The manager of barriers learns the
//! receivers of these messages. It tells each node for how many messages to wait. Changes that the node got in between
//! are not sent again. If a node needs a page before its barrier, with a lock, and the changes have already come, it
//! uses them.
//!
//! Locks do it the other way round ([`crate::locks::wishes`]): the request names the pages that the node will want.
//!
//! A page that was brought up to date so stays closed until it is touched, which costs a fault and no message. If the
//! program has not used a pushed page by the next barrier, the node tells the sender, which then stops. A push may not
//! fit: the reader lacks more changes, or already has some. The reader then drops the push, fetches the page as usual,
//! and tells the sender. A request contains the state of the copy, so that the sender does not take an unfit pattern
//! for a habit.

use crate::message::{Message, Pushed, Record, Span, Wanted};
use crate::pages::memory::Memory;
use crate::setup::Fault;
use crate::stamp::Stamp;
use crate::state::Node;
use crate::state::habits::{Habit, Leave};
use crate::state::work::Miss;
use std::collections::BTreeMap;

/// The number of remembered barriers.
const REMEMBERED: usize = 8;

impl Node {
    /// How many barriers this node has passed.
    pub(crate) fn barriers_passed(&self) -> u32 {
        self.habits.epoch
    }

    /// A node asks for changes of a page. `has` is the state of its copy; it has passed `passed` barriers.
    pub(crate) fn note_habit(
        &mut self,
        from: usize,
        number: u32,
        (has, passed): (&Stamp, u32),
        wanted: &[Wanted],
    ) {
        let own = self.own;
        let Some(page) = self.pages.get(&number).filter(|_| self.setup.push.is_some()) else { return };
        let lacks = |upto: &dyn Fn(usize) -> u32| {
            let mut spans = page.log.iter().flat_map(|record| &record.spans);
            spans.any(|span| {
                let node = span.node as usize;
                node != from && span.first > has[node] && span.first <= upto(node)
            })
        };
        // At the barrier that announced the latest change, it would have got the changes of this node alone since the
        // previous barrier. The change determines the barrier: this node may not have left it yet, or may be at the
        // next.
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
        let is_alone = matches!(wanted, [one] if one.node as usize == own);
        let habit = self.habits.readers.entry((number, from)).or_default();
        match at_barrier {
            Some((now, fits)) if now <= passed => habit.asked(now, fits),
            // It knows by a lock. This does not show what the node will do after the barrier.
            _ if is_alone => {}
            _ => habit.stop(),
        }
        let own = wanted.iter().filter(|one| one.node as usize == own).map(|one| one.upto);
        habit.given = own.fold(habit.given, u32::max);
    }

    /// A node has got the changes of this node up to this interval.
    pub(crate) fn note_given(&mut self, to: usize, number: u32, upto: u32) {
        if let Some(habit) = self.habits.readers.get_mut(&(number, to)) {
            habit.given = habit.given.max(upto);
        }
    }

    /// The program has come to a barrier, and its interval is closed. Sends the changes since the last barrier to the
    /// nodes that want them. Other nodes know of the changes up to `told`. Returns the receivers.
    pub(crate) fn push_at_barrier(&mut self, told: u32, memory: &mut impl Memory) -> Vec<u32> {
        let Some(after) = self.setup.push else { return Vec::new() };
        self.stop_others();
        let (own, now) = (self.own, self.habits.arrivals + 1);
        self.habits.arrivals = now;
        self.habits.told.push_back((now, self.stamp[own]));
        if self.habits.told.len() > REMEMBERED {
            self.habits.told.pop_front();
        }
        let due = self.habits.readers.iter_mut().filter(|(_, habit)| habit.is_due(now, after));
        let due = due.map(|(&key, habit)| {
            // The habit goes on as long as nothing is heard.
            habit.last = now;
            (key, habit.given)
        });
        let due: Vec<((u32, usize), u32)> = due.collect();
        let mut letters: BTreeMap<usize, Vec<Pushed>> = BTreeMap::new();
        for ((number, reader), given) in due {
            let page = self.page(number);
            let (latest, given) = (page.noticed[own], told.max(given));
            if page.home.is_some() || latest <= given {
                continue;
            }
            if page.span.is_some() {
                self.make_diff(number, memory);
            }
            let is_new = |record: &&Record| {
                record.spans.iter().any(|span| span.node as usize == own && span.last > given)
            };
            let page = self.page(number);
            let records: Vec<Record> = page.log.iter().filter(is_new).cloned().collect();
            let older = page.log.iter().filter(|record| !is_new(record)).flat_map(|record| &record.spans);
            let older = older.filter(|span| span.node as usize == own).map(|span| span.last);
            let after = older.fold(page.floor[own], u32::max);
            if records.iter().all(|record| !record.folded) {
                letters.entry(reader).or_default().push(Pushed { page: number, after, records });
                let habit = self.habits.readers.entry((number, reader)).or_default();
                (habit.pushed, habit.given) = (Some(now), latest);
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

    /// Tells senders which pushed pages the program did not use.
    fn stop_others(&mut self) {
        let mut unused: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (page, by) in std::mem::take(&mut self.habits.unused) {
            by.into_iter().for_each(|node| unused.entry(node).or_default().push(page));
        }
        for (node, page) in std::mem::take(&mut self.habits.misfits) {
            unused.entry(node).or_default().push(page);
        }
        for (node, pages) in unused {
            self.say(node, Message::Stop { pages });
        }
    }

    /// A node does not use the pushed pages.
    pub(crate) fn stop(&mut self, from: usize, pages: Vec<u32>) {
        for page in pages {
            self.habits.readers.get_mut(&(page, from)).into_iter().for_each(Habit::stop);
        }
    }

    /// Another's letter has come, for the barrier to which this node comes or at which it is.
    pub(crate) fn pushed(
        &mut self,
        from: usize,
        (epoch, pages): (u32, Vec<Pushed>),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let sound = pages.iter().all(|pushed| self.is_sound(from, pushed));
        let twice = self.habits.come.iter().any(|(other, node, _)| (*other, *node) == (epoch, from));
        if !sound || twice || epoch < self.habits.epoch {
            return Err(Fault::Malformed(from));
        }
        self.habits.come.push((epoch, from, pages));
        self.go_on_leaving(memory)
    }

    fn is_sound(&self, from: usize, pushed: &Pushed) -> bool {
        let single = |record: &Record| match record.spans[..] {
            [span] => span.node as usize == from && span.first <= span.last && !record.folded,
            _ => false,
        };
        let mut records = pushed.records.iter();
        pushed.page < self.setup.pages
            && records.all(|record| single(record) && record.diff.is_sound(self.setup.page_bytes))
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
                self.learn(leave.from, leave.intervals, memory)?;
                self.put_at_barrier(leave.from, memory)?;
                self.habits.epoch += 1;
                let early = self.take_moves(leave.from, &leave.moves)?;
                match self.replicas {
                    None => {
                        self.passed_barrier(leave.collect, memory)?;
                        let mut early = early.into_iter();
                        early.try_for_each(|(from, message)| self.take_in(from, message, memory))
                    }
                    Some(_) => self.start_keeping(leave.carried, memory),
                }
            }
            waits => {
                self.habits.leave = waits;
                Ok(())
            }
        }
    }

    /// The pushes for this barrier, by page, with their senders.
    fn come_for_barrier(&mut self) -> BTreeMap<u32, Vec<(usize, Pushed)>> {
        let epoch = self.habits.epoch;
        let (now, later) =
            std::mem::take(&mut self.habits.come).into_iter().partition(|(of, ..)| *of == epoch);
        self.habits.come = later;
        let mut by_page: BTreeMap<u32, Vec<(usize, Pushed)>> = BTreeMap::new();
        for (_, from, pages) in now {
            pages.into_iter().for_each(|one| by_page.entry(one.page).or_default().push((from, one)));
        }
        by_page
    }

    /// Changes of a needed page that were pushed for a later barrier, if they are all that the page lacks.
    pub(crate) fn pushed_early(&mut self, number: u32) -> Option<Vec<Record>> {
        let page = self.pages.get(&number).filter(|page| page.copy && page.home.is_none())?;
        let lacks = page.lacks(self.own);
        // Changes that nothing is known of yet may be later than others of which the same is true.
        let is_wanted = |record: &Record| {
            let span = record.spans[0];
            lacks.iter().any(|wanted| wanted.node == span.node && span.first <= wanted.upto)
        };
        let of_page = |pages: &Vec<Pushed>| pages.iter().position(|one| one.page == number);
        let come = self.habits.come.iter_mut();
        let mut come: Vec<&mut Pushed> = come
            .filter_map(|(.., pages)| of_page(pages).map(|at| &mut pages[at]))
            .filter(|one| one.records.iter().any(is_wanted))
            .collect();
        let whole: Vec<&Pushed> = come.iter().map(|one| &**one).collect();
        if !is_all(&whole, &lacks) {
            return None;
        }
        let wanted = come.iter_mut().flat_map(|one| {
            let (now, later) = std::mem::take(&mut one.records).into_iter().partition(is_wanted);
            one.records = later;
            let now: Vec<Record> = now;
            now
        });
        let wanted = wanted.collect();
        self.habits.come.iter_mut().for_each(|(.., pages)| pages.retain(|one| !one.records.is_empty()));
        self.counts.pushed += 1;
        Some(wanted)
    }

    /// The news of a barrier are known: puts into each page what was pushed for it, if it is all that the page lacks.
    pub(crate) fn put_at_barrier(&mut self, from: usize, memory: &mut impl Memory) -> Result<(), Fault> {
        let own = self.own;
        for (number, pushed) in self.come_for_barrier() {
            let page = self.page(number);
            let (lacks, can) = (page.lacks(own), page.copy && page.home.is_none());
            let by = pushed.iter().map(|(node, _)| *node).collect();
            let whole: Vec<&Pushed> = pushed.iter().map(|(_, one)| one).collect();
            if !can || !is_all(&whole, &lacks) {
                let misfits = pushed.iter().map(|(node, _)| (*node, number));
                self.habits.misfits.extend(misfits);
                continue;
            }
            let records = pushed.into_iter().flat_map(|(_, one)| one.records).collect();
            let known = self.page(number).noticed.clone();
            self.put_in(from, &mut Miss::of_pushed(number, false, records, known), memory)?;
            self.counts.pushed += 1;
            self.habits.unused.insert(number, by);
        }
        Ok(())
    }

    /// The program touches a page that is up to date.
    pub(crate) fn uses(&mut self, page: u32) {
        if !self.habits.unused.is_empty() {
            self.habits.unused.remove(&page);
        }
        self.uses_with_lock(page);
    }
}

/// Whether what was pushed for a barrier is all that a page lacks, and nothing else.
fn is_all(pushed: &[&Pushed], lacks: &[Wanted]) -> bool {
    let follows = |one: &&Pushed, wanted: &Wanted| {
        let mut spans = one.records.iter().map(|record| record.spans[0]);
        let is_of = |span: &Span| span.node == wanted.node;
        let is_new = |span: Span| is_of(&span) && span.first > wanted.after;
        one.after <= wanted.after && spans.clone().all(is_new) && spans.any(|span| span.last >= wanted.upto)
    };
    !lacks.is_empty()
        && pushed.iter().all(|one| lacks.iter().any(|wanted| follows(one, wanted)))
        && lacks.iter().all(|wanted| pushed.iter().any(|one| follows(one, wanted)))
}
