//! Further pages: a program that misses one page after the other gets the next pages with a page, in one request.
//!
//! A miss costs a question and an answer. If the misses of a program follow each other ([`Streams`]), the question also
//! names the next pages that lack changes of the same node. The answer has their changes too. The pages are opened to
//! reads at once, so their first access costs nothing. A page is left out, and fetched at its miss, if its changes are
//! at several nodes, or if the program has written to it.
//!
//! Classic TreadMarks fetches one page with a request. Further pages may be pages that the program never reads.
//!
//! [`Streams`]: crate::state::streams::Streams

use crate::message::{FurtherDiffs, FurtherPage, FurtherRecords, Wanted};
use crate::pages::memory::{Access, Memory};
use crate::setup::Fault;
use crate::state::Node;
use crate::state::work::{Further, Miss};

/// The place of the missing data of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Nothing is missing.
    Here,
    /// One node has all diffs.
    Diffs(usize),
    /// The copy is missing, and this node has one.
    Page(usize),
    Home(usize),
    /// At several nodes, or elsewhere; or local writes are in the way.
    Apart,
}

impl Node {
    /// The pages to ask for with a miss.
    pub(crate) fn further(&mut self, miss: &Miss) -> Result<Vec<Further>, Fault> {
        if self.setup.further == 0 || miss.collecting.is_some() {
            return Ok(Vec::new());
        }
        let first = miss.page;
        let most = self.streams.missed(first, self.setup.further);
        let mut further = Vec::new();
        if most == 0 {
            return Ok(further);
        }
        let source = self.source(first)?;
        if matches!(source, Source::Here | Source::Apart) {
            return Ok(further);
        }
        let mut next = first + 1;
        // Pages that are up to date do not end a stream.
        let end = first.saturating_add(1 + 2 * most).min(self.setup.pages);
        while next < end && further.len() < most as usize {
            match self.source(next)? {
                Source::Here => {}
                same if same == source => {
                    self.misses_with_lock(next);
                    let page = self.page(next);
                    let (has, known) = (page.applied.clone(), page.noticed.clone());
                    further.push(Further { page: next, has, known });
                }
                _ => break,
            }
            next += 1;
        }
        self.streams.asked_up_to(next);
        Ok(further)
    }

    fn source(&mut self, number: u32) -> Result<Source, Fault> {
        if self.view_of(number).is_some() {
            return Ok(Source::Apart);
        }
        // A page that was never touched stays unknown, because it may get a home or a view later.
        if !self.pages.contains_key(&number) && self.untouched() == Access::Read {
            return Ok(Source::Here);
        }
        let own = self.own;
        let is_pushed = self.habits.come.iter().any(|(.., pages)| pages.iter().any(|one| one.page == number));
        let page = self.page(number);
        if page.is_current(own) {
            return Ok(Source::Here);
        }
        if page.twin.is_some() || page.dirty || is_pushed {
            return Ok(Source::Apart);
        }
        match page.home {
            Some(home) if home == own => return Ok(Source::Apart),
            Some(home) => return Ok(Source::Home(home)),
            None if !page.copy && page.keeper == own => return Ok(Source::Apart),
            None if !page.copy => return Ok(Source::Page(page.keeper)),
            None => {}
        }
        match self.holders(number)?[..] {
            [(node, _)] => Ok(Source::Diffs(node)),
            _ => Ok(Source::Apart),
        }
    }

    /// The changes that these pages lack, for a request to their home.
    pub(crate) fn lacking_of(&self, further: &[Further]) -> Vec<(u32, Vec<Wanted>)> {
        let own = self.own;
        further.iter().map(|one| (one.page, self.pages[&one.page].lacks(own))).collect()
    }

    /// The same, for a request to the node that has all diffs.
    pub(crate) fn further_diffs(&self, further: &[Further]) -> Result<Vec<FurtherDiffs>, Fault> {
        let of = |one: &Further| {
            let wanted = self.holders(one.page)?.into_iter().flat_map(|(_, wanted)| wanted).collect();
            Ok(FurtherDiffs { page: one.page, has: one.has.clone(), wanted })
        };
        further.iter().map(of).collect()
    }

    /// At the node that is asked: the diffs of further pages that are all here.
    pub(crate) fn all_diffs(
        &mut self,
        from: usize,
        passed: u32,
        further: Vec<FurtherDiffs>,
        memory: &mut impl Memory,
    ) -> Vec<FurtherRecords> {
        let mut all = Vec::new();
        for asked in further {
            let habit = (asked.page, from);
            let given = self.habits.readers.get(&habit).map_or(0, |habit| habit.given);
            self.note_habit(from, asked.page, (&asked.has, passed), &asked.wanted);
            let found = self.diffs(&asked, true, memory);
            if found.orderly {
                all.push((asked.page, found.records));
            } else if let Some(habit) = self.habits.readers.get_mut(&habit) {
                habit.given = given;
            }
        }
        all
    }

    /// At the node that is asked: further pages, if they are here with what they need.
    pub(crate) fn further_pages(
        &mut self,
        further: Vec<(u32, Vec<Wanted>)>,
        memory: &mut impl Memory,
    ) -> Vec<FurtherPage> {
        let own = self.own;
        let mut all = Vec::new();
        for (number, needs) in further {
            let page = self.page(number);
            let is_here = page.copy && page.home.is_none_or(|home| home == own && page.has(&needs));
            if is_here {
                all.push(self.whole_page(number, memory));
            }
        }
        all
    }

    /// Diffs of further pages have come. They are put in if the copy is as it was when they were asked for.
    pub(crate) fn put_further_diffs(
        &mut self,
        from: usize,
        asked: &[Further],
        further: Vec<FurtherRecords>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        for (number, records) in further {
            let asked = asked.iter().find(|asked| asked.page == number).ok_or(Fault::Malformed(from))?;
            let page = self.page(number);
            let is_same = page.applied == asked.has && page.copy && page.home.is_none();
            if !is_same || page.twin.is_some() || page.dirty {
                continue;
            }
            let mut miss = Miss::of_pushed(number, true, records, asked.known.clone());
            self.put_in(from, &mut miss, memory)?;
            self.open_further(number, memory);
        }
        self.go_on_at_first_lacking(asked);
        Ok(())
    }

    /// Further pages have come.
    pub(crate) fn put_further_pages(
        &mut self,
        from: usize,
        asked: &[Further],
        further: Vec<FurtherPage>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        for one in further {
            let number = one.page;
            let asked = asked.iter().find(|asked| asked.page == number).ok_or(Fault::Malformed(from))?;
            let page = self.page(number);
            let is_same = page.applied == asked.has && page.noticed == asked.known;
            let is_from_source = page.home == Some(from) || page.home.is_none() && !page.copy;
            if !is_same || !is_from_source || page.twin.is_some() || page.dirty {
                continue;
            }
            self.put_page(one, memory);
            self.open_further(number, memory);
        }
        self.go_on_at_first_lacking(asked);
        Ok(())
    }

    /// The stream goes on at the first page that was asked for and has not come.
    fn go_on_at_first_lacking(&mut self, asked: &[Further]) {
        let own = self.own;
        if let Some(lacking) = asked.iter().find(|asked| !self.pages[&asked.page].is_current(own)) {
            self.streams.asked_up_to(lacking.page);
        }
    }

    fn open_further(&mut self, number: u32, memory: &mut impl Memory) {
        let own = self.own;
        self.counts.further += 1;
        if self.page(number).is_current(own) {
            self.open(number, Access::Read, memory);
        }
    }
}
