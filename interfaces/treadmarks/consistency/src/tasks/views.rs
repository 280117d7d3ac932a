//! Views among the tasks of a node.
//!
//! If several tasks of a node want a view, the node requests the view for one task after the other, in order. The
//! manager therefore does not prefer the tasks of one node. Consecutive tasks that want to read share a grant. A task
//! that comes after the grant makes a new request, which queues at the manager.

use super::{Tasks, Wait};
use crate::pages::memory::{Access, Memory};
use crate::setup::{Fault, Progress};
use std::collections::VecDeque;

/// A view, among the tasks of a node.
#[derive(Default)]
pub(super) struct LocalView {
    /// The tasks that have the view, and whether they may write.
    holders: Vec<(usize, bool)>,
    queue: VecDeque<(usize, bool)>,
    /// Whether the node was asked for it, for the first in the queue.
    has_asked: bool,
}

impl Tasks {
    /// See [`Node::make_view`](crate::Node::make_view).
    pub fn make_view(
        &mut self,
        view: u32,
        first: u32,
        count: u32,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        self.node.make_view(view, first, count, memory)
    }

    /// A task acquires a view, to write or to read.
    pub fn acquire_view(
        &mut self,
        task: usize,
        view: u32,
        writes: bool,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        self.begin(task)?;
        if !self.node.views.contains_key(&view) {
            return Err(Fault::NoSuchView(view));
        }
        let local = self.views.entry(view).or_default();
        if local.holders.iter().any(|(holder, _)| *holder == task) {
            return Err(Fault::ViewHeldAlready(view));
        }
        local.queue.push_back((task, writes));
        self.views_queued.insert(view);
        self.waits[task] = Some(Wait::View(view));
        self.go_on(memory)?;
        Ok(self.progress(task))
    }

    /// A task releases a view that it acquired so.
    pub fn release_view(
        &mut self,
        task: usize,
        view: u32,
        writes: bool,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        self.begin(task)?;
        if !self.node.views.contains_key(&view) {
            return Err(Fault::NoSuchView(view));
        }
        let local = self.views.entry(view).or_default();
        let place = local.holders.iter().position(|holder| *holder == (task, writes));
        local.holders.swap_remove(place.ok_or(Fault::ViewNotHeld(view))?);
        // If several tasks share a grant, the last task returns it.
        if self.node.grants_of_view(view) as usize > local.holders.len() {
            self.node.give_view(view, writes, memory)?;
        }
        self.go_on(memory)?;
        Ok(Progress::Done)
    }

    /// A task has touched a page of a view.
    pub(super) fn fault_in_view(
        &mut self,
        task: usize,
        (view, page): (u32, u32),
        access: Access,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        let local = self.views.entry(view).or_default();
        match local.holders.iter().find(|(holder, _)| *holder == task) {
            None => Err(Fault::ViewNotHeld(view)),
            Some((_, false)) if access == Access::Write => Err(Fault::ViewReadOnly(view)),
            Some(_) => self.node.fault_in_view(view, page, access, memory),
        }
    }

    /// Lets tasks with a grant continue, and asks for the next grant.
    pub(super) fn go_on_with_views(&mut self, memory: &mut impl Memory) -> Result<(), Fault> {
        for view in self.views_queued.clone() {
            while !self.node.wants_view(view) {
                let local = self.views.entry(view).or_default();
                if std::mem::take(&mut local.has_asked) {
                    let readers = local.queue.iter().take_while(|(_, writes)| !writes).count();
                    for (task, writes) in local.queue.drain(..readers.max(1)) {
                        local.holders.push((task, writes));
                        self.waits[task] = None;
                    }
                }
                let Some(&(_, writes)) = local.queue.front() else {
                    self.views_queued.remove(&view);
                    break;
                };
                local.has_asked = true;
                self.node.ask_for_view(view, writes, memory)?;
            }
        }
        Ok(())
    }
}
