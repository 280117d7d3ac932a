//! The segment of some tasks: how they come to it, and how they wait there.
//!
//! Tasks on one host show each other their data where that is quicker than messages. Only groups that need a segment
//! get one. After some operations the members join a group, in an operation by messages. After this operation all have
//! joined, because each member has a message of each other member, or a member is missing by name. Then they open the
//! segment at the daemon, and from then on they do not need the daemon.
//!
//! The daemon closes the segment when a member ends or leaves. A round completes for all members or for none, so all
//! remaining members end the same round with the name of the missing member. If no member is missing, the group had
//! changed for another reason, and the round is repeated at a new segment. In an operation by the ring, only members that
//! wait for an entry learn that a member has died.

use parvum_api::{
    ANY_TASK, CoreApi, Notes, Request as Operation, SegmentPart, SegmentRound, Status, segment,
};
use parvum_collectives::exposed::OpenMemory;
use parvum_collectives::plans::{Group, barrier};
use parvum_collectives::segment::{Announcing, SharedSegment, Writers};
use parvum_collectives::table;
use parvum_collectives::{Exchange, Failure, Fault, Members, Memory, none, run};
use parvum_wire::Tid;
use parvum_wire::control::{GroupRow, Reply, Request, TaskRow, TaskState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// How far some tasks have come towards a segment. Relaxed: only one thread at a time calls their operations.
pub struct Sharing {
    stage: AtomicU8,
    segment: AtomicU64,
    /// Operations that will go by messages before they join a group.
    before: AtomicU32,
    /// The group that they join, once they have.
    group: OnceLock<String>,
    /// How far one of them may have run ahead of another since they last waited for each other at their segment.
    ahead: AtomicU32,
}

/// The limit for running ahead: this number of entries in the ring, a third of it in short operations by messages,
/// or two long operations. A receiver stores the data of operations that it has not reached yet, and a sender that runs
/// ahead keeps the core from the receiver. Measured with reductions of 16 KiB of 8 on two cores: 62 us each where
/// senders ran ahead as they liked, 20 when all met at every second.
const FAR: u32 = 96;

/// How an operation goes in which not each waits for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Announced at the segment, in this number of entries.
    Announced(usize),
    /// By messages with this number of bytes.
    Messages(usize),
}

impl Ahead {
    fn step(self) -> u32 {
        match self {
            Ahead::Announced(entries) => entries as u32,
            Ahead::Messages(..=table::SHORT) => 3,
            Ahead::Messages(_) => FAR / 2,
        }
    }
}

const _: () =
    assert!((FAR as usize) < segment::ANNOUNCEMENTS && table::LONGEST_IN_RING <= segment::ANNOUNCED);

/// A closed segment does not show later deaths. A wait for an entry there asks the daemon after this number of
/// nanoseconds.
const ASKS_AFTER: i64 = 50_000_000;

/// They have not joined a group.
const NEW: u8 = 0;
/// This task has joined the group; so has each whose first operation is over.
const JOINED: u8 = 1;
/// There is a segment.
const OPEN: u8 = 2;
/// There is none.
const NONE: u8 = 3;

/// The work of a task while it waits.
pub trait Attend {
    /// Does what there is to do now, and names the requests after whose end there is more. For how many nanoseconds that
    /// holds; negative: until then. An error ends the operation, and the use of the segment.
    fn attend(&self, requests: &mut Vec<Operation>) -> Result<i64, Status>;
}

impl Sharing {
    /// No segment yet; this number of operations first use messages.
    pub const fn after(operations: u32) -> Sharing {
        Sharing {
            stage: AtomicU8::new(NEW),
            segment: AtomicU64::new(0),
            before: AtomicU32::new(operations),
            group: OnceLock::new(),
            ahead: AtomicU32::new(0),
        }
    }

    /// Counts an operation in which not each waits for each. Whether all members should first pass the barrier of the
    /// segment: every member gets the same answer.
    #[inline]
    pub fn runs_far_ahead(&self, how: Ahead) -> bool {
        let ahead = self.ahead.load(Ordering::Relaxed) + how.step();
        let is_far = ahead > FAR;
        self.ahead.store(if is_far { how.step() } else { ahead }, Ordering::Relaxed);
        is_far
    }

    /// All have waited for each other.
    #[inline]
    pub fn has_met(&self) {
        self.ahead.store(0, Ordering::Relaxed);
    }

    /// Whether they have a segment by now.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.stage.load(Ordering::Relaxed) == OPEN
    }

    /// Whether this task is in their group.
    pub fn has_group(&self) -> bool {
        self.group.get().is_some()
    }

    /// They will have no segment.
    pub fn give_up(&self) {
        self.stage.store(NONE, Ordering::Relaxed);
    }

    /// This task does nothing more with the others. It has not died: they go on with what it has left to them.
    pub fn leave(&self, api: CoreApi) {
        self.give_up();
        if let Some(group) = self.group.get() {
            // If the virtual machine is lost, its groups have no members.
            let _ = api.ask(&Request::Leave { group: group.clone() }, &notes_of_machine());
        }
    }

    /// Forgets the segment, and leaves the group: these tasks do nothing together any more.
    pub fn end(&mut self, api: CoreApi) {
        self.close(api);
        self.leave(api);
        self.group.take();
    }

    pub(crate) fn start_anew(&mut self, api: CoreApi) {
        self.close(api);
        *self = Sharing::after(0);
    }

    fn close(&mut self, api: CoreApi) {
        if std::mem::replace(self.stage.get_mut(), NONE) == OPEN {
            api.close_segment(*self.segment.get_mut());
        }
    }

    /// The segment of some tasks, if their next operation may use one. Every task calls this before each operation,
    /// with the same name of the group. One operation among them goes by messages, and is one in which each hears of
    /// each.
    #[inline(always)]
    pub fn segment<'a>(
        &'a self,
        members: Members<'a>,
        name: impl FnOnce() -> String,
        attend: Option<&'a dyn Attend>,
    ) -> Result<Option<AtSegment<'a>>, Failure> {
        let segment = match self.stage.load(Ordering::Relaxed) {
            OPEN => self.segment.load(Ordering::Relaxed),
            NONE => return Ok(None),
            NEW => {
                self.join(&members, name)?;
                return Ok(None);
            }
            _ => self.open(&members)?,
        };
        Ok((segment != 0).then_some(AtSegment {
            sharing: self,
            members,
            segment,
            attend,
            requests: Vec::new(),
        }))
    }

    /// The same where the next operation may be one in which not each hears of each: a barrier by messages takes its place.
    #[inline(always)]
    pub fn segment_at_any<'a>(
        &'a self,
        members: Members<'a>,
        exchange: &mut impl Exchange,
        name: impl Fn() -> String,
        attend: Option<&'a dyn Attend>,
    ) -> Result<Option<AtSegment<'a>>, Failure> {
        if self.stage.load(Ordering::Relaxed) == NEW && !self.comes_to_group(members, exchange, &name)? {
            return Ok(None);
        }
        self.segment(members, name, attend)
    }

    /// The first operations of some tasks, which have no segment yet. Whether they have joined their group now, and all know.
    #[cold]
    fn comes_to_group(
        &self,
        members: Members<'_>,
        exchange: &mut impl Exchange,
        name: impl FnOnce() -> String,
    ) -> Result<bool, Failure> {
        // Only this thread counts.
        let before = self.before.load(Ordering::Relaxed);
        if before > 0 {
            self.before.store(before - 1, Ordering::Relaxed);
            return Ok(false);
        }
        if !is_for(&members) {
            self.give_up();
            return Ok(false);
        }
        self.join(&members, name)?;
        let memory = Memory { mine: &[], data: &mut [], scratch: &mut [] };
        run(exchange, &barrier::dissemination(members.group()), memory, &mut none)?;
        Ok(true)
    }

    /// The group whose page has the barrier, for tasks that never have a segment. Their first barrier joins the group,
    /// and uses messages.
    pub(crate) fn page(
        &self,
        members: &Members<'_>,
        name: impl FnOnce() -> String,
    ) -> Result<Option<&str>, Failure> {
        match self.stage.load(Ordering::Relaxed) {
            NEW => self.join(members, name).map(|()| None),
            // They have joined in this operation, and come to their segment in the next.
            JOINED if is_for(members) => Ok(None),
            _ => Ok(self.group.get().map(String::as_str)),
        }
    }

    fn join(&self, members: &Members<'_>, name: impl FnOnce() -> String) -> Result<(), Failure> {
        let group = name();
        match members.api.ask(&Request::Join { group: group.clone() }, &notes(members)) {
            Ok(Ok(_)) => {
                self.group.get_or_init(|| group);
                self.stage.store(JOINED, Ordering::Relaxed);
                Ok(())
            }
            Ok(Err(_)) => Err(Failure::Engine(Status::Refused)),
            Err(status) => Err(Failure::Engine(status)),
        }
    }

    /// Opens a segment, the first or another; 0: there is none.
    fn open(&self, members: &Members<'_>) -> Result<u64, Failure> {
        let Some(group) = self.group.get() else { return Ok(0) };
        loop {
            match members.api.open_segment(group, members.own, members.tasks.len(), &notes(members)) {
                Ok(segment) => {
                    self.segment.store(segment, Ordering::Relaxed);
                    self.stage.store(OPEN, Ordering::Relaxed);
                    return Ok(segment);
                }
                Err(Status::Unknown) => {
                    self.give_up();
                    return Ok(0);
                }
                Err(Status::Gone) => match self.who_is_gone(members) {
                    // The group has changed without a loss: all open it again.
                    Failure::Engine(Status::Gone) => {}
                    why => return Err(why),
                },
                Err(Status::Refused) => return Err(self.who_is_gone(members)),
                Err(status) => return Err(Failure::Engine(status)),
            }
        }
    }

    /// Which member has ended, and was the first to, when the machine says that one has; otherwise [`Status::Gone`].
    pub(crate) fn who_is_gone(&self, members: &Members<'_>) -> Failure {
        let lost = self.first_lost(members);
        match lost.and_then(|lost| if lost.is_none() { first_missing(members) } else { Ok(lost) }) {
            Ok(Some(member)) => Failure::Fault(Fault::Gone(member)),
            Ok(None) => Failure::Engine(Status::Gone),
            Err(status) => Failure::Engine(status),
        }
    }

    /// The first member that the group has lost. Others may have ended since, for want of it.
    fn first_lost(&self, members: &Members<'_>) -> Result<Option<usize>, Status> {
        let group = match self.group_now(members) {
            // A part of a machine without a majority does not say.
            Err(Status::Refused) => None,
            answer => answer?,
        };
        let lost = group.and_then(|group| group.lost);
        Ok(lost.and_then(|Tid(lost)| members.tasks.iter().position(|&task| task == lost)))
    }

    /// The first member that is not in the group. Each was, if the tasks have had a segment.
    fn first_absent(&self, members: &Members<'_>) -> Result<Option<usize>, Status> {
        let Some(group) = self.group_now(members)? else { return Ok(Some(0)) };
        let is_there = |task: i32| group.members.iter().any(|&(_, Tid(member))| member == task);
        Ok(members.tasks.iter().position(|&task| !is_there(task)))
    }

    /// The group of these tasks, as the machine knows it. `None`: all members have left it.
    fn group_now(&self, members: &Members<'_>) -> Result<Option<GroupRow>, Status> {
        let Ok(Reply::Groups(groups)) = members.api.ask(&Request::Groups, &notes(members))? else {
            return Err(Status::Refused);
        };
        let own = self.group.get();
        Ok(groups.into_iter().find(|group| Some(&group.name) == own))
    }
}

/// The first in order of which the machine knows nothing.
fn first_missing(members: &Members<'_>) -> Result<Option<usize>, Status> {
    let asked = Request::Tasks { of: None, deep: false };
    let Ok(Reply::Tasks(rows)) = members.api.ask(&asked, &notes(members))? else { return Ok(None) };
    // A process may go on when its task has left.
    let is_there = |row: &TaskRow| row.state != TaskState::Departed;
    let is_gone = |task: i32| !rows.iter().any(|row| row.tid == Tid(task) && is_there(row));
    Ok(members.tasks.iter().position(|&task| is_gone(task)))
}

/// Whether these tasks can have a segment, and are better off with it.
pub(crate) fn is_for(members: &Members<'_>) -> bool {
    is_on_one_host(members.tasks) && members.group().size > 1
}

pub(crate) fn is_on_one_host(tasks: &[i32]) -> bool {
    tasks.iter().all(|&task| Tid(task).host() == Tid(tasks[0]).host())
}

fn notes(members: &Members<'_>) -> Notes {
    Notes { limit: -1, call: members.call, peer: ANY_TASK, tag: members.tag, context: members.context as i32 }
}

fn notes_of_machine() -> Notes {
    Notes { limit: -1, call: parvum_api::call::MACHINE, peer: ANY_TASK, tag: -1, context: -1 }
}

/// Some tasks at their segment.
pub struct AtSegment<'a> {
    sharing: &'a Sharing,
    members: Members<'a>,
    segment: u64,
    attend: Option<&'a dyn Attend>,
    requests: Vec<Operation>,
}

impl AtSegment<'_> {
    /// The round did not complete, and never will at this segment.
    #[cold]
    fn closed(&mut self) -> Result<(), Failure> {
        match self.sharing.who_is_gone(&self.members) {
            Failure::Engine(Status::Gone) => {}
            why => return Err(why),
        }
        if let Some(left) = self.sharing.first_absent(&self.members).map_err(Failure::Engine)? {
            return Err(Failure::Fault(Fault::Gone(left)));
        }
        // The closed one is known until the other is open: how far its members have come is compared.
        let (before, opened) = (self.segment, self.sharing.open(&self.members));
        self.members.api.close_segment(before);
        match opened? {
            // Members cannot continue with half an operation.
            0 => Err(Failure::Engine(Status::Gone)),
            segment => {
                self.segment = segment;
                Ok(())
            }
        }
    }

    /// The segment is closed, and the entry of this member is missing.
    #[cold]
    fn why_missing(&self, writer: usize) -> Result<Missing, Status> {
        let Some(group) = self.sharing.group_now(&self.members)? else { return Ok(Missing::Left) };
        let place = |task: Tid| self.members.tasks.iter().position(|&other| Tid(other) == task);
        let is_member = group.members.iter().any(|&(_, member)| place(member) == Some(writer));
        Ok(match group.lost.and_then(place) {
            Some(lost) => Missing::Died(lost),
            None if is_member => Missing::Late,
            None => Missing::Left,
        })
    }

    /// Goes on to the next operation by the ring without the data of this one, as the members do that have only written.
    fn skip(&self, word: u32, entries: usize) {
        let notes = notes(&self.members);
        let none = (&mut [][..], self.members.tasks, usize::MAX);
        self.members.api.announce((self.segment, word), entries, (None, true), none, &[], &notes);
    }

    /// Waits in this call of the table, at this segment or the next, and does other work during the wait.
    #[inline(always)]
    fn wait(
        &mut self,
        mut call: impl FnMut(CoreApi, u64, &[Operation], &Notes) -> SegmentRound,
    ) -> Result<(), Failure> {
        let (api, notes) = (self.members.api, notes(&self.members));
        loop {
            let limit = self.attend()?;
            match call(api, self.segment, &self.requests, &Notes { limit, ..notes }) {
                SegmentRound::Come => return Ok(()),
                SegmentRound::Over(_) => {}
                SegmentRound::Closed => self.closed()?,
                SegmentRound::Disagreed | SegmentRound::Missing(_) => {
                    return Err(Failure::Fault(Fault::Disagreed));
                }
                SegmentRound::Late if limit >= 0 && !api.progress().lost => {}
                SegmentRound::Late => return Err(Failure::Engine(Status::NoMachine)),
            }
        }
    }

    #[inline]
    fn attend(&mut self) -> Result<i64, Failure> {
        let Some(task) = self.attend else { return Ok(-1) };
        task.attend(&mut self.requests).map_err(|status| {
            self.sharing.give_up();
            Failure::Engine(status)
        })
    }
}

impl SharedSegment for AtSegment<'_> {
    fn group(&self) -> Group {
        self.members.group()
    }

    fn room(&self) -> usize {
        segment::ROOM
    }

    #[inline]
    fn round(&mut self, word: u32, data: [&[u8]; 2]) -> Result<(), Failure> {
        self.exchange(word, data, &mut [])
    }

    #[inline]
    fn exchange(
        &mut self,
        word: u32,
        data: [&[u8]; 2],
        parts: &mut [SegmentPart<'_>],
    ) -> Result<(), Failure> {
        self.wait(|api, segment, requests, notes| api.exchange(segment, word, data, parts, requests, notes))
    }

    #[inline]
    fn read(&mut self, member: usize, from: usize, into: &mut [u8]) -> Result<(), Failure> {
        self.members.api.read_segment(self.segment, member, from, into).map_err(|status| match status {
            // With the same word, all members publish the same length.
            Status::BadArgument => Failure::Fault(Fault::Disagreed),
            other => Failure::Engine(other),
        })
    }
}

impl Announcing for AtSegment<'_> {
    #[inline]
    fn announce(
        &mut self,
        word: u32,
        writers: Writers,
        own: Option<&[u8]>,
        parts: &mut [SegmentPart<'_>],
    ) -> Result<(), Failure> {
        let Group { own: me, size } = self.members.group();
        let (entries, own) = (writers.entries(size), own.map(|data| (writers.entry(me), data)));
        let (tasks, except) = match writers {
            Writers::Root(root) => (&self.members.tasks[root..], usize::MAX),
            Writers::AllBut(root) => (self.members.tasks, root),
        };
        // One of several writers may leave after its entry, while others have still to write.
        let are_several = matches!(writers, Writers::AllBut(_));
        let mut known = None;
        loop {
            let mut missing = None;
            self.wait(|api, segment, requests, notes| {
                let (parts, written) = ((&mut *parts, tasks, except), (own, are_several));
                let late = matches!(known, Some((_, Missing::Late)));
                let limit = if late { ASKS_AFTER } else { notes.limit };
                let notes = Notes { limit, ..*notes };
                match api.announce((segment, word), entries, written, parts, requests, &notes) {
                    // With a limit, the call waits for the entry at the closed segment.
                    SegmentRound::Late if late => known = None,
                    SegmentRound::Missing(entry) if are_several => {
                        missing = Some(entry);
                        return SegmentRound::Come;
                    }
                    SegmentRound::Missing(_) => return SegmentRound::Closed,
                    other => return other,
                }
                // The time is over: the next look answers at once, and the daemon is asked.
                SegmentRound::Over(0)
            })?;
            let Some(entry) = missing else { return Ok(()) };
            let writer = writers.member(entry);
            // The answer of the daemon holds for an entry that is still missing at the next look.
            let gone = match known {
                Some((_, Missing::Died(lost))) => Some(lost),
                Some((before, Missing::Left)) if before == entry => Some(writer),
                _ => None,
            };
            if let Some(gone) = gone {
                self.skip(word, entries);
                return Err(Failure::Fault(Fault::Gone(gone)));
            }
            known = Some((entry, self.why_missing(writer).map_err(Failure::Engine)?));
        }
    }
}

/// Why an entry is missing at a closed segment.
#[derive(Clone, Copy)]
enum Missing {
    /// This member has died, and the operation fails.
    Died(usize),
    /// The writer has left. Either the entry is there by now, or it never comes.
    Left,
    /// Other members have left after their last operation. The entry will come.
    Late,
}

impl OpenMemory for AtSegment<'_> {
    fn reaches(&self) -> bool {
        self.members.api.board_reaches(self.segment)
    }

    fn fetch(&mut self, member: usize, address: u64, into: &mut [u8]) -> bool {
        self.members.api.fetch_in_segment(self.segment, member, address, into).is_ok()
    }
}
