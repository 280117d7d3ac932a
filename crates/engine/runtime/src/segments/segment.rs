//! `board_open`, `board_read` and related functions of the core API: members of a group on this host exchange data,
//! round by round.
//!
//! The daemon makes the segment of a group and hands it to all members when they have passed a barrier at the daemon
//! once. In the first round the members agree whether all use it. A task that sleeps in poll(2), in which a futex does
//! not wake it, does not use a segment. A task whose messages must use another route than shm does not use it either.
//! Then no member uses the segment.

use crate::endpoint::Endpoint;
use crate::errors::AskError;
use crate::errors::remember;
use crate::inside::{Inside, briefly, with};
use crate::runtime::Runtime;
use crate::segments::awaited::InSegment;
use crate::segments::memory::{Introduction, piece_of};
use crate::services::{Awaited, SharedSegment};
use parvum_api::{Notes, Piece, Status, segment as came};
use parvum_control::{A_GROUP, Clock};
use parvum_engine::Counter;
use parvum_segment::{ANNOUNCED_ROOM, ANNOUNCEMENTS, Arrival, MOST_MEMBERS, Outcome, SLOT_BYTES};
use parvum_wire::control::Request;
use std::sync::Arc;

/// The words of members in the first round. They also have the numbers of rounds and announcements at the previous segment,
/// if it was closed. Members with different numbers cannot continue together.
const WANTED: u32 = 1;
const UNWANTED: u32 = 0;

pub(crate) unsafe extern "C" fn board_open<E: Endpoint>(
    group: *const u8,
    length: usize,
    member: u32,
    members: u32,
    notes: *const Notes,
    segment: *mut u64,
) -> i32 {
    // SAFETY: all are valid for the call, by the table's contract.
    let (group, notes, segment) =
        unsafe { (std::slice::from_raw_parts(group, length), &*notes, &mut *segment) };
    let (Ok(group), true) = (std::str::from_utf8(group), member < members) else {
        return Status::BadArgument as i32;
    };
    with::<E, _>(Status::Unknown as i32, |inside| match inside.open_segment(group, member, members, notes) {
        Ok(number) => {
            *segment = number;
            Status::Done as i32
        }
        Err(status) => status as i32,
    })
}

pub(crate) unsafe extern "C" fn board_read<E: Endpoint>(
    segment: u64,
    member: u32,
    from: usize,
    out: *mut u8,
    length: usize,
) -> i32 {
    // SAFETY: writable for so many bytes, by the table's contract.
    let out = if length == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(out, length) } };
    let mut read = |runtime: &mut Runtime| {
        let Some(segment) = runtime.segment(segment) else { return Status::Unknown as i32 };
        // The last round that has come: the one under way has another number.
        match segment.round.checked_sub(1).is_some_and(|round| segment.shared.read(member, round, from, out))
        {
            true => {
                runtime.engine.ledger().add(Counter::CopiedOut, length as u64);
                Status::Done as i32
            }
            false => Status::BadArgument as i32,
        }
    };
    briefly::<E, _>(&mut read).unwrap_or_else(|| with::<E, _>(Status::Unknown as i32, |inside| read(inside)))
}

pub(crate) extern "C" fn board_close<E: Endpoint>(segment: u64) {
    with::<E, _>((), |inside| {
        let place = inside.services.segments.get_mut((segment as usize).wrapping_sub(1));
        let Some(closed) = place.and_then(Option::take) else { return };
        // The control block goes with it, unless it is another's by now.
        inside.services.mapped.retain(|(_, shared)| !Arc::ptr_eq(shared, &closed.shared));
    });
}

impl Runtime {
    #[inline]
    pub(crate) fn segment(&mut self, number: u64) -> Option<&mut SharedSegment> {
        self.services.segments.get_mut((number as usize).wrapping_sub(1))?.as_mut()
    }

    /// Whether this task can wait at a segment, and no setting sends its messages another way. A job that is recorded
    /// for replay on other hosts uses messages, as on those hosts.
    fn wants_segments(&self) -> bool {
        let recording = self.identity.recording.as_ref();
        let is_for_replay = recording.is_some_and(|recording| recording.clock() == Clock::ProcessorTime);
        self.connections.routes.shares_memory() && !self.has_sockets() && !is_for_replay
    }
}

impl Inside {
    fn open_segment(&mut self, group: &str, member: u32, members: u32, notes: &Notes) -> Result<u64, Status> {
        self.services.mapped.retain(|(name, _)| name != group);
        self.show_barrier(group, members as i32);
        let asked = Request::Barrier { group: group.to_owned(), count: members as i32 };
        let answer = self.ask(asked, &[], notes).map_err(|why| match why {
            AskError::Late(_) => Status::Pending,
            AskError::Lost(why) => {
                remember(&why);
                Status::NoMachine
            }
        })?;
        if let Err(why) = answer.reply {
            remember(&why);
            return Err(Status::Refused);
        }
        if answer.fds.is_empty() {
            return Err(Status::Unknown);
        }
        self.remember_segment(group, answer.fds);
        let shared = self.segment_of(group).ok_or(Status::NoMemory)?;
        if shared.members_if_shown() != Some(members) {
            return Err(Status::Unknown);
        }
        let before = self.services.segments.iter().flatten().find(|segment| *segment.group == *group);
        let rounds = before
            .map_or(0, |segment| segment.round as u32 & 0xff_ffff | (segment.announced as u32 & 0x7f) << 24);
        let segment = SharedSegment {
            group: group.into(),
            shared,
            member,
            members,
            round: 0,
            awaits: None,
            announced: 0,
            place: 0,
            has_posted: false,
            processes: Box::default(),
        };
        let free =
            self.services.segments.iter().position(Option::is_none).unwrap_or(self.services.segments.len());
        match self.services.segments.get_mut(free) {
            Some(place) => *place = Some(segment),
            None => self.services.segments.push(Some(segment)),
        }
        let number = free as u64 + 1;
        let wanted = self.wants_segments();
        let word = if wanted { WANTED | rounds << 1 } else { UNWANTED };
        let notes = Notes { limit: -1, ..*notes };
        let introduction = Introduction::new(self.identity.session.me.tid.0);
        let bytes = introduction.bytes();
        let mut answer = self.take_segment_round(number, word, &[piece_of(&bytes)], &[], &notes);
        if answer == came::COME && wanted {
            answer = self.agree_on_reach(number, &notes);
        }
        let answer = match answer {
            came::COME if wanted => return Ok(number),
            came::COME | came::DISAGREED => Status::Unknown,
            came::CLOSED => Status::Gone,
            _ => Status::NoMachine,
        };
        self.services.segments[free] = None;
        Err(answer)
    }

    pub(crate) fn take_segment_round(
        &mut self,
        number: u64,
        word: u32,
        pieces: &[Piece],
        requests: &[u64],
        notes: &Notes,
    ) -> i64 {
        match self.begin_round(number, word, pieces) {
            Ok(true) => self.round_has_come(number, word, |runtime| runtime.progress()),
            Ok(false) => self.await_round(number, word, requests, notes),
            Err(answer) => answer,
        }
    }

    #[cold]
    fn await_round(&mut self, number: u64, word: u32, requests: &[u64], notes: &Notes) -> i64 {
        let Some(&mut SharedSegment {
            ref shared,
            ref group,
            member,
            members,
            round,
            awaits: Some(awaits),
            ..
        }) = self.segment(number)
        else {
            return came::LATE;
        };
        let (shared, group) = (shared.clone(), group.clone());
        self.show_barrier(&group, members as i32);
        self.awaits_in_segment = Some(match awaits {
            Awaited::SegmentBarrier(_) => InSegment::all(shared.clone()),
            Awaited::Other => InSegment::other(shared.clone(), member, round),
        });
        let over = self.wait_until(&Notes { peer: A_GROUP, ..*notes }, |runtime| {
            let outcome = match awaits {
                Awaited::SegmentBarrier(round) => shared.outcome(round),
                Awaited::Other => shared.outcome_beside(member, round),
            };
            if let Some(outcome) = outcome {
                return Some(Err(outcome));
            }
            runtime.is_any_over(requests).map(Ok)
        });
        if let Some(awaits_in_segment) = self.awaits_in_segment.take() {
            awaits_in_segment.stay_awake();
        }
        match over {
            None => came::LATE,
            Some(Ok(at)) => at as i64,
            Some(Err(Outcome::Opened)) => self.round_has_come(number, word, |runtime| runtime.progress()),
            Some(Err(Outcome::Closed)) => came::CLOSED,
        }
    }
}

impl Runtime {
    /// Shows the pieces, if this task has not in this round, and looks for the others. Whether the round has come; or
    /// the reason why it never will.
    #[inline]
    pub(crate) fn begin_round(&mut self, number: u64, word: u32, pieces: &[Piece]) -> Result<bool, i64> {
        let Some(segment) = self.segment(number) else { return Err(came::CLOSED) };
        if segment.awaits.is_some() {
            return Ok(false);
        }
        // SAFETY: the pieces are readable for the call, by the table's contract.
        let shown = unsafe { pieces_of(pieces) };
        let awaits = match segment.members {
            2 => segment.show_other(word, shown),
            _ => segment.show_all(word, shown),
        }?;
        segment.awaits = awaits;
        let shown: usize = pieces.iter().map(|piece| piece.length).sum();
        if shown > 0 {
            self.engine.ledger().add(Counter::CopiedIn, shown as u64);
        }
        Ok(awaits.is_none())
    }

    /// Ends a round that has come. `progress` moves everything on; the answer tells whether anything moved.
    #[inline]
    pub(crate) fn round_has_come(
        &mut self,
        number: u64,
        word: u32,
        progress: impl Fn(&mut Runtime) -> bool,
    ) -> i64 {
        let Some(segment) = self.segment(number) else { return came::CLOSED };
        let agrees = segment.agrees_on(word);
        segment.awaits = None;
        segment.round += 1;
        // All members have received the announcements before the round.
        segment.place = 0;
        // Receives earlier messages of the members, as a message now would ensure. A receive that is posted after a
        // barrier then does not get a message that should have been dropped before. The number of looks at a link until
        // it is empty.
        for _ in 0..8 {
            if !progress(self) {
                break;
            }
        }
        if agrees { came::COME } else { came::DISAGREED }
    }
}

/// The number of looks at the other member's line before other work. A line that is on its way comes sooner.
pub(crate) const LOOKS: u32 = 100;

impl SharedSegment {
    /// Shows something and comes to the segment's barrier. The thing to wait for next, or the result if a wait is
    /// impossible.
    fn show_all<'d>(
        &mut self,
        word: u32,
        pieces: impl Iterator<Item = &'d [u8]> + Clone,
    ) -> Result<Option<Awaited>, i64> {
        if !self.shared.show(self.member, self.round, word, pieces) {
            return Err(came::DISAGREED);
        }
        match self.shared.arrive(None) {
            Arrival::Opened { .. } => Ok(None),
            Arrival::Waits(round) => Ok(Some(Awaited::SegmentBarrier(round))),
            Arrival::Closed => Err(came::CLOSED),
            Arrival::Mismatch => Err(came::DISAGREED),
        }
    }

    /// The same where there are two.
    #[inline]
    fn show_other<'d>(
        &mut self,
        word: u32,
        pieces: impl Iterator<Item = &'d [u8]> + Clone,
    ) -> Result<Option<Awaited>, i64> {
        if self.shared.is_closed() {
            return Err(came::CLOSED);
        }
        if !self.shared.show_other(self.member, self.round, word, pieces) {
            return Err(came::DISAGREED);
        }
        let has_come = (0..LOOKS).any(|_| self.shared.other_has_shown(self.member, self.round));
        Ok((!has_come).then_some(Awaited::Other))
    }
}

/// # Safety
/// The pieces must be readable as long as what this gives is used.
unsafe fn pieces_of(pieces: &[Piece]) -> impl Iterator<Item = &[u8]> + Clone {
    pieces.iter().map(|piece| match piece.length {
        0 => &[][..],
        // SAFETY: the caller's promise.
        length => unsafe { std::slice::from_raw_parts(piece.start, length) },
    })
}

const _: () = assert!(
    SLOT_BYTES == came::ROOM
        && MOST_MEMBERS as usize == came::MEMBERS
        && ANNOUNCED_ROOM == came::ANNOUNCED
        && ANNOUNCEMENTS == came::ANNOUNCEMENTS,
    "what interfaces are told"
);
