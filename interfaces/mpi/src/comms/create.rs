//! How communicators are made: the members agree on a context, which the first of them gets from the machine.

use crate::callbacks::calling::calling;
use crate::comms::comm::{Comm, Remote};
use crate::comms::contexts::OwnContext;
use crate::comms::group::Group;
use crate::comms::handles::keep;
use crate::comms::topology::Topology;
use crate::errors::{Error, Mpi, class};
use crate::objects::attributes::Attributes;
use crate::objects::combine::Combine;
use crate::objects::info::Info;
use crate::objects::numbers::UNDEFINED;
use crate::process::introspect;
use crate::process::this::process;
use crate::requests::operations::Operation;
use crate::requests::schedule::{Areas, Bytes, Part, Schedule, Stage};
use parvum_collectives::plans::{
    Group as ReceiveInto, Plan, Span, allgather, broadcast, in_a_row, neighbours,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Some tasks that tell each other something, in a context and under a tag that only they use now.
struct Circle {
    tasks: Arc<[i32]>,
    own: usize,
    context: u32,
    tag: i32,
}

impl Circle {
    /// All members of a communicator; of an inter-communicator both sides, in the same order.
    fn all(comm: &Comm) -> Circle {
        let (context, tag) = (comm.collective_context(), next_tag(comm));
        let (here, own) = (comm.group().tasks_in_plan(), comm.rank());
        match comm.remote() {
            None => Circle { tasks: here, own, context, tag },
            Some(remote) => {
                let there = remote.group.tasks();
                let (first, second) = if remote.is_first { (&here, there) } else { (there, &here) };
                let own = if remote.is_first { own } else { there.len() + own };
                Circle { tasks: first.iter().chain(second.iter()).copied().collect(), own, context, tag }
            }
        }
    }

    /// The members of a group, among those of a communicator.
    fn of(&self, group: &Group) -> Option<Circle> {
        let own = group.own()?;
        Some(Circle { tasks: group.tasks().clone(), own, context: self.context, tag: self.tag })
    }

    fn place(&self) -> ReceiveInto {
        ReceiveInto { own: self.own, size: self.tasks.len() }
    }

    fn run(&self, plan: Plan, mine: Vec<u8>, room: Vec<u8>) -> Mpi<Vec<u8>> {
        let out = Arc::new(Mutex::new(Vec::new()));
        let kept = out.clone();
        let take = Part::Then(Box::new(move |areas: &mut Areas| {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = areas.data.slice().to_vec();
        }));
        let stage = Part::Stage(Stage { plan, tasks: self.tasks.clone(), own: self.own });
        let areas = Areas { mine: Bytes::Own(mine), data: Bytes::Own(room) };
        let (tasks, place) = (self.tasks.clone(), (self.context, self.tag));
        let ranks = Arc::new(move |task| tasks.iter().position(|&other| other == task));
        Schedule::new(vec![stage, take], areas, Combine::NOTHING, place, ranks).finish(process()?)?;
        Ok(std::mem::take(&mut *out.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// What each member says, in their order: all of one length.
    fn gather(&self, mine: &[u8]) -> Mpi<Vec<Vec<u8>>> {
        let (size, length) = (self.tasks.len(), mine.len());
        let spans = in_a_row(vec![length; size]);
        let plan = allgather::straight(self.place(), &spans);
        let all = self.run(plan, mine.to_vec(), vec![0; size * length])?;
        Ok(all.chunks(length.max(1)).map(<[u8]>::to_vec).collect())
    }

    /// What the root says, which knows how long it is.
    fn tell(&self, root: usize, bytes: &[u8]) -> Mpi<Vec<u8>> {
        let length = self.run(
            broadcast::binomial(self.place(), root, 8),
            Vec::new(),
            (bytes.len() as u64).to_ne_bytes().to_vec(),
        )?;
        let length = u64::from_ne_bytes(length.try_into().map_err(|_| disagreed())?) as usize;
        let mut room = bytes.to_vec();
        room.resize(length, 0);
        self.run(broadcast::binomial(self.place(), root, length), Vec::new(), room)
    }

    /// A new context, known to all of them; the root has it of the machine.
    fn context(&self, root: usize) -> Mpi<(u32, Option<OwnContext>)> {
        let own = if self.own == root { OwnContext::new().ok() } else { None };
        let said = numbers([number_of(&own)]);
        let told = self.tell(root, if self.own == root { &said } else { &[] })?;
        match words(&told)[..] {
            [0] => Err(no_context()),
            [number] => Ok((number, own)),
            _ => Err(disagreed()),
        }
    }

    /// What this member says to another one that says something as long.
    fn swap(&self, with: usize, bytes: &[u8], come: usize) -> Mpi<Vec<u8>> {
        let span = |length| Span { at: 0, length };
        let plan = neighbours::exchange(&[(with, span(bytes.len()))], &[(with, span(come))]);
        self.run(plan, bytes.to_vec(), vec![0; come])
    }
}

/// The tag of what the members of a communicator tell each other next; onlookers are shown that they do.
fn next_tag(comm: &Comm) -> i32 {
    let turn = comm.next_turn();
    if let Ok(process) = process() {
        introspect::publish_turn(process, comm, turn, -1, introspect::NO_BYTES);
    }
    Comm::tag_of(turn, introspect::MAKING)
}

/// What each member of a communicator says, in their order: all of one length.
pub(crate) fn tell_all(comm: &Comm, mine: &[u8]) -> Mpi<Vec<Vec<u8>>> {
    Circle::all(comm).gather(mine)
}

/// The number of a context; 0 if the machine has given none: the others must be told all the same.
fn number_of(context: &Option<OwnContext>) -> u32 {
    context.as_ref().map_or(0, OwnContext::number)
}

fn no_context() -> Error {
    Error::new(class::OTHER, "the machine gives no more contexts: free some communicators")
}

fn disagreed() -> Error {
    Error::new(class::INTERN, "the members do not agree on what they make")
}

/// A communicator of the same group, with its attributes if so wished.
pub(crate) fn duplicate(comm: &Arc<Comm>, with_attributes: bool) -> Mpi<Comm> {
    let (made, attributes) = (Arc::new(Mutex::new(None)), copied(comm, with_attributes)?);
    let out = made.clone();
    let keeps = move |comm| {
        *out.lock().unwrap_or_else(PoisonError::into_inner) = Some(comm);
        Ok(())
    };
    copying(comm, attributes, Box::new(keeps)).finish(process()?)?;
    let made = made.lock().unwrap_or_else(PoisonError::into_inner).take();
    made.ok_or_else(disagreed)
}

/// What all members of a communicator do to copy it, and what is done with the copy.
///
/// The first of each side gets a context for its side's own communicator, and the first of all one for the copy. All members hear
/// of all of these before anybody makes anything, so that all make a copy or none does.
fn copying(comm: &Arc<Comm>, attributes: Attributes, keep: Box<dyn FnOnce(Comm) -> Mpi + Send>) -> Schedule {
    let circle = Circle::all(comm);
    let roots = match comm.remote() {
        None => vec![0],
        Some(remote) if remote.is_first => vec![0, comm.size()],
        Some(remote) => vec![0, remote.group.size()],
    };
    let new = |wanted: bool| if wanted { OwnContext::new().ok() } else { None };
    let (own, local) = (new(circle.own == 0), new(comm.rank() == 0 && comm.remote().is_some()));
    let (place, said) = (circle.place(), numbers([number_of(&own), number_of(&local)]));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut parts = Vec::new();
    for root in roots {
        let (said, heard) = (said.clone(), heard.clone());
        parts.push(Part::Then(Box::new(|areas: &mut Areas| areas.data = Bytes::Own(said))));
        let plan = broadcast::binomial(place, root, 8);
        parts.push(Part::Stage(Stage { plan, tasks: circle.tasks.clone(), own: circle.own }));
        parts.push(Part::Then(Box::new(move |areas: &mut Areas| {
            heard.lock().unwrap_or_else(PoisonError::into_inner).extend(words(areas.data.slice()));
        })));
    }
    let old = comm.clone();
    parts.push(Part::Try(Box::new(move |_: &mut Areas| {
        let heard = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
        let (context, locals) = match heard[..] {
            [context, _] => (context, None),
            [context, first, _, second] => (context, Some((first, second))),
            _ => return Err(disagreed()),
        };
        if context == 0 || locals.is_some_and(|(first, second)| first == 0 || second == 0) {
            return Err(no_context());
        }
        let remote = old.remote().zip(locals).map(|(remote, (first, second))| {
            let context = if remote.is_first { first } else { second };
            let made = Comm::new(old.group().clone(), None, context).owning(local).like(&remote.local);
            Remote { group: remote.group.clone(), local: Arc::new(made), is_first: remote.is_first }
        });
        let made = Comm::new(old.group().clone(), remote, context).owning(own).like(&old);
        keep(made.with_topology(old.topology.clone()).with_attributes(attributes))
    })));
    let (here, there) = (comm.group().clone(), comm.remote().map(|remote| remote.group.clone()));
    let ranks = move |task| match &there {
        Some(there) => there.rank_of(task).or_else(|| here.rank_of(task)),
        None => here.rank_of(task),
    };
    let areas = Areas { mine: Bytes::NONE, data: Bytes::NONE };
    Schedule::new(parts, areas, Combine::NOTHING, (circle.context, circle.tag), Arc::new(ranks))
}

fn copied(comm: &Arc<Comm>, with_attributes: bool) -> Mpi<Attributes> {
    if with_attributes { comm.attributes.copied(comm.handle()) } else { Ok(Attributes::default()) }
}

/// The members of one colour each, by their keys, then their ranks; `None` for who wants no part in it.
pub(crate) fn split(comm: &Arc<Comm>, colour: i32, key: i32) -> Mpi<Option<Comm>> {
    if let Some(remote) = comm.remote() {
        return split_both(comm, remote, colour, key);
    }
    let circle = Circle::all(comm);
    let said = [colour.to_ne_bytes(), key.to_ne_bytes()].concat();
    let all = circle.gather(&said)?;
    let tasks = of_colour(&all, colour, comm.group().tasks());
    if colour == UNDEFINED {
        return Ok(None);
    }
    let group = Arc::new(Group::new(tasks, process()?.me()));
    let inner = circle.of(&group).ok_or_else(disagreed)?;
    let (context, own) = inner.context(0)?;
    Ok(Some(Comm::new(group, None, context).owning(own).like(comm)))
}

/// The tasks that have said a colour, in the order of their keys.
fn of_colour(said: &[Vec<u8>], colour: i32, tasks: &[i32]) -> Vec<i32> {
    let number = |bytes: &[u8]| i32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    let mut found: Vec<(i32, i32)> = said
        .iter()
        .zip(tasks)
        .filter(|(said, _)| number(&said[..4]) == colour)
        .map(|(said, &task)| (number(&said[4..8]), task))
        .collect();
    // Stable: those of one key keep their ranks' order.
    found.sort_by_key(|&(key, _)| key);
    found.into_iter().map(|(_, task)| task).collect()
}

/// The same of an inter-communicator: the members of a colour on both sides.
fn split_both(comm: &Arc<Comm>, remote: &Remote, colour: i32, key: i32) -> Mpi<Option<Comm>> {
    let circle = Circle::all(comm);
    let said = [colour.to_ne_bytes(), key.to_ne_bytes()].concat();
    let all = circle.gather(&said)?;
    let here = if remote.is_first { 0 } else { remote.group.size() };
    let there = if remote.is_first { comm.size() } else { 0 };
    let ours = of_colour(&all[here..][..comm.size()], colour, comm.group().tasks());
    let theirs = of_colour(&all[there..][..remote.group.size()], colour, remote.group.tasks());
    let local = split(&remote.local, colour, key)?;
    let (Some(local), false) = (local, colour == UNDEFINED || theirs.is_empty()) else { return Ok(None) };
    let me = process()?.me();
    let (ours, theirs) = (Group::new(ours, me), Group::new(theirs, me));
    let first = if remote.is_first { (&ours, &theirs) } else { (&theirs, &ours) };
    let tasks: Arc<[i32]> = first.0.tasks().iter().chain(first.1.tasks().iter()).copied().collect();
    let place = tasks.iter().position(|&task| task == me).ok_or_else(disagreed)?;
    let (context, own) = Circle { tasks, own: place, ..circle }.context(0)?;
    let remote = Remote { group: Arc::new(theirs), local: Arc::new(local), is_first: remote.is_first };
    Ok(Some(Comm::new(Arc::new(ours), Some(remote), context).owning(own).like(comm)))
}

/// A communicator of a group; all members of the old one take part. `None` for who is not in the group.
pub(crate) fn create(comm: &Arc<Comm>, group: &Arc<Group>) -> Mpi<Option<Comm>> {
    if let Some(stranger) = group.tasks().iter().find(|&&task| comm.group().rank_of(task).is_none()) {
        let text = format!("task t{stranger:x} is in the group and not in the communicator");
        return Err(Error::new(class::GROUP, text));
    }
    if let Some(remote) = comm.remote() {
        let local = create(&remote.local, group)?;
        // Both sides tell each other whom they have chosen.
        let circle = Circle::all(comm);
        let all = circle.gather(&i32::from(local.is_some()).to_ne_bytes())?;
        let there = if remote.is_first { comm.size() } else { 0 };
        let chosen = |rank: &usize| all[there + rank] == 1i32.to_ne_bytes();
        let theirs: Vec<i32> =
            (0..remote.group.size()).filter(chosen).map(|rank| remote.group.tasks()[rank]).collect();
        let (Some(local), false) = (local, theirs.is_empty()) else { return Ok(None) };
        return between(circle, local, theirs, remote.is_first, comm).map(Some);
    }
    let circle = Circle::all(comm);
    let Some(inner) = circle.of(group) else { return Ok(None) };
    let (context, own) = inner.context(0)?;
    Ok(Some(Comm::new(group.clone(), None, context).owning(own).like(comm)))
}

fn between(circle: Circle, local: Comm, theirs: Vec<i32>, is_first: bool, like: &Comm) -> Mpi<Comm> {
    let (me, ours) = (process()?.me(), local.group().clone());
    let (first, second) =
        if is_first { (&ours.tasks()[..], &theirs[..]) } else { (&theirs[..], &ours.tasks()[..]) };
    let tasks: Arc<[i32]> = first.iter().chain(second).copied().collect();
    let place = tasks.iter().position(|&task| task == me).ok_or_else(disagreed)?;
    let (context, own) = Circle { tasks, own: place, ..circle }.context(0)?;
    let remote = Remote { group: Arc::new(Group::new(theirs, me)), local: Arc::new(local), is_first };
    Ok(Comm::new(ours, Some(remote), context).owning(own).like(like))
}

/// Tags of what only some members of a communicator do.
const AMONG_SOME: i32 = 0x6000_0000;

fn among_some(tag: i32) -> i32 {
    AMONG_SOME | tag & 0x1fff_ffff
}

/// A communicator of a group, of which only the members take part.
pub(crate) fn create_group(comm: &Arc<Comm>, group: &Arc<Group>, tag: i32) -> Mpi<Option<Comm>> {
    let (Some(own), tasks) = (group.own(), group.tasks().clone()) else { return Ok(None) };
    let circle = Circle { tasks, own, context: comm.collective_context(), tag: among_some(tag) };
    let (context, own) = circle.context(0)?;
    Ok(Some(Comm::new(group.clone(), None, context).owning(own).like(comm)))
}

/// Makes one of two groups: their leaders speak over a communicator that they share.
pub(crate) fn join(local: &Arc<Comm>, leader: usize, peer: Option<(&Comm, i32)>, tag: i32) -> Mpi<Comm> {
    let circle = Circle::all(local);
    let (mut said, mut own) = (Vec::new(), None);
    if circle.own == leader {
        let (peer, rank) = peer.ok_or_else(disagreed)?;
        let task =
            peer.peer(rank)?.ok_or_else(|| Error::new(class::RANK, "the remote leader is MPI_PROC_NULL"))?;
        let me = process()?.me();
        let tasks = local.group().tasks();
        // The leaders give each other a context each, and take that of the smaller task.
        let pair = Circle {
            tasks: Arc::new([me, task]),
            own: 0,
            context: peer.collective_context(),
            tag: among_some(tag),
        };
        let mine = OwnContext::new().ok();
        let here = [number_of(&mine), tasks.len() as u32];
        let there = pair.swap(1, &numbers(here.iter().copied()), 8)?;
        let [their_context, count] = words(&there)[..] else { return Err(disagreed()) };
        let theirs = pair.swap(1, &numbers(tasks.iter().map(|&task| task as u32)), count as usize * 4)?;
        let is_first = me < task;
        let context = if is_first { here[0] } else { their_context };
        // The context that is not taken goes back to the machine.
        own = mine.filter(|_| is_first);
        said = numbers([context, u32::from(is_first)]);
        said.extend(theirs);
    }
    let told = words(&circle.tell(leader, &said)?);
    let [context, is_first, ref theirs @ ..] = told[..] else { return Err(disagreed()) };
    if context == 0 {
        return Err(no_context());
    }
    let theirs: Vec<i32> = theirs.iter().map(|&task| task as i32).collect();
    if local.group().tasks().iter().any(|task| theirs.contains(task)) {
        return Err(Error::new(class::COMM, "the two groups have members in common"));
    }
    from_told(local, (context, own), is_first != 0, theirs)
}

/// An inter-communicator of which everything is known.
pub(crate) fn from_told(
    local: &Arc<Comm>,
    (context, own): (u32, Option<OwnContext>),
    is_first: bool,
    theirs: Vec<i32>,
) -> Mpi<Comm> {
    let group = Arc::new(Group::new(theirs, process()?.me()));
    let remote = Remote { group, local: Arc::new(duplicate(local, false)?), is_first };
    Ok(Comm::new(local.group().clone(), Some(remote), context).owning(own).like(local))
}

/// Numbers as bytes.
pub(crate) fn numbers(all: impl IntoIterator<Item = u32>) -> Vec<u8> {
    all.into_iter().flat_map(u32::to_ne_bytes).collect()
}

/// Bytes as numbers.
pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes"))).collect()
}

/// One group of both sides, the one that says `high` behind the other.
pub(crate) fn merge(comm: &Arc<Comm>, high: bool) -> Mpi<Comm> {
    let remote = comm.remote().ok_or_else(|| Error::new(class::COMM, "it is no inter-communicator"))?;
    let circle = Circle::all(comm);
    let all = circle.gather(&i32::from(high).to_ne_bytes())?;
    let (here, there) = if remote.is_first { (0, comm.size()) } else { (remote.group.size(), 0) };
    let says = |place: usize| all[place] != 0i32.to_ne_bytes();
    let (ours, theirs) = (says(here), says(there));
    let is_first = if ours == theirs { remote.is_first } else { !ours };
    let (first, second) = match is_first {
        true => (comm.group().tasks(), remote.group.tasks()),
        false => (remote.group.tasks(), comm.group().tasks()),
    };
    let tasks: Vec<i32> = first.iter().chain(second.iter()).copied().collect();
    let (context, own) = circle.context(0)?;
    let group = Arc::new(Group::new(tasks, process()?.me()));
    Ok(Comm::new(group, None, context).owning(own).like(comm))
}

/// Begins a copy of a communicator: when its operation is over, the handle stands at the place.
///
/// # Safety
/// The place must be writable until then.
pub(crate) unsafe fn start_duplicate(
    comm: &Arc<Comm>,
    hints: Option<Arc<Info>>,
    place: *mut i32,
) -> Mpi<Arc<Operation>> {
    let place = place.addr();
    let keeps = move |made: Comm| {
        if let Some(hints) = hints {
            made.set_info(&hints)?;
        }
        let handle = keep(made)?;
        // SAFETY: the caller's promise.
        unsafe { (calling().put_comm)(place as *mut i32, handle) };
        Ok(())
    };
    crate::collective::start_schedule(comm, copying(comm, copied(comm, true)?, Box::new(keeps)))
}

/// A tag among some, from a string of the program's.
pub(crate) fn tag_of(text: &[u8]) -> i32 {
    // FNV-1a: the same in every process.
    let hash =
        text.iter().fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash & 0x1fff_ffff) as i32
}

/// The neighbours of this rank in a graph of which each rank has said some edges: source, destination, weight.
pub(crate) fn gathered_graph(comm: &Arc<Comm>, said: &[u32], weighted: bool) -> Mpi<Topology> {
    let circle = Circle::all(comm);
    let counts = circle.gather(&(said.len() as u32).to_ne_bytes())?;
    let lengths: Vec<usize> = counts.iter().map(|count| words(count)[0] as usize * 4).collect();
    let spans = in_a_row(lengths.iter().copied());
    let room = vec![0; lengths.iter().sum()];
    let all = circle.run(allgather::straight(circle.place(), &spans), numbers(said.iter().copied()), room)?;
    let own = comm.rank() as i32;
    let (mut sources, mut source_weights) = (Vec::new(), Vec::new());
    let (mut destinations, mut destination_weights) = (Vec::new(), Vec::new());
    for edge in words(&all).chunks_exact(3) {
        let [source, destination, weight] = [edge[0] as i32, edge[1] as i32, edge[2] as i32];
        if destination == own {
            sources.push(source);
            source_weights.push(weight);
        }
        if source == own {
            destinations.push(destination);
            destination_weights.push(weight);
        }
    }
    Ok(Topology::Distributed { sources, source_weights, destinations, destination_weights, weighted })
}

/// What the root says to all members of its communicator.
pub(crate) fn share(comm: &Comm, root: usize, bytes: &[u8]) -> Mpi<Vec<u8>> {
    let (context, tag) = (comm.collective_context(), next_tag(comm));
    Circle { tasks: comm.group().tasks_in_plan(), own: comm.rank(), context, tag }.tell(root, bytes)
}

/// What each member of a communicator says, in their order: all as much.
pub(crate) fn say_to_all(comm: &Comm, bytes: &[u8]) -> Mpi<Vec<Vec<u8>>> {
    let (context, tag) = (comm.collective_context(), next_tag(comm));
    Circle { tasks: comm.group().tasks_in_plan(), own: comm.rank(), context, tag }.gather(bytes)
}

/// A communicator of a group in a context that is known to all its members.
pub(crate) fn duplicate_of(group: &Arc<Group>, context: u32) -> Comm {
    Comm::new(group.clone(), None, context)
}
