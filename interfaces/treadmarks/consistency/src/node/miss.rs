//! Faults: the program touches a page that it may not, and what it lacks is fetched.

use crate::message::{FurtherPage, FurtherRecords, Message, Record, Span, Wanted};
use crate::pages::diff::Diff;
use crate::pages::memory::{Access, Memory};
use crate::setup::{Fault, Progress};
use crate::stamp::Stamp;
use crate::state::Node;
use crate::state::work::{Miss, Work};

impl Node {
    /// The program has touched a page that it may not touch so. When this is done it may.
    pub fn fault(
        &mut self,
        number: u32,
        access: Access,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        if number >= self.setup.pages {
            return Err(Fault::NoSuchPage(number));
        }
        self.begin()?;
        self.fault_of_one(number, access, memory)
    }

    /// The same, also when other tasks of the node wait for locks.
    pub(crate) fn fault_of_one(
        &mut self,
        number: u32,
        access: Access,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        if let Some(view) = self.view_of(number) {
            return self.fault_in_view(view, number, access, memory);
        }
        let own = self.own;
        let page = self.page(number);
        if page.access >= access {
            return Ok(Progress::Done);
        }
        if self.is_stranded() {
            return self.fault_stranded(number, access, memory);
        }
        let page = self.page(number);
        if page.is_current(own) {
            self.uses(number);
            if access == Access::Write {
                self.counts.write_faults += 1;
            }
            self.open(number, access, memory);
            if access == Access::Write {
                self.write_on(number, memory);
            }
            return Ok(Progress::Done);
        }
        self.counts.misses += 1;
        self.misses_with_lock(number);
        self.miss(number, access, None, memory)?;
        self.settle(memory)
    }

    /// Opens a page that is up to date to the program.
    pub(crate) fn open(&mut self, number: u32, access: Access, memory: &mut impl Memory) {
        let (own, bytes) = (self.own, self.setup.page_bytes);
        let page = self.pages.get_mut(&number).expect("it was looked at");
        if access == Access::Write && page.home == Some(own) {
            self.keep_base(number, memory);
        }
        let page = self.pages.get_mut(&number).expect("it was looked at");
        if access == Access::Write {
            if !page.dirty {
                page.dirty = true;
                self.dirty.push(number);
            }
            // A twin of before still serves: its diff tells of all intervals since.
            if page.twin.is_none() && page.home != Some(own) {
                let mut twin = vec![0; bytes].into_boxed_slice();
                memory.load(number, &mut twin);
                page.twin = Some(twin);
                self.counts.twins += 1;
                self.counts.held += bytes as u64;
                self.counts.most_held = self.counts.most_held.max(self.counts.held);
            }
        }
        let page = self.pages.get_mut(&number).expect("it was looked at");
        if page.access < access {
            page.access = access;
            memory.protect(number, 1, access);
        }
    }

    /// The program will write all words of these pages before any node reads them, so their missing changes are not
    /// fetched. Until then their contents are undefined, on all nodes. Pages of views and with homes are as before.
    ///
    /// From *validate* with `WRITE_ALL` of Dwarkadas, Cox and Zwaenepoel (ASPLOS 1996).
    pub fn overwrite(&mut self, first: u32, count: u32, memory: &mut impl Memory) -> Result<(), Fault> {
        self.begin()?;
        self.overwrite_by_one(first, count, memory)
    }

    /// The same, also when other tasks of the node wait for something.
    pub(crate) fn overwrite_by_one(
        &mut self,
        first: u32,
        count: u32,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let end = first.checked_add(count).filter(|&end| end <= self.setup.pages);
        let end = end.ok_or(Fault::NoSuchPage(self.setup.pages))?;
        if self.is_stranded() {
            return Ok(());
        }
        for number in first..end {
            let (own, of_view) = (self.own, self.view_of(number).is_some());
            let is_asked_for = self.missed_page() == Some(number);
            let page = self.page(number);
            if of_view || is_asked_for || page.home.is_some() || page.is_current(own) {
                continue;
            }
            // It is as if all that others have changed had come, and been of no effect on what will be there.
            let spans: Vec<Span> = page.lacks(own).iter().map(span_of).collect();
            if !spans.is_empty() {
                page.log_record(own, Record { spans, folded: true, diff: Diff::empty() });
            }
            let noticed = page.noticed.iter().filter(|&(node, _)| node != own).collect::<Vec<_>>();
            for (node, upto) in noticed {
                page.applied[node] = page.applied[node].max(upto);
            }
            page.copy = true;
            page.whole = true;
            self.counts.write_faults += 1;
            self.open(number, Access::Write, memory);
        }
        Ok(())
    }

    /// Begins to fetch what a page lacks.
    pub(crate) fn miss(
        &mut self,
        number: u32,
        access: Access,
        collecting: Option<Vec<u32>>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let own = self.own;
        let page = self.page(number);
        let (known, records) = (page.noticed.clone(), Vec::new());
        let further = Vec::new();
        let mut miss =
            Miss { page: number, access, known, awaited: 0, orderly: false, records, further, collecting };
        let (home, keeper, has_copy) = (page.home, page.keeper, page.copy);
        if let Some(home) = home {
            miss.further = self.further(&miss)?;
            let further = self.lacking_of(&miss.further);
            self.work = Some(Work::Miss(miss));
            return self.miss_at_home(number, home, further, memory);
        }
        if has_copy {
            return match self.pushed_early(number) {
                Some(records) => {
                    let mut miss = Miss { records, ..miss };
                    self.put_in(self.own, &mut miss, memory)?;
                    self.finish_miss(miss, memory)
                }
                None => {
                    miss.further = self.further(&miss)?;
                    self.ask_for_diffs(miss)
                }
            };
        }
        if keeper == own {
            return Err(Fault::Malformed(own));
        }
        miss.further = self.further(&miss)?;
        let further = miss.further.iter().map(|one| (one.page, Vec::new())).collect();
        self.work = Some(Work::Miss(miss));
        self.counts.requests += 1;
        self.say(keeper, Message::PageWanted { page: number, needs: Vec::new(), further });
        Ok(())
    }

    /// The smallest set of nodes that hold all diffs that a page lacks, and what to ask each of them for. A node that
    /// changed the page later, and knew an earlier change, also has the earlier change.
    pub(crate) fn holders(&self, number: u32) -> Result<Vec<(usize, Vec<Wanted>)>, Fault> {
        let own = self.own;
        let lacks = self.pages.get(&number).map(|page| page.lacks(own)).unwrap_or_default();
        let latest: Vec<&Stamp> = lacks
            .iter()
            .map(|wanted| self.interval(wanted.node as usize, wanted.upto).map(|interval| &interval.stamp))
            .collect::<Option<_>>()
            .ok_or(Fault::Malformed(own))?;
        // Whose latest change the maker of another knew. If two nodes are asked, neither knows the other's change.
        let known_to = |one: usize, other: usize| {
            one != other && latest[other][lacks[one].node as usize] >= lacks[one].upto
        };
        let asked: Vec<usize> =
            (0..lacks.len()).filter(|&one| !(0..lacks.len()).any(|other| known_to(one, other))).collect();
        let mut questions: Vec<(usize, Vec<Wanted>)> =
            asked.iter().map(|&one| (lacks[one].node as usize, vec![lacks[one]])).collect();
        for one in (0..lacks.len()).filter(|one| !asked.contains(one)) {
            let holder = asked.iter().position(|&other| known_to(one, other)).ok_or(Fault::Malformed(own))?;
            questions[holder].1.push(lacks[one]);
        }
        Ok(questions)
    }

    /// Asks for the diffs that a page lacks.
    fn ask_for_diffs(&mut self, mut miss: Miss) -> Result<(), Fault> {
        let questions = self.holders(miss.page)?;
        let has = self.page(miss.page).applied.clone();
        let alone = questions.len() == 1;
        miss.awaited = questions.len();
        let page = miss.page;
        let mut further = self.further_diffs(&miss.further)?;
        self.work = Some(Work::Miss(miss));
        for (node, wanted) in questions {
            self.counts.requests += 1;
            let (passed, further) = (self.barriers_passed(), std::mem::take(&mut further));
            self.say(node, Message::DiffsWanted { page, alone, passed, has: has.clone(), wanted, further });
        }
        Ok(())
    }

    /// A whole page has come.
    pub(crate) fn got_page(
        &mut self,
        from: usize,
        page: FurtherPage,
        further: Vec<FurtherPage>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let sound = std::iter::once(&page).chain(&further).all(|page| self.is_sound_page(page));
        let Some(Work::Miss(mut miss)) = self.work.take().filter(|_| sound) else {
            return Err(Fault::Malformed(from));
        };
        let (own, number) = (self.own, page.page);
        if miss.page != number {
            return Err(Fault::Malformed(from));
        }
        self.put_page(page, memory);
        self.put_further_pages(from, &std::mem::take(&mut miss.further), further, memory)?;
        let page = self.page(number);
        if page.is_current(own) {
            return self.finish_miss(miss, memory);
        }
        if page.home.is_some() && !page.has_all(&miss.known, own) {
            return Err(Fault::Malformed(from));
        }
        self.ask_again(miss, memory)
    }

    fn is_sound_page(&self, page: &FurtherPage) -> bool {
        page.has.len() == self.setup.nodes && page.data.len() == self.setup.page_bytes
    }

    /// Puts a whole page into the memory.
    pub(crate) fn put_page(&mut self, whole: FurtherPage, memory: &mut impl Memory) {
        let (own, FurtherPage { page: number, has, data }) = (self.own, whole);
        memory.store(number, 0, &data);
        self.counts.page_fetches += 1;
        let page = self.page(number);
        page.copy = true;
        let own_applied = page.applied[own];
        page.applied = has;
        page.applied[own] = page.applied[own].max(own_applied);
        page.floor = page.applied.clone();
        page.log.clear();
    }

    /// The requested changes have come. By now the page lacks more changes, or changes that were not requested yet.
    fn ask_again(&mut self, mut miss: Miss, memory: &mut impl Memory) -> Result<(), Fault> {
        let page = self.page(miss.page);
        miss.known = page.noticed.clone();
        match page.home {
            Some(home) => {
                let number = miss.page;
                self.work = Some(Work::Miss(miss));
                self.miss_at_home(number, home, Vec::new(), memory)
            }
            None => self.ask_for_diffs(miss),
        }
    }

    /// Diffs have come. If the sender lacks a diff, the node that made the diff has it.
    pub(crate) fn got_diffs(
        &mut self,
        from: usize,
        number: u32,
        orderly: bool,
        (records, missing, further): (Vec<Record>, Vec<Wanted>, Vec<FurtherRecords>),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let (own, nodes, page_bytes) = (self.own, self.setup.nodes, self.setup.page_bytes);
        let sound = |record: &Record, orderly: bool| {
            let spans =
                record.spans.iter().all(|span| (span.node as usize) < nodes && span.first <= span.last);
            !record.spans.is_empty()
                && spans
                && record.diff.is_sound(page_bytes)
                && (orderly || !record.folded)
        };
        let strangers = missing.iter().any(|wanted| {
            let node = wanted.node as usize;
            node >= nodes || node == own || node == from
        });
        let Some(Work::Miss(mut miss)) = self.work.take() else { return Err(Fault::Malformed(from)) };
        let wrong = miss.page != number || miss.awaited == 0 || orderly && miss.awaited != 1;
        if wrong || strangers || !records.iter().all(|record| sound(record, orderly)) {
            return Err(Fault::Malformed(from));
        }
        if !further.iter().flat_map(|(_, records)| records).all(|record| sound(record, true)) {
            return Err(Fault::Malformed(from));
        }
        self.put_further_diffs(from, &std::mem::take(&mut miss.further), further, memory)?;
        miss.awaited = miss.awaited + missing.len() - 1;
        miss.orderly = orderly;
        miss.records.extend(records);
        let done = miss.awaited == 0;
        if !done {
            let has = self.page(number).applied.clone();
            self.work = Some(Work::Miss(miss));
            for wanted in missing {
                self.counts.requests += 1;
                let question = Message::DiffsWanted {
                    page: number,
                    alone: false,
                    passed: self.barriers_passed(),
                    has: has.clone(),
                    wanted: vec![wanted],
                    further: Vec::new(),
                };
                self.say(wanted.node as usize, question);
            }
            return Ok(());
        }
        self.put_in(from, &mut miss, memory)?;
        let own = self.own;
        if self.page(number).is_current(own) {
            self.finish_miss(miss, memory)
        } else {
            self.ask_again(miss, memory)
        }
    }

    /// Puts what has come into the page, in an order in which it happened.
    pub(crate) fn put_in(
        &mut self,
        from: usize,
        miss: &mut Miss,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let mut records = std::mem::take(&mut miss.records);
        if !miss.orderly {
            // A span begins no later than the changes that others made knowing any of it.
            let when = |record: &Record| {
                let span = record.spans[0];
                self.interval(span.node as usize, span.first).map(|interval| interval.stamp.sum())
            };
            let times: Option<Vec<u64>> = records.iter().map(when).collect();
            let mut timed: Vec<_> = times.ok_or(Fault::Malformed(from))?.into_iter().zip(records).collect();
            timed.sort_by_key(|(time, record)| (*time, record.spans[0].node));
            records = timed.into_iter().map(|(_, record)| record).collect();
        }
        let own = self.own;
        for record in records {
            record.diff.apply(miss.page, memory);
            self.counts.diffs_applied += 1;
            self.hold(record.diff.bytes());
            let page = self.page(miss.page);
            for span in record.spans.iter().filter(|span| span.node as usize != own) {
                let applied = &mut page.applied[span.node as usize];
                *applied = (*applied).max(span.last);
            }
            let bytes = page.log_record(own, record);
            self.release_held(bytes);
        }
        let page = self.page(miss.page);
        if page.copy && page.has_all(&miss.known, own) { Ok(()) } else { Err(Fault::Malformed(from)) }
    }

    /// The page is up to date.
    pub(crate) fn finish_miss(&mut self, miss: Miss, memory: &mut impl Memory) -> Result<(), Fault> {
        match miss.collecting {
            Some(rest) => {
                self.work = Some(Work::Collect(rest));
                self.go_on_collecting(memory)
            }
            None => {
                self.open(miss.page, miss.access, memory);
                self.work = None;
                Ok(())
            }
        }
    }

    /// The page of the miss under way, if there is one.
    pub(crate) fn missed_page(&self) -> Option<u32> {
        match &self.work {
            Some(Work::Miss(miss)) => Some(miss.page),
            _ => None,
        }
    }
}

fn span_of(wanted: &Wanted) -> Span {
    Span { node: wanted.node, first: wanted.after + 1, last: wanted.upto }
}
