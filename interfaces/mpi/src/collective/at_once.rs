//! Blocking calls within one group: done in place, at the communicator's segment or by messages, without a schedule that could be kept.
//!
//! All ranks must go the same way. Which it is follows from the call and the bytes of its data, which are the same on all, and from
//! how many blocking calls of the communicator there were before.

use super::blocks::{get_with, give, give_and_get, of_root};
use super::call::{Call, combine_of, refuse_revoked};
use super::last::note;
use super::{exposed, intra, ring, trials};
use crate::comms::comm::Comm;
use crate::errors::Mpi;
use crate::process::this::{Process, process};
use crate::requests::schedule::{Areas, Bytes, Guarded, Part, named};
use crate::{comms::revocation, process::introspect, requests::progress};
use parvum_api::{Request, Status};
use parvum_collectives::exposed::{Exposed, OpenMemory};
use parvum_collectives::plans::hosts::Placement;
use parvum_collectives::plans::{Area, in_a_row};
use parvum_collectives::segment::{self, Writers};
use parvum_collectives::table::{Algorithm, choose};
use parvum_collectives::{Failure, Fault, Members, Memory, contribute, reduce_of_two};
use parvum_partition::{Ahead, AtSegment, Attend};
use std::sync::Arc;

/// Does a call, and waits for its end.
pub(super) fn run(comm: &Arc<Comm>, call: Call) -> Mpi {
    let (root, bytes) = call.extent();
    Doing::begin(comm, call.kind(), root, bytes)?.run(call, bytes)
}

/// A blocking call that has begun.
pub(super) struct Doing<'c> {
    comm: &'c Comm,
    pub(super) members: Members<'c>,
    attending: Attending,
}

impl<'c> Doing<'c> {
    #[inline(always)]
    pub(super) fn begin(comm: &'c Arc<Comm>, kind: u32, root: i32, bytes: u64) -> Mpi<Doing<'c>> {
        // All ranks must go the same way: what is under way here, and who handles errors, says nothing of the others.
        refuse_revoked(comm)?;
        let (process, turn) = (process()?, comm.next_turn());
        let call = introspect::publish_turn(process, comm, turn, root, bytes);
        // One alone sends nothing, so nobody looks at who it is.
        let tasks: &[i32] = if comm.size() == 1 { &[0] } else { comm.group().tasks() };
        let (context, tag) = (comm.collective_context(), Comm::tag_of(turn, kind));
        let members = Members { api: process.api, tasks, own: comm.rank(), context, tag, call };
        Ok(Doing { comm, members, attending: Attending { process, context: comm.context() } })
    }

    fn run(self, call: Call, bytes: u64) -> Mpi {
        if let Call::Bcast { root, .. } | Call::Reduce { root, .. } | Call::Scatter { root, .. } = call {
            self.comm.root(root)?;
        }
        self.run_with(self.segment(), call, bytes)
    }

    pub(super) fn run_with(
        &self,
        segment: Result<Option<AtSegment<'_>>, Failure>,
        call: Call,
        bytes: u64,
    ) -> Mpi {
        let mut segment = match segment {
            Ok(segment) => segment,
            Err(failure) => return self.end(Err(failure)),
        };
        if let (Some(at), Some(operation)) = (&mut segment, call.operation()) {
            match choose(operation, &call.case(self.comm.size())) {
                Algorithm::BroadcastRing => {
                    let writers = ring::writers(&call, self.comm.size());
                    return self.by_ring(at, writers, |at| ring::run(at, self.comm, call));
                }
                Algorithm::SharedSegment => {
                    note(Algorithm::SharedSegment);
                    self.comm.sharing().has_met();
                    return self.end(show(at, self.comm, call));
                }
                Algorithm::OpenMemory if at.reaches() => {
                    note(Algorithm::OpenMemory);
                    self.comm.sharing().has_met();
                    return match exposed::run(at, self.comm, &call)? {
                        Ok(Exposed::Done) => Ok(()),
                        Ok(Exposed::Refused) => self.by_messages(call),
                        Err(failure) => self.end(Err(failure)),
                    };
                }
                _ => {}
            }
        }
        let lets_run_ahead = matches!(call, Call::Bcast { .. } | Call::Reduce { .. });
        if lets_run_ahead && let Err(failure) = self.keep_together(segment, bytes as usize) {
            return self.end(Err(failure));
        }
        self.by_messages(call)
    }

    /// Before an operation in which not each waits for each: nobody runs far ahead, where they have a segment to meet at.
    #[inline]
    pub(super) fn keep_together(&self, segment: Option<AtSegment<'_>>, length: usize) -> Result<(), Failure> {
        match segment {
            Some(mut segment) if self.comm.sharing().runs_far_ahead(Ahead::Messages(length)) => {
                segment::barrier(&mut segment)
            }
            _ => Ok(()),
        }
    }

    /// An operation by the ring. All members meet before it, if the ring might have no room.
    #[inline]
    pub(super) fn by_ring(
        &self,
        segment: &mut AtSegment<'_>,
        writers: Writers,
        work: impl FnOnce(&mut AtSegment<'_>) -> Result<(), Failure>,
    ) -> Mpi {
        note(Algorithm::BroadcastRing);
        let entries = Ahead::Announced(writers.entries(self.comm.size()));
        if self.comm.sharing().runs_far_ahead(entries)
            && let Err(failure) = segment::barrier(segment)
        {
            return self.end(Err(failure));
        }
        match work(segment) {
            // Members that have only written do not know of the failure, so all members stay at the segment.
            Err(failure @ Failure::Fault(Fault::Disagreed)) => self.named(Err(failure)),
            Err(failure @ Failure::Fault(Fault::Gone(_))) if matches!(writers, Writers::AllBut(_)) => {
                self.named(Err(failure))
            }
            outcome => self.end(outcome),
        }
    }

    /// The communicator's segment, if it has one by now.
    #[inline(always)]
    pub(super) fn segment(&self) -> Result<Option<AtSegment<'_>>, Failure> {
        let attend: Option<&dyn Attend> =
            if progress::is_quiet() && revocation::news().is_none() { None } else { Some(&self.attending) };
        let (members, name) = (self.members, || self.comm.group_name());
        self.comm.sharing().segment_at_any(members, &mut Guarded(members), name, attend)
    }

    pub(super) fn by_messages(&self, mut call: Call) -> Mpi {
        if let Some(outcome) = reduce_short(self.members, &mut call) {
            note(Algorithm::Straight);
            return self.named(outcome);
        }
        let outcome = trials::send(self.comm, self.members, call)?;
        self.named(outcome)
    }

    /// It ends at the segment, or on the way there.
    #[inline]
    pub(super) fn end(&self, outcome: Result<(), Failure>) -> Mpi {
        if outcome.is_err() {
            // Nobody who has missed a turn comes to the next.
            self.comm.sharing().give_up();
        }
        self.named(outcome)
    }

    #[inline]
    pub(super) fn named(&self, outcome: Result<(), Failure>) -> Mpi {
        let rank_of = |task: i32| self.comm.peers().rank_of(task);
        outcome.map_err(|failure| named(failure, self.members.tasks, &rank_of))
    }
}

/// So many bytes of two are combined without a plan, and come to a place in the caller's frame.
const SHORT: usize = 1 << 10;

/// A short reduction of two, by the same messages as every other. `None`: it is none, or its data has holes.
fn reduce_short(members: Members<'_>, call: &mut Call) -> Option<Result<(), Failure>> {
    let Call::Reduce { give, get, op, root } = call else { return None };
    let root = usize::try_from(*root).ok()?;
    if members.tasks.len() != 2 || root > 1 {
        return None;
    }
    if members.own != root {
        let data = give.as_ref()?.bytes().filter(|data| data.len() <= SHORT)?;
        return Some(contribute(&mut Guarded(members), root, data));
    }
    let data = get.bytes_mut().filter(|data| data.len() <= SHORT)?;
    if let Some(give) = give {
        data.copy_from_slice(give.bytes().filter(|give| give.len() == data.len())?);
    }
    let mut come = [0; SHORT];
    let come = &mut come[..data.len()];
    let combine = &mut |first: &mut [u8], second: &[u8]| op.combine.apply(first, second);
    Some(reduce_of_two(&mut Guarded(members), data, come, combine))
}

/// By messages.
pub(super) fn send(
    placed: Placement<'_>,
    comm: &Comm,
    members: Members<'_>,
    call: Call,
) -> Mpi<Result<(), Failure>> {
    let combine = combine_of(&call);
    let (plan, mut areas, then) = intra::plan(placed, comm, call)?;
    let mut scratch = vec![0; plan.needs(Area::Scratch)];
    let memory = Memory { mine: areas.mine.slice(), data: areas.data.slice_mut(), scratch: &mut scratch };
    let combine = &mut |first: &mut [u8], second: &[u8]| combine.apply(first, second);
    let outcome = parvum_collectives::run(&mut Guarded(members), &plan, memory, combine);
    put(then, &mut areas);
    Ok(outcome)
}

/// Puts what has come where it shall lie.
pub(super) fn put(then: Option<Part>, areas: &mut Areas) {
    if let Some(Part::Then(then)) = then {
        then(areas);
    }
}

/// At the segment.
fn show(segment: &mut AtSegment<'_>, comm: &Comm, call: Call) -> Result<(), Failure> {
    let combine = combine_of(&call);
    let (mine, data, then, outcome);
    match call {
        Call::Barrier => return segment::barrier(segment),
        Call::Bcast { data: whole, root } => {
            (data, then) = of_root(whole, root == comm.rank() as i32);
            let mut areas = Areas { mine: Bytes::NONE, data };
            outcome = segment::broadcast(segment, root as usize, areas.data.slice_mut());
            put(then, &mut areas);
        }
        Call::Allreduce { give: own, get: result, op } => {
            (data, then) = get_with(own.as_ref(), result);
            let mut areas = Areas { mine: Bytes::NONE, data };
            let combine = &mut |first: &mut [u8], second: &[u8]| combine.apply(first, second);
            outcome = segment::allreduce(segment, areas.data.slice_mut(), op.unit, combine);
            put(then, &mut areas);
        }
        Call::ReduceScatter { give: own, get: result, lengths, op } => {
            let contribution;
            (contribution, data, then) = give_and_get(&own, result);
            let mut areas = Areas { mine: Bytes::NONE, data };
            let combine = &mut |first: &mut [u8], second: &[u8]| combine.apply(first, second);
            let (parts, data) = (in_a_row(lengths), areas.data.slice_mut());
            outcome = segment::reduce_scatter(segment, contribution.slice(), &parts, data, op.unit, combine);
            put(then, &mut areas);
        }
        Call::Allgather { give: own, get: blocks } => {
            let (spans, in_place) = (blocks.spans(), blocks.of(comm.rank()));
            (data, then) = blocks.get();
            let mine = match (&own, &data) {
                (Some(own), _) => Some(give(own)),
                (None, Bytes::Program(..)) => None,
                (None, Bytes::Own(_)) => Some(Bytes::Own(in_place.packed())),
            };
            let mut areas = Areas { mine: Bytes::NONE, data };
            outcome =
                segment::allgather(segment, mine.as_ref().map(Bytes::slice), &spans, areas.data.slice_mut());
            put(then, &mut areas);
        }
        Call::Alltoall { give: own, get: blocks, .. } => {
            mine = own.as_ref().map_or_else(|| blocks.copy(), |own| own.give());
            (data, then) = blocks.get();
            let mut areas = Areas { mine, data };
            outcome = segment::alltoall(segment, areas.mine.slice(), areas.data.slice_mut());
            put(then, &mut areas);
        }
        _ => unreachable!("not for the board"),
    }
    outcome
}

/// Waiting at a segment it moves everything else that is under way.
struct Attending {
    process: &'static Process,
    context: u32,
}

impl Attend for Attending {
    fn attend(&self, requests: &mut Vec<Request>) -> Result<i64, Status> {
        progress::move_all(self.process);
        if revocation::is_revoked(self.context) {
            return Err(Status::Cancelled);
        }
        requests.clear();
        progress::awaited_by_all(requests);
        Ok(-1)
    }
}
