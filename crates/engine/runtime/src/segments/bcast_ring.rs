//! `board_announce` and `board_hear` of the core API: a member publishes data to all others through the broadcast ring,
//! without waiting.
//!
//! Each member counts the entries: its own entries and the entries that it reads. Each member therefore knows the
//! number and the place of the next entry. A round frees all places.

use crate::endpoint::Endpoint;
use crate::inside::{Inside, briefly, with};
use crate::runtime::Runtime;
use crate::segments::awaited::InSegment;
use parvum_api::{Notes, segment as came};
use parvum_control::A_GROUP;
use parvum_engine::{Counter, RequestId};
use parvum_segment::{ANNOUNCEMENTS, Outcome};

pub(crate) unsafe extern "C" fn board_announce<E: Endpoint>(
    segment: u64,
    word: u32,
    data: *const u8,
    length: usize,
) -> i64 {
    // SAFETY: readable for so many bytes, by the table's contract; nothing may have no address.
    let data = if length == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(data, length) } };
    let announce = |runtime: &mut Runtime| runtime.announce(segment, word, data);
    briefly::<E, _>(announce).unwrap_or_else(|| with::<E, _>(came::LATE, |inside| announce(inside)))
}

pub(crate) unsafe extern "C" fn board_hear<E: Endpoint>(
    segment: u64,
    word: u32,
    out: *mut u8,
    length: usize,
    requests: *const u64,
    awaited: usize,
    notes: *const Notes,
) -> i64 {
    // SAFETY: valid for the call, by the table's contract; what is empty may have no address.
    let (out, requests, notes) = unsafe {
        let out = if length == 0 { &mut [] } else { std::slice::from_raw_parts_mut(out, length) };
        let requests = if awaited == 0 { &[][..] } else { std::slice::from_raw_parts(requests, awaited) };
        (out, requests, &*notes)
    };
    // Mostly it is there: who announces runs ahead.
    match briefly::<E, _>(|runtime| runtime.hear(segment, word, out)).flatten() {
        Some(answer) => answer,
        None => {
            with::<E, _>(came::LATE, |inside| inside.await_announcement(segment, word, out, requests, notes))
        }
    }
}

impl Runtime {
    fn announce(&mut self, segment: u64, word: u32, data: &[u8]) -> i64 {
        let Some(segment) = self.segment(segment) else { return came::CLOSED };
        if segment.shared.is_closed() {
            return came::CLOSED;
        }
        if !segment.shared.announce(segment.announced, segment.place, word, data) {
            return came::DISAGREED;
        }
        segment.has_announced();
        self.engine.ledger().add(Counter::CopiedIn, data.len() as u64);
        came::COME
    }

    /// Reads the next announcement if it is there, or reports that there will be none; `None`: it may come.
    fn hear(&mut self, segment: u64, word: u32, out: &mut [u8]) -> Option<i64> {
        let Some(segment) = self.segment(segment) else { return Some(came::CLOSED) };
        if segment.place >= ANNOUNCEMENTS {
            return Some(came::DISAGREED);
        }
        match segment.shared.outcome_of_announcement(segment.announced, segment.place)? {
            Outcome::Closed => return Some(came::CLOSED),
            Outcome::Opened if !segment.shared.hear(segment.place, word, out) => {
                return Some(came::DISAGREED);
            }
            Outcome::Opened => segment.has_announced(),
        }
        self.engine.ledger().add(Counter::CopiedOut, out.len() as u64);
        Some(came::COME)
    }
}

impl Inside {
    #[cold]
    fn await_announcement(
        &mut self,
        number: u64,
        word: u32,
        out: &mut [u8],
        requests: &[u64],
        notes: &Notes,
    ) -> i64 {
        let Some(segment) = self.segment(number) else { return came::CLOSED };
        let (shared, group, members) = (segment.shared.clone(), segment.group.clone(), segment.members);
        self.show_barrier(&group, members as i32);
        self.awaits_in_segment = Some(InSegment::announcement(shared));
        let over = self.wait_until(&Notes { peer: A_GROUP, ..*notes }, |runtime| {
            runtime.hear(number, word, out).or_else(|| runtime.is_any_over(requests).map(|at| at as i64))
        });
        self.awaits_in_segment = None;
        over.unwrap_or(came::LATE)
    }
}

impl Runtime {
    /// The place of the first of these requests that is over, or names nothing.
    pub(crate) fn is_any_over(&mut self, requests: &[u64]) -> Option<usize> {
        requests.iter().position(|request| {
            let id = RequestId::from_number(*request);
            self.engine.is_over(id) || !self.engine.is_known(id)
        })
    }
}
