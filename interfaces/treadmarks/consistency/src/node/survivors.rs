//! Recovery after the death of nodes whose pages others keep ([`replicas`](crate::node::replicas)).
//!
//! A node that hears of a death is *stranded* until the next barrier. Its work until then will be undone, so the node
//! must only reach the barrier. It gets locks at once, and gets pages in their state at the last whole barrier. It does
//! not send changes, and ignores messages of others.
//!
//! At the barrier the survivors *regroup*. Each node sends the first living node the number of whole barriers that it
//! knows, and the nodes that it knows to be dead. It sends this again after each further death, and when it comes to a
//! barrier. When all living nodes agree about the dead, the first node knows the last barrier that any node has left. A
//! node that is still inside this barrier passes it, and meets the others at the next barrier. When all have arrived,
//! the nodes restore their pages from the last whole barrier. The next node becomes the home of the pages of a dead
//! node. The second half of a barrier makes new replicas of all pages. That one is counted too, and ends for all with
//! the news of the loss. If more nodes die during this, the recovery begins again from the same state, because no node
//! has left the barrier.
//!
//! Every survivor therefore sees the same outcome of the same barrier. Pages are lost for good if their home and its
//! keeper die before there is a new replica.
//!
//! Messages contain the number of deaths from which their sender has recovered. A node ignores messages with a smaller
//! number, and messages with a larger number wait.

use crate::message::Message;
use crate::pages::memory::{Access, Memory};
use crate::pages::page::Page;
use crate::setup::{Fault, Progress};
use crate::stamp::Stamp;
use crate::state::Node;
use crate::state::replicas::{before_in, next_in};
use crate::state::work::Work;
use bytes::Bytes;
use std::collections::BTreeSet;

impl Node {
    /// Whether a node has died, and no barrier has recovered from this yet.
    pub fn is_stranded(&self) -> bool {
        let count = |gone: &[bool]| gone.iter().filter(|&&gone| gone).count() as u32;
        self.replicas.as_ref().is_some_and(|replicas| count(&replicas.gone) > replicas.era)
    }

    /// Whether the last barrier has restored the memory of the previous barrier, because a node had died.
    pub fn has_recovered(&self) -> bool {
        self.replicas.as_ref().is_some_and(|replicas| replicas.recovered)
    }

    /// The living nodes, as of the last barrier.
    pub fn living(&self) -> &[usize] {
        &self.living
    }

    /// From how many deaths this node has recovered.
    pub fn deaths(&self) -> u32 {
        self.replicas.as_ref().map_or(0, |replicas| replicas.era)
    }

    /// Whether a node is known to have died.
    pub fn is_gone(&self, node: usize) -> bool {
        self.replicas.as_ref().is_some_and(|replicas| replicas.gone[node])
    }

    /// A node has died. The program stops waiting, except at a barrier.
    pub fn gone(&mut self, node: usize, memory: &mut impl Memory) -> Result<Progress, Fault> {
        match &mut self.replicas {
            Some(replicas) if node != self.own && node < self.setup.nodes && !replicas.gone[node] => {
                replicas.gone[node] = true;
                replicas.regroups.clear();
            }
            _ => return self.settle(memory),
        }
        let waits = matches!(self.work, Some(Work::Barrier));
        for lock in std::mem::take(&mut self.wanted) {
            self.lock(lock).take_anyway();
        }
        match self.work.take() {
            Some(Work::Miss(miss)) => {
                let (page, access) = miss.wanted();
                self.fault_stranded(page, access, memory)?;
            }
            Some(Work::Stranded(page, access)) => _ = self.fault_stranded(page, access, memory)?,
            _ => {}
        }
        self.regroup(waits, memory)?;
        self.settle(memory)
    }

    fn dead(&self) -> Vec<u32> {
        let gone = self.replicas.iter().flat_map(|replicas| replicas.gone.iter().enumerate());
        gone.filter(|(_, gone)| **gone).map(|(node, _)| node as u32).collect()
    }

    fn survivors(&self) -> Vec<usize> {
        (0..self.setup.nodes).filter(|&node| !self.is_gone(node)).collect()
    }

    /// A page is wanted that will be put back anyway: as it was at the last whole barrier, or nearly so.
    pub(crate) fn fault_stranded(
        &mut self,
        number: u32,
        access: Access,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        let own = self.own;
        let page = self.page(number);
        if page.is_current(own) || page.home == Some(own) {
            self.open_stranded(number, access, memory);
            return Ok(Progress::Done);
        }
        let home = page.home.unwrap_or(own);
        let asked = if self.is_gone(home) { self.keeper_of(home)? } else { home };
        if asked == own {
            self.put_kept(number, memory);
            self.open_stranded(number, access, memory);
            return Ok(Progress::Done);
        }
        self.work = Some(Work::Stranded(number, access));
        self.say(asked, Message::KeptWanted { page: number });
        Ok(Progress::Wait)
    }

    fn open_stranded(&mut self, number: u32, access: Access, memory: &mut impl Memory) {
        let own = self.own;
        if access == Access::Write && self.page(number).home == Some(own) {
            self.keep_base(number, memory);
        }
        let page = self.page(number);
        page.copy = true;
        page.access = page.access.max(access);
        memory.protect(number, 1, page.access);
    }

    /// The node that keeps the pages of a dead home.
    fn keeper_of(&self, home: usize) -> Result<usize, Fault> {
        let keeper = self.replicas.as_ref().map_or(home, |replicas| next_in(&replicas.ring, home));
        if self.is_gone(keeper) { Err(Fault::Unkept { node: home, keeper }) } else { Ok(keeper) }
    }

    fn put_kept(&mut self, number: u32, memory: &mut impl Memory) {
        let bytes = self.setup.page_bytes;
        let kept = self.replicas.as_ref().and_then(|replicas| replicas.kept.get(&number));
        match kept {
            Some(page) => memory.store(number, 0, page),
            None => memory.store(number, 0, &vec![0; bytes]),
        }
    }

    /// A stranded node wants a page.
    pub(crate) fn asked_for_kept(
        &mut self,
        from: usize,
        number: u32,
        memory: &impl Memory,
    ) -> Result<(), Fault> {
        if number >= self.setup.pages {
            return Err(Fault::Malformed(from));
        }
        let (own, bytes) = (self.own, self.setup.page_bytes);
        let home = self.page(number).home;
        let Some(replicas) = &self.replicas else { return Err(Fault::Malformed(from)) };
        let mut now = vec![0; bytes];
        let was = if home == Some(own) {
            replicas.base.get(&number).or_else(|| replicas.next.get(&number))
        } else {
            replicas.kept.get(&number)
        };
        match was {
            Some(was) => now.copy_from_slice(was),
            None if home == Some(own) => memory.load(number, &mut now),
            None => {}
        }
        self.say(from, Message::KeptPage { page: number, data: now.into() });
        Ok(())
    }

    pub(crate) fn got_kept(
        &mut self,
        from: usize,
        number: u32,
        data: &Bytes,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        match self.work {
            Some(Work::Stranded(page, access)) if page == number => {
                if data.len() != self.setup.page_bytes {
                    return Err(Fault::Malformed(from));
                }
                self.work = None;
                memory.store(number, 0, data);
                self.counts.page_fetches += 1;
                self.open_stranded(number, access, memory);
            }
            // It was asked for twice, for the first who was asked has died.
            _ => {}
        }
        Ok(())
    }

    /// Tells the first survivor what this one knows, and whether the program is at a barrier.
    pub(crate) fn regroup(&mut self, waits: bool, memory: &mut impl Memory) -> Result<(), Fault> {
        if waits {
            self.work = Some(Work::Barrier);
        }
        let (dead, whole) = (self.dead(), self.whole());
        match self.survivors()[0] {
            first if first == self.own => self.regrouped(first, &dead, (whole, waits), memory),
            first => {
                self.say(first, Message::Regroup { dead, whole, waits });
                Ok(())
            }
        }
    }

    /// At the first: what one more knows.
    pub(crate) fn regrouped(
        &mut self,
        from: usize,
        dead: &[u32],
        known: (u32, bool),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let own = self.own;
        if dead.iter().any(|&node| node as usize >= self.setup.nodes || node as usize == own) {
            return Err(Fault::Malformed(from));
        }
        for &node in dead {
            self.gone(node as usize, memory)?;
        }
        let survivors = self.survivors();
        if self.dead() != dead || survivors[0] != own {
            // It will hear of the others, and say so again.
            return Ok(());
        }
        let Some(replicas) = &mut self.replicas else { return Err(Fault::Malformed(from)) };
        replicas.regroups.insert(from, known);
        let last = replicas.regroups.values().map(|(whole, _)| *whole).max().unwrap_or(known.0);
        let mut behind = Vec::new();
        for (&node, (whole, waits)) in &mut replicas.regroups {
            if *waits && *whole < last {
                (*whole, *waits) = (last, false);
                behind.push(node);
            }
        }
        let all = survivors.iter().all(|node| replicas.regroups.get(node).is_some_and(|(_, waits)| *waits));
        if all {
            replicas.regroups.clear();
        }
        for node in behind {
            match node == own {
                true => self.pass(node, dead.len(), last, memory)?,
                false => self.say(node, Message::Pass { dead: dead.len() as u32, whole: last }),
            }
        }
        if !all {
            return Ok(());
        }
        let regions = self.regions.clone();
        for node in survivors.into_iter().filter(|&node| node != own) {
            self.say(node, Message::Restore { dead: dead.to_vec(), whole: last, regions: regions.clone() });
        }
        self.restore(own, dead, last, regions, memory)
    }

    /// Another node has left the barrier at which this node still is.
    pub(crate) fn pass(
        &mut self,
        from: usize,
        dead: usize,
        whole: u32,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        if dead < self.dead().len() {
            // A node that knows all deaths sends the message again.
            return Ok(());
        }
        self.is_whole(from, whole, memory)
    }

    /// All are at a barrier: puts back what was.
    pub(crate) fn restore(
        &mut self,
        from: usize,
        dead: &[u32],
        whole: u32,
        regions: Vec<(u32, u32)>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let known = self.dead();
        if dead.len() < known.len() {
            return Ok(());
        }
        let waits = matches!(self.work, Some(Work::Barrier));
        let sound = |&(first, count): &(u32, u32)| {
            count > 0 && first.checked_add(count).is_some_and(|end| end <= self.setup.pages)
        };
        if known != dead || !waits || whole != self.whole() || !regions.iter().all(sound) {
            return Err(Fault::Malformed(from));
        }
        self.put_back(memory);
        self.inherit(regions, memory)?;
        self.start_anew(memory);
        if let Some(replicas) = &mut self.replicas {
            replicas.era = dead.len() as u32;
            replicas.recovers = true;
        }
        self.start_keeping(None, memory)?;
        let early = self.replicas.as_mut().map(|replicas| std::mem::take(&mut replicas.early));
        for (from, of, message) in early.into_iter().flatten() {
            self.hear(from, of, message, memory)?;
        }
        Ok(())
    }

    /// Handles a message of another node if it has the present number of deaths; messages with a larger number wait.
    pub(crate) fn hear(
        &mut self,
        from: usize,
        era: u32,
        message: Message,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        use Message::{KeptPage, KeptWanted, Pass, Regroup, Restore};
        let stranded = self.is_stranded();
        let Some(replicas) = &mut self.replicas else { return self.take_in(from, message, memory) };
        let of_survivors = matches!(message, Regroup { .. } | Restore { .. } | Pass { .. });
        let of_stranded = matches!(message, KeptPage { .. } | KeptWanted { .. });
        if replicas.gone[from] || era < replicas.era && !of_survivors {
            return Ok(());
        }
        if era > replicas.era && !of_survivors {
            replicas.early.push((from, era, message));
            return Ok(());
        }
        if stranded && !of_survivors && !of_stranded {
            return Ok(());
        }
        self.take_in(from, message, memory)
    }

    /// The own pages are as they were at the last whole barrier.
    fn put_back(&mut self, memory: &mut impl Memory) {
        let Some(replicas) = &mut self.replicas else { return };
        let (base, next) = (std::mem::take(&mut replicas.base), std::mem::take(&mut replicas.next));
        for (page, was) in next.into_iter().chain(base) {
            // If a page is in both maps, the older contents count, so they are stored last.
            memory.store(page, 0, &was);
        }
        replicas.drop_coming();
        replicas.late.clear();
    }

    /// The pages of the dead have a home again: those here come from what was kept.
    fn inherit(&mut self, regions: Vec<(u32, u32)>, memory: &mut impl Memory) -> Result<(), Fault> {
        let own = self.own;
        let Some(replicas) = &self.replicas else { return Ok(()) };
        let ring = replicas.ring.clone();
        for &node in ring.iter().filter(|&&node| self.is_gone(node)) {
            self.keeper_of(node)?;
        }
        let heir = |&node: &usize| if self.is_gone(node) { next_in(&ring, node) } else { node };
        let heirs: Vec<usize> = replicas.heirs.iter().map(heir).collect();
        let inherits = self.is_gone(before_in(&ring, own));
        self.regions = regions;
        self.living = self.survivors();
        let Some(replicas) = &mut self.replicas else { return Ok(()) };
        replicas.heirs_now = heirs;
        if inherits {
            replicas.inherited = replicas.kept.keys().copied().collect();
            replicas.ours.extend(&replicas.inherited);
            // A page without a replica was never changed before this barrier, but perhaps after it.
            let known: BTreeSet<u32> = self.pages.keys().chain(&replicas.inherited).copied().collect();
            for page in known {
                if self.home(page) == Some(own) && !self.was_here(page) {
                    self.put_kept(page, memory);
                }
            }
        }
        Ok(())
    }

    /// Whether a page's home was here at the last whole barrier.
    fn was_here(&self, page: u32) -> bool {
        let first = self.first_home(page);
        self.replicas.as_ref().zip(first).is_some_and(|(replicas, first)| replicas.heirs[first] == self.own)
    }

    /// No node knows intervals of others, and no node has a lock; only homes have copies.
    fn start_anew(&mut self, memory: &mut impl Memory) {
        let (own, nodes) = (self.own, self.setup.nodes);
        let mut known: BTreeSet<u32> = self.pages.keys().copied().collect();
        known.extend(self.replicas.iter().flat_map(|replicas| replicas.ours.iter().copied()));
        self.pages.clear();
        let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
        for number in known {
            let home = self.home(number);
            let is_here = home == Some(own);
            if is_here { &mut here } else { &mut elsewhere }.push(number);
            self.pages.insert(number, Page::new(nodes, is_here, home));
        }
        for (pages, access) in [(here, Access::Read), (elsewhere, Access::None)] {
            for (first, count) in crate::node::intervals::runs(pages) {
                memory.protect(first, count, access);
            }
        }
        self.stamp = Stamp::new(nodes);
        self.thrown = Stamp::new(nodes);
        self.intervals.iter_mut().for_each(std::collections::VecDeque::clear);
        self.dirty.clear();
        self.told = 0;
        self.locks.clear();
        self.wanted.clear();
        self.meeting = Default::default();
        self.habits = Default::default();
        self.counts.held = 0;
        memory.restored(self.replicas.as_ref().and_then(|replicas| replicas.carried.as_deref()));
    }
}
