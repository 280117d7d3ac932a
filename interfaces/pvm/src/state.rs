//! The state of a PVM task: its identity, buffers, options and context.

use crate::buffers::buffer::{Arrived, Buffer};
use crate::buffers::memory::Memory;
use crate::buffers::table::{Lengths, Spent, bury};
use crate::errors::{Pvm, PvmError, text};
use crate::machine::attend::{Attention, DUTIES, HANDLE, TRACE, WATCH, handle_messages};
use crate::options::{self, Options};
use crate::trace::Tracing;
use parvum_api::{CoreApi, Enrolled, Notes, Status, call};
use parvum_sync::{BiasedGuard, BiasedLock};
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

static STATE: BiasedLock<State> = BiasedLock::new(State::NEW);

/// Everything behind PVM's functions.
pub(crate) struct State {
    pub(crate) api: Option<CoreApi>,
    enrolled: Option<Enrolled>,
    /// Buffers by id; id 0 does not exist.
    pub(crate) buffers: Vec<Option<Buffer>>,
    /// Ids below that name no buffer now.
    pub(crate) unused: Vec<i32>,
    /// The active send and receive buffers; 0 for none.
    pub(crate) sending: i32,
    pub(crate) receiving: i32,
    /// How many received messages have their data still with the sender.
    pub(crate) remote: usize,
    /// Probed messages that have not been received: how many buffers are `Found`.
    pub(crate) found: usize,
    pub(crate) options: Option<Options>,
    pub(crate) context: u32,
    /// Memory of past send buffers.
    pub(crate) spare: Vec<Memory>,
    /// The lengths of past send buffers.
    pub(crate) lengths: Lengths,
    /// Long buffers that were freed in this call.
    pub(crate) spent: Vec<Spent>,
    /// Rooms of past receive buffers.
    #[expect(clippy::vec_box, reason = "a room is handed on without being moved")]
    pub(crate) blanks: Vec<Box<Arrived>>,
    /// The last results of `pvm_tasks` and `pvm_config`: the program holds pointers into them.
    pub(crate) tasks: Vec<crate::calls::TaskInfo>,
    pub(crate) hosts: Vec<crate::calls::HostInfo>,
    pub(crate) names: [Vec<std::ffi::CString>; 2],
    pub(crate) mail: crate::calls::MailTable,
    /// The last results of `pvm_getnoresets`, `pvm_siblings`, `pvm_getfds` and `pvmnametag`.
    pub(crate) spared: Vec<i32>,
    pub(crate) siblings: Vec<i32>,
    pub(crate) descriptors: Vec<i32>,
    pub(crate) tag_name: Option<std::ffi::CString>,
    pub(crate) attention: Attention,
    pub(crate) tracing: Tracing,
    /// The wait id of the last question to a resource manager.
    pub(crate) last_question: i32,
    /// Groups whose members do not change any more, and their members.
    pub(crate) frozen: Vec<(String, Vec<(u32, Tid)>)>,
    /// Tasks that messages were sent to lately.
    pub(crate) joined: Joined,
}

/// Tasks that this one has been joined to: a short message to them leaves at once. The id determines the place of each,
/// and another id may replace it.
pub(crate) struct Joined([i32; Joined::PLACES]);

impl Joined {
    const PLACES: usize = 256;
    const NONE: Joined = Joined([0; Joined::PLACES]);

    #[inline]
    pub(crate) fn has(&self, tid: i32) -> bool {
        self.0[tid as usize % Joined::PLACES] == tid
    }

    pub(crate) fn add(&mut self, tid: i32) {
        self.0[tid as usize % Joined::PLACES] = tid;
    }
}

/// The state, for one call or a part of one. A call releases the lock while it waits. Other threads, and a signal
/// handler that interrupts the wait, can then take it.
pub(crate) struct Locked(Option<BiasedGuard<'static, State>>);

impl Locked {
    /// Waits with the state given away. Other threads may change the state during the wait.
    #[inline]
    pub(crate) fn outside<R>(&mut self, wait: impl FnOnce() -> R) -> R {
        self.0 = None;
        let result = wait();
        self.0 = Some(STATE.take());
        result
    }
}

impl Deref for Locked {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        self.0.as_ref().expect("it is away only while `outside` waits")
    }
}

impl DerefMut for Locked {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        self.0.as_mut().expect("it is away only while `outside` waits")
    }
}

/// Runs one PVM call: its value, or its error code after PVM's automatic report.
#[inline]
pub(crate) fn call(name: &str, work: impl FnOnce(&mut Locked) -> Pvm<i32>) -> i32 {
    call_but(name, |_| false, work)
}

/// The same, for a call some of whose failures PVM does not report: the program asks with it whether
/// something is there.
#[inline]
pub(crate) fn call_but(
    name: &str,
    is_silent: impl FnOnce(PvmError) -> bool,
    work: impl FnOnce(&mut Locked) -> Pvm<i32>,
) -> i32 {
    let Some(mut state) = STATE.take_unless_own().map(|state| Locked(Some(state))) else {
        return in_midst_of_a_call(name);
    };
    let duties = DUTIES.load(Ordering::Relaxed);
    if duties & TRACE != 0 {
        state.trace_entry(name);
    }
    let result = work(&mut state);
    // Requests of the call itself count already.
    let duties = duties | DUTIES.load(Ordering::Relaxed);
    if duties != 0 {
        if duties & TRACE != 0 {
            state.trace_return(result.unwrap_or_else(|why| why as i32));
        }
        state = attend_to(duties, state);
    }
    if !state.spent.is_empty() {
        let (spent, api) = (std::mem::take(&mut state.spent), state.api);
        state.outside(|| bury(spent, api));
    }
    let why = match result {
        Ok(value) => return value,
        Err(why) => why,
    };
    crate::calls::ERRNO.store(why as i32, std::sync::atomic::Ordering::Relaxed);
    let end = if is_silent(why) { None } else { state.report(name, why) };
    // Functions that run at exit may call PVM.
    drop(state);
    match end {
        Some(End::Exit) => crate::calls::exit(why as i32),
        Some(End::Abort) => std::process::abort(),
        None => why as i32,
    }
}

/// Does what the program asked for at the end of each call.
#[cold]
fn attend_to(duties: u8, state: Locked) -> Locked {
    let mut state = state;
    if duties & HANDLE != 0 && state.here().is_some() {
        drop(state);
        handle_messages();
        state = lock();
    }
    state.watch();
    state
}

fn lock() -> Locked {
    Locked(Some(STATE.take()))
}

/// The result for a signal handler that has interrupted a working call of its own thread, which was not waiting. The
/// identity of the task stays the same. A handler that leaves the virtual machine here is about to end the process, and
/// the daemon notices the end. Nothing else can be done.
#[cold]
fn in_midst_of_a_call(name: &str) -> i32 {
    match (name, crate::calls::own_tid()) {
        ("pvm_exit", _) => 0,
        ("pvm_mytid", tid) if tid > 0 => tid,
        _ => PvmError::SysErr as i32,
    }
}

/// How `PvmAutoErr` ends a program.
enum End {
    Exit,
    Abort,
}

/// Runs a part of a call without PVM's report.
pub(crate) fn quietly<R>(work: impl FnOnce(&mut Locked) -> R) -> R {
    work(&mut lock())
}

impl State {
    const NEW: State = State {
        api: None,
        enrolled: None,
        buffers: Vec::new(),
        unused: Vec::new(),
        sending: 0,
        receiving: 0,
        remote: 0,
        found: 0,
        options: None,
        context: 0,
        spare: Vec::new(),
        lengths: Lengths::NONE,
        spent: Vec::new(),
        blanks: Vec::new(),
        tasks: Vec::new(),
        hosts: Vec::new(),
        names: [Vec::new(), Vec::new()],
        mail: crate::calls::MailTable::EMPTY,
        spared: Vec::new(),
        siblings: Vec::new(),
        descriptors: Vec::new(),
        tag_name: None,
        attention: Attention::NONE,
        tracing: Tracing::NEW,
        last_question: 0,
        frozen: Vec::new(),
        joined: Joined::NONE,
    };

    fn report(&self, name: &str, why: PvmError) -> Option<End> {
        match self.say_failure(name, text(why as i32)) {
            2 => Some(End::Exit),
            3 => Some(End::Abort),
            _ => None,
        }
    }

    /// Reports a failure, if the task wants that; gives the value of `PvmAutoErr`.
    pub(crate) fn say_failure(&self, name: &str, text: &str) -> i32 {
        let automatic =
            self.options.as_ref().map_or(1, |options| options.get(options::AUTO_ERR).unwrap_or(1));
        if automatic != 0 {
            self.print(&format!(": {name}()"), text);
        }
        automatic
    }

    /// Prints an error in the form of all of Parvum's.
    fn print(&self, call: &str, text: &str) {
        eprintln!("{}", parvum_errors::shown(&format!("libpvm [{}]{call}", self.name()), text));
    }

    /// How PVM names this process in what it prints.
    pub(crate) fn name(&self) -> String {
        match self.enrolled {
            Some(Enrolled { tid, .. }) => format!("t{tid:x}"),
            None => format!("pid{}", std::process::id()),
        }
    }

    pub(crate) fn options(&mut self) -> &mut Options {
        self.options.get_or_insert_default()
    }

    /// The engine, with this process a task of the machine: every call that needs it comes here.
    #[inline]
    pub(crate) fn machine(&mut self) -> Pvm<CoreApi> {
        if parvum_sync::fork::is_child() {
            self.forget_parent();
        }
        match (self.api, self.enrolled) {
            (Some(api), Some(_)) => Ok(api),
            _ => self.enrol(),
        }
    }

    /// The state of this process belongs to its parent, which is another task. Messages being packed stay.
    #[cold]
    fn forget_parent(&mut self) {
        parvum_sync::fork::now_itself();
        for (at, buffer) in self.buffers.iter_mut().enumerate() {
            // The engine's memory that received messages lie in was the parent's engine's.
            if matches!(buffer, Some(Buffer::Arrived(_) | Buffer::Found(_))) {
                *buffer = None;
                self.unused.push(at as i32 + 1);
            }
        }
        self.spent.clear();
        (self.receiving, self.found, self.remote) = (0, 0, 0);
        self.joined = Joined::NONE;
        self.enrolled = None;
    }

    /// The engine, if this process is a task of the machine.
    pub(crate) fn here(&self) -> Option<CoreApi> {
        self.api.filter(|_| self.enrolled.is_some() && !parvum_sync::fork::is_child())
    }

    /// If the program waits for descriptors: makes them readable when a message comes or has come.
    pub(crate) fn watch(&mut self) {
        if DUTIES.load(Ordering::Relaxed) & WATCH != 0
            && let Some(api) = self.here()
        {
            api.watch();
        }
    }

    /// Sends and receives in another context from now on; gives the one before.
    pub(crate) fn set_context(&mut self, context: u32) -> u32 {
        crate::calls::publish_context(context);
        std::mem::replace(&mut self.context, context)
    }

    /// Starts a machine; an error when there is one.
    pub(crate) fn start_machine(&mut self, arguments: &[u8]) -> Pvm<i32> {
        let api = self.open()?;
        match api.start_machine(arguments) {
            Ok(()) => Ok(0),
            Err(Status::Unknown) => Err(PvmError::DupHost),
            Err(_) => {
                self.print("", &api.last_error());
                Err(PvmError::CantStart)
            }
        }
    }

    /// Begins to keep descriptors true for a program that waits for them; gives how many there are.
    pub(crate) fn watch_descriptors(&mut self) -> Pvm<i32> {
        self.descriptors = self.machine()?.descriptors();
        DUTIES.fetch_or(WATCH, Ordering::Relaxed);
        Ok(self.descriptors.len() as i32)
    }

    fn open(&mut self) -> Pvm<CoreApi> {
        let api = match self.api {
            Some(api) => api,
            None => CoreApi::open().map_err(|why| {
                self.print("", &why.to_string());
                PvmError::SysErr
            })?,
        };
        self.api = Some(api);
        Ok(api)
    }

    #[inline(never)]
    fn enrol(&mut self) -> Pvm<CoreApi> {
        let api = self.open()?;
        parvum_sync::fork::watch();
        match api.enrol("pvm") {
            Ok(enrolled) => self.enrolled = Some(enrolled),
            Err(_) => {
                self.print("", &api.last_error());
                return Err(PvmError::SysErr);
            }
        }
        if let Some(context) = std::env::var("PVMCTX").ok().and_then(|text| context_of(&text)) {
            self.set_context(context);
        }
        if let Some(Enrolled { tid, parent }) = self.enrolled {
            crate::calls::publish_identity(tid, parent);
        }
        self.learn_tracer(api);
        let route = self.options().get(options::ROUTE)?;
        self.follow_route(route);
        Ok(api)
    }

    /// The id of this task, if the process is a task.
    pub(crate) fn my_tid(&self) -> Option<i32> {
        self.enrolled.map(|me| me.tid)
    }

    /// Who this task is.
    pub(crate) fn me(&mut self) -> Pvm<Enrolled> {
        self.machine()?;
        self.enrolled.ok_or(PvmError::SysErr)
    }

    /// Makes messages take the route that `PvmRoute` asks for.
    pub(crate) fn follow_route(&mut self, route: i32) {
        self.joined = Joined::NONE;
        if let (Some(api), Some(_)) = (self.api, self.enrolled) {
            let number = match route {
                options::DONT_ROUTE => 2,
                options::ROUTE_DIRECT => 1,
                _ => 0,
            };
            // The number is one of the three.
            let _ = api.prefer(number);
        }
    }
}

impl Locked {
    /// Leaves the machine; the next call that needs it joins again, as another task.
    pub(crate) fn leave(&mut self) -> Pvm<i32> {
        // A process that is not a task, or no longer a task, has already left.
        let Some(api) = self.here() else { return Ok(0) };
        if DUTIES.load(Ordering::Relaxed) & TRACE != 0 {
            self.end_trace();
        }
        self.forget_catcher();
        crate::calls::publish_identity(0, 0);
        self.frozen.clear();
        self.joined = Joined::NONE;
        for id in 1..=self.buffers.len() as i32 {
            self.free(id);
        }
        (self.sending, self.receiving) = (0, 0);
        self.enrolled = None;
        self.outside(|| api.depart())?;
        Ok(0)
    }

    /// Leaves without a word of what may go wrong.
    pub(crate) fn leave_quietly(&mut self) {
        let _ = self.leave();
    }

    /// Asks the daemon; what it refuses becomes PVM's code.
    pub(crate) fn ask(&mut self, request: &Request) -> Pvm<Reply> {
        self.ask_in(request, call::MACHINE)
    }

    pub(crate) fn ask_in(&mut self, request: &Request, call: u32) -> Pvm<Reply> {
        self.bring_all();
        let notes = Notes { limit: -1, call, peer: -1, tag: -1, context: -1 };
        let api = self.machine()?;
        let answer = self.outside(|| api.ask(request, &notes))?;
        answer.map_err(|failure| failure.kind.into())
    }
}

/// A context as PVM writes it into the environment, `0x...`, or in decimal.
fn context_of(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
