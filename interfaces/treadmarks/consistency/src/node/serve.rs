//! The other side of a miss: sends pages and diffs to nodes that lack them.

use crate::message::{FurtherDiffs, FurtherPage, Message, Record, Span, Wanted};
use crate::pages::diff::Diff;
use crate::pages::memory::Memory;
use crate::setup::Fault;
use crate::state::Node;

impl Node {
    /// Sends a page to a node without a copy.
    pub(crate) fn asked_for_page(
        &mut self,
        from: usize,
        (number, needs): (u32, Vec<Wanted>),
        further: Vec<(u32, Vec<Wanted>)>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let nodes = self.setup.nodes;
        let sound = |page: u32, needs: &[Wanted]| {
            page < self.setup.pages && needs.iter().all(|need| (need.node as usize) < nodes)
        };
        let bounded = further.len() <= self.setup.further as usize;
        if !bounded || !sound(number, &needs) || !further.iter().all(|(page, needs)| sound(*page, needs)) {
            return Err(Fault::Malformed(from));
        }
        let own = self.own;
        let page = self.page(number);
        match page.home {
            Some(home) if home != own => return Err(Fault::Malformed(from)),
            Some(_) if !page.has(&needs) => {
                page.waiting.push((from, needs));
                return Ok(());
            }
            _ => {}
        }
        if !page.copy {
            return Err(Fault::Malformed(from));
        }
        let further = self.further_pages(further, memory);
        self.give_page(from, number, further, memory);
        Ok(())
    }

    pub(crate) fn give_page(
        &mut self,
        to: usize,
        number: u32,
        further: Vec<FurtherPage>,
        memory: &mut impl Memory,
    ) {
        let FurtherPage { page, has, data } = self.whole_page(number, memory);
        self.say(to, Message::Page { page, has, data, further });
    }

    /// A page as this node has it.
    pub(crate) fn whole_page(&mut self, number: u32, memory: &mut impl Memory) -> FurtherPage {
        let mut data = vec![0; self.setup.page_bytes];
        // Later diffs start from this page, so it must contain all announced writes, and no others.
        if self.page(number).span.is_some() {
            self.make_diff(number, memory);
        }
        let page = &self.pages[&number];
        match &page.twin {
            Some(twin) => data.copy_from_slice(twin),
            None => memory.load(number, &mut data),
        }
        FurtherPage { page: number, has: page.applied.clone(), data: data.into() }
    }

    /// Sends diffs of a page, and of further pages if all of their diffs are here.
    pub(crate) fn asked_for_diffs(
        &mut self,
        from: usize,
        (alone, passed): (bool, u32),
        asked: FurtherDiffs,
        further: Vec<FurtherDiffs>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let nodes = self.setup.nodes;
        let stranger = |wanted: &Wanted| wanted.node as usize >= nodes || wanted.node as usize == from;
        let sound = |one: &FurtherDiffs| {
            self.pages.get(&one.page).is_some_and(|page| page.home.is_none())
                && one.has.len() == nodes
                && !one.wanted.iter().any(stranger)
        };
        let bounded = further.len() <= self.setup.further as usize;
        if !bounded || !sound(&asked) || !further.iter().all(sound) {
            return Err(Fault::Malformed(from));
        }
        let page = asked.page;
        self.note_habit(from, page, (&asked.has, passed), &asked.wanted);
        let Diffs { orderly, records, missing } = self.diffs(&asked, alone, memory);
        let further = self.all_diffs(from, passed, further, memory);
        self.say(from, Message::Diffs { page, orderly, records, missing, further });
        Ok(())
    }

    /// Diffs of a page: the node's own diffs, which it makes now if necessary, and diffs of others that the copy here
    /// contains.
    pub(crate) fn diffs(&mut self, asked: &FurtherDiffs, alone: bool, memory: &mut impl Memory) -> Diffs {
        let FurtherDiffs { page: number, has, wanted } = asked;
        let number = *number;
        let own = self.own;
        let makes = |first: u32| wanted.iter().any(|one| one.node as usize == own && one.upto >= first);
        if self.pages[&number].span.is_some_and(|(first, _)| makes(first)) {
            self.make_diff(number, memory);
        }
        let page = &self.pages[&number];
        let holds = |one: &Wanted| {
            let node = one.node as usize;
            page.floor[node] <= one.after && page.applied[node] >= one.upto
        };
        let is_wanted = |record: &Record| {
            record.spans.iter().any(|span| {
                wanted
                    .iter()
                    .any(|one| one.node == span.node && span.last > one.after && span.first <= one.upto)
            })
        };
        let mut records: Vec<&Record> = page.log.iter().filter(|record| is_wanted(record)).collect();
        let mut orderly = alone && wanted.iter().all(holds);
        if orderly && records.iter().any(|record| record.folded) {
            // A folded record cannot be split. The requesting node gets all changes that it lacks and that are here,
            // even changes that it does not know yet. That makes its copy what this one is, so this one must have all
            // that it has.
            let can = has.iter().all(|(node, seen)| page.floor[node] <= seen && seen <= page.applied[node]);
            let is_new =
                |record: &Record| record.spans.iter().any(|span| span.last > has[span.node as usize]);
            match page.log.iter().position(is_new) {
                Some(first) if can => records = page.log[first..].iter().collect(),
                _ => orderly = false,
            }
        }
        if orderly {
            let records = match records.len() {
                2.. if self.setup.fold => vec![folded(&records, self.setup.page_bytes)],
                _ => records.into_iter().cloned().collect(),
            };
            return Diffs { orderly, records, missing: Vec::new() };
        }
        // If a change is not here as a single diff, its author has it as a single diff.
        let is_single = |node: u32| {
            let mut of = page.log.iter().filter(|record| record.spans.iter().any(|span| span.node == node));
            of.all(|record| !record.folded)
        };
        let (here, missing): (Vec<Wanted>, Vec<Wanted>) =
            wanted.iter().partition(|one| one.node as usize == own || holds(one) && is_single(one.node));
        let is_here =
            |record: &&Record| here.iter().any(|one| record.spans[0].node == one.node && !record.folded);
        let records = records.into_iter().filter(is_here).cloned().collect();
        Diffs { orderly: false, records, missing }
    }
}

/// The diffs of a page that a node has. `orderly`: all that was wanted, in an order in which they may be put into the
/// page.
pub(crate) struct Diffs {
    pub(crate) orderly: bool,
    pub(crate) records: Vec<Record>,
    /// The changes that this node lacks.
    pub(crate) missing: Vec<Wanted>,
}

/// Several diffs as one, in the order of a log. Each node has one span, because the log has all its changes in between.
pub(crate) fn folded(records: &[&Record], page_bytes: usize) -> Record {
    let diff = Diff::folded(records.iter().map(|record| &record.diff), page_bytes);
    let mut spans: Vec<Span> = Vec::new();
    for span in records.iter().flat_map(|record| &record.spans) {
        match spans.iter_mut().find(|other| other.node == span.node) {
            Some(other) => {
                other.first = other.first.min(span.first);
                other.last = other.last.max(span.last);
            }
            None => spans.push(*span),
        }
    }
    Record { spans, folded: true, diff }
}
