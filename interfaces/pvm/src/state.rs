//! What a PVM task has: its identity, buffers, options and context.

use crate::attend::{Attention, DUTIES, HANDLE, TRACE, WATCH, handle_messages};
use crate::buffer::{Arrived, Buffer, Info, Packed, Packing};
use crate::errors::{Pvm, PvmError, text};
use crate::options::{self, Options};
use crate::trace::{Did, Tracing, numbers};
use parvum_waist::{
    ANY_TASK, Enrolled, Message, Notes, Pattern, Receiving, Send, Status, TagKind, Waist, call,
};
use parvum_wire::control::{Reply, Request};
use parvum_wire::{Tid, encoding};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Data is fetched from a sender that keeps it for us: the answer is on its way.
const FETCH: Notes = Notes { limit: -1, call: call::RECEIVE, peer: -1, tag: -1, context: -1 };

static STATE: Mutex<State> = Mutex::new(State::NEW);

/// Everything behind PVM's functions.
pub(crate) struct State {
    waist: Option<Waist>,
    enrolled: Option<Enrolled>,
    /// Buffers by id; id 0 does not exist.
    buffers: Vec<Option<Buffer>>,
    /// Ids below that name no buffer now.
    unused: Vec<i32>,
    /// The active send and receive buffers; 0 for none.
    pub(crate) sending: i32,
    pub(crate) receiving: i32,
    /// How many received messages have their data still with the sender.
    remote: usize,
    /// Probed messages that have not been received: how many buffers are `Found`.
    found: usize,
    pub(crate) options: Option<Options>,
    pub(crate) context: u32,
    /// Memory of past send buffers.
    spare: Vec<Arc<Vec<u8>>>,
    /// What `pvm_tasks` and `pvm_config` returned last: the program holds pointers into it.
    pub(crate) tasks: Vec<crate::calls::TaskInfo>,
    pub(crate) hosts: Vec<crate::calls::HostInfo>,
    pub(crate) names: [Vec<std::ffi::CString>; 2],
    pub(crate) mail: crate::calls::MailTable,
    /// What `pvm_getnoresets`, `pvm_siblings`, `pvm_getfds` and `pvmnametag` returned last.
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
}

/// Runs one PVM call: its value, or its error code after PVM's automatic report.
#[inline]
pub(crate) fn call(name: &str, work: impl FnOnce(&mut State) -> Pvm<i32>) -> i32 {
    call_but(name, |_| false, work)
}

/// The same, for a call some of whose failures PVM does not report: the program asks with it whether
/// something is there.
#[inline]
pub(crate) fn call_but(
    name: &str,
    is_silent: impl FnOnce(PvmError) -> bool,
    work: impl FnOnce(&mut State) -> Pvm<i32>,
) -> i32 {
    let Some(mut state) = enter() else {
        // A signal handler of a thread that waits in here. Whoever leaves the machine there is
        // about to end, and the daemon notices; anything else must wait for its turn.
        return if name == "pvm_exit" { 0 } else { PvmError::SysErr as i32 };
    };
    let duties = DUTIES.load(Ordering::Relaxed);
    if duties & TRACE != 0 {
        state.trace_entry(name);
    }
    INSIDE.set(true);
    let result = work(&mut state);
    INSIDE.set(false);
    // What the call itself may have asked for counts already.
    let duties = duties | DUTIES.load(Ordering::Relaxed);
    if duties != 0 {
        if duties & TRACE != 0 {
            state.trace_return(result.unwrap_or_else(|why| why as i32));
        }
        state = attend_to(duties, state);
    }
    let why = match result {
        Ok(value) => return value,
        Err(why) => why,
    };
    crate::calls::ERRNO.store(why as i32, std::sync::atomic::Ordering::Relaxed);
    let end = if is_silent(why) { None } else { state.report(name, why) };
    // What runs at exit may call PVM.
    drop(state);
    match end {
        Some(End::Exit) => std::process::exit(why as i32),
        Some(End::Abort) => std::process::abort(),
        None => why as i32,
    }
}

/// Does what the program asked for at the end of each call.
#[cold]
fn attend_to(duties: u8, state: MutexGuard<'static, State>) -> MutexGuard<'static, State> {
    let mut state = state;
    if duties & HANDLE != 0 && state.here().is_some() {
        drop(state);
        handle_messages();
        state = lock();
    }
    state.watch();
    state
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// Whether this thread is inside a call, and holds the lock.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Takes the state; nothing when this very thread has it already.
#[inline]
fn enter() -> Option<MutexGuard<'static, State>> {
    match STATE.try_lock() {
        Ok(state) => Some(state),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
        Err(TryLockError::WouldBlock) if INSIDE.get() => None,
        Err(TryLockError::WouldBlock) => Some(lock()),
    }
}

/// How `PvmAutoErr` ends a program.
enum End {
    Exit,
    Abort,
}

/// Runs a part of a call without PVM's report.
pub(crate) fn quietly<R>(work: impl FnOnce(&mut State) -> R) -> R {
    work(&mut lock())
}

/// Memory of send buffers kept for the next ones; part of a task's stated own cost.
const SPARE: usize = 2 << 20;
/// Messages up to this length are copied when they are sent; longer ones are kept for the receiver.
const COPIED: usize = 16 << 10;

impl State {
    const NEW: State = State {
        waist: None,
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
            eprintln!("libpvm [{}]: {name}(): {text}", self.name());
        }
        automatic
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
    pub(crate) fn machine(&mut self) -> Pvm<Waist> {
        if crate::fork::is_child() {
            self.forget_parent();
        }
        match (self.waist, self.enrolled) {
            (Some(waist), Some(_)) => Ok(waist),
            _ => self.enrol(),
        }
    }

    /// What this process has is its parent's: another task. Messages being packed stay.
    #[cold]
    fn forget_parent(&mut self) {
        crate::fork::now_itself();
        for (at, buffer) in self.buffers.iter_mut().enumerate() {
            // The engine's memory that received messages lie in was the parent's engine's.
            if matches!(buffer, Some(Buffer::Arrived(_) | Buffer::Found(_))) {
                *buffer = None;
                self.unused.push(at as i32 + 1);
            }
        }
        (self.receiving, self.found, self.remote) = (0, 0, 0);
        self.enrolled = None;
    }

    /// The engine, if this process is a task of the machine.
    pub(crate) fn here(&self) -> Option<Waist> {
        self.waist.filter(|_| self.enrolled.is_some() && !crate::fork::is_child())
    }

    /// If the program waits for descriptors: makes them readable when a message comes or has come.
    pub(crate) fn watch(&mut self) {
        if DUTIES.load(Ordering::Relaxed) & WATCH != 0
            && let Some(waist) = self.here()
        {
            waist.watch();
        }
    }

    /// Sends and receives in another context from now on; gives the one before.
    pub(crate) fn set_context(&mut self, context: u32) -> u32 {
        crate::calls::tell_context(context);
        std::mem::replace(&mut self.context, context)
    }

    /// Starts a machine; an error when there is one.
    pub(crate) fn start_machine(&mut self, arguments: &[u8]) -> Pvm<i32> {
        let waist = self.open()?;
        match waist.start_machine(arguments) {
            Ok(()) => Ok(0),
            Err(Status::Unknown) => Err(PvmError::DupHost),
            Err(_) => {
                eprintln!("libpvm [{}]: {}", self.name(), waist.last_error());
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

    fn open(&mut self) -> Pvm<Waist> {
        let waist = match self.waist {
            Some(waist) => waist,
            None => Waist::open().map_err(|why| {
                eprintln!("libpvm [{}]: {why}", self.name());
                PvmError::SysErr
            })?,
        };
        self.waist = Some(waist);
        Ok(waist)
    }

    #[inline(never)]
    fn enrol(&mut self) -> Pvm<Waist> {
        let waist = self.open()?;
        crate::fork::watch();
        match waist.enrol("pvm") {
            Ok(enrolled) => self.enrolled = Some(enrolled),
            Err(_) => {
                eprintln!("libpvm [{}]: {}", self.name(), waist.last_error());
                return Err(PvmError::SysErr);
            }
        }
        if let Some(context) = std::env::var("PVMCTX").ok().and_then(|text| context_of(&text)) {
            self.set_context(context);
        }
        if let Some(Enrolled { tid, parent }) = self.enrolled {
            crate::calls::tell_identity(tid, parent);
        }
        self.learn_tracer(waist);
        let route = self.options().get(options::ROUTE)?;
        self.follow_route(route);
        Ok(waist)
    }

    /// Who this task is, if it is one.
    pub(crate) fn my_tid(&self) -> Option<i32> {
        self.enrolled.map(|me| me.tid)
    }

    /// Bytes of a message.
    pub(crate) fn length(&mut self, id: i32) -> Pvm<usize> {
        Ok(match self.buffer(id)? {
            Buffer::Packed(packed) => packed.length(),
            Buffer::Arrived(arrived) => arrived.length,
            Buffer::Found(found) => {
                (found.length as usize).saturating_sub(crate::buffer::table_length(found.meta))
            }
        })
    }

    /// Who this task is.
    pub(crate) fn me(&mut self) -> Pvm<Enrolled> {
        self.machine()?;
        self.enrolled.ok_or(PvmError::SysErr)
    }

    /// Leaves the machine; the next call that needs it joins again, as another task.
    pub(crate) fn leave(&mut self) -> Pvm<i32> {
        // Who is no task, or no more, has left already.
        let Some(waist) = self.here() else { return Ok(0) };
        if DUTIES.load(Ordering::Relaxed) & TRACE != 0 {
            self.end_trace();
        }
        self.forget_catcher();
        crate::calls::tell_identity(0, 0);
        self.frozen.clear();
        for id in 1..=self.buffers.len() as i32 {
            self.free(id);
        }
        (self.sending, self.receiving) = (0, 0);
        self.enrolled = None;
        waist.depart()?;
        Ok(0)
    }

    /// Leaves without a word of what may go wrong.
    pub(crate) fn leave_quietly(&mut self) {
        let _ = self.leave();
    }

    /// Makes messages take the route that `PvmRoute` asks for.
    pub(crate) fn follow_route(&mut self, route: i32) {
        if let (Some(waist), Some(_)) = (self.waist, self.enrolled) {
            let number = match route {
                options::DONT_ROUTE => 2,
                options::ROUTE_DIRECT => 1,
                _ => 0,
            };
            // The number is one of the three.
            let _ = waist.prefer(number);
        }
    }

    /// Asks the daemon; what it refuses becomes PVM's code.
    pub(crate) fn ask(&mut self, request: &Request) -> Pvm<Reply> {
        self.ask_in(request, call::MACHINE)
    }

    pub(crate) fn ask_in(&mut self, request: &Request, call: u32) -> Pvm<Reply> {
        self.settle();
        let notes = Notes { limit: -1, call, peer: -1, tag: -1, context: -1 };
        let answer = self.machine()?.ask(request, &notes)?;
        answer.map_err(|failure| failure.kind.into())
    }

    // Buffers.

    /// What is known of a message.
    pub(crate) fn info(&mut self, id: i32) -> Pvm<Info> {
        let of = |message: &Message| {
            // What a program did not send was meant for nobody in particular.
            let (from, to) = (Some(message.from), None);
            let (context, tag) = (message.context as i32, message.tag);
            let wait_id = crate::buffer::wait_id(message.meta);
            Info { context, tag, wait_id, from, to, ..Info::default() }
        };
        Ok(match self.buffer(id)? {
            Buffer::Packed(packed) => packed.info.unwrap_or(Info { to: Some(0), ..Info::default() }),
            Buffer::Arrived(arrived) => arrived.info.unwrap_or_else(|| of(&arrived.message)),
            Buffer::Found(found) => of(found),
        })
    }

    pub(crate) fn set_info(&mut self, id: i32, info: Info) -> Pvm<i32> {
        match self.buffer(id)? {
            Buffer::Packed(packed) => packed.info = Some(info),
            Buffer::Arrived(arrived) => arrived.info = Some(info),
            Buffer::Found(_) => return Err(PvmError::NoSuchBuf),
        }
        Ok(0)
    }

    /// Tag, sender and context of a message.
    pub(crate) fn envelope(&mut self, id: i32) -> Pvm<(i32, i32, u32)> {
        let info = self.info(id)?;
        Ok((info.tag, info.from.unwrap_or(0), info.context as u32))
    }

    /// Makes a buffer the active receive buffer, and frees the one before.
    pub(crate) fn make_receiving(&mut self, id: i32) {
        if self.receiving != 0 && self.receiving != id && self.receiving != self.sending {
            self.free(self.receiving);
        }
        self.receiving = id;
    }

    /// A message that was found and not received gets a buffer, once.
    pub(crate) fn found(&mut self, message: Message) -> i32 {
        self.found_buffer(message.handle).unwrap_or_else(|| {
            self.found += 1;
            self.keep(Buffer::Found(message))
        })
    }

    /// A found message was received.
    pub(crate) fn replace_found(&mut self, id: i32, arrived: Arrived) {
        if let Ok(buffer) = self.buffer(id) {
            *buffer = Buffer::Arrived(arrived);
            self.found -= 1;
        }
    }

    /// How many buffers there are, and how many bytes they hold.
    pub(crate) fn buffers_held(&self) -> (usize, usize) {
        let length = |buffer: &Buffer| match buffer {
            Buffer::Packed(packed) => packed.length(),
            Buffer::Arrived(arrived) => arrived.length,
            Buffer::Found(_) => 0,
        };
        let held = self.buffers.iter().flatten();
        (held.clone().count(), held.map(length).sum())
    }

    /// Keeps a buffer under an id.
    pub(crate) fn keep(&mut self, buffer: Buffer) -> i32 {
        match self.unused.pop() {
            Some(id) => {
                self.buffers[id as usize - 1] = Some(buffer);
                id
            }
            None => {
                self.buffers.push(Some(buffer));
                self.buffers.len() as i32
            }
        }
    }

    /// The buffer of that id.
    pub(crate) fn buffer(&mut self, id: i32) -> Pvm<&mut Buffer> {
        if id < 1 {
            return Err(PvmError::BadParam);
        }
        self.buffers.get_mut(id as usize - 1).and_then(Option::as_mut).ok_or(PvmError::NoSuchBuf)
    }

    /// Frees a buffer, if there is one of that id.
    pub(crate) fn free(&mut self, id: i32) {
        let Some(buffer) = self.buffers.get_mut((id as usize).wrapping_sub(1)).and_then(Option::take) else {
            return;
        };
        self.unused.push(id);
        match buffer {
            Buffer::Packed(packed) => self.keep_memory(packed.data),
            Buffer::Arrived(arrived) => {
                self.remote -= usize::from(arrived.message.is_remote());
                if let Some(waist) = self.waist {
                    waist.give_back(&arrived.message);
                }
            }
            Buffer::Found(_) => self.found -= 1,
        }
    }

    fn keep_memory(&mut self, data: Arc<Vec<u8>>) {
        let kept: usize = self.spare.iter().map(|spare| spare.capacity()).sum();
        if data.capacity() > 0 && kept + data.capacity() <= SPARE {
            self.spare.push(data);
        }
    }

    /// Memory for a new send buffer: empty, and no longer used by a message on its way.
    fn memory(&mut self) -> Arc<Vec<u8>> {
        let Some(at) = self.spare.iter_mut().position(|spare| Arc::get_mut(spare).is_some()) else {
            return Arc::default();
        };
        let mut data = self.spare.swap_remove(at);
        if let Some(bytes) = Arc::get_mut(&mut data) {
            bytes.clear();
        }
        data
    }

    /// A new, empty buffer to pack into.
    pub(crate) fn make(&mut self, packing: Packing) -> i32 {
        let data = self.memory();
        self.keep(Buffer::Packed(Packed::new(packing, data)))
    }

    /// The active send buffer.
    #[inline]
    pub(crate) fn packing(&mut self) -> Pvm<&mut Packed> {
        match self.buffers.get_mut((self.sending as usize).wrapping_sub(1)) {
            Some(Some(Buffer::Packed(packed))) => Ok(packed),
            _ => Err(PvmError::NoBuf),
        }
    }

    /// The active receive buffer.
    #[inline]
    pub(crate) fn unpacking(&mut self) -> Pvm<&mut Arrived> {
        match self.buffers.get_mut((self.receiving as usize).wrapping_sub(1)) {
            Some(Some(Buffer::Arrived(arrived))) => Ok(arrived),
            _ => Err(PvmError::NoBuf),
        }
    }

    // Messages.

    /// Sends the active send buffer.
    pub(crate) fn send(&mut self, to: i32, tag: i32, context: u32) -> Pvm<i32> {
        let waist = self.machine()?;
        self.can_send()?;
        if self.tracing.is_on() {
            let length = self.length(self.sending).unwrap_or(0) as i32;
            self.about(|| {
                numbers([
                    (Did::Bytes, length),
                    (Did::Destination, to),
                    (Did::Tag, tag),
                    (Did::Context, context as i32),
                ])
            });
        }
        if context == crate::group_server::CONTEXT && Tid(to) == Tid(self.me()?.tid).daemon() {
            return self.ask_group_server(tag);
        }
        let reserved = self.may_use_reserved_tags();
        if reserved && tag < 0 && !Tid(to).is_task() {
            return self.order_daemon(tag);
        }
        if (tag < 0 && !reserved) || !Tid(to).is_task() {
            return Err(PvmError::BadParam);
        }
        if let Ok(Buffer::Arrived(_)) = self.buffer(self.sending) {
            return self.send_on(waist, to, tag, context);
        }
        let packed = self.packing()?;
        let how = Send { to, tag, context, meta: packed.meta(), buffering: 2, completion: 0 };
        let notes = Notes { limit: -1, call: call::SEND, peer: to, tag, context: context as i32 };
        packed.seal();
        if packed.left.is_empty() && packed.data.len() > COPIED {
            waist.send_owned(how, &packed.data, &notes)?;
        } else {
            crate::calls::with_pieces(packed, |pieces| waist.send(how, pieces, &notes))?;
        }
        Ok(0)
    }

    /// That the receiver is gone is no failure, but that the machine is.
    pub(crate) fn forgive_absence(&mut self, sent: Pvm<i32>) -> Pvm<i32> {
        match sent {
            Err(PvmError::NoTask) if self.here().is_some_and(|waist| waist.progress().lost) => {
                Err(PvmError::SysErr)
            }
            Err(PvmError::NoTask) => Ok(0),
            sent => sent,
        }
    }

    /// Whether the active send buffer has something to send: packed, or received.
    pub(crate) fn can_send(&mut self) -> Pvm<()> {
        match self.buffers.get((self.sending as usize).wrapping_sub(1)) {
            Some(Some(Buffer::Packed(_) | Buffer::Arrived(_))) => Ok(()),
            _ => Err(PvmError::NoBuf),
        }
    }

    /// Sends a received message on, as it came.
    fn send_on(&mut self, waist: Waist, to: i32, tag: i32, context: u32) -> Pvm<i32> {
        self.bring(self.sending)?;
        let Buffer::Arrived(arrived) = self.buffer(self.sending)? else { return Err(PvmError::NoBuf) };
        let how = Send { to, tag, context, meta: arrived.message.meta, buffering: 2, completion: 0 };
        let notes = Notes { limit: -1, call: call::SEND, peer: to, tag, context: context as i32 };
        waist.send(how, &[crate::calls::bytes_of(&arrived.message)], &notes)?;
        Ok(0)
    }

    /// Receives; 0 when the time is over first. The message becomes the active receive buffer.
    pub(crate) fn receive(&mut self, from: i32, tag: i32, limit: i64) -> Pvm<i32> {
        let waist = self.machine()?;
        self.about_receive(from, tag);
        let (pattern, notes) = self.wanted(from, tag, limit, call::RECEIVE)?;
        let id = match self.receive_found(waist, &pattern, &notes)? {
            Some(id) => id,
            None => match self.receive_new(waist, &pattern, &notes) {
                Ok(message) => self.arrived(message)?,
                Err(Status::Pending) => return Ok(0),
                Err(why) => return Err(why.into()),
            },
        };
        self.make_receiving(id);
        Ok(id)
    }

    /// Receives into the program's memory, as much as has room; the active receive buffer stays.
    /// `chosen` is the buffer of a found message to be taken, if that is settled.
    pub(crate) fn receive_into(
        &mut self,
        from: i32,
        tag: i32,
        room: &mut [u8],
        chosen: Option<i32>,
    ) -> Pvm<Message> {
        let waist = self.machine()?;
        self.about_receive(from, tag);
        let (pattern, notes) = self.wanted(from, tag, -1, call::RECEIVE)?;
        self.settle();
        // A message with a table of types ends in bytes that are not data.
        let found = match chosen {
            Some(id) => match self.buffer(id)? {
                Buffer::Found(found) => *found,
                _ => return Err(PvmError::NoSuchBuf),
            },
            None => waist.probe(&pattern, &notes)?,
        };
        // Its buffer, if a probe gave it one, names nothing any more.
        if let Some(id) = self.found_buffer(found.handle) {
            self.free(id);
        }
        let table = crate::buffer::table_length(found.meta) as u64;
        if table == 0 {
            return match waist.take(&found, Receiving::Into(room), &notes) {
                Ok(message) => Ok(message),
                Err(Status::Cut) => Ok(found),
                Err(why) => Err(why.into()),
            };
        }
        let message = waist.take(&found, Receiving::Block, &notes)?;
        let length = message.length.saturating_sub(table) as usize;
        let fits = length.min(room.len());
        room[..fits].copy_from_slice(&crate::calls::bytes_of(&message)[..fits]);
        waist.give_back(&message);
        Ok(Message { length: length as u64, ..message })
    }

    fn about_receive(&mut self, from: i32, tag: i32) {
        let context = self.context as i32;
        self.about(|| {
            numbers([(Did::WantedSource, from), (Did::WantedTag, tag), (Did::WantedContext, context)])
        });
    }

    /// Finds a message without receiving it; 0 when there is none.
    pub(crate) fn probe(&mut self, from: i32, tag: i32) -> Pvm<i32> {
        let waist = self.machine()?;
        self.about_receive(from, tag);
        let (pattern, notes) = self.wanted(from, tag, 0, call::PROBE)?;
        match waist.probe(&pattern, &notes) {
            Ok(message) => Ok(self.found(message)),
            Err(Status::Pending) => Ok(0),
            Err(why) => Err(why.into()),
        }
    }

    fn found_buffer(&self, handle: u64) -> Option<i32> {
        let is =
            |buffer: &Option<Buffer>| matches!(buffer, Some(Buffer::Found(found)) if found.handle == handle);
        self.buffers.iter().position(is).map(|at| at as i32 + 1)
    }

    /// A message that was probed keeps its buffer's id when it is received.
    fn receive_found(&mut self, waist: Waist, pattern: &Pattern, notes: &Notes) -> Pvm<Option<i32>> {
        if self.found == 0 {
            return Ok(None);
        }
        let Ok(first) = waist.probe(pattern, &Notes { limit: 0, ..*notes }) else { return Ok(None) };
        let Some(id) = self.found_buffer(first.handle) else { return Ok(None) };
        let message = waist.take(&first, Receiving::Block, notes)?;
        self.replace_found(id, Arrived::new(message, crate::calls::bytes_of(&message)));
        Ok(Some(id))
    }

    fn receive_new(&mut self, waist: Waist, pattern: &Pattern, notes: &Notes) -> Result<Message, Status> {
        if self.remote == 0 {
            return waist.receive_lazily(pattern, notes);
        }
        // Whoever keeps data for us may wait for us in turn: we must not wait before we have it.
        match waist.receive_lazily(pattern, &Notes { limit: 0, ..*notes }) {
            Err(Status::Pending) => {
                self.settle();
                if notes.limit == 0 { Err(Status::Pending) } else { waist.receive_lazily(pattern, notes) }
            }
            other => other,
        }
    }

    fn arrived(&mut self, mut message: Message) -> Pvm<i32> {
        if message.is_remote() {
            // XDR is decoded from memory; raw data goes straight to where it is unpacked.
            if message.meta & encoding::MASK == encoding::XDR {
                message = self.machine()?.fetch_remote(&message, &FETCH)?;
            } else {
                self.remote += 1;
            }
        }
        let arrived = Arrived::new(message, crate::calls::bytes_of(&message));
        Ok(self.keep(Buffer::Arrived(arrived)))
    }

    /// Gets all data that is still with its sender, before this task waits for anything.
    pub(crate) fn settle(&mut self) {
        if self.remote == 0 {
            return;
        }
        for at in 1..=self.buffers.len() as i32 {
            // What is lost with its sender is told when it is unpacked.
            let _ = self.bring(at);
        }
    }

    /// Gets the data of a received message here. On an error the data is lost with its sender.
    pub(crate) fn bring(&mut self, id: i32) -> Pvm<()> {
        let waist = self.machine()?;
        let Ok(Buffer::Arrived(arrived)) = self.buffer(id) else { return Ok(()) };
        if !arrived.message.is_remote() {
            return Ok(());
        }
        let brought = waist.fetch_remote(&arrived.message, &FETCH);
        match brought {
            Ok(message) => arrived.message = message,
            Err(_) => {
                arrived.message = arrived.message.without_data();
                arrived.length = arrived.cursor;
            }
        }
        self.remote -= 1;
        brought.map(|_| ()).map_err(PvmError::from)
    }

    /// The active receive buffer may have been read to its end: its sender need not keep it then.
    pub(crate) fn release_if_read(&mut self) {
        let Ok(arrived) = self.unpacking() else { return };
        if arrived.message.is_remote() && arrived.cursor == arrived.length {
            let read = arrived.message;
            arrived.message = read.without_data();
            self.remote -= 1;
            if let Some(waist) = self.waist {
                waist.give_back(&read);
            }
        }
    }

    /// What a receive asks for; refuses ids and tags that cannot be.
    fn wanted(&self, from: i32, tag: i32, limit: i64, call: u32) -> Pvm<(Pattern, Notes)> {
        self.check_wanted(from, tag)?;
        let tags = if tag == -1 { TagKind::Any } else { TagKind::Exactly };
        let context = i64::from(self.context);
        let pattern = Pattern { from, tags, tag, other: 0, context };
        Ok((pattern, Notes { limit, call, peer: from, tag, context: self.context as i32 }))
    }

    /// Refuses ids and tags that no message can have.
    pub(crate) fn check_wanted(&self, from: i32, tag: i32) -> Pvm<()> {
        let is_daemon = Tid(from) == Tid::LOCAL_DAEMON || (from > 0 && Tid(from).daemon() == Tid(from));
        let known = from == ANY_TASK || Tid(from).is_task() || is_daemon;
        if (tag < -1 && !self.may_use_reserved_tags()) || !known {
            return Err(PvmError::BadParam);
        }
        Ok(())
    }

    /// Whether the program asked to use tags that PVM keeps for itself.
    pub(crate) fn may_use_reserved_tags(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.get(options::RESERVED_TAGS) == Ok(1))
    }
}

/// A context as PVM writes it into the environment, `0x...`, or in decimal.
fn context_of(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
