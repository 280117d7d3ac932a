//! Partitioned messages: a buffer of which parts are sent as they become ready.
//!
//! The two sides may divide it differently. Each part of the sender's is one message in a context of the communicator's own for this,
//! under the number of the sender's request, which [`pairs`](crate::messages::pairs) tells the receiver. The receiver puts each part
//! where it belongs, and knows how far the data has come. Data with holes is packed part by part, and unpacked as it comes.

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::Data;
use crate::messages::pairs::{ANNOUNCED, Part};
use crate::messages::status::Status;
use crate::process::machine::LOOK;
use crate::process::this::Process;
use crate::requests::operations::Progress;
use crate::requests::outcome::Outcome;
use parvum_api::{Buffering, Completion};
use parvum_api::{Notes, Pattern, Receiving, Request, SendTo, Status as Answer, TagKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One partitioned transfer, begun again and again.
pub(crate) struct Transfer {
    /// All of the buffer, and how it is divided: partitions, bytes of each.
    data: Data,
    partitions: usize,
    each: usize,
    /// The peer; `None`: with nobody.
    with: Option<With>,
    sends: bool,
    progress: Mutex<State>,
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

/// How far a transfer is.
#[derive(Default)]
struct State {
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn length(&self) -> usize {
        self.partitions * self.each
    }

    /// Begins anew.
    pub(crate) fn start(&self) {
        let mut progress = self.lock();
        // What a failed turn has left on its way stays where it is.
        let State { requests, packed, number, .. } = std::mem::take(&mut *progress);
        let ready = vec![false; self.partitions];
        *progress = State { is_active: true, ready, requests, packed, number, ..State::default() };
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
            progress.number = number_of(process, with, *place);
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

    fn is_whole(&self, progress: &State) -> bool {
        self.partitions == 0 || progress.theirs > 0 && progress.come == [(0, progress.theirs)]
    }
}

impl Progress for Arc<Transfer> {
    fn poll(&mut self, process: &Process) -> Option<Outcome> {
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

    fn awaited(&self, requests: &mut Vec<Request>) {
        requests.extend(self.lock().requests.iter().copied());
    }

    fn awaits_arrivals(&self) -> bool {
        !self.sends
    }
}

/// The number of the sender's request, once it has been announced.
fn number_of(process: &Process, with: &With, place: u64) -> Option<u32> {
    with.comm.pairs().number(process, with.comm.collective_context(), (with.task, with.tag), place)
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
    fn adjacent_partition_ranges_merge() {
        let mut ranges = Vec::new();
        for range in [(4, 6), (0, 2), (8, 10), (2, 4)] {
            add(&mut ranges, range);
        }
        assert_eq!(ranges, [(0, 6), (8, 10)]);
        add(&mut ranges, (6, 8));
        assert_eq!(ranges, [(0, 10)]);
    }
}
