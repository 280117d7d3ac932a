//! Views: parts of the memory that are touched between acquiring and releasing them alone, and whose data comes with the grant.
//!
//! View-based consistency is from Huang and others (VODCA). The memory consists of views that do not overlap.
//! Consistency holds only for an acquired view, and a barrier carries no data of views. Each view has a manager, which
//! queues requests in their order. One node may write a view, or any number of nodes may read it. A writer sends its
//! changes to the manager when it releases the view. The grant brings the changes since the node last had the view. All
//! changes of a page are folded into one diff, which is never larger than the page. An acquisition therefore takes two
//! messages, and a release takes one message. The manager itself needs none. Pages of views never cause misses.

use crate::message::Message;
use crate::pages::diff::Diff;
use crate::pages::memory::{Access, Memory};
use crate::setup::{Fault, Progress};
use crate::state::Node;
use crate::state::locks::View;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

impl Node {
    /// Makes pages a view, which has none yet. The program calls this on all nodes, before a node acquires the view. No
    /// node has accessed the pages before.
    pub fn make_view(
        &mut self,
        view: u32,
        first: u32,
        count: u32,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let end = first.checked_add(count).filter(|&end| end <= self.setup.pages && count > 0);
        let end = end.ok_or(Fault::NoSuchPage(self.setup.pages))?;
        if self.setup.replicas {
            return Err(Fault::ViewsAreNotKept);
        }
        let overlaps = |other: &View| first < other.first + other.count && other.first < end;
        if view >= self.setup.views || self.views.contains_key(&view) {
            return Err(Fault::NoSuchView(view));
        }
        if self.views.values().any(overlaps) || self.pages.keys().any(|page| (first..end).contains(page)) {
            return Err(Fault::TouchedAlready);
        }
        memory.protect(first, count, Access::None);
        let made = View {
            first,
            count,
            access: Access::None,
            grants: 0,
            version: 0,
            twins: FxHashMap::default(),
            latest: 0,
            readers: 0,
            is_written: false,
            queue: VecDeque::new(),
            changes: FxHashMap::default(),
        };
        self.views.insert(view, made);
        Ok(())
    }

    /// Acquires a view, to write or to read.
    pub fn acquire_view(
        &mut self,
        view: u32,
        writes: bool,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        self.begin()?;
        if self.views.get(&view).is_some_and(|it| it.grants > 0) {
            return Err(Fault::ViewHeldAlready(view));
        }
        self.ask_for_view(view, writes, memory)
    }

    /// The same, also when other tasks of the node wait for something, or have the view; for one at a time.
    pub(crate) fn ask_for_view(
        &mut self,
        view: u32,
        writes: bool,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        let version = self.views.get(&view).ok_or(Fault::NoSuchView(view))?.version;
        self.views_wanted.insert(view, writes);
        self.say(self.manager_of_view(view), Message::ViewWanted { view, version, writes });
        self.settle(memory)
    }

    /// Releases a view that was acquired so.
    pub fn release_view(
        &mut self,
        view: u32,
        writes: bool,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        self.begin()?;
        self.give_view(view, writes, memory)
    }

    /// The same, also when other tasks of the node wait for something, or read it too.
    pub(crate) fn give_view(
        &mut self,
        view: u32,
        writes: bool,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        let (own, bytes) = (self.own, self.setup.page_bytes);
        let manager = self.manager_of_view(view);
        let it = self.views.get_mut(&view).ok_or(Fault::NoSuchView(view))?;
        if it.access != if writes { Access::Write } else { Access::Read } {
            return Err(Fault::ViewNotHeld(view));
        }
        it.grants -= 1;
        if it.grants == 0 {
            it.access = Access::None;
            memory.protect(it.first, it.count, Access::None);
        }
        let mut twins: Vec<(u32, Box<[u8]>)> = it.twins.drain().collect();
        twins.sort_unstable_by_key(|(page, _)| *page);
        let mut diffs = Vec::new();
        for (page, twin) in twins {
            let mut now = vec![0; bytes];
            memory.load(page, &mut now);
            let diff = Diff::between(&twin, &now);
            self.counts.diffs_made += 1;
            self.counts.diff_bytes += diff.bytes() as u64;
            if diff.bytes() > 0 {
                diffs.push((page, diff));
            }
        }
        if manager != own {
            it.version += u32::from(!diffs.is_empty());
        }
        // At the manager `done_with_view` counts the version.
        self.say(manager, Message::ViewDone { view, writes, diffs });
        self.settle(memory)
    }

    /// How often the node has it now.
    pub(crate) fn grants_of_view(&self, view: u32) -> u32 {
        self.views.get(&view).map_or(0, |it| it.grants)
    }

    /// Whether it has asked for it.
    pub(crate) fn wants_view(&self, view: u32) -> bool {
        self.views_wanted.contains_key(&view)
    }

    fn manager_of_view(&self, view: u32) -> usize {
        view as usize % self.setup.nodes
    }

    /// The view that has a page.
    pub(crate) fn view_of(&self, page: u32) -> Option<u32> {
        let has = |view: &View| (view.first..view.first + view.count).contains(&page);
        self.views.iter().find(|(_, view)| has(view)).map(|(&number, _)| number)
    }

    /// The program's access to a page of a view.
    pub(crate) fn access_in_view(&self, view: u32, page: u32) -> Access {
        let it = &self.views[&view];
        match it.access {
            Access::Write if !it.twins.contains_key(&page) => Access::Read,
            access => access,
        }
    }

    /// The program has touched a page of a view.
    pub(crate) fn fault_in_view(
        &mut self,
        view: u32,
        page: u32,
        access: Access,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        let bytes = self.setup.page_bytes;
        let it = self.views.get_mut(&view).expect("it has the page");
        match it.access {
            Access::None => return Err(Fault::ViewNotHeld(view)),
            Access::Read if access == Access::Write => return Err(Fault::ViewReadOnly(view)),
            _ => {}
        }
        if access == Access::Write && !it.twins.contains_key(&page) {
            let mut twin = vec![0; bytes].into_boxed_slice();
            memory.load(page, &mut twin);
            it.twins.insert(page, twin);
            self.counts.twins += 1;
            self.counts.write_faults += 1;
            memory.protect(page, 1, Access::Write);
        }
        Ok(Progress::Done)
    }

    /// At the manager: a node wants a view.
    pub(crate) fn wanted_view(
        &mut self,
        from: usize,
        (view, version, writes): (u32, u32, bool),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let manager = self.manager_of_view(view);
        let own = self.own;
        match self.views.get_mut(&view) {
            Some(it)
                if manager == own && version <= it.latest && !it.queue.iter().any(|one| one.0 == from) =>
            {
                it.queue.push_back((from, version, writes));
            }
            _ => return Err(Fault::Malformed(from)),
        }
        self.grant_view(view);
        self.fill_grants(memory);
        Ok(())
    }

    /// At the manager: a node has released the view.
    pub(crate) fn done_with_view(
        &mut self,
        from: usize,
        (view, writes, diffs): (u32, bool, Vec<(u32, Diff)>),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let (own, bytes) = (self.own, self.setup.page_bytes);
        let is_managed = self.manager_of_view(view) == own;
        let Some(it) = self.views.get_mut(&view).filter(|_| is_managed) else {
            return Err(Fault::Malformed(from));
        };
        let has = |page: u32| (it.first..it.first + it.count).contains(&page);
        let sound = diffs.iter().all(|(page, diff)| has(*page) && diff.is_sound(bytes))
            && (writes || diffs.is_empty());
        let was_granted = if writes { it.is_written } else { it.readers > 0 };
        if !sound || !was_granted {
            return Err(Fault::Malformed(from));
        }
        if writes {
            it.is_written = false;
        } else {
            it.readers -= 1;
        }
        if !diffs.is_empty() {
            it.latest += 1;
            // The copy here already contains the local writes.
            it.version = it.latest;
            it.is_current_at(from);
        }
        for (page, diff) in diffs {
            if from != own {
                diff.apply(page, memory);
                self.counts.diffs_applied += 1;
            }
            let changes = it.changes.entry(page).or_default();
            changes.list.push_back((it.latest, diff));
            // Never more than a page is kept of a page: it would be sent as it is.
            while changes.list.iter().map(|(_, diff)| diff.bytes()).sum::<usize>() > bytes
                && let Some((version, _)) = changes.list.pop_front()
            {
                changes.floor = version;
            }
        }
        self.grant_view(view);
        self.fill_grants(memory);
        Ok(())
    }

    /// Grants a view to the nodes at the head of its queue that may have it now.
    fn grant_view(&mut self, view: u32) {
        let Some(it) = self.views.get_mut(&view) else { return };
        while let Some(&(node, version, writes)) = it.queue.front() {
            if it.is_written || writes && it.readers > 0 {
                return;
            }
            it.queue.pop_front();
            if writes {
                it.is_written = true;
            } else {
                it.readers += 1;
            }
            it.is_current_at(node);
            self.grants.push((node, view, version));
        }
    }

    /// Sends what was granted, with the data.
    fn fill_grants(&mut self, memory: &mut impl Memory) {
        for (node, view, version) in std::mem::take(&mut self.grants) {
            let (bytes, it) = (self.setup.page_bytes, &self.views[&view]);
            let mut diffs = Vec::new();
            // The copy at the manager is the latest.
            let changes = if node == self.own { None } else { Some(&it.changes) };
            for (&page, changes) in changes.into_iter().flatten() {
                if changes.floor > version {
                    let mut now = vec![0; bytes];
                    memory.load(page, &mut now);
                    diffs.push((page, Diff::whole(&now)));
                    continue;
                }
                let new: Vec<&Diff> =
                    changes.list.iter().filter(|(made, _)| *made > version).map(|(_, diff)| diff).collect();
                match new[..] {
                    [] => {}
                    [one] => diffs.push((page, one.clone())),
                    _ => diffs.push((page, Diff::folded(new.into_iter(), bytes))),
                }
            }
            diffs.sort_unstable_by_key(|(page, _)| *page);
            let version = it.latest;
            self.say(node, Message::ViewGrant { view, version, diffs });
        }
    }

    /// A view has come, and what was changed in it.
    pub(crate) fn got_view(
        &mut self,
        from: usize,
        (view, version, diffs): (u32, u32, Vec<(u32, Diff)>),
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let (bytes, wrong) = (self.setup.page_bytes, Fault::Malformed(from));
        let writes = match self.views_wanted.get(&view) {
            Some(&writes) if self.manager_of_view(view) == from => writes,
            _ => return Err(wrong),
        };
        let it = self.views.get_mut(&view).ok_or(wrong)?;
        let has = |page: u32| (it.first..it.first + it.count).contains(&page);
        if version < it.version || !diffs.iter().all(|(page, diff)| has(*page) && diff.is_sound(bytes)) {
            return Err(wrong);
        }
        for (page, diff) in diffs {
            diff.apply(page, memory);
            self.counts.diffs_applied += 1;
        }
        it.version = version;
        it.access = if writes { Access::Write } else { Access::Read };
        it.grants += 1;
        memory.protect(it.first, it.count, Access::Read);
        self.views_wanted.remove(&view);
        self.counts.views += 1;
        Ok(())
    }
}
