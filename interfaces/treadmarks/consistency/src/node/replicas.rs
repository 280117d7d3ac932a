//! Replicas: the pages of each home are kept once more, at the next node, as they were at the last barrier.
//!
//! A barrier is *whole* when every page has its replica, and no node leaves it before. A barrier therefore has a second
//! half. A node that knows all changes waits until they have come to the pages whose home it is. It sends the
//! differences from the previous barrier to the next node. When this is done, and the node has the replica of the
//! previous node, it tells the manager. After all reports, the manager lets all nodes go. This takes 4(n - 1) messages,
//! and one or more from each node to the next.
//!
//! A home keeps the state of its pages at the last whole barrier until the next whole barrier ([`Replicas::base`]).
//! This state therefore survives the death of any node: living homes have it, and the node after each dead home has it.
//! [`survivors`](crate::node::survivors) handles deaths.
//!
//! At a whole barrier every home has all changes, so the nodes discard the records of intervals. Other records do not
//! exist, because with replicas every page has a home.

use crate::message::Message;
use crate::pages::diff::Diff;
use crate::pages::memory::Memory;
use crate::setup::Fault;
use crate::state::Node;
use crate::state::replicas::{Stage, before_in, next_in};
use crate::state::work::Work;
use std::collections::BTreeSet;

/// Roughly the longest letter with pages.
const LETTER: usize = 1 << 20;

impl Node {
    /// A page whose home is here is about to be changed: keeps what it was.
    pub(crate) fn keep_base(&mut self, number: u32, memory: &impl Memory) {
        let bytes = self.setup.page_bytes;
        let Some(replicas) = &mut self.replicas else { return };
        let base = if replicas.is_prepared() { &mut replicas.next } else { &mut replicas.base };
        base.entry(number).or_insert_with(|| {
            let mut page = vec![0; bytes].into_boxed_slice();
            memory.load(number, &mut page);
            page
        });
    }

    /// The first half of a barrier is over, or what survives was put back.
    pub(crate) fn start_keeping(
        &mut self,
        carried: Option<Vec<u8>>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        if let Some(replicas) = &mut self.replicas {
            replicas.stage = Stage::Late;
            replicas.coming_carried = carried;
        }
        self.go_on_keeping(memory)
    }

    /// Something has come that the second half may have waited for.
    pub(crate) fn go_on_keeping(&mut self, memory: &mut impl Memory) -> Result<(), Fault> {
        let (own, manager, alone) = (self.own, self.manager(), self.living.len() == 1);
        let Some(replicas) = &mut self.replicas else { return Ok(()) };
        if replicas.stage == Stage::Late && replicas.late.is_empty() {
            replicas.stage = Stage::Sent;
            if !alone {
                self.send_replicas(memory);
            }
        }
        let Some(replicas) = &mut self.replicas else { return Ok(()) };
        if replicas.stage == Stage::Sent && (alone || replicas.has_come) {
            replicas.stage = Stage::Told;
            let whole = replicas.whole + 1;
            if manager == own {
                return self.kept(own, whole, memory);
            }
            self.say(manager, Message::Kept { whole });
        }
        Ok(())
    }

    /// Sends what the next node lacks of this one's pages: what was changed, or all when it had none of them.
    fn send_replicas(&mut self, memory: &impl Memory) {
        let bytes = self.setup.page_bytes;
        let Some(replicas) = &mut self.replicas else { return };
        let to = next_in(&self.living, self.own);
        let fresh = to != next_in(&replicas.ring, self.own);
        let mut pages: BTreeSet<u32> = replicas.base.keys().copied().collect();
        pages.extend(if fresh { &replicas.ours } else { &replicas.inherited });
        replicas.ours.extend(&pages);
        let (whole, replicas) = (replicas.whole + 1, &*replicas);
        let (mut letters, mut length, mut now) = (vec![Vec::new()], 0, vec![0; bytes]);
        for page in pages {
            memory.load(page, &mut now);
            let diff = match replicas.base.get(&page) {
                Some(was) if !fresh => Diff::between(was, &now),
                _ => Diff::whole(&now),
            };
            if diff.bytes() == 0 {
                continue;
            }
            if length > LETTER {
                letters.push(Vec::new());
                length = 0;
            }
            length += diff.bytes();
            letters.last_mut().expect("there is one").push((page, diff));
        }
        let last = letters.len() - 1;
        for (at, pages) in letters.into_iter().enumerate() {
            self.counts.replicas += 1;
            self.say(to, Message::Replica { whole, fresh, last: at == last, pages });
        }
    }

    /// Pages of the node before this one.
    pub(crate) fn replica(
        &mut self,
        from: usize,
        (whole, fresh, last): (u32, bool, bool),
        pages: Vec<(u32, Diff)>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let (count, bytes) = (self.setup.pages, self.setup.page_bytes);
        let is_before = before_in(&self.living, self.own) == from;
        let sound = pages.iter().all(|(page, diff)| *page < count && diff.is_sound(bytes));
        let replicas = self.replicas.as_mut().filter(|_| sound && is_before);
        let replicas = replicas.ok_or(Fault::Malformed(from))?;
        if whole != replicas.whole + 1 || replicas.has_come {
            return Err(Fault::Malformed(from));
        }
        replicas.fresh = fresh;
        replicas.has_come = last;
        replicas.coming.extend(pages);
        self.go_on_keeping(memory)
    }

    /// At the manager: a node has sent what changed, and has what the node before it has sent.
    pub(crate) fn kept(&mut self, from: usize, whole: u32, memory: &mut impl Memory) -> Result<(), Fault> {
        let (own, manager, living) = (self.own, self.manager(), self.living.clone());
        let Some(replicas) = &mut self.replicas else { return Err(Fault::Malformed(from)) };
        if manager != own || whole != replicas.whole + 1 || !replicas.told.insert(from) {
            return Err(Fault::Malformed(from));
        }
        if replicas.told.len() < living.len() {
            return Ok(());
        }
        for node in living.into_iter().filter(|&node| node != own) {
            self.say(node, Message::Whole { whole });
        }
        self.is_whole(own, whole, memory)
    }

    /// All is kept: the barrier is over.
    pub(crate) fn is_whole(
        &mut self,
        from: usize,
        whole: u32,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let waits = matches!(self.work, Some(Work::Barrier));
        let bytes = self.setup.page_bytes;
        let Some(replicas) = self.replicas.as_mut().filter(|_| waits) else {
            return Err(Fault::Malformed(from));
        };
        if replicas.stage != Stage::Told || whole != replicas.whole + 1 {
            return Err(Fault::Malformed(from));
        }
        if replicas.fresh {
            replicas.kept.clear();
        }
        for (page, diff) in std::mem::take(&mut replicas.coming) {
            diff.apply_to(replicas.kept.entry(page).or_insert_with(|| vec![0; bytes].into()));
        }
        if let Some(carried) = replicas.coming_carried.take() {
            if self.own != self.living[0] {
                memory.learns(&carried);
            }
            replicas.carried = Some(carried);
        }
        replicas.drop_coming();
        replicas.whole = whole;
        replicas.base = std::mem::take(&mut replicas.next);
        replicas.inherited.clear();
        replicas.ring.clone_from(&self.living);
        replicas.heirs.clone_from(&replicas.heirs_now);
        if self.living.len() == 1 {
            replicas.kept.clear();
        }
        replicas.recovered = std::mem::take(&mut replicas.recovers);
        self.intervals.iter_mut().for_each(std::collections::VecDeque::clear);
        self.thrown = self.stamp.clone();
        self.counts.held = 0;
        self.passed_barrier(false, memory)
    }

    /// How many barriers were whole.
    pub fn whole(&self) -> u32 {
        self.replicas.as_ref().map_or(0, |replicas| replicas.whole)
    }
}
