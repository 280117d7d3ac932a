//! `board_post` of the core API. Members publish data to all others through the
//! broadcast ring, and wait only for the entries that they need.
//!
//! An operation has some entries of the ring. Each member counts all entries of all operations, and therefore knows the
//! number and the place of the next entry. A round frees all places.

use crate::endpoint::Endpoint;
use crate::inside::{Inside, briefly, with};
use crate::runtime::Runtime;
use crate::segments::awaited::InSegment;
use crate::segments::exchange::memory_of;
use crate::segments::segment::LOOKS;
use parvum_api::{Notes, Reading, segment as came};
use parvum_control::A_GROUP;
use parvum_engine::{Counter, RequestId};
use parvum_segment::{ANNOUNCEMENTS, Outcome};

/// The part of a member in an operation by the ring.
struct Post<'p> {
    segment: u64,
    word: u32,
    /// The entries of the operation.
    entries: usize,
    /// The own entry, and its data.
    own: Option<(usize, &'p [u8])>,
    /// Writes the entry also if the segment is closed.
    always: bool,
    /// Waits for entries also if the segment is closed, until the time is over.
    stays: bool,
    /// The parts of entries that the member copies.
    readings: &'p [Reading],
    /// The tasks that write the entries, in their order, without the task at this place; if they are known.
    writers: &'p [i32],
    except: usize,
}

pub(crate) unsafe extern "C" fn board_post<E: Endpoint>(
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
) -> i64 {
    // SAFETY: valid for the call, by the table's contract. An empty range needs no address.
    let (data, readings, writers, requests, notes) = unsafe {
        let tasks = entries + usize::from(except < entries);
        let writers = if writers.is_null() { &[][..] } else { std::slice::from_raw_parts(writers, tasks) };
        let data = if length == 0 { &[][..] } else { std::slice::from_raw_parts(data, length) };
        let readings = if parts == 0 { &[][..] } else { std::slice::from_raw_parts(readings, parts) };
        let requests = if awaited == 0 { &[][..] } else { std::slice::from_raw_parts(requests, awaited) };
        (data, readings, writers, requests, &*notes)
    };
    let own = usize::try_from(own).ok().map(|own| (own, data));
    let always = always != 0;
    let stays = always && notes.limit > 0;
    let post = Post { segment, word, entries, own, always, stays, readings, writers, except };
    // Mostly the entries are there: members that only give run ahead.
    match briefly::<E, _>(|runtime| runtime.post_soon(&post)).flatten() {
        Some(answer) => answer,
        None => with::<E, _>(came::LATE, |inside| inside.post(&post, requests, notes)),
    }
}

impl Post<'_> {
    /// The task that writes an entry, if it is known.
    fn writer(&self, entry: usize) -> Option<i32> {
        self.writers.get(entry + usize::from(entry >= self.except)).copied()
    }
}

impl Runtime {
    /// The first of the wanted entries that is not there.
    fn missing_entry(&mut self, post: &Post<'_>) -> Option<usize> {
        let segment = self.segment(post.segment)?;
        let is_missing = |&entry: &usize| {
            let (number, place) = (segment.announced + entry as u64, segment.place + entry);
            segment.shared.outcome_of_announcement(number, place) != Some(Outcome::Opened)
        };
        post.readings.iter().map(|reading| reading.member as usize).find(is_missing)
    }

    /// The whole operation, if its entries come while this task looks.
    #[inline]
    fn post_soon(&mut self, post: &Post<'_>) -> Option<i64> {
        if let Some(refused) = self.write_entry(post) {
            return Some(refused);
        }
        let answer = self.hear_entries(post);
        if let (Some(_), None, Some(segment)) = (answer, post.own, self.segment(post.segment)) {
            segment.shared.expect_announcement(segment.place + 1);
            return answer;
        }
        answer.or_else(|| (1..LOOKS).find_map(|_| self.hear_entries(post)))
    }

    /// Writes the own entry, if this operation has one and the task has not written it. Answers if that is impossible.
    #[inline]
    fn write_entry(&mut self, post: &Post<'_>) -> Option<i64> {
        let Some(segment) = self.segment(post.segment) else { return Some(came::CLOSED) };
        if segment.place + post.entries > ANNOUNCEMENTS {
            return Some(came::DISAGREED);
        }
        let (own, data) = post.own?;
        if segment.has_posted {
            return None;
        }
        // One of several writers may have left after its entry. The other writers still write for the readers.
        if !post.always && segment.shared.is_closed() {
            return Some(came::CLOSED);
        }
        let (number, place) = (segment.announced + own as u64, segment.place + own);
        if own >= post.entries || !segment.shared.announce(number, place, post.word, data) {
            return Some(came::DISAGREED);
        }
        segment.has_posted = true;
        self.engine.ledger().add(Counter::CopiedIn, data.len() as u64);
        None
    }

    /// Copies the parts, if all entries are there; the operation is over then. `None`: an entry may come.
    #[inline]
    fn hear_entries(&mut self, post: &Post<'_>) -> Option<i64> {
        let Some(segment) = self.segment(post.segment) else { return Some(came::CLOSED) };
        for reading in post.readings {
            let entry = reading.member as usize;
            if entry >= post.entries {
                return Some(came::DISAGREED);
            }
            let (number, place) = (segment.announced + entry as u64, segment.place + entry);
            match segment.shared.outcome_of_announcement(number, place)? {
                Outcome::Closed if post.stays => return None,
                Outcome::Closed => return Some(came::MISSING - entry as i64),
                Outcome::Opened => {}
            }
        }
        let (mut copied, mut agrees) = (0, true);
        for reading in post.readings {
            // SAFETY: the table's contract.
            let out = unsafe { memory_of(reading) };
            let place = segment.place + reading.member as usize;
            agrees &= segment.shared.hear(place, post.word, reading.from, out);
            copied += out.len() as u64;
        }
        // The writers do not know that members disagree, and go on to the next operation. So does this member.
        segment.has_posted = false;
        segment.announced += post.entries as u64;
        segment.place += post.entries;
        if copied > 0 {
            self.engine.ledger().add(Counter::CopiedOut, copied);
        }
        Some(if agrees { came::COME } else { came::DISAGREED })
    }

    /// The place of the first of these requests that is over, or names nothing.
    pub(crate) fn is_any_over(&mut self, requests: &[u64]) -> Option<usize> {
        requests.iter().position(|request| {
            let id = RequestId::from_number(*request);
            self.engine.is_over(id) || !self.engine.is_known(id)
        })
    }
}

impl Inside {
    #[inline(never)]
    fn post(&mut self, post: &Post<'_>, requests: &[u64], notes: &Notes) -> i64 {
        if let Some(refused) = self.write_entry(post) {
            return refused;
        }
        if let Some(answer) = self.hear_entries(post) {
            return answer;
        }
        let Some(segment) = self.segment(post.segment) else { return came::CLOSED };
        let (shared, group, members) = (segment.shared.clone(), segment.group.clone(), segment.members);
        self.show_barrier(&group, members as i32);
        self.awaits_in_segment = Some(InSegment::announcement(shared));
        let over = loop {
            let missing = self.missing_entry(post);
            let peer = missing.and_then(|entry| post.writer(entry)).unwrap_or(A_GROUP);
            let ends = |runtime: &mut Runtime| match runtime.hear_entries(post) {
                None => runtime.is_any_over(requests).map(|at| at as i64),
                answer => answer,
            };
            // Tools see the task that is really waited for.
            let over = self.wait_until(&Notes { peer, ..*notes }, |runtime| match ends(runtime) {
                None => (runtime.missing_entry(post) != missing).then_some(None),
                answer => Some(answer),
            });
            if over != Some(None) {
                break over.flatten();
            }
        };
        self.awaits_in_segment = None;
        over.unwrap_or(came::LATE)
    }
}
