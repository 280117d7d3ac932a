//! The table with Rust's types.

use crate::open::{OpenError, open};
use crate::table::{
    Came, Enrolled, Message, MpiCall, Notes, Outgoing, Pattern, Piece, Progress, REMOTE, Room, RoomKind,
    Space, Status, Table, Wanted,
};
use parvum_wire::control::{self, Failure, Reply};
use parvum_wire::{Buffering, Completion};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

// SAFETY: the pointer goes into a block that the engine lends to the process, not to a thread.
unsafe impl Send for Message {}

// SAFETY: it is an address until the table is called with it, and who does that promises the memory.
unsafe impl Send for Wanted {}

impl Message {
    /// The same message, its data given back.
    pub fn without_data(self) -> Message {
        Message { handle: 0, data: std::ptr::null(), ..self }
    }

    /// Whether the data of this received message is still with its sender.
    #[inline]
    pub fn is_remote(&self) -> bool {
        self.handle & REMOTE != 0
    }
}

/// Names an operation under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Request(pub u64);

/// How a message is sent.
#[derive(Clone, Copy, Debug)]
pub struct SendTo {
    /// The receiver.
    pub to: i32,
    /// Its tag.
    pub tag: i32,
    /// The tag's context.
    pub context: u32,
    /// The interface's word about the data.
    pub meta: u32,
    /// The place where it may be buffered.
    pub buffering: Buffering,
    /// When the send is over.
    pub completion: Completion,
}

/// The destination of received data.
pub enum Receiving<'a> {
    /// In a block of the engine: give it back with [`CoreApi::give_back`].
    Block,
    /// In this memory.
    Into(&'a mut [u8]),
}

impl Receiving<'_> {
    #[inline]
    fn room(&mut self) -> Room {
        match self {
            Receiving::Block => Room::BLOCK,
            Receiving::Into(room) => Room::memory(room.as_mut_ptr(), room.len()),
        }
    }
}

impl Room {
    const LAZILY: Room = Room { kind: RoomKind::Lazily, ..Room::BLOCK };
    const BY_REFERENCE: Room = Room { kind: RoomKind::ByReference, ..Room::BLOCK };

    /// This number of bytes of the program.
    #[inline]
    pub fn memory(start: *mut u8, length: usize) -> Room {
        Room { kind: RoomKind::Memory, start: start.cast(), length }
    }

    /// Pieces of the program's memory.
    pub fn pieces(pieces: &[Space]) -> Room {
        Room { kind: RoomKind::Pieces, start: pieces.as_ptr().cast_mut().cast(), length: pieces.len() }
    }
}

/// The engine of this process.
#[derive(Clone, Copy)]
pub struct CoreApi(pub(crate) &'static Table);

impl CoreApi {
    /// Opens the engine's library; the first call of an interface.
    pub fn open() -> Result<CoreApi, OpenError> {
        open().map(CoreApi)
    }

    /// The process's second endpoint: see [`Table::service`].
    pub fn service(&self) -> CoreApi {
        // SAFETY: the table gives another that lives as long.
        CoreApi(unsafe { &*(self.0.service)() })
    }

    /// Describes words for tools; returns the number of the word before them. `None`: no room. See [`Table::describe`].
    pub fn describe(&self, text: &str) -> Option<u32> {
        // SAFETY: pointer and length are of one string.
        let before = unsafe { (self.0.describe)(text.as_ptr(), text.len()) };
        (before != u32::MAX).then_some(before)
    }

    /// Joins the machine. On failure [`CoreApi::last_error`] has the reason.
    pub fn enrol(&self, interface: &str) -> Result<Enrolled, Status> {
        let mut out = Enrolled::default();
        // SAFETY: pointer and length are of one string; `out` is writable.
        status(unsafe { (self.0.enrol)(interface.as_ptr(), interface.len(), &mut out) }).map(|()| out)
    }

    /// Hands over all that was sent, then leaves the machine.
    pub fn depart(&self) -> Result<(), Status> {
        status((self.0.depart)())
    }

    /// Sends pieces of memory, and waits by `notes` until they may be reused. `Err(Pending)` never: without a limit in
    /// time the wait ends with the operation.
    pub fn send(&self, how: SendTo, pieces: &[&[u8]], notes: &Notes) -> Result<(), Status> {
        // SAFETY: the pieces are borrowed until this returns, and it returns only when the request is over.
        match unsafe { self.start_pieces(&how, pieces) }? {
            Some(request) => self.finish(request, notes),
            None => Ok(()),
        }
    }

    /// As [`CoreApi::send`], one piece of memory.
    #[inline(always)]
    pub fn send_one(&self, how: SendTo, data: &[u8], notes: &Notes) -> Result<(), Status> {
        let piece = Piece { start: data.as_ptr(), length: data.len() };
        let message = outgoing(&how, std::slice::from_ref(&piece), std::ptr::null_mut(), None);
        let mut request = 0;
        // SAFETY: the data is borrowed until this returns, and it returns only when the request is over.
        match unsafe { (self.0.send)(&message, &mut request) } {
            0 => Ok(()),
            1 => self.finish(Request(request), notes),
            other => status(other),
        }
    }

    /// Sends data that the engine may keep: never waits for the receiver, but for credit.
    pub fn send_owned(&self, how: SendTo, data: &Arc<Vec<u8>>, notes: &Notes) -> Result<(), Status> {
        let piece = Piece { start: data.as_ptr(), length: data.len() };
        let owner = Arc::into_raw(data.clone()) as *mut c_void;
        let message = outgoing(&how, std::slice::from_ref(&piece), owner, Some(release));
        let mut request = 0;
        // SAFETY: the owner keeps the memory, and a `Vec` that is shared is not changed.
        match unsafe { (self.0.send)(&message, &mut request) } {
            1 => self.finish(Request(request), notes),
            other => status(other),
        }
    }

    /// Starts to send data that the engine may keep. `None`: it is over.
    pub fn start_owned(&self, how: SendTo, data: &Arc<Vec<u8>>) -> Result<Option<Request>, Status> {
        let piece = Piece { start: data.as_ptr(), length: data.len() };
        let owner = Arc::into_raw(data.clone()) as *mut c_void;
        let message = outgoing(&how, std::slice::from_ref(&piece), owner, Some(release));
        let mut request = 0;
        // SAFETY: the owner keeps the memory, and a `Vec` that is shared is not changed.
        match unsafe { (self.0.send)(&message, &mut request) } {
            1 => Ok(Some(Request(request))),
            other => status(other).map(|()| None),
        }
    }

    /// Sends data to several tasks, and waits by `notes` until the data may be reused. Returns the result of
    /// [`CoreApi::send`] for each task. With an owner the engine may keep the data, as [`CoreApi::send_owned`] lets it.
    pub fn multicast(
        &self,
        how: SendTo,
        to: &[i32],
        data: Data<'_>,
        notes: &Notes,
    ) -> Result<Vec<Result<(), Status>>, Status> {
        self.multicast_each(how, to, None, data, notes)
    }

    /// As [`CoreApi::multicast`]; each task gets the message under its own tag, if there are any.
    pub fn multicast_each(
        &self,
        how: SendTo,
        to: &[i32],
        tags: Option<&[i32]>,
        data: Data<'_>,
        notes: &Notes,
    ) -> Result<Vec<Result<(), Status>>, Status> {
        if tags.is_some_and(|tags| tags.len() != to.len()) {
            return Err(Status::BadArgument);
        }
        let pieces: Vec<Piece> = match data {
            Data::Owned(data) => vec![Piece { start: data.as_ptr(), length: data.len() }],
            Data::Pieces(pieces) => {
                pieces.iter().map(|piece| Piece { start: piece.as_ptr(), length: piece.len() }).collect()
            }
        };
        let (owner, release): (_, Option<unsafe extern "C" fn(*mut c_void)>) = match data {
            Data::Owned(data) => (Arc::into_raw(data.clone()) as *mut c_void, Some(release)),
            Data::Pieces(_) => (std::ptr::null_mut(), None),
        };
        let message = outgoing(&how, &pieces, owner, release);
        let (mut statuses, mut requests) = (vec![0; to.len()], vec![0; to.len()]);
        // SAFETY: the lists have room for each task; the pieces are kept by their owner, or borrowed until this
        // returns, and it returns only when all requests are over.
        status(unsafe {
            let (statuses, requests) = (statuses.as_mut_ptr(), requests.as_mut_ptr());
            let tags = tags.map_or(std::ptr::null(), <[i32]>::as_ptr);
            (self.0.multicast)(&message, to.as_ptr(), tags, to.len(), statuses, requests)
        })?;
        let over = statuses.iter().zip(requests).map(|(&number, request)| match status(number) {
            Err(Status::Pending) => self.finish(Request(request), notes),
            other => other,
        });
        Ok(over.collect())
    }

    /// Waits, without end, until a send is over.
    pub fn finish(&self, request: Request, notes: &Notes) -> Result<(), Status> {
        loop {
            match self.wait(request, &Notes { limit: -1, ..*notes }) {
                Ok(_) => return Ok(()),
                Err(Status::Pending) => {}
                Err(other) => return Err(other),
            }
        }
    }

    /// Receives one message. `Err(Pending)` when the time was over.
    pub fn receive(
        &self,
        pattern: &Pattern,
        mut into: Receiving<'_>,
        notes: &Notes,
    ) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: `into` is borrowed until this returns, and nothing is posted afterwards.
        status(unsafe { (self.0.receive)(pattern, &into.room(), notes, &mut out) }).map(|()| out)
    }

    /// Receives one message, whose long data may stay with its sender and be lost with it: see [`Message::is_remote`].
    pub fn receive_by_reference(&self, pattern: &Pattern, notes: &Notes) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: plain references for the duration of the call.
        status(unsafe { (self.0.receive)(pattern, &Room::BY_REFERENCE, notes, &mut out) }).map(|()| out)
    }

    /// Receives one message, whose long data may stay where its sender has put it, if it stays when the sender goes.
    /// The properties of the message are written to `out`, because they are larger than a short message.
    #[inline]
    pub fn receive_lazily(&self, pattern: &Pattern, notes: &Notes, out: &mut Message) -> Result<(), Status> {
        // SAFETY: plain references for the duration of the call.
        status(unsafe { (self.0.receive)(pattern, &Room::LAZILY, notes, out) })
    }

    /// Receives one message into `room` if it is short and fits; else as [`CoreApi::receive_lazily`]. Whether it is in `room`.
    #[inline]
    pub fn receive_fitting(
        &self,
        pattern: &Pattern,
        room: &mut [u8],
        notes: &Notes,
        out: &mut Message,
    ) -> Result<bool, Status> {
        let room = Room { kind: RoomKind::Fitting, start: room.as_mut_ptr().cast(), length: room.len() };
        // SAFETY: the memory is borrowed until this returns, and nothing is posted afterwards.
        match unsafe { (self.0.receive)(pattern, &room, notes, out) } {
            0 => Ok(out.handle == 0 && !out.data.is_null()),
            other => Err(Status::from_number(other)),
        }
    }

    /// Copies data that is with its sender to `out`, from byte `from` on.
    ///
    /// # Safety
    /// `out` must be writable for `length` bytes, and nobody else may use the memory meanwhile.
    pub unsafe fn read_remote(
        &self,
        message: &Message,
        from: u64,
        out: *mut u8,
        length: usize,
    ) -> Result<(), Status> {
        // SAFETY: the caller's promise.
        status(unsafe { (self.0.read_remote)(message.handle, from, out, length) })
    }

    /// As [`CoreApi::read_remote`], into borrowed memory.
    pub fn read_remote_into(&self, message: &Message, from: u64, out: &mut [u8]) -> Result<(), Status> {
        // SAFETY: it is writable and nobody else's until this returns.
        unsafe { self.read_remote(message, from, out.as_mut_ptr(), out.len()) }
    }

    /// Gets data that is with its sender here, into a block.
    pub fn fetch_remote(&self, message: &Message, notes: &Notes) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: plain references for the duration of the call.
        status(unsafe { (self.0.fetch_remote)(message.handle, notes, &mut out) }).map(|()| out)
    }

    /// Posts a receive into a block. `flags`: see [`Table::post`].
    pub fn post(&self, pattern: &Pattern, flags: u32) -> Request {
        // SAFETY: no memory is given.
        Request(unsafe { (self.0.post)(pattern, &Room::BLOCK, flags) })
    }

    /// Posts a receive whose long data may stay with its sender and be lost with it: see [`Message::is_remote`]. `flags`: see
    /// [`Table::post`].
    pub fn post_by_reference(&self, pattern: &Pattern, flags: u32) -> Request {
        // SAFETY: no memory is given.
        Request(unsafe { (self.0.post)(pattern, &Room::BY_REFERENCE, flags) })
    }

    /// Posts a receive into this memory. `flags`: see [`Table::post`].
    ///
    /// # Safety
    /// The memory must be writable, and nobody may use it otherwise, until the request is over or was cancelled.
    pub unsafe fn post_into(&self, pattern: &Pattern, room: *mut u8, length: usize, flags: u32) -> Request {
        // SAFETY: the caller's promise.
        Request(unsafe { (self.0.post)(pattern, &Room::memory(room, length), flags) })
    }

    /// Posts a receive into pieces of memory, filled one behind the other. `flags`: see [`Table::post`].
    ///
    /// # Safety
    /// As for [`CoreApi::post_into`], for each piece; they must not overlap.
    pub unsafe fn post_into_pieces(&self, pattern: &Pattern, pieces: &[Space], flags: u32) -> Request {
        // SAFETY: the caller's promise.
        Request(unsafe { (self.0.post)(pattern, &Room::pieces(pieces), flags) })
    }

    /// Starts to send memory. `None`: it is over.
    ///
    /// # Safety
    /// The memory must be readable, and stay and not change until the request is over.
    #[inline(always)]
    pub unsafe fn start_send(
        &self,
        how: SendTo,
        start: *const u8,
        length: usize,
    ) -> Result<Option<Request>, Status> {
        let piece = Piece { start, length };
        let message = outgoing(&how, std::slice::from_ref(&piece), std::ptr::null_mut(), None);
        let mut request = 0;
        // SAFETY: the caller's promise.
        match unsafe { (self.0.send)(&message, &mut request) } {
            1 => Ok(Some(Request(request))),
            other => status(other).map(|()| None),
        }
    }

    /// Starts to send pieces of memory as one message. `None`: it is over.
    ///
    /// # Safety
    /// The memory must be readable, and stay and not change until the request is over. The list of pieces need not stay.
    #[inline(always)]
    pub unsafe fn start_pieces(&self, how: &SendTo, pieces: &[&[u8]]) -> Result<Option<Request>, Status> {
        let borrowed = |piece: &&[u8]| Piece { start: piece.as_ptr(), length: piece.len() };
        let few: [Piece; 1];
        let many: Vec<Piece>;
        let list: &[Piece] = match pieces {
            [only] => {
                few = [borrowed(only)];
                &few
            }
            _ => {
                many = pieces.iter().map(borrowed).collect();
                &many
            }
        };
        let message = outgoing(how, list, std::ptr::null_mut(), None);
        let mut request = 0;
        // SAFETY: the caller's promise.
        match unsafe { (self.0.send)(&message, &mut request) } {
            1 => Ok(Some(Request(request))),
            other => status(other).map(|()| None),
        }
    }

    /// Receives one message, and returns the result of `see`. If the message is too long for `room`, its length shows
    /// this. The properties of a message are larger than a short message, and are not moved.
    #[inline(always)]
    pub fn receive_seen<R>(
        &self,
        pattern: &Pattern,
        room: &mut [u8],
        notes: &Notes,
        see: impl FnOnce(&Message) -> R,
    ) -> Result<R, Status> {
        let mut out = Message::NONE;
        let room = Room::memory(room.as_mut_ptr(), room.len());
        // SAFETY: the memory is borrowed until this returns, and nothing is posted afterwards.
        match unsafe { (self.0.receive)(pattern, &room, notes, &mut out) } {
            0 | 3 => Ok(see(&out)),
            other => Err(Status::from_number(other)),
        }
    }

    /// Hands data from this task to itself to a receive that begins now, and returns the result of `see`, as
    /// [`CoreApi::receive_seen`]. `None`: nothing has happened, and the usual calls are needed. See [`Table::pass_to_self`].
    #[inline(always)]
    pub fn pass_to_self<R>(
        &self,
        how: SendTo,
        data: &[u8],
        pattern: &Pattern,
        room: &mut [u8],
        see: impl FnOnce(&Message) -> R,
    ) -> Option<R> {
        let piece = Piece { start: data.as_ptr(), length: data.len() };
        let message = outgoing(&how, std::slice::from_ref(&piece), std::ptr::null_mut(), None);
        let (room, mut out) = (Room::memory(room.as_mut_ptr(), room.len()), Message::NONE);
        // SAFETY: all is borrowed until this returns.
        match unsafe { (self.0.pass_to_self)(&message, pattern, &room, &mut out) } {
            0 | 3 => Some(see(&out)),
            _ => None,
        }
    }

    /// Receives what is wanted, one after the other, as long as each comes soon: see [`Table::receive_each`]. How many have come;
    /// what is known of them is in `came`.
    ///
    /// # Safety
    /// All the memory must be writable, and nobody may use it otherwise, until this returns.
    ///
    /// # Panics
    /// When `came` is shorter than `wanted`.
    pub unsafe fn receive_each(&self, wanted: &[Wanted], notes: &Notes, came: &mut [Came]) -> usize {
        assert!(came.len() >= wanted.len());
        // SAFETY: the caller's promise; there is room for each.
        unsafe { (self.0.receive_each)(wanted.as_ptr(), wanted.len(), notes, came.as_mut_ptr()) }
    }

    /// Copies what a receive, or with `None` what every receive, has claimed; how many had.
    pub fn fetch_claims(&self, request: Option<Request>) -> usize {
        (self.0.fetch_claims)(request.map_or(0, |request| request.0))
    }

    /// Waits until one of the requests is over: see [`Table::wait_any`].
    pub fn wait_any(&self, requests: &[Request], seen: u64, notes: &Notes) -> i64 {
        // SAFETY: a request is its number, and nothing else.
        unsafe { (self.0.wait_any)(requests.as_ptr().cast(), requests.len(), seen, notes) }
    }

    /// Waits until some of the requests are over, and gives their places: see [`Table::wait_some`]. None: the time is over.
    pub fn wait_some(&self, requests: &[Request], notes: &Notes) -> Vec<usize> {
        let mut over = vec![0; requests.len()];
        // SAFETY: a request is its number, and nothing else; there is room for the place of each.
        let count =
            unsafe { (self.0.wait_some)(requests.as_ptr().cast(), requests.len(), notes, over.as_mut_ptr()) };
        over.truncate(count);
        over
    }

    /// Calls a task whose program computes.
    pub fn summon(&self, to: i32) {
        (self.0.summon)(to)
    }

    /// Says to a task that a note was sent to it: see [`Table::notify`]. Whether it can see that.
    pub fn notify(&self, to: i32) -> bool {
        (self.0.notify)(to) == 0
    }

    /// Does what there is to do while the program computes: see [`Table::serve`]. Whether it did.
    pub fn serve(&self, limit: i64, all: bool) -> bool {
        (self.0.serve)(limit, all.into()) == 0
    }

    /// The task's own counters, without the counters of its pairs.
    pub fn cells(&self) -> Option<&'static [AtomicU64; 32]> {
        let cells = (self.0.cells)().cast::<[AtomicU64; 32]>();
        // SAFETY: null, or 32 counters that live as long as the process and are only used as atomics.
        unsafe { cells.as_ref() }
    }

    /// The published state of a shared-memory interface: counts, kind of sharing, and locks (`parvum_control::MEMORY`).
    /// `None`: for no task.
    pub fn memory_cells(&self) -> Option<&'static [AtomicU64; 24]> {
        let cells = (self.0.cells)();
        if cells.is_null() {
            return None;
        }
        // SAFETY: there are 64 counters, which live as long as the process and are only used as atomics.
        Some(unsafe { &*cells.add(40).cast::<[AtomicU64; 24]>() })
    }

    /// Shows tools that the task waits so, or that it goes on: see [`Table::show_wait`].
    #[inline]
    pub fn show_wait(&self, notes: Option<&Notes>) {
        // SAFETY: null, or borrowed for the call.
        unsafe { (self.0.show_wait)(notes.map_or(std::ptr::null(), std::ptr::from_ref)) }
    }

    /// Whether no thread is inside the engine now.
    pub fn is_free(&self) -> bool {
        (self.0.is_free)() != 0
    }

    /// Waits for a request. `Err(Pending)` when the time was over.
    pub fn wait(&self, request: Request, notes: &Notes) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: plain references for the duration of the call.
        status(unsafe { (self.0.wait)(request.0, notes, &mut out) }).map(|()| out)
    }

    /// As [`CoreApi::wait`]; if the message was too long for its room, its length shows this.
    #[inline]
    pub fn wait_seen(&self, request: Request, notes: &Notes) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: plain references for the duration of the call.
        match unsafe { (self.0.wait)(request.0, notes, &mut out) } {
            0 | 3 => Ok(out),
            other => Err(Status::from_number(other)),
        }
    }

    /// Waits for the first of these requests, and takes its outcome: its place among them, and the message or the error
    /// of the receive. The request stays in both cases, for [`CoreApi::post_again`]. `Err(Pending)`: none was over in
    /// time. See [`Table::wait_standing`].
    pub fn wait_standing(
        &self,
        requests: &[Request],
        notes: &Notes,
    ) -> Result<(usize, Result<Message, Status>), Status> {
        let (mut out, mut outcome) = (Message::NONE, 0);
        let (first, count) = (requests.as_ptr().cast(), requests.len());
        // SAFETY: a request is its number, and nothing else; plain references for the duration of the call.
        let at = unsafe { (self.0.wait_standing)(first, count, notes, &mut out, &mut outcome) };
        let outcome = status(outcome).map(|()| out);
        match usize::try_from(at) {
            Ok(at) => Ok((at, outcome)),
            Err(_) => Err(outcome.err().unwrap_or(Status::Unknown)),
        }
    }

    /// Posts a receive again, for a block of the engine, whose outcome [`CoreApi::wait_standing`] has taken.
    pub fn post_again(&self, request: Request, pattern: &Pattern) -> Result<(), Status> {
        // SAFETY: plain references for the duration of the call.
        status(unsafe { (self.0.post_again)(request.0, pattern, &Room::BLOCK) })
    }

    /// Takes a receive back; `false` when it is too late.
    pub fn cancel(&self, request: Request) -> bool {
        (self.0.cancel)(request.0) == 0
    }

    /// Finds the oldest match, which stays where it is. `Err(Pending)` when there is none in time.
    pub fn probe(&self, pattern: &Pattern, notes: &Notes) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: plain references for the duration of the call.
        status(unsafe { (self.0.probe)(pattern, notes, &mut out) }).map(|()| out)
    }

    /// Finds the oldest match and takes it out of matching: [`CoreApi::take`] receives it, [`CoreApi::put_back`] undoes it.
    /// `Err(Pending)` when there is none in time.
    pub fn extract(&self, pattern: &Pattern, notes: &Notes) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: plain references for the duration of the call.
        status(unsafe { (self.0.extract)(pattern, notes, &mut out) }).map(|()| out)
    }

    /// Puts a message back that [`CoreApi::extract`] has found; `false` when it was received or put back.
    pub fn put_back(&self, found: &Message) -> bool {
        (self.0.put_back)(found.handle) == 0
    }

    /// The oldest unexpected message that `wanted` accepts; `wanted` must not call the engine.
    pub fn find<F: FnMut(&Message) -> bool>(&self, mut wanted: F) -> Option<Message> {
        unsafe extern "C" fn visit<F: FnMut(&Message) -> bool>(
            context: *mut c_void,
            message: *const Message,
        ) -> bool {
            // SAFETY: `context` is the closure below, and the message lives during the call.
            let (wanted, message) = unsafe { (&mut *context.cast::<F>(), &*message) };
            wanted(message)
        }
        let mut out = Message::NONE;
        // SAFETY: the closure outlives the call and is used by nobody else meanwhile.
        let found = unsafe { (self.0.find)(visit::<F>, (&raw mut wanted).cast(), &mut out) };
        (found == 0).then_some(out)
    }

    /// Receives the message that `probe` or `find` named.
    pub fn take(&self, found: &Message, mut into: Receiving<'_>, notes: &Notes) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: as in `receive`.
        status(unsafe { (self.0.take)(found.handle, &into.room(), notes, &mut out) }).map(|()| out)
    }

    /// As [`CoreApi::take`], into pieces of memory, filled one behind the other.
    ///
    /// # Safety
    /// Each piece must be writable, and nobody may use it otherwise, until this returns; they must not overlap.
    pub unsafe fn take_into_pieces(
        &self,
        found: &Message,
        pieces: &[Space],
        notes: &Notes,
    ) -> Result<Message, Status> {
        let mut out = Message::NONE;
        // SAFETY: the caller's promise.
        status(unsafe { (self.0.take)(found.handle, &Room::pieces(pieces), notes, &mut out) }).map(|()| out)
    }

    /// Waits until an unexpected message has come that `seen` does not count, the notes' peer is gone, or the time is
    /// over. Returns the total number of unexpected messages.
    pub fn await_arrival(&self, seen: u64, notes: &Notes) -> u64 {
        // SAFETY: the notes are borrowed for the call.
        unsafe { (self.0.await_arrival)(seen, notes) }
    }

    /// How many unexpected messages there have been.
    pub fn arrivals(&self) -> u64 {
        let notes = Notes { limit: 0, call: 0, peer: -1, tag: -1, context: -1 };
        self.await_arrival(u64::MAX, &notes)
    }

    /// The unexpected messages that `wanted` likes, in the order they came. None is taken.
    pub fn unexpected(&self, mut wanted: impl FnMut(&Message) -> bool) -> Vec<Message> {
        let mut found = Vec::new();
        let _ = self.find(|message| {
            if wanted(message) {
                found.push(*message);
            }
            false
        });
        found
    }

    /// The task that plays the resource manager, if one does.
    pub fn manager(&self) -> Option<i32> {
        Some((self.0.manager)()).filter(|tid| *tid != 0)
    }

    /// The entry in the mailbox of a tracer of all tasks.
    pub fn tracer(&self) -> Option<Vec<u8>> {
        let mut mail = vec![0; 256];
        // SAFETY: room for as many bytes as the vector is long.
        let length = unsafe { (self.0.tracer)(mail.as_mut_ptr(), mail.len()) };
        mail.truncate(length);
        (!mail.is_empty()).then_some(mail)
    }

    /// From now on a descriptor becomes readable when something comes.
    pub fn watch(&self) {
        (self.0.watch)()
    }

    /// The program has looked at the messages that `seen` counts.
    pub fn looked(&self, seen: u64) {
        (self.0.looked)(seen)
    }

    /// Starts a machine as `pvmd` with these arguments, each ended by a zero byte.
    /// `Unknown`: there was one already.
    pub fn start_machine(&self, arguments: &[u8]) -> Result<(), Status> {
        // SAFETY: the arguments are borrowed for the call.
        status(unsafe { (self.0.start_machine)(arguments.as_ptr(), arguments.len()) })
    }

    /// Gives the block of a received message back.
    pub fn give_back(&self, message: &Message) {
        if message.handle != 0 {
            (self.0.give_back)(message.handle);
        }
    }

    /// Does what there is to do and returns.
    pub fn progress(&self) -> Progress {
        (self.0.progress)()
    }

    /// The next announced request that is over.
    pub fn next_completed(&self) -> Option<Request> {
        let request = (self.0.next_completed)();
        (request != 0).then_some(Request(request))
    }

    /// Puts a message into this task's own queue.
    pub fn inject(&self, message: &Message, data: &[u8]) -> Result<(), Status> {
        // SAFETY: pointer and length are of one slice.
        status(unsafe { (self.0.inject)(message, data.as_ptr(), data.len()) })
    }

    /// Asks the daemon and waits for its answer.
    pub fn ask(&self, request: &control::Request, notes: &Notes) -> Result<Result<Reply, Failure>, Status> {
        unsafe extern "C" fn answer(context: *mut c_void, bytes: *const u8, length: usize) {
            // SAFETY: `context` is the vector below; the bytes live during the call.
            unsafe {
                (*context.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes, length))
            };
        }
        let bytes = postcard::to_stdvec(request).map_err(|_| Status::BadArgument)?;
        let mut reply = Vec::new();
        // SAFETY: the request and the vector outlive the call.
        let got =
            unsafe { (self.0.ask)(bytes.as_ptr(), bytes.len(), notes, answer, (&raw mut reply).cast()) };
        match Status::from_number(got) {
            Status::Done | Status::Refused => postcard::from_bytes(&reply).map_err(|_| Status::BadArgument),
            other => Err(other),
        }
    }

    /// Sets whether an end of the process now is a failure: see [`Table::oblige`].
    pub fn oblige(&self, obliged: bool) {
        (self.0.oblige)(obliged.into())
    }

    /// Shows tools what the task is about to do: see [`Table::tell`].
    #[inline]
    pub fn tell(&self, told: &MpiCall) {
        // SAFETY: borrowed for the call.
        unsafe { (self.0.tell)(told) }
    }

    /// Prefers a route: 0 the best, 1 direct, 2 through the daemon.
    pub fn prefer(&self, route: u32) -> Result<(), Status> {
        status((self.0.prefer)(route))
    }

    /// The counters, as many as there are, at most 32.
    pub fn counters(&self) -> [u64; 32] {
        let mut out = [0; 32];
        // SAFETY: room for as many as it says.
        unsafe { (self.0.counters)(out.as_mut_ptr(), out.len()) };
        out
    }

    /// The text of the last failure.
    pub fn last_error(&self) -> String {
        let mut out = vec![0; 1024];
        // SAFETY: room for as many bytes as it says.
        let length = unsafe { (self.0.last_error)(out.as_mut_ptr(), out.len()) };
        out.truncate(length);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Descriptors to watch.
    pub fn descriptors(&self) -> Vec<i32> {
        let mut out = vec![0; 64];
        // SAFETY: room for as many as it says.
        let count = unsafe { (self.0.descriptors)(out.as_mut_ptr(), out.len()) };
        out.truncate(count);
        out
    }
}

/// Gives up what `Arc::into_raw` gave to the engine.
unsafe extern "C" fn release(owner: *mut c_void) {
    // SAFETY: the owners that this file names came from `Arc::into_raw`, and the table releases each once.
    drop(unsafe { Arc::from_raw(owner as *const Vec<u8>) });
}

pub(crate) fn status(number: i32) -> Result<(), Status> {
    match Status::from_number(number) {
        Status::Done => Ok(()),
        other => Err(other),
    }
}

/// The data of a message to several tasks.
#[derive(Clone, Copy)]
pub enum Data<'a> {
    /// Pieces of the program's memory.
    Pieces(&'a [&'a [u8]]),
    /// Data that the engine may keep.
    Owned(&'a Arc<Vec<u8>>),
}

#[inline]
pub(crate) fn outgoing(
    how: &SendTo,
    pieces: &[Piece],
    owner: *mut c_void,
    release: Option<unsafe extern "C" fn(*mut c_void)>,
) -> Outgoing {
    let SendTo { to, tag, context, meta, buffering, completion } = *how;
    let (pieces, count) = (pieces.as_ptr(), pieces.len());
    let (buffering, completion) = (buffering as u32, completion as u32);
    Outgoing { to, tag, context, meta, pieces, count, buffering, completion, owner, release }
}
