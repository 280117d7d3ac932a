//! Throwing old records away, at a barrier, when some node has little room for them.
//!
//! Each node brings the pages that it has changed itself up to date. After all nodes have done this, a node that
//! changed a page since the last time has the whole page, and the old diffs are useless. Other nodes drop their copy if
//! it is not valid, and will fetch the page.

use crate::message::Message;
use crate::pages::memory::{Access, Memory};
use crate::setup::Fault;
use crate::state::Node;
use crate::state::work::Work;

impl Node {
    /// After a barrier: brings one page after the other up to date.
    pub(crate) fn collect(&mut self, memory: &mut impl Memory) -> Result<(), Fault> {
        let own = self.own;
        let mut todo: Vec<u32> = self
            .pages
            .iter()
            .filter(|(_, page)| page.home.is_none() && page.noticed[own] > self.thrown[own])
            .filter(|(_, page)| !page.is_current(own))
            .map(|(&number, _)| number)
            .collect();
        todo.sort_unstable_by(|a, b| b.cmp(a));
        self.work = Some(Work::Collect(todo));
        self.go_on_collecting(memory)
    }

    pub(crate) fn go_on_collecting(&mut self, memory: &mut impl Memory) -> Result<(), Fault> {
        let Some(Work::Collect(todo)) = &mut self.work else { return Ok(()) };
        match todo.pop() {
            Some(page) => {
                let rest = std::mem::take(todo);
                self.miss(page, Access::Read, Some(rest), memory)
            }
            None => {
                self.work = Some(Work::Clean);
                self.say(self.manager(), Message::Collected);
                Ok(())
            }
        }
    }

    /// At the manager: one more has.
    pub(crate) fn collected(&mut self, from: usize) -> Result<(), Fault> {
        if self.own != self.manager() {
            return Err(Fault::Malformed(from));
        }
        self.meeting.collected += 1;
        if self.meeting.collected == self.setup.nodes {
            self.meeting.collected = 0;
            for node in 0..self.setup.nodes {
                self.say(node, Message::Clean);
            }
        }
        Ok(())
    }

    /// All have.
    pub(crate) fn throw_away(&mut self, memory: &mut impl Memory) {
        let (own, nodes, thrown) = (self.own, self.setup.nodes, self.thrown.clone());
        let mut dropped = Vec::new();
        for (&number, page) in &mut self.pages {
            if page.home.is_some() {
                continue;
            }
            let writers: Vec<usize> = (0..nodes).filter(|&node| page.noticed[node] > thrown[node]).collect();
            if !writers.is_empty() {
                page.keeper = writers[number as usize % writers.len()];
            }
            if writers.contains(&own) {
                // If there is no diff of the writes, no other node has an older copy.
                page.twin = None;
                page.whole = false;
                page.span = None;
                page.applied[own] = page.noticed[own];
            } else if !page.is_current(own) {
                page.copy = false;
                dropped.push(number);
            }
            page.log = Vec::new();
            page.floor = page.applied.clone();
        }
        for (first, count) in crate::node::intervals::runs(dropped) {
            memory.protect(first, count, Access::None);
        }
        self.intervals.iter_mut().for_each(std::collections::VecDeque::clear);
        self.thrown = self.stamp.clone();
        self.counts.held = 0;
        self.counts.collections += 1;
    }
}
