//! Pages opened to writes before anybody touches them: those behind one that is written to, where all were written to in the same
//! interval before. For tasks whose fault is a letter to another process, so that a part of an array costs one, and not one for
//! each page.
//!
//! Whether somebody has written to such a page is asked when the interval is closed ([`Memory::withdraw`]): if nobody may have,
//! nobody is told of it.

use crate::pages::memory::{Access, Memory};
use crate::state::Node;

/// So many at once, with the first.
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

    /// Before an interval is closed: pages that were opened ahead and that nobody has written to are as if they had not been.
    pub(crate) fn close_ahead(&mut self, memory: &mut impl Memory) {
        let bytes = self.setup.page_bytes;
        let mut ahead = std::mem::take(&mut self.ahead);
        // One whose diff was wanted meanwhile may have been opened ahead again, and is asked about once.
        ahead.sort_unstable();
        ahead.dedup();
        for number in ahead {
            let Some(page) = self.pages.get_mut(&number) else { continue };
            // It may have been closed meanwhile, when its diff was wanted.
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
