//! Pages with a home: changes go there when an interval ends, and a miss fetches the whole page from there.
//!
//! Diffs are not kept, so they do not accumulate. The home itself needs neither twin nor diff.

use crate::message::{Message, Wanted};
use crate::pages::diff::Diff;
use crate::pages::memory::Memory;
use crate::setup::Fault;
use crate::state::Node;
use crate::state::work::Work;

impl Node {
    /// Fetches a page from its home; at the home waits for what is still under way to it.
    pub(crate) fn miss_at_home(
        &mut self,
        number: u32,
        home: usize,
        further: Vec<(u32, Vec<Wanted>)>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let own = self.own;
        if home == own {
            return self.look_again_at_home(number, memory);
        }
        let page = self.page(number);
        // The own changes have come there before this does.
        let needs = page.lacks(own);
        self.counts.requests += 1;
        self.say(home, Message::PageWanted { page: number, needs, further });
        Ok(())
    }

    fn look_again_at_home(&mut self, number: u32, memory: &mut impl Memory) -> Result<(), Fault> {
        let own = self.own;
        if !self.page(number).is_current(own) {
            return Ok(());
        }
        match self.work.take() {
            Some(Work::Miss(miss)) => self.finish_miss(miss, memory),
            other => {
                self.work = other;
                Ok(())
            }
        }
    }

    /// At the home: what an interval has changed.
    pub(crate) fn flushed(
        &mut self,
        from: usize,
        number: u32,
        (interval, diff): (u32, Diff),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let own = self.own;
        let sound = number < self.setup.pages && diff.is_sound(self.setup.page_bytes);
        // These are changes that a node had sent before it became the home. This node may be the home again by now. A
        // new home already had all these changes.
        let (is_home, applied) = (self.page(number).home == Some(own), self.page(number).applied[from]);
        if sound && self.was_home(number) && (!is_home || applied >= interval) {
            return Ok(());
        }
        if !sound || !is_home || applied >= interval {
            return Err(Fault::Malformed(from));
        }
        self.keep_base(number, memory);
        diff.apply(number, memory);
        self.counts.diffs_applied += 1;
        let page = self.page(number);
        page.applied[from] = interval;
        let waiting = std::mem::take(&mut page.waiting);
        let (served, waiting): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, needs)| page.has(needs));
        page.waiting = waiting;
        for (node, _) in served {
            self.give_page(node, number, Vec::new(), memory);
        }
        if self.page(number).is_current(own)
            && let Some(replicas) = &mut self.replicas
        {
            replicas.late.remove(&number);
            self.go_on_keeping(memory)?;
        }
        if self.missed_page() == Some(number) { self.look_again_at_home(number, memory) } else { Ok(()) }
    }
}
