//! The table itself: C types and functions.
//!
//! Any thread may call any function, and may wait for, test or cancel any request. A waiting thread does not block
//! others. No function unwinds. A function returns a [`Status`], except if its comment says otherwise.

use std::ffi::c_void;

/// The version of the table described here.
pub const TABLE_VERSION: u32 = 6;

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
    /// The status of that number; for any other number, a bad argument.
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
    /// Tags with `candidate & other == tag`: `other` is the mask.
    pub const Masked: TagKind = TagKind(2);
    /// From `tag` to `other`.
    pub const Within: TagKind = TagKind(3);
    /// Each tag from 0 to 29 whose bit is set in `tag`. If bit 30 of `tag` is set, also the tags from 30 to `other`.
    pub const Among: TagKind = TagKind(4);
}

/// Which messages a receive takes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pattern {
    /// A task, or [`ANY_TASK`].
    pub from: i32,
    /// The meaning of `tag` and `other`.
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

/// The meaning of a receive's [`Room`]. A number, as [`TagKind`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct RoomKind(pub u32);

#[allow(non_upper_case_globals, reason = "they are the kinds, and are matched as such")]
impl RoomKind {
    /// The program gives no memory: the data comes in a block of the engine, or in the message itself if it is short.
    pub const Block: RoomKind = RoomKind(0);
    /// `length` bytes at `start`; data that does not fit is lost, and the message's length shows this.
    pub const Memory: RoomKind = RoomKind(1);
    /// As [`RoomKind::Memory`], in `length` [`Space`]s at `start`, filled one behind the other. They must not overlap.
    pub const Pieces: RoomKind = RoomKind(2);
    /// As [`RoomKind::Block`], but long data may stay in its sender's place, if this memory outlives the sender. The
    /// message's handle then has the bit [`REMOTE`] set, and `data` is null. The data stays there until `give_back`, or
    /// until the last byte was read.
    pub const Lazily: RoomKind = RoomKind(3);
    /// As [`RoomKind::Lazily`], and data in its sender's own memory may stay there as well: a later read returns `Gone`
    /// if the sender is gone.
    pub const ByReference: RoomKind = RoomKind(4);
    /// If the data is here already and fits, the engine may copy it into the `length` bytes at `start` at once. Then
    /// `data` of the answer is `start` itself, and there is no handle. Otherwise as [`RoomKind::ByReference`]. Not for
    /// `post`.
    pub const Fitting: RoomKind = RoomKind(5);
    /// As [`RoomKind::Memory`], but the one [`Scattered`] at `start` copies the data to its memory. The memory must
    /// exist until the receive is over, and the layout until its release. The room needs to exist only during the call.
    pub const Scattered: RoomKind = RoomKind(6);
}

/// The destination of the data of a received message. The named memory belongs to the program, which must not use it
/// until the receive is complete. The room itself and a list of pieces need to exist only during the call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Room {
    /// The meaning of the rest.
    pub kind: RoomKind,
    /// Memory, or [`Space`]s.
    pub start: *mut c_void,
    /// How many bytes, or how many spaces.
    pub length: usize,
}

impl Room {
    /// The program gives no memory.
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
    /// message that is received. One thread at a time calls it, any thread, during the engine's work. It must not call
    /// this table.
    pub copy: unsafe extern "C" fn(layout: *const c_void, from: usize, bytes: *mut u8, length: usize),
    /// The first argument of `copy`.
    pub layout: *const c_void,
    /// Called exactly once with the layout, from any thread, when the engine no longer needs it; may be null.
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
    /// The owner of the pieces' memory, until the call of `release` with it; may be null.
    pub owner: *mut c_void,
    /// Called exactly once, from any thread, when `owner` is not null.
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// A receive into the program's memory: one of several, which the call takes in their order.
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
    /// Bytes of data in the message. Bytes beyond the memory are lost.
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
    /// The sender.
    pub from: i32,
    /// Its tag.
    pub tag: i32,
    /// Its context.
    pub context: u32,
    /// The interface's word about the data.
    pub meta: u32,
    /// Bytes of data, all of it.
    pub length: u64,
    /// The name of a found message. For a received message: the block to return with `give_back`, or 0.
    pub handle: u64,
    /// The data of a received message, if a block with a handle has it.
    pub data: *const u8,
    /// Otherwise the data itself, if the receive named no memory.
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
    /// The kind of wait; see [`call`]. The high half has the number of the interface's word, if there is one: see
    /// [`crate::Words`].
    pub call: u32,
    /// The sender or receiver, or [`ANY_TASK`].
    pub peer: i32,
    /// The tag; -1: any.
    pub tag: i32,
    /// The context; -1: any.
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
    /// Ending: delivers sent messages.
    pub const EXIT: u32 = 7;
    /// A serving thread waits for requests of others, and blocks no other thread.
    pub const SERVE: u32 = 8;
    /// Waits for the connection to the task in `peer`: by the daemon's answer, or by the task's own connection.
    pub const JOIN: u32 = 9;
    /// With any of them: if a signal handler runs in the sleeping thread, the wait ends, as if its time were over. A
    /// receive that only looks takes the shortest way, and may miss a message that another receive would find.
    pub const UNTIL_SIGNAL: u32 = 1 << 15;
}

/// The results of `board_exchange` that are not the place of a request.
pub mod segment {
    /// The time is over.
    pub const LATE: i64 = -1;
    /// The turn has come.
    pub const COME: i64 = -2;
    /// The turn will never come: the group has changed, or a member ended.
    pub const CLOSED: i64 = -3;
    /// The turn has come, but not all members show the same word. Or the data was too long.
    pub const DISAGREED: i64 = -4;
    /// `board_post`: this value less the number of an announcement means that the announcement is not there, and that a
    /// member has ended or left. The writer of the announcement may still make it.
    pub const MISSING: i64 = -16;
    /// The maximum number of bytes of a member in one turn.
    pub const ROOM: usize = 64 << 10;
    /// The maximum number of bytes of an announcement.
    pub const ANNOUNCED: usize = 1 << 10;
    /// The maximum number of announcements between two turns.
    pub const ANNOUNCEMENTS: usize = 127;
    /// The maximum number of members.
    pub const MEMBERS: usize = 64;
}

/// A part of the data that a member shows in a turn, and where it is copied to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Reading {
    /// The number of the member.
    pub member: u32,
    /// From this byte of its data on.
    pub from: usize,
    /// Memory for `length` bytes.
    pub out: *mut u8,
    /// Bytes to copy.
    pub length: usize,
}

/// The description of an MPI function among the members of a communicator, for tools.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MpiCall {
    /// The number of the function, as in the high half of [`Notes::call`].
    pub function: u32,
    /// The context of its messages.
    pub context: u32,
    /// The task's rank.
    pub rank: u32,
    /// How many members there are.
    pub size: u32,
    /// The root, or -1.
    pub root: i32,
    /// The number of the collective operation in the communicator; -1: none.
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
    /// Bytes of this table, which show how many functions it has.
    pub size: u32,
    /// Joins the machine, and starts it if necessary. A second call has the same answer. `interface` is UTF-8 of
    /// `length` bytes, for people. After a failure, `last_error` has the text.
    pub enrol: unsafe extern "C" fn(interface: *const u8, length: usize, out: *mut Enrolled) -> i32,
    /// Delivers all sent messages, then leaves the machine.
    pub depart: extern "C" fn() -> i32,
    /// Starts to send. `Done`: the send is over, and `request` is 0. `Pending`: `request` names it. If the message has
    /// no owner, its memory must exist until the send is over.
    pub send: unsafe extern "C" fn(message: *const Outgoing, request: *mut u64) -> i32,
    /// Receives the oldest match into the room, and waits for it according to the notes. `Cut`: the message was longer
    /// than the memory. `Pending`: the time was over, and the call leaves no posted receive.
    pub receive: unsafe extern "C" fn(
        pattern: *const Pattern,
        room: *const Room,
        notes: *const Notes,
        out: *mut Message,
    ) -> i32,
    /// Posts a receive and gives its request; 0: an argument is invalid. `flags`: 1 puts it before other receives. With
    /// 2, `next_completed` reports it. With 4 it *claims*: it takes a message that has come already, but only
    /// `fetch_claims` or `wait` copies the data.
    pub post: unsafe extern "C" fn(pattern: *const Pattern, room: *const Room, flags: u32) -> u64,
    /// Waits for a request, according to the notes. A limit of 0 tests it. After `wait` has returned the outcome, the
    /// request is no longer valid. Any thread may wait.
    pub wait: unsafe extern "C" fn(request: u64, notes: *const Notes, out: *mut Message) -> i32,
    /// Waits, according to the notes, until one of the requests is over or names nothing, and gives its place. The
    /// outcomes stay for `wait`. -1: the time is over. -2: an unexpected message has come that `seen` does not count;
    /// never with a `seen` of `u64::MAX`.
    pub wait_any:
        unsafe extern "C" fn(requests: *const u64, count: usize, seen: u64, notes: *const Notes) -> i64,
    /// As `wait_any`, for all requests that are over. Writes their places to `over` in their order; `over` has room for
    /// `count`. Returns their number; 0: the time is over.
    pub wait_some: unsafe extern "C" fn(
        requests: *const u64,
        count: usize,
        notes: *const Notes,
        over: *mut usize,
    ) -> usize,
    /// Waits as `wait_any` does, and takes the outcome of the request in the same step: into `out`, and its status into
    /// `status`. The request stays. It is not over until `post_again` and the next message, so another thread that
    /// waits for it goes on waiting. A receive can end with an error; its place is given all the same. -1: no request is
    /// over, and `status` says why.
    pub wait_standing: unsafe extern "C" fn(
        requests: *const u64,
        count: usize,
        notes: *const Notes,
        out: *mut Message,
        status: *mut i32,
    ) -> i64,
    /// Posts the receive of a request again whose outcome `wait_standing` has taken. `Unknown`: there is no such request.
    pub post_again: unsafe extern "C" fn(request: u64, pattern: *const Pattern, room: *const Room) -> i32,
    /// Cancels a receive. `Unknown`: it is too late.
    pub cancel: extern "C" fn(request: u64) -> i32,
    /// Copies the data that a receive with the flag 4 has claimed; with 0, the data of all these receives. If the
    /// message is still arriving, the receive may not be over yet. Returns the number of receives with claimed data
    /// that was not copied before.
    pub fetch_claims: extern "C" fn(request: u64) -> usize,
    /// The next completed request among those with the flag 2, or 0.
    pub next_completed: extern "C" fn() -> u64,
    /// Finds the oldest unexpected match, and waits for it according to the notes. The message stays in its place.
    pub probe: unsafe extern "C" fn(pattern: *const Pattern, notes: *const Notes, out: *mut Message) -> i32,
    /// As `probe`, but takes the message out of matching. Other calls do not find it, until `take` receives it or
    /// `put_back` puts it back.
    pub extract: unsafe extern "C" fn(pattern: *const Pattern, notes: *const Notes, out: *mut Message) -> i32,
    /// Puts a message that `extract` has named back into its old place. `Unknown`: it was received or put back.
    pub put_back: extern "C" fn(name: u64) -> i32,
    /// Shows each unexpected message to `visit` until `visit` returns true; this message goes to `out`. Does not wait.
    /// `visit` must not call the table.
    pub find: unsafe extern "C" fn(
        visit: unsafe extern "C" fn(context: *mut c_void, message: *const Message) -> bool,
        context: *mut c_void,
        out: *mut Message,
    ) -> i32,
    /// Receives the message that `probe`, `extract` or `find` named, into the room. `Unknown`: another call has
    /// received it.
    pub take:
        unsafe extern "C" fn(name: u64, room: *const Room, notes: *const Notes, out: *mut Message) -> i32,
    /// Gives a block back.
    pub give_back: extern "C" fn(handle: u64),
    /// Does all work that can be done now, and returns.
    pub progress: extern "C" fn() -> Progress,
    /// Puts a message into this task's own queue.
    pub inject: unsafe extern "C" fn(message: *const Message, data: *const u8, length: usize) -> i32,
    /// Sends the daemon a `wire::control::Request`. Calls `answer` with the encoded `Result<Reply, Failure>`, before it
    /// returns `Done` or `Refused`.
    pub ask: unsafe extern "C" fn(
        request: *const u8,
        length: usize,
        notes: *const Notes,
        answer: unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, length: usize),
        context: *mut c_void,
    ) -> i32,
    /// Prefers a route for later messages: 0 the best, 1 direct, 2 through the daemon. `PARVUM_ROUTE` in the
    /// environment overrides this.
    pub prefer: extern "C" fn(route: u32) -> i32,
    /// Copies the counters; returns how many there are.
    pub counters: unsafe extern "C" fn(out: *mut u64, room: usize) -> usize,
    /// Copies the text of the last failure of this process, in UTF-8; returns its length.
    pub last_error: unsafe extern "C" fn(out: *mut u8, room: usize) -> usize,
    /// Puts descriptors to watch into `out`; they also cover later connections. If one is readable, `progress` may have
    /// work. Returns the number of descriptors.
    pub descriptors: unsafe extern "C" fn(out: *mut i32, room: usize) -> usize,
    /// Copies data that is still with its sender, from byte `from` on, to `out`. `Gone`: the sender is gone, and so is
    /// the data.
    pub read_remote: unsafe extern "C" fn(handle: u64, from: u64, out: *mut u8, length: usize) -> i32,
    /// Copies data that is still with its sender into a block. The message then has another handle.
    pub fetch_remote: unsafe extern "C" fn(handle: u64, notes: *const Notes, out: *mut Message) -> i32,
    /// Waits, according to the notes, for an unexpected message that `seen` does not count, or for the end of the
    /// notes' peer. Returns the number of unexpected messages so far.
    pub await_arrival: unsafe extern "C" fn(seen: u64, notes: *const Notes) -> u64,
    /// If anything comes after this call, a descriptor of `descriptors` becomes readable. Call this last, before the
    /// program itself waits for descriptors.
    pub watch: extern "C" fn(),
    /// Starts a machine: runs the machine's own command under the name `pvmd` with these arguments. A zero byte ends
    /// each argument. `Done`: the machine is up. `Unknown`: there was a machine already.
    pub start_machine: unsafe extern "C" fn(arguments: *const u8, length: usize) -> i32,
    /// The task that is the resource manager, according to the daemon's last message; 0: none.
    pub manager: extern "C" fn() -> i32,
    /// Copies the entry that a tracer of all tasks has put into the mailbox. Returns its length; 0: none.
    pub tracer: unsafe extern "C" fn(out: *mut u8, room: usize) -> usize,
    /// Starts to send the message to `count` tasks, and ignores the receiver in the message. The task `to[n]` gets it
    /// under `tags[n]`, or under the message's tag if `tags` is null. The result of `send` for that task is in
    /// `statuses[n]` and `requests[n]`. Tasks behind the same connection share the data there. `completion` must be 0.
    /// Returns `Done`, or the reason why nothing was sent at all.
    pub multicast: unsafe extern "C" fn(
        message: *const Outgoing,
        to: *const i32,
        tags: *const i32,
        count: usize,
        statuses: *mut i32,
        requests: *mut u64,
    ) -> i32,
    /// The program has seen, by `find`, the messages that `seen` counts, as in `await_arrival`. `watch` then makes no
    /// descriptor readable for these messages.
    pub looked: extern "C" fn(seen: u64),
    /// Calls a task whose program computes, because data or a request waits for it here. A task without a thread in
    /// `serve` ignores the call.
    pub summon: extern "C" fn(to: i32),
    /// For a separate thread of an interface: does the work while the program computes. Waits until another task calls
    /// this one, or, if `all` is not 0, until anything comes. `limit` is the time in nanoseconds. `Done`: the work is
    /// done. `Pending`: the time is over, or the program is inside the library and does the work itself. The first call
    /// may come from any thread, and returns at once. After it, other tasks send this task messages for the receiver's
    /// buffer in that way.
    pub serve: extern "C" fn(limit: i64, all: u32) -> i32,
    /// The address of the 64 counters of the task itself (without those of its pairs), valid while the process is this
    /// task. Read them by atomic loads. From the 40th on, an interface of shared memory writes them by atomic stores,
    /// for tools (`parvum_control::MEMORY`). Null: no task.
    pub cells: extern "C" fn() -> *const u64,
    /// Not 0: at this moment no thread is inside the engine. A thread that has stopped the program's own thread must
    /// call this before other calls.
    pub is_free: extern "C" fn() -> i32,
    /// Adds 1 to the 30th of that task's `cells`, after a note to its interface was sent. The task sees the note there
    /// without a look at its links. `Unknown`: the tasks share no memory, and the cell did not change.
    pub notify: extern "C" fn(to: i32) -> i32,
    /// The table of the process's second endpoint, with a separate id, engine and lock. A thread that waits there
    /// answers requests while the program computes. A call of `enrol` in that table makes the endpoint part of the
    /// machine. `parvum ps` does not list it, and it ends with the process.
    pub service: extern "C" fn() -> *const Table,
    /// Opens the segment of a group, where its `members` on this host show each other data. This task is member
    /// `member`. All members call this after each has joined the group, and the call waits for all. `group` is UTF-8 of
    /// `length` bytes. `Done`: `segment` names the segment. `Unknown`: no member has a segment. Some members are on
    /// other hosts, a member does not want it, or there are more than [`segment::MEMBERS`]. `Refused`: the daemon
    /// reports that a member is missing. `Gone`: the group has changed in between.
    pub board_open: unsafe extern "C" fn(
        group: *const u8,
        length: usize,
        member: u32,
        members: u32,
        notes: *const Notes,
        segment: *mut u64,
    ) -> i32,
    /// Takes a turn: shows the pieces under a word, one behind the other, at most [`segment::ROOM`] bytes. Then waits,
    /// according to the notes, until all members have done so, and copies each of the readings, as `board_read`. Returns
    /// a value of [`segment`], or the place of one of the `awaited` requests that is over or names nothing. After such a
    /// place, and after `LATE`, repeat the same call: it waits further for the same turn, and shows nothing more.
    /// `DISAGREED` also means that a member showed less than a reading wants.
    pub board_exchange: unsafe extern "C" fn(
        segment: u64,
        word: u32,
        pieces: *const Piece,
        count: usize,
        readings: *const Reading,
        parts: usize,
        requests: *const u64,
        awaited: usize,
        notes: *const Notes,
    ) -> i64,
    /// Takes part in an operation that has the next `entries` announcements of a segment, of at most
    /// [`segment::ANNOUNCED`] bytes each, under one word. All members make this call for the same operations in the same
    /// order. Between two turns there are at most [`segment::ANNOUNCEMENTS`].
    ///
    /// Writes `length` bytes of `data` as the announcement `own`, unless `own` is negative. Then waits, according to the
    /// notes, for the announcements that the readings name in place of a member, and copies the parts. Without readings it
    /// does not wait. `writers` are the tasks that write the announcements, in their order. The task at the place `except`
    /// does not count. Tools show the awaited task.
    ///
    /// Answers as `board_exchange`, or with [`segment::MISSING`]. `CLOSED`: a member has ended or left, and the
    /// announcement is not made; with `always` 1, it is made nevertheless. With `always` 1 and a limit, the call waits
    /// until the limit instead of answering [`segment::MISSING`]. `DISAGREED`: an announcement has another word or is
    /// shorter, or there are too many announcements between two turns.
    pub board_post: unsafe extern "C" fn(
        segment: u64,
        word: u32,
        entries: usize,
        own: i64,
        always: u32,
        data: *const u8,
        length: usize,
        readings: *const Reading,
        parts: usize,
        writers: *const i32,
        except: usize,
        requests: *const u64,
        awaited: usize,
        notes: *const Notes,
    ) -> i64,
    /// Copies the data that a member showed in the last complete turn, from byte `from` on. `BadArgument`: it showed
    /// less.
    pub board_read:
        unsafe extern "C" fn(segment: u64, member: u32, from: usize, out: *mut u8, length: usize) -> i32,
    /// Forgets a segment.
    pub board_close: extern "C" fn(segment: u64),
    /// Receives the wanted messages in their order. Stops at the first message that does not come while this task spins
    /// for it. Returns the number of received messages. The caller must post receives for the others. Does not sleep.
    pub receive_each: unsafe extern "C" fn(
        wanted: *const Wanted,
        count: usize,
        notes: *const Notes,
        came: *mut Came,
    ) -> usize,
    /// Shows tools the next MPI function of the task, from any thread and without the lock. Tools read it during a wait
    /// whose notes have the same function and context.
    pub tell: unsafe extern "C" fn(told: *const MpiCall),
    /// After a call with 1: a spawned process that ends before a call with 0 has failed, even if its exit code is 0. At
    /// its end the process does not depart by itself. If the call with 0 comes during the end, the process departs in
    /// it.
    pub oblige: extern "C" fn(obliged: i32),
    /// Shows tools that the task waits outside of this table, with these notes; null: the wait is over. This takes no
    /// lock, so a signal handler may call it.
    pub show_wait: unsafe extern "C" fn(notes: *const Notes),
    /// 1: each member of the segment can read the memory of each other member. All members get the same answer.
    pub board_reaches: extern "C" fn(segment: u64) -> i32,
    /// Copies from a member's memory, at an address that the member has published and does not change during the copy.
    /// `BadArgument`: the kernel refuses, because the memory is protected or belongs to no member, or no segment
    /// reaches it. `Gone`: the member has ended.
    pub board_fetch:
        unsafe extern "C" fn(segment: u64, member: u32, address: u64, out: *mut u8, length: usize) -> i32,
    /// As `send`, but the data comes from `data` and not from the message's pieces. The call copies the data before it
    /// returns, with any answer, so the memory may be reused then.
    pub send_scattered:
        unsafe extern "C" fn(message: *const Outgoing, data: *const Scattered, request: *mut u64) -> i32,
    /// Describes the words of an interface for tools. The form of the text is in `parvum_wire::calls`; each line has
    /// its newline. Call this once for each text, before or after `enrol`; it also applies to later tasks of the
    /// process. The first word of the text gets the returned number plus one. `u32::MAX`: there is no room.
    pub describe: unsafe extern "C" fn(text: *const u8, length: usize) -> u32,
    /// Hands a message from this task to itself to a receive that begins now. The message has one piece, and the memory of
    /// the receive lies apart from the piece. `Done` or `Cut`: as `receive` answers, and the send is over, too. `Pending`: nothing has happened.
    /// Another message or receive comes first, or the two do not match, or the caller needs the usual calls.
    pub pass_to_self: unsafe extern "C" fn(
        message: *const Outgoing,
        pattern: *const Pattern,
        room: *const Room,
        out: *mut Message,
    ) -> i32,
}
