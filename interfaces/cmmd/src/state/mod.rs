//! The state of a CMMD task. The files of this folder hold its parts. The files above it hold the operations that need several
//! parts.

pub(crate) mod channels;
pub(crate) mod global_or;
pub(crate) mod operations;
#[allow(unsafe_code)]
pub(crate) mod shared;
pub(crate) mod timers;

use crate::company::{Company, is_host_program};
use crate::envelope::{ANY, Last, context, notes, own};
use crate::errors::{Cmmd, Fault};
use crate::lent::Matching;
use crate::words;
use channels::Channels;
use global_or::GlobalOr;
use operations::Operations;
use parvum_api::{ANY_TASK, CoreApi, Message, Pattern, TagKind};
use parvum_partition::Partition;
use parvum_sync::{BiasedGuard, BiasedLock, fork};
use shared::Shared;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use timers::Timers;

static STATE: BiasedLock<Option<Box<State>>> = BiasedLock::new(None);

/// True while a thread is in the program's matching function. Calls check this first, because a thread's own memory is
/// slow in a shared library.
static ANY_MATCHING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// This thread is in the program's matching function, and has the state.
    static MATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Everything behind CMMD's functions.
pub(crate) struct State {
    pub(crate) api: CoreApi,
    pub(crate) company: Company,
    /// The common state of the nodes; the host has none.
    pub(crate) partition: Option<Arc<Partition>>,
    /// The host takes part: `CMMD_enable` or `CMMD_enable_host` was called.
    pub(crate) with_host: bool,
    pub(crate) operations: Operations,
    pub(crate) channels: Channels,
    pub(crate) sent: u64,
    pub(crate) last: Last,
    pub(crate) safety: bool,
    pub(crate) interrupts: bool,
    /// A handler is running: no other handler runs at the same time.
    pub(crate) in_handler: bool,
    pub(crate) matching: Option<Matching>,
    /// How many broadcasts, and split barriers, there have been.
    pub(crate) broadcasts: i32,
    pub(crate) syncs: i32,
    pub(crate) sync_started: bool,
    /// The arrivals at split barriers: this node's number, and the number of arrivals ahead of it.
    pub(crate) come: Vec<(i32, usize)>,
    pub(crate) or: GlobalOr,
    pub(crate) timers: Timers,
    /// Files that the nodes write together, in the order in which they began to.
    pub(crate) shared: Vec<Shared>,
}

/// The state, for one call or a part of one. A call releases the state while it waits. Other threads, and a signal
/// handler that interrupts the wait, can then take it.
pub(crate) struct Guard(Option<BiasedGuard<'static, Option<Box<State>>>>);

impl Deref for Guard {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        let state = self.0.as_ref().expect("it is away only while `outside` waits");
        state.as_ref().expect("`enter` has made it")
    }
}

impl DerefMut for Guard {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        let state = self.0.as_mut().expect("it is away only while `outside` waits");
        state.as_mut().expect("`enter` has made it")
    }
}

impl Guard {
    /// Takes the state again, after the first call has made it.
    pub(crate) fn take() -> Guard {
        Guard(Some(STATE.take()))
    }

    /// Takes the state if it exists and no call has it: for the end of the process.
    pub(crate) fn take_at_exit() -> Option<Guard> {
        if fork::is_child() {
            return None;
        }
        STATE.try_take().filter(|state| state.is_some()).map(|state| Guard(Some(state)))
    }

    /// Waits with the state given away. Other threads may change the state during the wait, but not the list of nodes.
    #[inline]
    pub(crate) fn outside<R>(&mut self, wait: impl FnOnce() -> R) -> R {
        let began = self.timers.start_wait();
        self.0 = None;
        let result = wait();
        self.0 = Some(STATE.take());
        self.timers.end_wait(began);
        result
    }

    /// Sends something of the interface's own, in one of its contexts; waits for credit if need be.
    pub(crate) fn send_own(&mut self, to: i32, context: u32, tag: i32, meta: u32, data: &[u8]) -> Cmmd<()> {
        let (api, how) = (self.api, own(to, context, tag, meta));
        Ok(self.outside(|| api.send(how, &[data], &notes(words::all_nodes(), to, tag)))?)
    }
}

/// Begins a call; the first one enrols this task.
#[inline]
pub(crate) fn enter() -> Cmmd<Guard> {
    not_matching()?;
    if fork::is_child() {
        return Err(Fault::Forked);
    }
    // A signal handler that has interrupted a call in the midst of its work.
    let mut state = STATE.take_unless_own().ok_or(Fault::Busy)?;
    if state.is_none() {
        *state = Some(Box::new(State::join()?));
    }
    Ok(Guard(Some(state)))
}

/// Fails if this thread is in the program's matching function, which must not make calls.
#[inline]
pub(crate) fn not_matching() -> Cmmd<()> {
    // Relaxed: the thread that it is about wrote it.
    if ANY_MATCHING.load(Ordering::Relaxed) && MATCHING.get() { Err(Fault::Busy) } else { Ok(()) }
}

impl State {
    fn join() -> Cmmd<State> {
        let api = CoreApi::open().map_err(|why| {
            crate::errors::print(&why.to_string());
            Fault::NoMachine
        })?;
        fork::watch();
        words::publish(api);
        let host = is_host_program();
        let (partition, company) = if host {
            let own = api.enrol("cmmd")?.tid;
            (None, Company { own: 0, nodes: Vec::new(), host: Some(own) })
        } else {
            let partition = Partition::join(api, "cmmd", context::TOGETHER).inspect_err(|_| {
                crate::errors::print(&api.last_error());
            })?;
            partition.calls_it(words::all_nodes());
            let nodes = (0..partition.size()).filter_map(|node| partition.task(node as i64)).collect();
            let company = Company { own: partition.own(), nodes, host: partition.host() };
            (Some(Arc::new(partition)), company)
        };
        Ok(State {
            api,
            company,
            partition,
            with_host: host,
            operations: Operations::new(),
            channels: Channels::default(),
            sent: 0,
            last: Last { from: ANY_TASK, tag: ANY, bytes: 0 },
            safety: true,
            interrupts: true,
            in_handler: false,
            matching: None,
            broadcasts: 0,
            syncs: 0,
            sync_started: false,
            come: Vec::new(),
            or: GlobalOr::default(),
            timers: Timers::default(),
            shared: Vec::new(),
        })
    }

    /// The common state of the nodes.
    pub(crate) fn nodes(&self) -> Cmmd<Arc<Partition>> {
        self.partition.clone().ok_or(Fault::NoHost)
    }

    /// The task that messages to `node` go to.
    #[inline]
    pub(crate) fn task(&self, node: i32) -> Cmmd<i32> {
        self.company.task(node).ok_or(Fault::BadNode)
    }

    /// Whether the program may send with this tag.
    #[inline]
    pub(crate) fn check_tag(&self, tag: i32) -> Cmmd<()> {
        if self.safety && tag < 0 { Err(Fault::BadTag) } else { Ok(()) }
    }

    /// The pattern of a receive for this node and tag.
    #[inline]
    pub(crate) fn pattern(&self, node: i32, tag: i32) -> Cmmd<Pattern> {
        let from = if node == ANY { ANY_TASK } else { self.task(node)? };
        let tags = if tag == ANY {
            TagKind::Any
        } else {
            self.check_tag(tag)?;
            TagKind::Exactly
        };
        Ok(Pattern { from, tags, tag, other: 0, context: 0 })
    }

    /// A message was received.
    #[inline]
    pub(crate) fn note_received(&mut self, message: &Message) {
        self.last = Last { from: message.from, tag: message.tag, bytes: message.length };
    }

    /// Runs the program's matching function for a message.
    pub(crate) fn matches(&self, matching: Matching, node: i32, tag: i32, message: &Message) -> bool {
        // At most one thread is here, because it has the state.
        MATCHING.set(true);
        ANY_MATCHING.store(true, Ordering::Relaxed);
        let wanted = matching.ask(node, tag, self.company.node(message.from), message.tag);
        ANY_MATCHING.store(false, Ordering::Relaxed);
        MATCHING.set(false);
        wanted
    }

    /// The other nodes, and the host when it takes part.
    pub(crate) fn participants(&self) -> Vec<i32> {
        let host = if self.with_host { None } else { self.company.host };
        self.company.others().filter(|&task| Some(task) != host).collect()
    }

    /// The host's task, for a node of it.
    pub(crate) fn host(&self) -> Cmmd<i32> {
        if self.with_host && !self.company.is_host() {
            self.company.host.ok_or(Fault::NoHost)
        } else {
            Err(Fault::NoHost)
        }
    }

    /// The nodes' tasks, for the host.
    pub(crate) fn own_nodes(&self) -> Cmmd<Vec<i32>> {
        if self.with_host && self.company.is_host() && self.company.size() > 0 {
            Ok(self.company.nodes.clone())
        } else {
            Err(Fault::NoHost)
        }
    }
}
