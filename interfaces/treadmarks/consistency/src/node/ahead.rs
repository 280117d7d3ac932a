//! Pages opened for writing before the first access. They are the pages after a written page, if an earlier interval
//! wrote all of them. For tasks whose fault is a letter to another process, so that a part of an array costs one, and
//! not one for each page.
//!
//! When the interval ends, the node asks whether a task has written to the page ([`Memory::withdraw`]). If no task can
//! have written, the page does not count as written.

use crate::pages::memory::{Access, Memory};
use crate::state::Node;

/// The number of pages that are opened at once, with the first page.
const AT_ONCE: u32 = 16;

impl Node {
    /// A page has been opened to writes, for one of several tasks.
    pub(crate) fn write_ahead(&mut self, number: u32, memory: &mut impl Memory) {
        let own = self.own;
        let last = self.page(number).noticed[own];
        if last == 0 {
            return;
        }
        for next in number + 1..number.saturating_add(AT_ONCE).min(self.setup.pages) {
            let follows = self.pages.get(&next).is_some_and(|page| {
                page.noticed[own] == last
                    && page.access == Access::Read
                    && page.home.is_none()
                    && page.is_current(own)
            });
            if !follows {
                return;
            }
            self.open(next, Access::Write, memory);
            self.ahead.push(next);
        }
    }

    /// Before the end of an interval: closes pages that were opened ahead and not written, as if they had never been
    /// open.
    pub(crate) fn close_ahead(&mut self, memory: &mut impl Memory) {
        let bytes = self.setup.page_bytes;
        let mut ahead = std::mem::take(&mut self.ahead);
        // If a node wanted the diff of a page in between, the page may be in the list twice. It is checked once.
        ahead.sort_unstable();
        ahead.dedup();
        for number in ahead {
            let Some(page) = self.pages.get_mut(&number) else { continue };
            // The page may be closed already, because a node wanted its diff.
            if !page.dirty || page.access != Access::Write || memory.withdraw(number) {
                continue;
            }
            (page.dirty, page.access) = (false, Access::Read);
            // A twin of before tells of intervals that were closed.
            if page.span.is_none() && page.twin.take().is_some() {
                self.release_held(bytes);
            }
        }
    }
}
