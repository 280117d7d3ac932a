//! Between two groups: plans among the members of both, or of one and a root of the other.

use super::blocks::{Blocks, get, give};
use super::call::{Call, Made, Op, among, group, placement};
use crate::comms::comm::{Comm, Remote};
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::Data;
use crate::objects::numbers::{PROC_NULL, ROOT};
use crate::requests::schedule::{Areas, Bytes, Part, Stage, Then};
use parvum_collectives::plans::{
    Group, Span, alltoall, barrier, broadcast, choose, gather, in_a_row, neighbours, scatter,
};
use std::sync::Arc;

/// This process's part in an operation with a root.
enum Role {
    /// It is the root; the others are the other group.
    Root,
    /// The root is the other group's rank.
    Member(usize),
    /// The root's mates have no part.
    Idle,
}

fn role(root: i32, remote: &Remote) -> Mpi<Role> {
    match root {
        ROOT => Ok(Role::Root),
        PROC_NULL => Ok(Role::Idle),
        rank => match usize::try_from(rank).ok().filter(|&rank| rank < remote.group.size()) {
            Some(rank) => Ok(Role::Member(rank)),
            None => {
                let text = format!(
                    "root {rank}; it is MPI_ROOT, MPI_PROC_NULL or a rank of the other group's {}",
                    remote.group.size()
                );
                Err(Error::new(class::ROOT, text))
            }
        },
    }
}

/// The root and the group that it has to do with, the root first.
fn with_root(comm: &Comm, remote: &Remote, role: &Role) -> (Arc<[i32]>, Group) {
    let (root, others, own) = match role {
        Role::Member(root) => (remote.group.tasks()[*root], comm.group().tasks(), comm.rank() + 1),
        _ => (comm.group().tasks()[comm.rank()], remote.group.tasks(), 0),
    };
    let tasks: Arc<[i32]> = std::iter::once(root).chain(others.iter().copied()).collect();
    let size = tasks.len();
    (tasks, Group { own, size })
}

/// All members of both groups, in the same order on both sides.
fn both(comm: &Comm, remote: &Remote) -> (Arc<[i32]>, Group, usize) {
    let (here, there) = (comm.group().tasks(), remote.group.tasks());
    let (first, second) = if remote.is_first { (here, there) } else { (there, here) };
    let tasks: Arc<[i32]> = first.iter().chain(second.iter()).copied().collect();
    let own = if remote.is_first { comm.rank() } else { there.len() + comm.rank() };
    let others = if remote.is_first { here.len() } else { 0 };
    let size = tasks.len();
    (tasks, Group { own, size }, others)
}

const EMPTY: Areas = Areas { mine: Bytes::NONE, data: Bytes::NONE };

pub(super) fn parts(comm: &Comm, remote: &Remote, call: Call) -> Mpi<Made> {
    match call {
        Call::Barrier => {
            let (tasks, group, _) = both(comm, remote);
            Ok((
                vec![Part::Stage(Stage { plan: barrier::dissemination(group), tasks, own: group.own })],
                EMPTY,
            ))
        }
        Call::Bcast { data, root } => {
            let role = role(root, remote)?;
            let (tasks, group) = with_root(comm, remote, &role);
            let plan = broadcast::binomial(group, 0, data.length());
            let (data, then) = match role {
                Role::Idle => return Ok((Vec::new(), EMPTY)),
                Role::Root => (give(&data), None),
                Role::Member(_) => get(data),
            };
            let stage = Part::Stage(Stage { plan, tasks, own: group.own });
            Ok((std::iter::once(stage).chain(then).collect(), Areas { mine: Bytes::NONE, data }))
        }
        Call::Gather { give: own, get: blocks, root, .. } => {
            let role = role(root, remote)?;
            let (tasks, group) = with_root(comm, remote, &role);
            let (mine, own) = match role {
                Role::Idle => return Ok((Vec::new(), EMPTY)),
                Role::Root => (Bytes::NONE, 0),
                Role::Member(_) => own.as_ref().map_or((Bytes::NONE, 0), |data| (give(data), data.length())),
            };
            let spans = with_nothing(blocks.spans());
            let plan = gather::straight(group, 0, &spans, own);
            let (data, then) = if matches!(role, Role::Root) { blocks.get() } else { (Bytes::NONE, None) };
            let stage = Part::Stage(Stage { plan, tasks, own: group.own });
            Ok((std::iter::once(stage).chain(then).collect(), Areas { mine, data }))
        }
        Call::Scatter { give: blocks, get: own, root, .. } => {
            let role = role(root, remote)?;
            let (tasks, group) = with_root(comm, remote, &role);
            let spans = with_nothing(blocks.spans());
            let (mine, (data, then), length) = match role {
                Role::Idle => return Ok((Vec::new(), EMPTY)),
                Role::Root => (blocks.give(), (Bytes::NONE, None), 0),
                Role::Member(_) => {
                    let data = own.unwrap_or(Data::NONE);
                    let length = data.length();
                    (Bytes::NONE, get(data), length)
                }
            };
            let plan = scatter::straight(group, 0, &spans, length);
            let stage = Part::Stage(Stage { plan, tasks, own: group.own });
            Ok((std::iter::once(stage).chain(then).collect(), Areas { mine, data }))
        }
        Call::Allgather { give: own, get: blocks } => {
            let data = own.unwrap_or(Data::NONE);
            let given = Span { at: 0, length: data.length() };
            let to = vec![given; remote.group.size()];
            exchanged(comm, remote, give(&data), &to, blocks)
        }
        Call::Alltoall { give: own, get: blocks, .. } => {
            let own = own.unwrap_or(Blocks::none());
            exchanged(comm, remote, own.give(), &own.spans(), blocks)
        }
        Call::Reduce { give: own, get: result, op, root } => {
            reduced(comm, remote, role(root, remote)?, own, result, &op)
        }
        Call::Allreduce { give: own, get: result, op } => {
            let (own, length) = (own.unwrap_or(Data::NONE), result.length());
            let mut parts = to_first(comm, own.length(), &op);
            parts.extend(swapped(comm, remote, own.length(), length));
            parts.push(among(comm, choose::broadcast(placement(comm), 0, length)));
            let (_, then) = result_in(result);
            parts.extend(then);
            Ok((parts, Areas { mine: Bytes::NONE, data: packed_with_room(&own, length) }))
        }
        Call::ReduceScatter { give: own, get: result, lengths, op } => {
            let whole: usize = lengths.iter().sum();
            let mut parts = to_first(comm, own.length(), &op);
            parts.extend(swapped(comm, remote, own.length(), whole));
            // The first of the group deals out what came.
            let spans = in_a_row(lengths);
            let shared: Then = Box::new(|areas: &mut Areas| {
                areas.mine = std::mem::replace(&mut areas.data, Bytes::NONE);
                areas.data = Bytes::Own(vec![0; areas.mine.length()]);
            });
            parts.push(Part::Then(shared));
            parts.push(among(comm, scatter::straight(group(comm), 0, &spans, result.length())));
            let (_, then) = result_in(result);
            parts.extend(then);
            Ok((parts, Areas { mine: Bytes::NONE, data: packed_with_room(&own, whole) }))
        }
        Call::Scan { .. } => Err(Error::new(class::COMM, "there are no scans between two groups")),
        Call::Neighbours { .. } => unreachable!("made elsewhere"),
    }
}

/// Nothing for the root, then the parts of the others.
fn with_nothing(spans: Vec<Span>) -> Vec<Span> {
    std::iter::once(Span::default()).chain(spans).collect()
}

/// Each gives every member of the other group a part.
fn exchanged(comm: &Comm, remote: &Remote, mine: Bytes, to: &[Span], from: Blocks) -> Mpi<Made> {
    let (tasks, group, others) = both(comm, remote);
    let spread = |spans: &[Span]| {
        let mut all = vec![Span::default(); group.size];
        all[others..others + spans.len()].copy_from_slice(spans);
        all
    };
    let plan = alltoall::straight(group, &spread(to), &spread(&from.spans()));
    let (data, then) = from.get();
    let stage = Part::Stage(Stage { plan, tasks, own: group.own });
    Ok((std::iter::once(stage).chain(then).collect(), Areas { mine, data }))
}

/// The contributions of this group combined at its first member, in the data area.
fn to_first(comm: &Comm, length: usize, op: &Op) -> Vec<Part> {
    vec![among(comm, choose::reduce(placement(comm), 0, length, op.unit, op.order))]
}

/// The first of each group give each other what they have.
fn swapped(comm: &Comm, remote: &Remote, length: usize, come: usize) -> Vec<Part> {
    if comm.rank() != 0 {
        return Vec::new();
    }
    let tasks: Arc<[i32]> = Arc::new([comm.group().tasks()[0], remote.group.tasks()[0]]);
    let moved: Then = Box::new(move |areas: &mut Areas| {
        areas.mine = Bytes::Own(areas.data.slice()[..length].to_vec());
    });
    let (there, span) = (1, |length| Span { at: 0, length });
    let plan = neighbours::exchange(&[(there, span(length))], &[(there, span(come))]);
    vec![Part::Then(moved), Part::Stage(Stage { plan, tasks, own: 0 })]
}

/// A contribution, in memory that has room for the other group's result as well.
fn packed_with_room(own: &Data, length: usize) -> Bytes {
    let mut bytes = own.packed();
    bytes.resize(bytes.len().max(length), 0);
    Bytes::Own(bytes)
}

/// What puts a result that lies at the beginning of the data area where it shall go.
fn result_in(result: Data) -> (usize, Option<Part>) {
    let length = result.length();
    let then: Then = Box::new(move |areas: &mut Areas| result.unpack(&areas.data.slice()[..length]));
    (length, Some(Part::Then(then)))
}

fn reduced(comm: &Comm, remote: &Remote, role: Role, own: Option<Data>, result: Data, op: &Op) -> Mpi<Made> {
    let length = |data: &Data| Span { at: 0, length: data.length() };
    match role {
        Role::Idle => Ok((Vec::new(), EMPTY)),
        Role::Root => {
            let tasks: Arc<[i32]> = Arc::new([comm.group().tasks()[comm.rank()], remote.group.tasks()[0]]);
            let plan = neighbours::exchange(&[], &[(1, length(&result))]);
            let (data, then) = get(result);
            let stage = Part::Stage(Stage { plan, tasks, own: 0 });
            Ok((std::iter::once(stage).chain(then).collect(), Areas { mine: Bytes::NONE, data }))
        }
        Role::Member(root) => {
            let own = own.unwrap_or(Data::NONE);
            let mut parts = to_first(comm, own.length(), op);
            if comm.rank() == 0 {
                let tasks: Arc<[i32]> = Arc::new([comm.group().tasks()[0], remote.group.tasks()[root]]);
                let plan = broadcast::straight(Group { own: 0, size: 2 }, 0, own.length());
                parts.push(Part::Stage(Stage { plan, tasks, own: 0 }));
            }
            Ok((parts, Areas { mine: Bytes::NONE, data: Bytes::Own(own.packed()) }))
        }
    }
}
