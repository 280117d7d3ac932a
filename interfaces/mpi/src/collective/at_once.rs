//! Blocking calls within one group: done in place, at the communicator's segment or by messages, without a schedule that could be kept.
//!
//! All ranks must go the same way. Which it is follows from the call and the bytes of its data, which are the same on all, and from
//! how many blocking calls of the communicator there were before.

use super::blocks::{Blocks, get_with, give, give_and_get, of_root};
use super::call::{Call, combine_of, refuse_revoked};
use super::last::note;
use super::{exposed, intra, trials};
use crate::comms::comm::Comm;
use crate::errors::Mpi;
use crate::messages::buffers::Data;
use crate::process::this::{Process, process};
use crate::requests::schedule::{Areas, Bytes, Guarded, Part, named};
use crate::{comms::revocation, process::introspect, requests::progress};
use parvum_api::{Request, Status, call};
use parvum_collectives::exposed::{Exposed, OpenMemory};
use parvum_collectives::plans::hosts::Placement;
use parvum_collectives::plans::{Area, in_a_row};
use parvum_collectives::segment;
use parvum_collectives::table::{Algorithm, Case, LONGEST_IN_RING, Operation, choose};
use parvum_collectives::{Failure, Members, Memory, broadcast_straight, contribute, reduce_of_two};
use parvum_partition::{Ahead, AtSegment, Attend};
use std::sync::Arc;

/// Does a call, and waits for its end.
pub(super) fn run(comm: &Arc<Comm>, call: Call) -> Mpi {
    let (root, bytes) = call.extent();
    Doing::begin(comm, call.kind(), root, bytes)?.run(call, bytes)
}

/// The same of the calls that programs call most, without the others' ways about them.
pub(super) fn barrier(comm: &Arc<Comm>) -> Mpi {
    let doing = Doing::begin(comm, Operation::Barrier as u32, -1, introspect::NO_BYTES)?;
    match doing.segment() {
        Ok(Some(mut segment)) => {
            note(Algorithm::SharedSegment);
            comm.sharing().has_met();
            doing.end(segment::barrier(&mut segment))
        }
        Ok(None) => doing.by_messages(Call::Barrier),
        Err(failure) => doing.end(Err(failure)),
    }
}

/// Likewise, of short data in one run. Other data goes the other way, by the same algorithms.
pub(super) fn broadcast(comm: &Arc<Comm>, mut data: Data, root: i32) -> Mpi {
    let (place, length) = (comm.root(root)?, data.length());
    let by_messages = choose(Operation::Broadcast, &Case::new(comm.size(), length));
    if by_messages != Algorithm::Straight || data.run().is_none() {
        return run(comm, Call::Bcast { data, root });
    }
    let doing = Doing::begin(comm, Operation::Broadcast as u32, root, length as u64)?;
    let bytes = data.bytes_mut().expect("one run");
    // It has a place among the communicator's operations, and may be the one in which they come to their segment.
    match doing.segment() {
        Ok(Some(mut segment)) if is_announced(comm, length) => {
            note(Algorithm::BroadcastRing);
            doing.end(doing.announce(&mut segment, place, bytes))
        }
        Ok(segment) => match doing.keep_together(segment, length) {
            Ok(()) => {
                note(Algorithm::Straight);
                doing.named(broadcast_straight(&mut Guarded(doing.members), place, bytes))
            }
            Err(failure) => doing.end(Err(failure)),
        },
        Err(failure) => doing.end(Err(failure)),
    }
}

/// A blocking call that has begun.
struct Doing<'c> {
    comm: &'c Comm,
    members: Members<'c>,
    attending: Attending,
}

impl<'c> Doing<'c> {
    #[inline]
    fn begin(comm: &'c Arc<Comm>, kind: u32, root: i32, bytes: u64) -> Mpi<Doing<'c>> {
        // All ranks must go the same way: what is under way here, and who handles errors, says nothing of the others.
        refuse_revoked(comm)?;
        let (process, turn) = (process()?, comm.next_turn());
        introspect::publish_turn(process, comm, turn, root, bytes);
        // One alone sends nothing, so nobody looks at who it is.
        let tasks: &[i32] = if comm.size() == 1 { &[0] } else { comm.group().tasks() };
        let (context, tag, call) =
            (comm.collective_context(), Comm::tag_of(turn, kind), introspect::now(call::WAIT));
        let members = Members { api: process.api, tasks, own: comm.rank(), context, tag, call };
        Ok(Doing { comm, members, attending: Attending { process, context: comm.context() } })
    }

    fn run(self, call: Call, bytes: u64) -> Mpi {
        if let Call::Bcast { root, .. } | Call::Reduce { root, .. } | Call::Scatter { root, .. } = call {
            self.comm.root(root)?;
        }
        let are_parts_announced = matches!(call, Call::Scatter { .. })
            && choose(Operation::Scatter, &call.case(self.comm.size())) == Algorithm::BroadcastRing;
        match (self.segment(), call) {
            (Ok(Some(mut segment)), Call::Bcast { data, root }) if is_announced(self.comm, data.length()) => {
                note(Algorithm::BroadcastRing);
                let (data, then) = of_root(data, root == self.comm.rank() as i32);
                let mut areas = Areas { mine: Bytes::NONE, data };
                let outcome = self.announce(&mut segment, root as usize, areas.data.slice_mut());
                put(then, &mut areas);
                self.end(outcome)
            }
            (Ok(Some(mut segment)), Call::Scatter { give, get, root, .. }) if are_parts_announced => {
                note(Algorithm::BroadcastRing);
                let outcome = self.announce_parts(&mut segment, root as usize, &give, get);
                self.end(outcome)
            }
            (segment, call) => self.run_with(segment, call, bytes),
        }
    }

    fn run_with(&self, segment: Result<Option<AtSegment<'_>>, Failure>, call: Call, bytes: u64) -> Mpi {
        let mut segment = match segment {
            Ok(segment) => segment,
            Err(failure) => return self.end(Err(failure)),
        };
        if let (Some(at), Some(operation)) = (&mut segment, call.operation()) {
            match choose(operation, &call.case(self.comm.size())) {
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
    fn keep_together(&self, segment: Option<AtSegment<'_>>, length: usize) -> Result<(), Failure> {
        match segment {
            Some(mut segment) if self.comm.sharing().runs_far_ahead(Ahead::Messages(length)) => {
                segment::barrier(&mut segment)
            }
            _ => Ok(()),
        }
    }

    /// A broadcast that its root announces at the segment.
    #[inline]
    fn announce(&self, segment: &mut AtSegment<'_>, root: usize, data: &mut [u8]) -> Result<(), Failure> {
        if self.comm.sharing().runs_far_ahead(Ahead::Announced) {
            segment::barrier(segment)?;
        }
        segment::announce(segment, root, data)
    }

    /// Short parts of a root, which it announces together at the segment. Each member takes its part.
    fn announce_parts(
        &self,
        segment: &mut AtSegment<'_>,
        root: usize,
        parts: &Blocks,
        part: Option<Data>,
    ) -> Result<(), Failure> {
        if self.comm.sharing().runs_far_ahead(Ahead::Announced) {
            segment::barrier(segment)?;
        }
        let mut all = [0; LONGEST_IN_RING];
        let mut each = part.as_ref().map_or(0, Data::length);
        if root == self.comm.rank() {
            // Longer parts than the root's own are an error of the program. They are cut off.
            let given = parts.give();
            let length = given.length().min(all.len());
            each = length / self.comm.size();
            all[..length].copy_from_slice(&given.slice()[..length]);
        }
        let all = &mut all[..each * self.comm.size()];
        segment::announce_parts(segment, root, all)?;
        if let Some(part) = part {
            part.unpack(&all[each * self.comm.rank()..][..each]);
        }
        Ok(())
    }

    /// The communicator's segment, if it has one by now.
    #[inline]
    fn segment(&self) -> Result<Option<AtSegment<'_>>, Failure> {
        let attend: Option<&dyn Attend> =
            if progress::is_quiet() && revocation::news().is_none() { None } else { Some(&self.attending) };
        let (members, name) = (self.members, || self.comm.group_name());
        self.comm.sharing().segment_at_any(members, &mut Guarded(members), name, attend)
    }

    fn by_messages(&self, mut call: Call) -> Mpi {
        if let Some(outcome) = reduce_short(self.members, &mut call) {
            note(Algorithm::Straight);
            return self.named(outcome);
        }
        let outcome = trials::send(self.comm, self.members, call)?;
        self.named(outcome)
    }

    /// It ends at the segment, or on the way there.
    #[inline]
    fn end(&self, outcome: Result<(), Failure>) -> Mpi {
        if outcome.is_err() {
            // Nobody who has missed a turn comes to the next.
            self.comm.sharing().give_up();
        }
        self.named(outcome)
    }

    #[inline]
    fn named(&self, outcome: Result<(), Failure>) -> Mpi {
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
fn put(then: Option<Part>, areas: &mut Areas) {
    if let Some(Part::Then(then)) = then {
        then(areas);
    }
}

#[inline]
fn is_announced(comm: &Comm, length: usize) -> bool {
    choose(Operation::Broadcast, &Case::in_segment(comm.size(), length)) == Algorithm::BroadcastRing
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
