//! The members: the nodes of a run, its host, and all other tasks.

use crate::sharing::{AtSegment, Attend, Sharing, is_for, is_on_one_host};
use parvum_api::{ANY_TASK, CoreApi, Notes, Status, call};
use parvum_collectives::plans::hosts::{Hosts, Placement};
use parvum_collectives::plans::{Area, Group, Order, Plan, choose, in_a_row};
use parvum_collectives::segment;
use parvum_collectives::table::{self, Algorithm, Case, Operation};
use parvum_collectives::{Combine, Failure, Fault, Members, Memory, none, run};
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Tags of the messages of collectives: if nodes call different collectives, they wait for each other, and never
/// confuse the messages.
pub mod tag {
    /// Barriers.
    pub const BARRIER: i32 = 1;
    /// Reductions.
    pub const REDUCE: i32 = 3;
    /// Concatenations.
    pub const GATHER: i32 = 4;
}

/// The tasks that one request started (`parvum run -n N`, one `pvm_spawn`), numbered as they were asked for. A task
/// that was started by hand is a partition of size 1.
pub struct Partition {
    api: CoreApi,
    own: usize,
    tasks: Vec<i32>,
    /// Tasks and their numbers, by task.
    numbers: Vec<(i32, usize)>,
    host: Option<i32>,
    context: u32,
    /// The call that tools show while the task waits in a collective.
    call: AtomicU32,
    /// And about which of the interface's things.
    about: AtomicI32,
    on_one_host: bool,
    /// Which nodes live together, where some do and not all.
    hosts: Option<Hosts>,
    /// The shared segment of the nodes, if they have one.
    sharing: Sharing,
    /// A node without which they do nothing together any more.
    missing: OnceLock<usize>,
    /// How often the partition has shrunk.
    epoch: u32,
}

impl Partition {
    /// Joins the machine, and learns who the other nodes are. `interface` is its name for people; `context` is the
    /// context of its collectives, which no other interface uses. Waits until all nodes are started.
    pub fn join(api: CoreApi, interface: &str, context: u32) -> Result<Partition, Status> {
        let me = api.enrol(interface)?;
        let notes = Notes { limit: -1, call: call::MACHINE, peer: ANY_TASK, tag: -1, context: -1 };
        let tasks: Vec<i32> = match api.ask(&Request::Siblings, &notes)? {
            Ok(Reply::Siblings(tasks)) => tasks.into_iter().map(|Tid(task)| task).collect(),
            _ => return Err(Status::Refused),
        };
        let own = tasks.iter().position(|&task| task == me.tid).ok_or(Status::Refused)?;
        let mut numbers: Vec<_> = tasks.iter().enumerate().map(|(node, &task)| (task, node)).collect();
        numbers.sort_unstable();
        let host = (me.parent != 0).then_some(me.parent);
        let (on_one_host, hosts) = (is_on_one_host(&tasks), hosts_of(&tasks));
        let (call, sharing, missing) = (AtomicU32::new(call::RECEIVE), Sharing::after(0), OnceLock::new());
        Ok(Partition {
            api,
            own,
            tasks,
            numbers,
            host,
            context,
            call,
            about: AtomicI32::new(-1),
            on_one_host,
            hosts,
            sharing,
            missing,
            epoch: 0,
        })
    }

    /// The engine.
    pub fn api(&self) -> CoreApi {
        self.api
    }

    /// The own number.
    #[inline]
    pub fn own(&self) -> usize {
        self.own
    }

    /// How many nodes there are.
    #[inline]
    pub fn size(&self) -> usize {
        self.tasks.len()
    }

    /// Goes on with the first `size` nodes: at least one, and this one among them. All of those call it, and the others take
    /// part in nothing any more. Nodes keep their numbers; the host's is the new number of nodes.
    ///
    /// # Panics
    /// When this node is not among them, or the partition is smaller.
    pub fn shrink(&mut self, size: usize) {
        assert!(self.own < size && size <= self.tasks.len(), "{size} of {} nodes", self.tasks.len());
        self.tasks.truncate(size);
        self.numbers.retain(|&(_, node)| node < size);
        self.hosts = hosts_of(&self.tasks);
        // The group of all has members that will be gone: the rest meets in another.
        self.sharing.start_anew(self.api);
        self.missing = OnceLock::new();
        self.epoch += 1;
    }

    /// The task that started this one, if a task did.
    pub fn host(&self) -> Option<i32> {
        self.host
    }

    /// The task of a node number: 0 to n - 1 are the nodes, n is the host, and any task of the machine has its own id as
    /// its number. `None`: no such node.
    #[inline]
    pub fn task(&self, node: i64) -> Option<i32> {
        if let Some(&task) = usize::try_from(node).ok().and_then(|node| self.tasks.get(node)) {
            return Some(task);
        }
        if node == self.tasks.len() as i64 {
            return self.host;
        }
        i32::try_from(node).ok().filter(|&task| Tid(task).is_task())
    }

    /// The node number of a task; see [`Partition::task`].
    #[inline]
    pub fn node(&self, task: i32) -> i64 {
        // Ids are mostly given in a row.
        let guess = task.wrapping_sub(self.tasks[0]) as usize;
        if self.tasks.get(guess) == Some(&task) {
            return guess as i64;
        }
        match self.numbers.binary_search_by_key(&task, |&(task, _)| task) {
            Ok(at) => self.numbers[at].1 as i64,
            Err(_) if self.host == Some(task) => self.tasks.len() as i64,
            Err(_) => i64::from(task),
        }
    }

    /// Sets the call of the interface (a number in the control block) for the next collectives, for `parvum why` and
    /// other tools.
    #[inline]
    pub fn calls_it(&self, call: u32) {
        // Relaxed: only the thread that calls the operation reads it.
        self.call.store(call, Ordering::Relaxed);
    }

    /// Sets the object of the interface for the next operations, for the same tools; -1: none. Messages have their own
    /// tags.
    #[inline]
    pub fn is_about(&self, which: i32) {
        self.about.store(which, Ordering::Relaxed);
    }

    fn about(&self) -> i32 {
        self.about.load(Ordering::Relaxed)
    }

    /// This node among all, and which of them live on one host.
    pub fn placement(&self) -> Placement<'_> {
        Placement::new(self.group(), self.hosts.as_ref())
    }

    /// This node among all.
    pub fn group(&self) -> Group {
        Group { own: self.own, size: self.tasks.len() }
    }

    /// The nodes, for an operation whose messages have this tag.
    pub fn members(&self, tag: i32) -> Members<'_> {
        let (api, own, context, call) = (self.api, self.own, self.context, self.call.load(Ordering::Relaxed));
        Members { api, tasks: &self.tasks, own, context, tag, call }
    }

    /// The segment of all nodes, if their next operation may use one. Every node asks before each of its operations, and does not
    /// go on when a node is missing. `attend` is called while this node waits at the segment.
    #[inline]
    pub fn segment<'a>(&'a self, attend: Option<&'a dyn Attend>) -> Result<Option<AtSegment<'a>>, Failure> {
        let members = self.members(self.about());
        if !(self.sharing.is_open() || self.on_one_host && is_for(&members)) {
            return Ok(None);
        }
        self.refuse_missing()?;
        self.sharing.segment(members, || self.group_name(), attend)
    }

    /// An operation of all needs all.
    fn refuse_missing(&self) -> Result<(), Failure> {
        self.missing.get().map_or(Ok(()), |&node| Err(Failure::Fault(Fault::Gone(node))))
    }

    /// Whether all nodes are on one host.
    pub fn is_on_one_host(&self) -> bool {
        self.on_one_host
    }

    /// On which host each node is: hosts have different numbers.
    pub fn hosts(&self) -> impl Iterator<Item = u32> + '_ {
        self.tasks.iter().map(|&task| Tid(task).host())
    }

    /// The name of the group of all nodes.
    pub(crate) fn group_name(&self) -> String {
        let (first, context) = (self.tasks[0], self.context);
        match self.epoch {
            0 => format!("nodes of t{first:x} ({context:x})"),
            epoch => format!("nodes of t{first:x} ({context:x}, {epoch})"),
        }
    }

    /// Records the node that a collective missed.
    pub fn remember(&self, outcome: &Result<(), Failure>) {
        if let Some(node) = outcome.err().and_then(Failure::gone) {
            // The first missing node stays recorded.
            let _ = self.missing.set(node);
        }
    }

    fn run(&self, tag: i32, plan: &Plan, memory: Memory<'_>, combine: Combine<'_>) -> Result<(), Failure> {
        let outcome = run(&mut self.members(tag), plan, memory, combine);
        self.remember(&outcome);
        outcome
    }

    /// Waits until all nodes have called this.
    ///
    /// On one host the nodes use the barrier of their segment, which takes at most one wakeup. If they are too few or
    /// too many for a segment, they share a page with a barrier. On several they send each other messages.
    pub fn barrier(&self) -> Result<(), Failure> {
        if self.size() == 1 {
            return Ok(());
        }
        let outcome = self.come_together();
        self.remember(&outcome);
        outcome
    }

    fn come_together(&self) -> Result<(), Failure> {
        if let Some(mut segment) = self.segment(None)? {
            return segment::barrier(&mut segment);
        }
        if !self.on_one_host {
            return self.barrier_by_messages();
        }
        // The page knows only of nodes that came to it.
        self.refuse_missing()?;
        match self.sharing.page(&self.members(self.about()), || self.group_name())? {
            Some(group) => self.meet(group),
            None => self.barrier_by_messages(),
        }
    }

    fn barrier_by_messages(&self) -> Result<(), Failure> {
        let memory = Memory { mine: &[], data: &mut [], scratch: &mut [] };
        self.run(tag::BARRIER, &choose::barrier(self.placement()), memory, &mut none)
    }

    /// Meets the others in the page of their group, or at the daemon.
    fn meet(&self, group: &str) -> Result<(), Failure> {
        let asked = Request::Barrier { group: group.to_owned(), count: self.size() as i32 };
        match self.api.ask(&asked, &self.notes()).map_err(Failure::Engine)? {
            Ok(_) => Ok(()),
            Err(_) => Err(self.sharing.who_is_gone(&self.members(self.about()))),
        }
    }

    fn notes(&self) -> Notes {
        let (call, context) = (self.call.load(Ordering::Relaxed), self.context as i32);
        Notes { limit: -1, call, peer: ANY_TASK, tag: self.about(), context }
    }

    /// Combines `data` of all nodes; all get the result, bit for bit the same. Elements have `unit` bytes; `combine`
    /// gets vectors of whole ones, and must commute; `order` determines whether grouping matters.
    pub fn reduce_all(
        &self,
        data: &mut [u8],
        unit: usize,
        order: Order,
        combine: Combine<'_>,
    ) -> Result<(), Failure> {
        if let Some(mut segment) = self.segment(None)?
            && table::choose(
                Operation::Allreduce,
                &Case { has_open_memory: false, ..Case::in_segment(self.size(), data.len()).elements(unit) },
            ) == Algorithm::SharedSegment
        {
            let outcome = segment::allreduce(&mut segment, data, unit, combine);
            self.remember(&outcome);
            return outcome;
        }
        let plan = choose::allreduce(self.placement(), data.len(), unit, order);
        let mut scratch = vec![0; plan.needs(Area::Scratch)];
        self.run(tag::REDUCE, &plan, Memory { mine: &[], data, scratch: &mut scratch }, combine)
    }

    /// Gives all nodes the data of all, in the order of nodes: `lengths` are the bytes of each.
    pub fn concat(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]) -> Result<(), Failure> {
        let total = lengths.iter().try_fold(0usize, |sum, &length| sum.checked_add(length));
        if lengths.len() != self.size()
            || lengths[self.own] != mine.len()
            || total.is_none_or(|total| total > all.len())
        {
            return Err(Failure::Engine(Status::BadArgument));
        }
        let parts = in_a_row(lengths.iter().copied());
        if let Some(mut segment) = self.segment(None)? {
            let outcome = segment::allgather(&mut segment, Some(mine), &parts, all);
            self.remember(&outcome);
            return outcome;
        }
        let plan = choose::allgather(self.placement(), &parts);
        let mut scratch = vec![0; plan.needs(Area::Scratch)];
        self.run(tag::GATHER, &plan, Memory { mine, data: all, scratch: &mut scratch }, &mut none)
    }
}

/// Which of these tasks live together.
fn hosts_of(tasks: &[i32]) -> Option<Hosts> {
    Hosts::new(tasks.iter().map(|&task| Tid(task).host()))
}
