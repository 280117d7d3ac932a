//! What a CMMD task has, and how a call begins and ends.

use crate::calls::{Handler, Matching};
use crate::channels::Channels;
use crate::company::Company;
use crate::errors::{Cmmd, Fault, remember};
use crate::files::Shared;
use crate::global_or::GlobalOr;
use crate::operations::Operations;
use crate::timers::Timers;
use parvum_api::{ANY_TASK, CoreApi, Message, Notes, Pattern, SendTo, TagKind};
use parvum_api::{Buffering, Completion};
use parvum_partition::Partition;
use parvum_sync::{BiasedGuard, BiasedLock, fork};
use parvum_wire::encoding;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// In place of a node or a tag: any.
pub(crate) const ANY: i32 = -1;

/// Contexts in which this interface talks to itself; what programs send is in context 0.
pub(crate) mod context {
    const CMMD: u32 = 0x434d_4d44;
    /// Group operations of `parvum-partition`.
    pub(crate) const TOGETHER: u32 = CMMD;
    /// Broadcasts from one of the nodes.
    pub(crate) const BROADCAST: u32 = CMMD + 1;
    /// The split barrier.
    pub(crate) const SYNC: u32 = CMMD + 2;
    /// Between host and nodes.
    pub(crate) const HOST: u32 = CMMD + 3;
    /// The global OR.
    pub(crate) const OR: u32 = CMMD + 4;
    /// Channels.
    pub(crate) const CHANNEL: u32 = CMMD + 5;
    /// What nodes write together.
    pub(crate) const FILES: u32 = CMMD + 6;
}

/// What onlookers are told that a task waits in: CMMD's row of `parvum_control::CALLS`.
pub(crate) mod told {
    pub(crate) const SEND_BLOCK: u32 = 24;
    pub(crate) const SEND_NOBLOCK: u32 = 25;
    pub(crate) const RECEIVE_BLOCK: u32 = 26;
    pub(crate) const MSG_WAIT: u32 = 27;
    pub(crate) const MSG_PENDING: u32 = 28;
    pub(crate) const SYNC_WITH_NODES: u32 = 29;
    pub(crate) const ALL_NODES: u32 = 30;
}

static STATE: BiasedLock<Option<Box<State>>> = BiasedLock::new(None);

/// Some thread is in the program's matching function: a look at that spares every call a thread's own memory, which is dear
/// in a shared library.
static ANY_MATCHING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// This thread is in the program's matching function, and has the state.
    static MATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Everything behind CMMD's functions.
pub(crate) struct State {
    pub(crate) api: CoreApi,
    pub(crate) company: Company,
    /// What the nodes have together; the host has none of it.
    pub(crate) partition: Option<Arc<Partition>>,
    /// The host takes part: `CMMD_enable` or `CMMD_enable_host` was called.
    pub(crate) with_host: bool,
    pub(crate) operations: Operations,
    pub(crate) channels: Channels,
    pub(crate) sent: u64,
    pub(crate) last: Last,
    pub(crate) safety: bool,
    pub(crate) interrupts: bool,
    /// A handler is running: no other runs meanwhile.
    pub(crate) in_handler: bool,
    pub(crate) matching: Option<Matching>,
    /// How many broadcasts, and split barriers, there have been.
    pub(crate) broadcasts: i32,
    pub(crate) syncs: i32,
    pub(crate) sync_started: bool,
    /// Who has come to the split barriers: this one's number, and how many are ahead.
    pub(crate) come: Vec<(i32, usize)>,
    pub(crate) or: GlobalOr,
    pub(crate) timers: Timers,
    /// Files that the nodes write together, in the order in which they began to.
    pub(crate) shared: Vec<Shared>,
}

/// The message that was received or found last.
#[derive(Clone, Copy)]
pub(crate) struct Last {
    pub(crate) from: i32,
    pub(crate) tag: i32,
    pub(crate) bytes: u64,
}

/// The state, for one call or a part of one. A call that waits gives it away meanwhile, to other threads and to a signal handler
/// that interrupts the wait.
pub(crate) struct Guard(Option<BiasedGuard<'static, Option<Box<State>>>>);

/// What all nodes do together they do one after the other: messages of two such operations of one node would be mixed up. So
/// a thread that begins one waits, without the state, for another's. Taken before the state.
static TOGETHER: BiasedLock<()> = BiasedLock::new(());

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
    /// Waits with the state given away. What was known of it before may not be so afterwards; who the nodes are is.
    #[inline]
    pub(crate) fn outside<R>(&mut self, wait: impl FnOnce() -> R) -> R {
        let began = self.timers.begin_wait();
        self.0 = None;
        let result = wait();
        self.0 = Some(STATE.take());
        self.timers.end_wait(began);
        result
    }

    /// Sends something of the interface's own, in one of its contexts; waits for credit if need be.
    pub(crate) fn send_own(&mut self, to: i32, context: u32, tag: i32, meta: u32, data: &[u8]) -> Cmmd<()> {
        let (api, how) = (self.api, own(to, context, tag, meta));
        Ok(self.outside(|| api.send(how, &[data], &notes(told::ALL_NODES, to, tag)))?)
    }
}

/// How something of the interface's own is sent.
pub(crate) fn own(to: i32, context: u32, tag: i32, meta: u32) -> SendTo {
    SendTo { to, tag, context, meta, buffering: Buffering::BySize, completion: Completion::Copied }
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

/// Whether this thread is not in the program's matching function, from which nothing may be called.
#[inline]
fn not_matching() -> Cmmd<()> {
    // Relaxed: the thread that it is about wrote it.
    if ANY_MATCHING.load(Ordering::Relaxed) && MATCHING.get() { Err(Fault::Busy) } else { Ok(()) }
}

/// The process ends. Who ends within a call of CMMD loses what is kept for files.
pub(crate) fn at_exit() {
    if !fork::is_child()
        && let Some(mut state) = STATE.try_take()
        && let Some(state) = state.as_mut()
    {
        state.put_out_alone();
    }
}

/// Runs one call: its value, or what it gives when it fails.
#[inline]
pub(crate) fn call<T>(otherwise: T, work: impl FnOnce(&mut Guard) -> Cmmd<T>) -> T {
    guarded(otherwise, |mut state| {
        let result = work(&mut state);
        (state, result)
    })
}

/// The same, for what all nodes do together; handlers run when it is over, and may do such things themselves.
pub(crate) fn together<T>(otherwise: T, work: impl FnOnce(&mut Guard) -> Cmmd<T>) -> T {
    // A matching function has the state: it waits for nobody who may want that.
    let alone = not_matching().and_then(|()| TOGETHER.take_unless_own().ok_or(Fault::Busy));
    match alone {
        Ok(alone) => guarded(otherwise, |mut state| {
            let result = work(&mut state);
            drop(alone);
            (state, result)
        }),
        Err(why) => {
            remember(why);
            otherwise
        }
    }
}

/// The same, for a call that lets go of the state while handlers run.
#[inline]
pub(crate) fn guarded<T>(otherwise: T, work: impl FnOnce(Guard) -> (Guard, Cmmd<T>)) -> T {
    let done = enter().and_then(|state| {
        let (state, result) = work(state);
        if state.operations.has_handlers() && state.interrupts {
            drop(run_handlers(state));
        }
        result
    });
    done.unwrap_or_else(|why| {
        remember(why);
        otherwise
    })
}

/// Runs the handlers of all operations that are over, one after the other.
#[cold]
pub(crate) fn run_handlers(mut state: Guard) -> Guard {
    while !state.in_handler
        && let Some((mcb, handler, arg)) = state.next_due()
    {
        state.in_handler = true;
        drop(state);
        handler.run(mcb, arg);
        state = Guard(Some(STATE.take()));
        state.in_handler = false;
    }
    state
}

impl State {
    fn join() -> Cmmd<State> {
        let api = CoreApi::open().map_err(|why| {
            eprintln!("libcmmd: {why}");
            Fault::NoMachine
        })?;
        fork::watch();
        let host = crate::host::is_host();
        let (partition, company) = if host {
            let own = api.enrol("cmmd")?.tid;
            (None, Company { own: 0, nodes: Vec::new(), host: Some(own) })
        } else {
            let partition = Partition::join(api, "cmmd", context::TOGETHER).inspect_err(|_| {
                eprintln!("libcmmd: {}", api.last_error());
            })?;
            partition.calls_it(told::ALL_NODES);
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

    /// What the nodes have together.
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

    /// What a receive that names this node and tag takes.
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
        // One thread at most is here, for it has the state.
        MATCHING.set(true);
        ANY_MATCHING.store(true, Ordering::Relaxed);
        let wanted = matching.ask(node, tag, self.company.node(message.from), message.tag);
        ANY_MATCHING.store(false, Ordering::Relaxed);
        MATCHING.set(false);
        wanted
    }

    /// An operation with a handler that is over and whose handler has not run: it counts as run now.
    fn next_due(&mut self) -> Option<(i32, Handler, usize)> {
        for mcb in self.operations.with_handlers() {
            self.look_at(mcb);
        }
        self.operations.take_due()
    }
}

/// How a message of the program is sent.
#[inline]
pub(crate) fn user(to: i32, tag: i32, buffering: Buffering, completion: Completion) -> SendTo {
    SendTo { to, tag, context: 0, meta: encoding::RAW, buffering, completion }
}

/// A wait without end.
#[inline]
pub(crate) fn notes(call: u32, peer: i32, tag: i32) -> Notes {
    Notes { limit: -1, call, peer, tag, context: 0 }
}
