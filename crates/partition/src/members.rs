//! Who is who: the nodes of a run, its host, and everybody else.

use crate::together::{Exchange, Together};
use parvum_waist::{ANY_TASK, Notes, Pattern, Receiving, Send, Status, TagKind, Waist, call};
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The messages of operations are kept where they are sent from until they can leave: nobody waits for somebody who waits.
const AT_SENDER: u32 = 2;

/// The tasks that one request started (`parvum run -n N`, one `pvm_spawn`), numbered as they were asked for. A task that
/// was started by hand is a partition of its own.
pub struct Partition {
    waist: Waist,
    own: usize,
    tasks: Vec<i32>,
    /// Tasks and their numbers, by task.
    numbers: Vec<(i32, usize)>,
    host: Option<i32>,
    context: u32,
    /// What onlookers are told that the task does while it waits in an operation.
    call: AtomicU32,
    on_one_host: bool,
    /// The group in which the nodes meet, once it was joined.
    meeting: OnceLock<String>,
    /// How often the partition has shrunk.
    epoch: u32,
}

impl Partition {
    /// Joins the machine, and learns who the other nodes are. `interface` is its name for people; `context` is that of its
    /// operations' messages, one that no other interface uses. Waits until all nodes are started.
    pub fn join(waist: Waist, interface: &str, context: u32) -> Result<Partition, Status> {
        let me = waist.enrol(interface)?;
        let notes = Notes { limit: -1, call: call::MACHINE, peer: ANY_TASK, tag: -1, context: -1 };
        let tasks: Vec<i32> = match waist.ask(&Request::Siblings, &notes)? {
            Ok(Reply::Siblings(tasks)) => tasks.into_iter().map(|Tid(task)| task).collect(),
            _ => return Err(Status::Refused),
        };
        let own = tasks.iter().position(|&task| task == me.tid).ok_or(Status::Refused)?;
        let mut numbers: Vec<_> = tasks.iter().enumerate().map(|(node, &task)| (task, node)).collect();
        numbers.sort_unstable();
        let host = (me.parent != 0).then_some(me.parent);
        let on_one_host = tasks.iter().all(|&task| Tid(task).host() == Tid(me.tid).host());
        let (call, meeting) = (AtomicU32::new(call::RECEIVE), OnceLock::new());
        Ok(Partition { waist, own, tasks, numbers, host, context, call, on_one_host, meeting, epoch: 0 })
    }

    /// The engine.
    pub fn waist(&self) -> Waist {
        self.waist
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
    /// When this node is not among them, or there are not so many.
    pub fn shrink(&mut self, size: usize) {
        assert!(self.own < size && size <= self.tasks.len(), "{size} of {} nodes", self.tasks.len());
        self.tasks.truncate(size);
        self.numbers.retain(|&(_, node)| node < size);
        // The group of all has members that will be gone: the rest meets in another.
        self.meeting = OnceLock::new();
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

    /// Says which call of the interface (a number of the page's) the next operations are, for `parvum why` and its kin.
    #[inline]
    pub fn calls_it(&self, call: u32) {
        // Relaxed: told to the thread that calls the operation.
        self.call.store(call, Ordering::Relaxed);
    }

    fn notes(&self, peer: i32, tag: i32) -> Notes {
        Notes { limit: -1, call: self.call.load(Ordering::Relaxed), peer, tag, context: self.context as i32 }
    }

    /// Waits until all nodes have called this.
    ///
    /// On one host they meet in a page that they share, which takes a wake-up at most; on several they send each other
    /// messages.
    pub fn barrier(&self) -> Result<(), Status> {
        match self.size() {
            1 => Ok(()),
            _ if self.on_one_host => self.meet(),
            _ => self.together().barrier(),
        }
    }

    fn meet(&self) -> Result<(), Status> {
        let notes = self.notes(ANY_TASK, -1);
        let ask = |request: Request| match self.waist.ask(&request, &notes)? {
            Ok(_) => Ok(()),
            Err(_) => Err(Status::Gone),
        };
        let group = match self.meeting.get() {
            Some(group) => group.clone(),
            None => {
                let group = match self.epoch {
                    0 => format!("nodes of t{:x} ({:x})", self.tasks[0], self.context),
                    epoch => format!("nodes of t{:x} ({:x}, {epoch})", self.tasks[0], self.context),
                };
                ask(Request::Join { group: group.clone() })?;
                self.meeting.get_or_init(|| group).clone()
            }
        };
        ask(Request::Barrier { group, count: self.size() as i32 })
    }

    fn together(&self) -> Together<'_, Partition> {
        Together(self)
    }

    /// Gives `data` of the node `root` to all.
    pub fn broadcast(&self, root: usize, data: &mut [u8]) -> Result<(), Status> {
        self.together().broadcast(root, data)
    }

    /// Combines `data` of all nodes at `root`, in an order that depends only on how many nodes there are and how long the
    /// data is; elsewhere `data` is scratch afterwards. `part` is scratch of the same length.
    pub fn reduce(
        &self,
        root: usize,
        data: &mut [u8],
        part: &mut [u8],
        combine: &mut dyn FnMut(&mut [u8], &[u8]),
    ) -> Result<(), Status> {
        self.together().reduce(root, data, part, combine)
    }

    /// Combines `data` of all nodes; all get the result, bit for bit the same. `part` is scratch of the same length.
    pub fn reduce_all(
        &self,
        data: &mut [u8],
        part: &mut [u8],
        combine: &mut dyn FnMut(&mut [u8], &[u8]),
    ) -> Result<(), Status> {
        self.together().reduce_all(data, part, combine)
    }

    /// Collects as many bytes of each node at `root`, in the order of nodes; `all` is used there only.
    pub fn gather(&self, root: usize, mine: &[u8], all: &mut [u8]) -> Result<(), Status> {
        self.together().gather(root, mine, all)
    }

    /// Gives all nodes the data of all, in the order of nodes: `lengths` are the bytes of each.
    pub fn concat(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]) -> Result<(), Status> {
        self.together().concat(mine, lengths, all)
    }

    /// Exchanges: node `i` gets the `i`-th piece of `each` bytes of every node's `mine`, and puts them into `all` in the
    /// order of nodes.
    pub fn all_to_all(&self, mine: &[u8], all: &mut [u8], each: usize) -> Result<(), Status> {
        self.together().all_to_all(mine, all, each)
    }

    /// Makes of `value` the combination of those of the nodes before it (`upward`: with lower numbers), with its own when
    /// `inclusive`; where there is none before, `identity`.
    pub fn scan(
        &self,
        value: &mut [u8],
        upward: bool,
        inclusive: bool,
        identity: &[u8],
        combine: &mut dyn FnMut(&mut [u8], &[u8]),
    ) -> Result<(), Status> {
        self.together().scan(value, upward, inclusive, identity, combine)
    }
}

impl Exchange for Partition {
    fn own(&self) -> usize {
        self.own
    }

    fn size(&self) -> usize {
        self.tasks.len()
    }

    fn send(&self, to: usize, tag: i32, data: &[u8]) -> Result<(), Status> {
        let to = self.tasks[to];
        let how = Send { to, tag, context: self.context, meta: 0, buffering: AT_SENDER, completion: 0 };
        self.waist.send(how, &[data], &self.notes(to, tag))
    }

    fn receive(&self, from: usize, tag: i32, room: &mut [u8]) -> Result<(), Status> {
        let (from, length) = (self.tasks[from], room.len() as u64);
        let pattern =
            Pattern { from, tags: TagKind::Exactly, tag, other: 0, context: i64::from(self.context) };
        let got = self.waist.receive(&pattern, Receiving::Into(room), &self.notes(from, tag))?;
        // The nodes do not agree on the length: one of them is wrong.
        if got.length == length { Ok(()) } else { Err(Status::BadArgument) }
    }
}
