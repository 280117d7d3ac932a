//! Pages opened for writing before the first access, together with a written page.
//!
//! With several tasks on a node a fault may cost a letter to another process. There the pages after the written page are
//! opened, if an earlier interval wrote all of them. On every node the next pages are opened, if the program writes one
//! page after the other ([`Streams`]).
//!
//! When the interval ends, the node asks whether a task has written to the page ([`Memory::withdraw`]), and compares the
//! page with its contents of before. An unchanged page counts as unwritten.
//!
//! [`Streams`]: crate::state::streams::Streams

use crate::pages::memory::{Access, Memory};
use crate::state::Node;

/// The number of pages that are opened at once, with the first page.
const AT_ONCE: u32 = 16;

/// A page that was opened ahead.
pub(crate) struct Ahead {
    page: u32,
    /// Its contents, if the page had a twin already: that twin is from an earlier interval.
    before: Option<Box<[u8]>>,
}

impl Node {
    /// A page has been opened to writes, for one of several tasks.
    pub(crate) fn write_ahead(&mut self, number: u32, memory: &mut impl Memory) {
        let own = self.own;
        let last = self.page(number).noticed[own];
        if last == 0 {
            return;
        }
        for next in number + 1..number.saturating_add(AT_ONCE).min(self.setup.pages) {
            let was_written = self.pages.get(&next).is_some_and(|page| page.noticed[own] == last);
            if !was_written || !self.open_ahead(next, memory) {
                return;
            }
        }
    }

    /// A page has been opened to writes. If the program has written the pages before it, one after the other, it will
    /// write the next pages too.
    pub(crate) fn write_on(&mut self, number: u32, memory: &mut impl Memory) {
        if self.setup.further == 0 {
            return;
        }
        let end = number.saturating_add(1 + self.written.missed(number, AT_ONCE)).min(self.setup.pages);
        let mut next = number + 1;
        while next < end && self.open_ahead(next, memory) {
            next += 1;
        }
        self.written.asked_up_to(next);
    }

    /// Opens a page for writing that a fault would open without a message. False: a fault of the page would need data, or has a home or a view.
    fn open_ahead(&mut self, number: u32, memory: &mut impl Memory) -> bool {
        let own = self.own;
        let can = self
            .pages
            .get(&number)
            .is_some_and(|page| page.access == Access::Read && page.home.is_none() && page.is_current(own));
        if !can || self.view_of(number).is_some() {
            return false;
        }
        let has_twin = self.pages[&number].twin.is_some();
        let before = has_twin.then(|| self.contents(number, memory));
        self.hold(before.as_ref().map_or(0, |before| before.len()));
        self.open(number, Access::Write, memory);
        self.ahead.push(Ahead { page: number, before });
        true
    }

    fn contents(&self, number: u32, memory: &impl Memory) -> Box<[u8]> {
        let mut contents = vec![0; self.setup.page_bytes].into_boxed_slice();
        memory.load(number, &mut contents);
        contents
    }

    /// Before the end of an interval: closes pages that were opened ahead. Unwritten pages are then as before.
    pub(crate) fn close_ahead(&mut self, memory: &mut impl Memory) {
        let bytes = self.setup.page_bytes;
        let mut ahead = std::mem::take(&mut self.ahead);
        // If a node wanted the diff of a page in between, the page may be in the list twice. It is checked once.
        ahead.sort_by_key(|one| one.page);
        let mut last = None;
        for Ahead { page: number, before } in ahead {
            self.release_held(before.as_ref().map_or(0, |before| before.len()));
            if last.replace(number) == Some(number) {
                continue;
            }
            let Some(page) = self.pages.get(&number) else { continue };
            // The page may be closed already, because a node wanted its diff.
            if !page.dirty || page.access != Access::Write {
                continue;
            }
            if memory.withdraw(number) {
                let now = self.contents(number, memory);
                let page = &self.pages[&number];
                // A twin with a span is from an earlier interval, and no diff was made of it since. A diff of the page in
                // between has later contents than `before`, and so has the twin of the next write.
                let old = if page.span.is_none() { page.twin.as_ref() } else { before.as_ref() };
                if old.is_none_or(|old| *old != now) {
                    continue;
                }
            }
            let Some(page) = self.pages.get_mut(&number) else { continue };
            (page.dirty, page.access) = (false, Access::Read);
            // A twin of before tells of intervals that were closed.
            if page.span.is_none() && page.twin.take().is_some() {
                self.release_held(bytes);
            }
        }
    }
}
