//! Partitioned messages: a buffer of which parts are sent as they become ready.
//!
//! The two sides may divide it differently. Each part of the sender's is one message in a context of the communicator's own for this,
//! under the number of the sender's request; the receiver puts each where it belongs, and knows how far the data has come. Data with
//! holes is packed part by part, and unpacked as it comes.
//!
//! Requests of one sender, tag and communicator belong together in the order in which both sides have made them, whatever the order in
//! which they are started. So the sender announces the number of each request when it is made, and the receiver counts ([`Pairs`]).

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::Data;
use crate::messages::status::Status;
use crate::process::this::{Process, machine_notes};
use crate::requests::operations::{LOOK, Outcome};
use parvum_api::{Buffering, Completion};
use parvum_api::{Notes, Pattern, Receiving, Request, SendTo, Status as Answer, TagKind};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tag of announcements, in the context of collective operations, whose own tags are below; those of data are above it.
const ANNOUNCED: i32 = 0x4000_0000;
/// The numbers of a communicator's requests that send: each is part of a tag.
const NUMBERS: u32 = 0x1fff_ffff;

/// Which partitioned requests of a communicator belong together.
#[derive(Default)]
pub(crate) struct Pairs {
    /// Requests that send, so far.
    sends: AtomicU32,
    /// What was received of each peer's task and tag.
    from: Mutex<HashMap<(i32, i32), From>>,
}

/// Requests of one sender and one tag.
#[derive(Default)]
struct From {
    /// Requests that receive, so far.
    receives: u64,
    /// Announcements, so far, and those that no request has asked for yet: by their places.
    announced: u64,
    open: HashMap<u64, u32>,
}

/// What a request is to its peer.
pub(crate) enum Part {
    /// It sends under this number.
    Sends(u32),
    /// It receives from the request that is announced at this place.
    Receives(u64),
}

impl Pairs {
    fn lock(&self) -> MutexGuard<'_, HashMap<(i32, i32), From>> {
        self.from.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request that receives so.
    pub(crate) fn receive(&self, task: i32, tag: i32) -> Part {
        let mut from = self.lock();
        let from = from.entry((task, tag)).or_default();
        from.receives += 1;
        Part::Receives(from.receives - 1)
    }

    /// The next request that sends so. Its peer is told.
    pub(crate) fn send(&self, process: &Process, context: u32, task: i32, tag: i32) -> Part {
        // Relaxed: a number only.
        let number = self.sends.fetch_add(1, Ordering::Relaxed) % NUMBERS + 1;
        let said = [tag.to_le_bytes(), number.to_le_bytes()].concat();
        // The sender keeps what cannot leave at once: nobody is waited for.
        let how = SendTo {
            to: task,
            tag: ANNOUNCED,
            context,
            meta: 0,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        // Who is gone is found when something is sent.
        let _ = process.api.send_owned(how, &Arc::new(said), &machine_notes());
        Part::Sends(number)
    }

    /// The number of the sender's request at a place, once it has been announced.
    fn number(&self, process: &Process, with: &With, place: u64) -> Option<u32> {
        let context = i64::from(with.comm.collective_context());
        let pattern = Pattern { from: with.task, tags: TagKind::Exactly, tag: ANNOUNCED, other: 0, context };
        // One thread at a time: announcements count in their order. What is here is taken; nobody waits.
        let mut all = self.lock();
        while let Ok(found) = process.api.extract(&pattern, &LOOK) {
            let mut said = [0; 8];
            if process.api.take(&found, Receiving::Into(&mut said), &LOOK).is_err() {
                continue;
            }
            let [tag, number] =
                [0, 4].map(|at| u32::from_le_bytes([said[at], said[at + 1], said[at + 2], said[at + 3]]));
            let from = all.entry((with.task, tag as i32)).or_default();
            from.open.insert(from.announced, number);
            from.announced += 1;
        }
        all.get_mut(&(with.task, with.tag))?.open.remove(&place)
    }
}

/// One partitioned transfer, begun again and again.
pub(crate) struct Transfer {
    /// All of the buffer, and how it is divided: partitions, bytes of each.
    data: Data,
    partitions: usize,
    each: usize,
    /// The peer; `None`: with nobody.
    with: Option<With>,
    sends: bool,
    progress: Mutex<Progress>,
}

/// The peer of a transfer.
pub(crate) struct With {
    pub(crate) comm: Arc<Comm>,
    pub(crate) task: i32,
    pub(crate) rank: i32,
    /// The tag that the program gave.
    pub(crate) tag: i32,
    pub(crate) part: Part,
}

#[derive(Default)]
struct Progress {
    is_active: bool,
    /// Sender: which parts were handed over, and what is under way.
    ready: Vec<bool>,
    requests: Vec<Request>,
    /// Sender: parts that were packed, as long as they may be on their way.
    packed: Vec<Vec<u8>>,
    /// Receiver: the number of the sender's request, once it was announced. It stays.
    number: Option<u32>,
    /// Receiver: how many parts the sender has and how long each is, once that is known, and which have come, as ranges in order.
    theirs: usize,
    length: usize,
    come: Vec<(usize, usize)>,
    error: Option<Error>,
}

impl Transfer {
    pub(crate) fn new(
        data: Data,
        partitions: usize,
        each: usize,
        with: Option<With>,
        sends: bool,
    ) -> Transfer {
        Transfer { data, partitions, each, with, sends, progress: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn receives(&self) -> bool {
        !self.sends
    }

    fn length(&self) -> usize {
        self.partitions * self.each
    }

    /// Begins anew.
    pub(crate) fn start(&self) {
        let mut progress = self.lock();
        // What a failed turn has left on its way stays where it is.
        let Progress { requests, packed, number, .. } = std::mem::take(&mut *progress);
        let ready = vec![false; self.partitions];
        *progress = Progress { is_active: true, ready, requests, packed, number, ..Progress::default() };
    }

    /// A part is ready: it is sent.
    pub(crate) fn ready(&self, process: &Process, partition: i32) -> Mpi {
        let mut progress = self.lock();
        let part = usize::try_from(partition).ok().filter(|&part| part < self.partitions);
        let Some(part) = part.filter(|_| self.sends) else {
            let text = format!(
                "partition {partition} of a request with {} to send",
                if self.sends { self.partitions } else { 0 }
            );
            return Err(Error::new(class::ARG, text));
        };
        if !progress.is_active || std::mem::replace(&mut progress.ready[part], true) {
            let text = format!("partition {partition} is ready already, or the request was not started");
            return Err(Error::new(class::REQUEST, text));
        }
        let Some(With { comm, task, part: Part::Sends(number), .. }) = &self.with else { return Ok(()) };
        // The word says which part it is, of how many.
        let meta = (part as u32) << 16 | self.partitions as u32;
        let (tag, context) = (tag_of(*number), comm.collective_context());
        let how = SendTo {
            to: *task,
            tag,
            context,
            meta,
            buffering: Buffering::BySize,
            completion: Completion::Copied,
        };
        let start = match self.data.run() {
            Some((start, _)) => start.wrapping_add(part * self.each).cast_const(),
            None => {
                // Its place stays when the list of packed parts grows.
                progress.packed.push(self.data.packed_part(part * self.each, self.each));
                progress.packed.last().expect("just put there").as_ptr()
            }
        };
        // SAFETY: the program leaves a part that is ready alone until the request is over, and so do we what was packed.
        let sent = unsafe { process.api.start_send(how, start, self.each) };
        match sent {
            Ok(request) => progress.requests.extend(request),
            Err(status) => progress.error = Some(process.failed(status, None)),
        }
        Ok(())
    }

    /// Whether a part of the receiver's has come whole.
    pub(crate) fn has_come(&self, process: &Process, partition: i32) -> Mpi<bool> {
        process.api.progress();
        let part = usize::try_from(partition).ok().filter(|&part| part < self.partitions && !self.sends);
        let Some(part) = part else {
            let text = format!("partition {partition} of a request with {} to receive", self.partitions);
            return Err(Error::new(class::ARG, text));
        };
        self.take_in(process);
        let progress = self.lock();
        // Of a sender that has less the last parts have come when all has.
        let whole = progress.theirs * progress.length;
        let (from, to) = ((part * self.each).min(whole), ((part + 1) * self.each).min(whole));
        let is_there = from < to
            && progress.come.iter().any(|&(a, b)| a * progress.length <= from && to <= b * progress.length);
        Ok(!progress.is_active || self.with.is_none() || is_there || self.is_whole(&progress))
    }

    /// Takes in the messages that have come.
    fn take_in(&self, process: &Process) {
        let Some(with @ With { part: Part::Receives(place), .. }) = &self.with else { return };
        let mut progress = self.lock();
        if progress.number.is_none() {
            progress.number = with.comm.pairs().number(process, with, *place);
        }
        let Some(number) = progress.number else { return };
        let context = i64::from(with.comm.collective_context());
        let pattern =
            Pattern { from: with.task, tags: TagKind::Exactly, tag: tag_of(number), other: 0, context };
        while progress.is_active && progress.error.is_none() && !self.is_whole(&progress) {
            let Ok(found) = process.api.extract(&pattern, &LOOK) else { break };
            let (part, length) = ((found.meta >> 16) as usize, found.length as usize);
            let at = part * length;
            if at + length > self.length() {
                progress.error = Some(Error::new(
                    class::TRUNCATE,
                    "the sender's partitions are longer than the receiver's",
                ));
                process.api.put_back(&found);
                break;
            }
            (progress.theirs, progress.length) = ((found.meta & 0xffff) as usize, length);
            let mut flat = Vec::new();
            let room = match self.data.run() {
                Some(_) if length == 0 => &mut [],
                // SAFETY: the program leaves the buffer of an active receive alone; `at` and `length` lie in it.
                Some((start, _)) => unsafe { std::slice::from_raw_parts_mut(start.wrapping_add(at), length) },
                None => {
                    flat.resize(length, 0);
                    &mut flat[..]
                }
            };
            let notes = Notes { limit: -1, ..LOOK };
            let taken = process.api.take(&found, Receiving::Into(room), &notes);
            if taken.is_ok() && !flat.is_empty() {
                self.data.unpack_part(at, &flat);
            }
            match taken {
                Ok(_) => add(&mut progress.come, (part, part + 1)),
                Err(status) => progress.error = Some(process.failed(status, usize::try_from(with.rank).ok())),
            }
        }
    }

    fn is_whole(&self, progress: &Progress) -> bool {
        self.partitions == 0 || progress.theirs > 0 && progress.come == [(0, progress.theirs)]
    }

    /// How it ended, when it did.
    pub(crate) fn poll(&self, process: &Process) -> Option<Outcome> {
        if !self.sends {
            self.take_in(process);
        }
        let mut progress = self.lock();
        let mut failed = None;
        progress.requests.retain(|&request| match process.api.wait(request, &LOOK) {
            Err(Answer::Pending) => true,
            Ok(_) => false,
            Err(status) => {
                failed = Some(process.failed(status, None));
                false
            }
        });
        progress.error = progress.error.take().or(failed);
        let is_over = match (&self.with, self.sends) {
            (None, _) => true,
            (_, true) => progress.requests.is_empty() && progress.ready.iter().all(|&ready| ready),
            (_, false) => self.is_whole(&progress),
        };
        let error = progress.error.clone();
        if !is_over && error.is_none() {
            return None;
        }
        progress.is_active = false;
        if progress.requests.is_empty() {
            progress.packed.clear();
        }
        let status = match (&self.with, self.sends) {
            (Some(with), false) => {
                Status::of(with.rank, with.tag, (progress.theirs * progress.length) as u64)
            }
            (None, false) => Status::FROM_NOBODY,
            _ => Status::EMPTY,
        };
        Some(Outcome { status, error })
    }

    /// The engine's requests that it waits for.
    pub(crate) fn awaited(&self, requests: &mut Vec<Request>) {
        requests.extend(self.lock().requests.iter().copied());
    }
}

/// The tag of the data of a request that sends.
fn tag_of(number: u32) -> i32 {
    ANNOUNCED + number as i32
}

/// Adds a range to those that are there, which stay in order and apart.
fn add(ranges: &mut Vec<(usize, usize)>, (from, to): (usize, usize)) {
    let at = ranges.partition_point(|range| range.0 < from);
    ranges.insert(at, (from, to));
    let mut joined: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for &(from, to) in ranges.iter() {
        match joined.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    *ranges = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join() {
        let mut ranges = Vec::new();
        for range in [(4, 6), (0, 2), (8, 10), (2, 4)] {
            add(&mut ranges, range);
        }
        assert_eq!(ranges, [(0, 6), (8, 10)]);
        add(&mut ranges, (6, 8));
        assert_eq!(ranges, [(0, 10)]);
    }
}
