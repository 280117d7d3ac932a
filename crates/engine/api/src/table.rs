//! The table itself: C types and functions.
//!
//! Every function may be called from any thread, and any thread may wait for, test or cancel any request; who waits
//! keeps nobody out. None unwinds. A function returns a [`Status`], except if its comment says otherwise.

use std::ffi::c_void;

/// The version of the table described here.
pub const TABLE_VERSION: u32 = 4;

/// In a pattern: from any task.
pub const ANY_TASK: i32 = -1;
/// In a pattern: in any context.
pub const ANY_CONTEXT: i64 = -1;

/// In the handle of a received message: its data is still with its sender.
pub const REMOTE: u64 = 1 << 63;

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// It is done.
    Done = 0,
    /// Not yet: the time was over first, or the operation is under way.
    Pending = 1,
    /// The receive was cancelled.
    Cancelled = 2,
    /// The message was longer than the memory for it; the rest is lost.
    Cut = 3,
    /// There is no such task, request or message.
    Unknown = -1,
    /// The task is gone.
    Gone = -2,
    /// No daemon could be reached or started, or it died.
    NoMachine = -3,
    /// The daemon refused; the answer has the reason.
    Refused = -4,
    /// An argument is invalid.
    BadArgument = -5,
    /// The system refused memory or descriptors.
    NoMemory = -6,
}

impl Status {
    /// The status of that number; nonsense is a bad argument.
    pub fn from_number(number: i32) -> Status {
        match number {
            0 => Status::Done,
            1 => Status::Pending,
            2 => Status::Cancelled,
            3 => Status::Cut,
            -1 => Status::Unknown,
            -2 => Status::Gone,
            -3 => Status::NoMachine,
            -4 => Status::Refused,
            -6 => Status::NoMemory,
            _ => Status::BadArgument,
        }
    }
}

/// Which tags a pattern takes. A number, not an enum: C may write any number there, and an invalid number is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct TagKind(pub u32);

#[allow(non_upper_case_globals, reason = "they are the kinds, and are matched as such")]
impl TagKind {
    /// Every tag.
    pub const Any: TagKind = TagKind(0);
    /// `tag` itself.
    pub const Exactly: TagKind = TagKind(1);
    /// Those with `tag & other == ...`: bits `other` must equal `tag`.
    pub const Masked: TagKind = TagKind(2);
    /// From `tag` to `other`.
    pub const Within: TagKind = TagKind(3);
    /// Of the tags from 0 to 29 those whose bit is set in `tag`, and those from 30 to `other` if its bit 30 is.
    pub const Among: TagKind = TagKind(4);
}

/// Which messages a receive takes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pattern {
    /// A task, or [`ANY_TASK`].
    pub from: i32,
    /// How `tag` and `other` are meant.
    pub tags: TagKind,
    /// See [`TagKind`].
    pub tag: i32,
    /// See [`TagKind`].
    pub other: i32,
    /// A context, or [`ANY_CONTEXT`].
    pub context: i64,
}

/// A part of a message's data.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Piece {
    /// Where it begins.
    pub start: *const u8,
    /// Its bytes.
    pub length: usize,
}

/// How a receive's [`Room`] is meant. A number, as [`TagKind`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct RoomKind(pub u32);

#[allow(non_upper_case_globals, reason = "they are the kinds, and are matched as such")]
impl RoomKind {
    /// No memory of the program's: the data comes in a block of the engine's, or in the message itself when it is short.
    pub const Block: RoomKind = RoomKind(0);
    /// `length` bytes at `start`; data that does not fit is lost, and the message's length shows this.
    pub const Memory: RoomKind = RoomKind(1);
    /// As [`RoomKind::Memory`], in `length` [`Space`]s at `start`, filled one behind the other. They must not overlap.
    pub const Pieces: RoomKind = RoomKind(2);
    /// As [`RoomKind::Block`], but long data may stay where its sender has put it, in memory that outlives the sender: the message's
    /// handle then has the bit [`REMOTE`] set and `data` is null. It stays there until `give_back`, or until the last byte was read.
    pub const Lazily: RoomKind = RoomKind(3);
    /// As [`RoomKind::Lazily`], and data in its sender's own memory may stay there as well: a later read returns `Gone`
    /// if the sender is gone.
    pub const ByReference: RoomKind = RoomKind(4);
    /// Data that is here already and fits may be put into the `length` bytes at `start` at once: then `data` of the answer is
    /// `start` itself, and there is no handle. Else as [`RoomKind::ByReference`]. Not for `post`.
    pub const Fitting: RoomKind = RoomKind(5);
    /// As [`RoomKind::Memory`], in memory that the one [`Scattered`] at `start` copies it to. The memory must stay until
    /// the receive is over, and the layout until it is released; the room need only be there for the call.
    pub const Scattered: RoomKind = RoomKind(6);
}

/// The destination of the data of a received message. The named memory belongs to the program, which must not use it
/// until the receive is complete. The room itself and a list of pieces need to exist only during the call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Room {
    /// How the rest is meant.
    pub kind: RoomKind,
    /// Memory, or [`Space`]s.
    pub start: *mut c_void,
    /// How many bytes, or how many spaces.
    pub length: usize,
}

impl Room {
    /// No memory of the program's.
    pub const BLOCK: Room = Room { kind: RoomKind::Block, start: std::ptr::null_mut(), length: 0 };
}

/// A piece of the program's memory as a destination of data.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Space {
    /// Where it begins.
    pub start: *mut u8,
    /// Its bytes.
    pub length: usize,
}

/// Data in so many places that a list of them is useless. The interface with the layout copies the data: any part at a
/// time, cut anywhere.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Scattered {
    /// Bytes of data.
    pub length: usize,
    /// Copies `length` bytes of the data from `from` on: to `bytes` for a message that is sent, from `bytes` for a
    /// message that is received. Called from any thread, by one at a time, in the midst of the engine's work: it calls
    /// nothing of this table.
    pub copy: unsafe extern "C" fn(layout: *const c_void, from: usize, bytes: *mut u8, length: usize),
    /// What it is called with.
    pub layout: *const c_void,
    /// Called exactly once with the layout, from any thread, when it is not needed any more; may be null.
    pub release: Option<unsafe extern "C" fn(*const c_void)>,
}

/// A message to be sent.
#[repr(C)]
pub struct Outgoing {
    /// The receiver.
    pub to: i32,
    /// Its tag.
    pub tag: i32,
    /// The tag's context.
    pub context: u32,
    /// The interface's word about the data; see `wire::encoding`.
    pub meta: u32,
    /// The data.
    pub pieces: *const Piece,
    /// How many pieces.
    pub count: usize,
    /// A [`parvum_wire::Buffering`] as its number.
    pub buffering: u32,
    /// A [`parvum_wire::Completion`] as its number.
    pub completion: u32,
    /// Owns the memory of the pieces until `release` is called with it; may be null.
    pub owner: *mut c_void,
    /// Called exactly once, from any thread, when `owner` is not null.
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// A receive into memory of the program's, as one of several that are taken one after the other.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Wanted {
    /// Which message.
    pub pattern: Pattern,
    /// The memory for its data.
    pub start: *mut u8,
    /// Bytes of it.
    pub length: usize,
}

/// The properties of a message whose data is at its destination.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Came {
    /// Bytes of data; more than there was memory for are lost.
    pub length: u64,
    /// Its tag.
    pub tag: i32,
    /// The interface's word about the data.
    pub meta: u32,
}

/// A message that was received or found.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Message {
    /// Who sent it.
    pub from: i32,
    /// Its tag.
    pub tag: i32,
    /// Its context.
    pub context: u32,
    /// The interface's word about the data.
    pub meta: u32,
    /// Bytes of data, all of it.
    pub length: u64,
    /// For a found message its name; for a received message the block to return with `give_back`, or 0.
    pub handle: u64,
    /// The data of a received message, when it is in a block that has a handle.
    pub data: *const u8,
    /// The data otherwise, when the receive named no memory.
    pub inline: [u8; 64],
}

impl Message {
    /// No message.
    pub const NONE: Message = Message {
        from: 0,
        tag: 0,
        context: 0,
        meta: 0,
        length: 0,
        handle: 0,
        data: std::ptr::null(),
        inline: [0; 64],
    };
}

/// Who this task is.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Enrolled {
    /// Its id.
    pub tid: i32,
    /// The task that spawned it; 0 for none.
    pub parent: i32,
}

/// The description of a wait for `parvum ps` and other tools, and its time limit.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Notes {
    /// Nanoseconds; negative: without limit; 0: look once.
    pub limit: i64,
    /// Which kind of wait; see [`call`]. In the high half the number of the interface's word, if it has one: see [`crate::Words`].
    pub call: u32,
    /// From or to whom; [`ANY_TASK`] anyone.
    pub peer: i32,
    /// Which tag; -1 any.
    pub tag: i32,
    /// Which context; -1 any.
    pub context: i32,
}

/// Kinds of waits, as `parvum_wire::calls::KINDS` names them.
pub mod call {
    /// Receiving.
    pub const RECEIVE: u32 = 1;
    /// Sending.
    pub const SEND: u32 = 2;
    /// Probing.
    pub const PROBE: u32 = 3;
    /// Waiting for a request.
    pub const WAIT: u32 = 4;
    /// In a group's barrier.
    pub const BARRIER: u32 = 5;
    /// For an answer of the daemon.
    pub const MACHINE: u32 = 6;
    /// Ending: handing over what was sent.
    pub const EXIT: u32 = 7;
    /// A serving thread waits for requests of others, and blocks no other thread.
    pub const SERVE: u32 = 8;
    /// Waits for the connection to the task in `peer`: by the daemon's answer, or by the task's own connection.
    pub const JOIN: u32 = 9;
    /// With any of them: the wait also ends, as if its time were over, when the thread sleeps and a handler of signals has run in it. A
    /// receive that only looks does so by the shortest way, and may miss what another would find.
    pub const UNTIL_SIGNAL: u32 = 1 << 15;
}

/// The results of `board_turn` that are not the place of a request.
pub mod segment {
    /// The time is over.
    pub const LATE: i64 = -1;
    /// The turn has come.
    pub const COME: i64 = -2;
    /// It never will: the group has changed, or a member ended.
    pub const CLOSED: i64 = -3;
    /// It has come, but not all show the same word; or the data was too long.
    pub const DISAGREED: i64 = -4;
    /// The maximum number of bytes of a member in one turn.
    pub const ROOM: usize = 64 << 10;
    /// The maximum number of bytes of an announcement.
    pub const ANNOUNCED: usize = 1 << 10;
    /// The maximum number of announcements between two turns.
    pub const ANNOUNCEMENTS: usize = 127;
    /// The maximum number of members.
    pub const MEMBERS: usize = 64;
}

/// The description of an MPI function among the members of a communicator, for tools.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MpiCall {
    /// Which function, by the number that the high half of [`Notes::call`] has.
    pub function: u32,
    /// The context of its messages.
    pub context: u32,
    /// The task's rank.
    pub rank: u32,
    /// How many members there are.
    pub size: u32,
    /// The root, or -1.
    pub root: i32,
    /// Which of the communicator's collective operations it is; -1 none.
    pub turn: i32,
    /// Bytes of data; all ones: no such number.
    pub bytes: u64,
    /// The communicator's name, in UTF-8, padded with zeros.
    pub name: [u64; 2],
}

/// What `progress` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Progress {
    /// Whether anything moved.
    pub moved: bool,
    /// Whether the daemon is lost.
    pub lost: bool,
}

/// The functions of the engine.
#[repr(C)]
pub struct Table {
    /// [`TABLE_VERSION`].
    pub version: u32,
    /// Bytes of this table: how many of its functions there are.
    pub size: u32,
    /// Joins the machine, starting it if need be; again: the same answer. `interface` is
    /// UTF-8 of `length` bytes, for people. On failure the text is in `last_error`.
    pub enrol: unsafe extern "C" fn(interface: *const u8, length: usize, out: *mut Enrolled) -> i32,
    /// Hands over all that was sent, then leaves the machine.
    pub depart: extern "C" fn() -> i32,
    /// Starts to send. `Done`: it is over, and `request` 0. `Pending`: `request` names
    /// it; unless the message has an owner its memory must stay until it is over.
    pub send: unsafe extern "C" fn(message: *const Outgoing, request: *mut u64) -> i32,
    /// Receives: the oldest match, waiting as the notes say, to where the room says. `Cut`: it was longer than the memory.
    /// `Pending` when the time was over, and nothing is posted then.
    pub receive: unsafe extern "C" fn(
        pattern: *const Pattern,
        room: *const Room,
        notes: *const Notes,
        out: *mut Message,
    ) -> i32,
    /// Posts a receive and gives its request, 0 for arguments that make no sense. `flags`: 1 before other receives, 2 reported by
    /// `next_completed`, 4 claims: a message that has come already is taken, and copied by `fetch_claims` or `wait`, not before.
    pub post: unsafe extern "C" fn(pattern: *const Pattern, room: *const Room, flags: u32) -> u64,
    /// Waits for a request, as the notes say; a limit of 0 tests it. The request is stale when it is over. Any thread may.
    pub wait: unsafe extern "C" fn(request: u64, notes: *const Notes, out: *mut Message) -> i32,
    /// Waits as the notes say until one of the requests is over, or names nothing, and gives its place; their outcomes
    /// stay for `wait`. -1: the time is over. -2: an unexpected message has come that `seen` does not count, which
    /// nobody is told who says `u64::MAX`.
    pub wait_any:
        unsafe extern "C" fn(requests: *const u64, count: usize, seen: u64, notes: *const Notes) -> i64,
    /// As `wait_any`, for all that are over: their places go to `over`, which has room for `count`, in their order. How many they
    /// are; 0: the time is over.
    pub wait_some: unsafe extern "C" fn(
        requests: *const u64,
        count: usize,
        notes: *const Notes,
        over: *mut usize,
    ) -> usize,
    /// Takes a receive back. `Unknown` when it is too late.
    pub cancel: extern "C" fn(request: u64) -> i32,
    /// Copies what a receive posted with the flag 4 has claimed; with 0 what all of them have. It may not be over yet
    /// when its message is still arriving. Returns how many receives had claimed something and not copied it.
    pub fetch_claims: extern "C" fn(request: u64) -> usize,
    /// The next announced request that is over, or 0.
    pub next_completed: extern "C" fn() -> u64,
    /// Finds the oldest unexpected match, waiting as the notes say; it stays where it is.
    pub probe: unsafe extern "C" fn(pattern: *const Pattern, notes: *const Notes, out: *mut Message) -> i32,
    /// As `probe`, and takes it out of matching: nobody else finds or receives it until `take` receives it or `put_back` puts
    /// it back.
    pub extract: unsafe extern "C" fn(pattern: *const Pattern, notes: *const Notes, out: *mut Message) -> i32,
    /// Puts a message that `extract` has named back into its old place. `Unknown`: it was received or put back.
    pub put_back: extern "C" fn(name: u64) -> i32,
    /// Shows each unexpected message to `visit` until it returns true; that one is
    /// `out`. Does not wait. `visit` must not call the table.
    pub find: unsafe extern "C" fn(
        visit: unsafe extern "C" fn(context: *mut c_void, message: *const Message) -> bool,
        context: *mut c_void,
        out: *mut Message,
    ) -> i32,
    /// Receives the message that `probe`, `extract` or `find` named, to where the room says. `Unknown`: another call
    /// has received it.
    pub take:
        unsafe extern "C" fn(name: u64, room: *const Room, notes: *const Notes, out: *mut Message) -> i32,
    /// Gives a block back.
    pub give_back: extern "C" fn(handle: u64),
    /// Does what there is to do and returns.
    pub progress: extern "C" fn() -> Progress,
    /// Puts a message into this task's own queue.
    pub inject: unsafe extern "C" fn(message: *const Message, data: *const u8, length: usize) -> i32,
    /// Asks the daemon: a `wire::control::Request`; `answer` is called with the encoded
    /// `Result<Reply, Failure>` before this returns `Done` or `Refused`.
    pub ask: unsafe extern "C" fn(
        request: *const u8,
        length: usize,
        notes: *const Notes,
        answer: unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, length: usize),
        context: *mut c_void,
    ) -> i32,
    /// Prefers a route for messages from now on: 0 the best, 1 direct, 2 through the daemon.
    /// `PARVUM_ROUTE` in the environment goes before.
    pub prefer: extern "C" fn(route: u32) -> i32,
    /// Copies the counters; returns how many there are.
    pub counters: unsafe extern "C" fn(out: *mut u64, room: usize) -> usize,
    /// Copies the text of the last failure of this process, in UTF-8; returns its length.
    pub last_error: unsafe extern "C" fn(out: *mut u8, room: usize) -> usize,
    /// Puts descriptors to watch into `out`, those of later connections included; a readable one means that `progress` may
    /// have something to do. Returns how many there are.
    pub descriptors: unsafe extern "C" fn(out: *mut i32, room: usize) -> usize,
    /// Copies data that is with its sender, from byte `from` on, to `out`.
    /// `Gone` when the sender is, and the data with it.
    pub read_remote: unsafe extern "C" fn(handle: u64, from: u64, out: *mut u8, length: usize) -> i32,
    /// Gets data that is with its sender into a block; the message then has another handle.
    pub fetch_remote: unsafe extern "C" fn(handle: u64, notes: *const Notes, out: *mut Message) -> i32,
    /// Waits as the notes say until an unexpected message has come that `seen` does not count,
    /// or the notes' peer is gone; returns how many there have been.
    pub await_arrival: unsafe extern "C" fn(seen: u64, notes: *const Notes) -> u64,
    /// Promises that a descriptor of `descriptors` becomes readable when something comes after
    /// this call. To be called last, before the program waits for descriptors itself.
    pub watch: extern "C" fn(),
    /// Starts a machine by running the machine's own command under the name `pvmd` with these
    /// arguments, each ended by a zero byte. `Done`: it is up. `Unknown`: there was one already.
    pub start_machine: unsafe extern "C" fn(arguments: *const u8, length: usize) -> i32,
    /// The task that plays the resource manager, as far as the daemon has told; 0 for none.
    pub manager: extern "C" fn() -> i32,
    /// Copies what a tracer of all tasks has put into the mailbox; returns its length, 0 for none.
    pub tracer: unsafe extern "C" fn(out: *mut u8, room: usize) -> usize,
    /// Starts to send the message to `count` tasks, whoever it names itself, to the task `to[n]` under `tags[n]` unless
    /// `tags` is null. The result of `send` for that task is in `statuses[n]` and `requests[n]`. Tasks that are reached
    /// over the same connection share the data there. `completion` must be 0. Returns `Done`, or why nothing was sent
    /// at all.
    pub multicast: unsafe extern "C" fn(
        message: *const Outgoing,
        to: *const i32,
        tags: *const i32,
        count: usize,
        statuses: *mut i32,
        requests: *mut u64,
    ) -> i32,
    /// Says that the program has looked, with `find`, at the messages that `seen` counts, as
    /// `await_arrival` does: `watch` makes no descriptor readable for them any more.
    pub looked: extern "C" fn(seen: u64),
    /// Calls a task whose program computes: something waits for it here. A task without a thread in `serve` ignores the
    /// call.
    pub summon: extern "C" fn(to: i32),
    /// For a thread of an interface's own: does what there is to do while the program computes. Waits until this task is
    /// called, or with `all` not 0 until something comes, at most so many nanoseconds. `Done`: it has done it. `Pending`:
    /// the time is over, or the program is inside the library and does so itself. The first call, which may come from
    /// any thread, returns at once; from then on messages that are to be buffered at the receiver are sent to this task so.
    pub serve: extern "C" fn(limit: i64, all: u32) -> i32,
    /// Where the task's own counters lie (not those of its pairs): 64 of them, as long as the process is this task; they are to be
    /// read by atomic loads. Those from the 40th on are written, by atomic stores, by an interface of shared memory, for tools
    /// (`parvum_control::MEMORY`). Null for no task.
    pub cells: extern "C" fn() -> *const u64,
    /// Not 0: no thread is inside the engine at this moment. A thread that has stopped the program's own thread calls
    /// this before other calls.
    pub is_free: extern "C" fn() -> i32,
    /// Counts, in the 30th of that task's `cells`, that a note for its interface was sent to it before: it sees that without
    /// a look at its links. `Unknown`: the two share no memory, and nothing was counted.
    pub notify: extern "C" fn(to: i32) -> i32,
    /// The table of the process's second endpoint, which has an id, an engine and a lock of its own: what is asked of it is
    /// answered while the program computes, by a thread that waits there. It is part of the machine once `enrol` of that
    /// table was called. `parvum ps` does not list it, and it ends with the process.
    pub service: extern "C" fn() -> *const Table,
    /// Opens the segment of a group, where its `members` on this host show each other data; this task is number
    /// `member` of them. All of them call this, when each has joined the group; it waits for all. `group` is UTF-8 of
    /// `length` bytes. `Done`: `segment` names it. `Unknown`: no member has a segment, because not all members are on
    /// this host, a member does not want it, or there are more than [`segment::MEMBERS`]. `Refused`: the daemon reports
    /// that a member is missing. `Gone`: the group has changed in between.
    pub board_open: unsafe extern "C" fn(
        group: *const u8,
        length: usize,
        member: u32,
        members: u32,
        notes: *const Notes,
        segment: *mut u64,
    ) -> i32,
    /// Takes a turn: shows the pieces one behind the other, at most [`segment::ROOM`] bytes, under a word, then waits as the notes say
    /// until all members have done so. Answers as [`segment`] says; or the place of one of the `awaited` requests that is
    /// over or names nothing. After that, and after `LATE`, the same call goes on to wait for the same turn and shows nothing more.
    pub board_turn: unsafe extern "C" fn(
        segment: u64,
        word: u32,
        pieces: *const Piece,
        count: usize,
        requests: *const u64,
        awaited: usize,
        notes: *const Notes,
    ) -> i64,
    /// Copies what a member has shown in the last turn that has come, from byte `from` on. `BadArgument`: it showed less.
    pub board_read:
        unsafe extern "C" fn(segment: u64, member: u32, from: usize, out: *mut u8, length: usize) -> i32,
    /// Forgets a segment.
    pub board_close: extern "C" fn(segment: u64),
    /// Receives what is wanted, one after the other, as long as each is there or comes while this task spins for it. How many have
    /// come; nothing is posted for the others, which are the caller's to post. Does not sleep.
    pub receive_each: unsafe extern "C" fn(
        wanted: *const Wanted,
        count: usize,
        notes: *const Notes,
        came: *mut Came,
    ) -> usize,
    /// Shows tools what the task is about to do, from any thread and without the lock. It is looked at while a wait lasts whose
    /// notes have the same function and context.
    pub tell: unsafe extern "C" fn(told: *const MpiCall),
    /// 1: the process has failed if it ends before this is called with 0, even with code 0 and by whatever way; a spawned one alone.
    /// It then does not depart by itself when it ends, but in the call with 0 if that comes while it does.
    pub oblige: extern "C" fn(obliged: i32),
    /// Shows tools that the task waits as the notes say, though not in a call of this table; null: it goes on. It waits for no
    /// lock, so a handler of signals may call it.
    pub show_wait: unsafe extern "C" fn(notes: *const Notes),
    /// Whether every member of a segment can read every other's memory: 1, and the same for all of them.
    pub board_reaches: extern "C" fn(segment: u64) -> i32,
    /// Copies from a member's memory, at an address that the member has published and does not change during the copy.
    /// `BadArgument`: the kernel refuses, because the memory is protected or belongs to no member, or no segment
    /// reaches it. `Gone`: the member has ended.
    pub board_fetch:
        unsafe extern "C" fn(segment: u64, member: u32, address: u64, out: *mut u8, length: usize) -> i32,
    /// As `send`, of data that lies in none of the message's pieces. It is copied before this returns, so its memory need not stay,
    /// whatever the answer.
    pub send_scattered:
        unsafe extern "C" fn(message: *const Outgoing, data: *const Scattered, request: *mut u64) -> i32,
    /// Announces data of `length` bytes, at most [`segment::ANNOUNCED`], to all other members of a segment, under a
    /// word, and waits for nobody. Announcements have one order, in which all members hear, each by `board_hear`, what
    /// they do not announce themselves. Between two turns there are at most [`segment::ANNOUNCEMENTS`]. `COME`;
    /// `CLOSED`: this announcement was not made, and never will be at this segment; `DISAGREED`: it is too long, or one
    /// too many.
    pub board_announce: unsafe extern "C" fn(segment: u64, word: u32, data: *const u8, length: usize) -> i64,
    /// Waits, as the notes say, for the next announcement, of this length and under this word, and copies it. Answers as `board_turn`.
    pub board_hear: unsafe extern "C" fn(
        segment: u64,
        word: u32,
        out: *mut u8,
        length: usize,
        requests: *const u64,
        awaited: usize,
        notes: *const Notes,
    ) -> i64,
    /// Describes the words of an interface for tools: a text as `parvum_wire::calls` says, each line with its end. Before or after
    /// `enrol`; once for each text, in all later tasks of the process. Returns the number of the last word before its own, so that its
    /// first one has the next number. `u32::MAX`: there is no room.
    pub describe: unsafe extern "C" fn(text: *const u8, length: usize) -> u32,
}
