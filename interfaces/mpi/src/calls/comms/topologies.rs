//! Topologies.

use crate::calls::arguments::{array, array_mut, length_of, put, put_at};
use crate::comms::comm::Comm;
use crate::comms::create;
use crate::comms::handles::{comm, keep};
use crate::comms::topology::{Cart, Topology, divide, other};
use crate::errors::{Error, Mpi, class};
use crate::objects::numbers::{COMM_NULL, UNDEFINED};
use parvum_api::pointers::Out;
use std::ffi::c_int;
use std::sync::Arc;

fn intra(handle: i32) -> Mpi<crate::comms::handles::InUse> {
    let comm = comm(handle)?;
    match comm.remote() {
        None => Ok(comm),
        Some(_) => Err(Error::new(class::COMM, "an inter-communicator has no topology")),
    }
}

/// A communicator of the first `count` ranks, with a topology.
fn create(comm: &Arc<Comm>, count: usize, topology: Topology, place: Out<'_, c_int>) -> Mpi {
    let colour = if comm.rank() < count { 0 } else { UNDEFINED };
    let made = create::split(comm, colour, comm.rank() as i32)?;
    let handle = match made {
        Some(made) => keep(made.with_topology(Some(topology)))?,
        None => COMM_NULL,
    };
    put(place, handle)
}

fn dimensions(count: i32) -> Mpi<usize> {
    usize::try_from(count).map_err(|_| Error::new(class::DIMS, format!("{count} dimensions")))
}

pub unsafe fn cart_create(
    handle: i32,
    count: i32,
    dims: *const c_int,
    periods: *const c_int,
    _reorder: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let (comm, count) = (intra(handle)?, dimensions(count)?);
    // SAFETY: the caller's promise.
    unsafe {
        let cart = Cart::new(array(dims, count)?, array(periods, count)?, comm.size())?;
        create(&comm, cart.count(), Topology::Cart(cart), place)
    }
}

pub unsafe fn dims_create(ranks: i32, count: i32, dims: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    divide(ranks, unsafe { array_mut(dims, dimensions(count)?)? })
}

pub unsafe fn graph_create(
    handle: i32,
    nodes: i32,
    index: *const c_int,
    edges: *const c_int,
    _reorder: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let comm = intra(handle)?;
    let nodes = length_of(nodes).map_err(|error| error.with_code(class::ARG))?;
    if nodes > comm.size() {
        return Err(Error::new(class::ARG, format!("a graph of {nodes} nodes for {} ranks", comm.size())));
    }
    // SAFETY: the caller's promise.
    unsafe {
        let index = array(index, nodes)?.to_vec();
        if index.windows(2).any(|pair| pair[1] < pair[0]) || index.first().is_some_and(|&first| first < 0) {
            return Err(Error::new(class::ARG, "the index of a graph never falls"));
        }
        let count = index.last().copied().unwrap_or(0) as usize;
        let edges = array(edges, count)?.to_vec();
        if let Some(edge) = edges.iter().find(|&&edge| edge < 0 || edge as usize >= nodes) {
            return Err(Error::new(class::ARG, format!("an edge leads to node {edge} of {nodes}")));
        }
        create(&comm, nodes, Topology::Graph { index, edges }, place)
    }
}

/// Weights, or none: the address says so.
unsafe fn weights(start: *const c_int, count: usize, weighted: bool) -> Mpi<Vec<i32>> {
    if !weighted {
        return Ok(vec![1; count]);
    }
    // SAFETY: the caller's promise.
    unsafe { Ok(array(start, count)?.to_vec()) }
}

/// The addresses that mean that there are no weights, and that there are none because there are no edges.
static UNWEIGHTED: [std::sync::atomic::AtomicUsize; 2] =
    [const { std::sync::atomic::AtomicUsize::new(0) }; 2];

/// The binary interface says which addresses those are.
pub fn set_unweighted(unweighted: usize, empty: usize) {
    UNWEIGHTED[0].store(unweighted, std::sync::atomic::Ordering::Relaxed);
    UNWEIGHTED[1].store(empty, std::sync::atomic::Ordering::Relaxed);
}

fn is_unweighted(address: *const c_int) -> bool {
    address.addr() == UNWEIGHTED[0].load(std::sync::atomic::Ordering::Relaxed)
}

pub unsafe fn dist_graph_create_adjacent(
    handle: i32,
    in_count: i32,
    sources: *const c_int,
    source_weights: *const c_int,
    out_count: i32,
    destinations: *const c_int,
    destination_weights: *const c_int,
    info: i32,
    _reorder: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let (comm, hints) = (intra(handle)?, crate::objects::info::hints(info)?);
    let (ins, outs) = (length_of(in_count)?, length_of(out_count)?);
    let weighted = !is_unweighted(source_weights) && !is_unweighted(destination_weights);
    // SAFETY: the caller's promise.
    unsafe {
        let sources = checked(array(sources, ins)?, comm.size())?;
        let destinations = checked(array(destinations, outs)?, comm.size())?;
        let source_weights = weights(source_weights, if ins == 0 { 0 } else { ins }, weighted)?;
        let destination_weights = weights(destination_weights, outs, weighted)?;
        let topology =
            Topology::Distributed { sources, source_weights, destinations, destination_weights, weighted };
        let made = create::duplicate(&comm, false)?.with_topology(Some(topology));
        if let Some(hints) = hints {
            made.set_info(&hints)?;
        }
        put(place, keep(made)?)
    }
}

fn checked(ranks: &[c_int], size: usize) -> Mpi<Vec<i32>> {
    match ranks.iter().find(|&&rank| rank < 0 || rank as usize >= size) {
        None => Ok(ranks.to_vec()),
        Some(rank) => Err(Error::new(class::RANK, format!("an edge leads to rank {rank} of {size}"))),
    }
}

pub unsafe fn dist_graph_create(
    handle: i32,
    count: i32,
    sources: *const c_int,
    degrees: *const c_int,
    destinations: *const c_int,
    given: *const c_int,
    info: i32,
    _reorder: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let (comm, hints) = (intra(handle)?, crate::objects::info::hints(info)?);
    let weighted = !is_unweighted(given);
    let mut said = Vec::new();
    // SAFETY: the caller's promise.
    unsafe {
        let count = length_of(count)?;
        let sources = checked(array(sources, count)?, comm.size())?;
        let degrees = array(degrees, count)?;
        if let Some(degree) = degrees.iter().find(|&&degree| degree < 0) {
            return Err(Error::new(class::ARG, format!("a degree is {degree}")));
        }
        let edges = degrees.iter().map(|&degree| degree as usize).sum();
        let destinations = checked(array(destinations, edges)?, comm.size())?;
        let given = weights(given, edges, weighted)?;
        let mut edge = 0;
        for (&source, &degree) in sources.iter().zip(degrees) {
            for _ in 0..degree {
                said.extend([source as u32, destinations[edge] as u32, given[edge] as u32]);
                edge += 1;
            }
        }
    }
    let topology = create::gathered_graph(&comm, &said, weighted)?;
    let made = create::duplicate(&comm, false)?.with_topology(Some(topology));
    if let Some(hints) = hints {
        made.set_info(&hints)?;
    }
    put(place, keep(made)?)
}

pub fn topo_test(handle: i32, kind: Out<'_, c_int>) -> Mpi {
    let number = comm(handle)?.topology.as_ref().map_or(UNDEFINED, Topology::number);
    put(kind, number)
}

/// Does something with a communicator's grid.
fn with_cart<T>(handle: i32, then: impl FnOnce(&Cart, i32) -> Mpi<T>) -> Mpi<T> {
    let comm = comm(handle)?;
    let topology = comm.topology.as_ref().ok_or_else(|| other("Cartesian"))?;
    then(topology.cart()?, comm.rank() as i32)
}

pub fn cartdim_get(handle: i32, count: Out<'_, c_int>) -> Mpi {
    with_cart(handle, |cart, _| put(count, cart.dims.len() as c_int))
}

pub unsafe fn cart_get(
    handle: i32,
    most: i32,
    dims: *mut c_int,
    periods: *mut c_int,
    coords: *mut c_int,
) -> Mpi {
    with_cart(handle, |cart, rank| {
        let here = cart.coords(rank)?;
        let count = dimensions(most)?.min(cart.dims.len());
        // SAFETY: the caller's promise.
        unsafe {
            array_mut(dims, count)?.copy_from_slice(&cart.dims[..count]);
            for (place, &period) in array_mut(periods, count)?.iter_mut().zip(&cart.periods) {
                *place = c_int::from(period);
            }
            array_mut(coords, count)?.copy_from_slice(&here[..count]);
        }
        Ok(())
    })
}

pub unsafe fn cart_rank(handle: i32, coords: *const c_int, rank: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    with_cart(handle, |cart, _| unsafe { put(rank, cart.rank(array(coords, cart.dims.len())?)?) })
}

pub unsafe fn cart_coords(handle: i32, rank: i32, most: i32, coords: *mut c_int) -> Mpi {
    with_cart(handle, |cart, _| {
        let there = cart.coords(rank)?;
        let count = dimensions(most)?.min(there.len());
        // SAFETY: the caller's promise.
        unsafe { array_mut(coords, count)?.copy_from_slice(&there[..count]) };
        Ok(())
    })
}

pub fn cart_shift(
    handle: i32,
    direction: i32,
    far: i32,
    source: Out<'_, c_int>,
    destination: Out<'_, c_int>,
) -> Mpi {
    with_cart(handle, |cart, rank| {
        let dim = usize::try_from(direction).ok().filter(|&dim| dim < cart.dims.len());
        let dim =
            dim.ok_or_else(|| Error::new(class::ARG, format!("the grid has no dimension {direction}")))?;
        let (before, behind) = cart.shift(rank, dim, far)?;
        put(source, before)?;
        put(destination, behind)
    })
}

pub unsafe fn cart_sub(handle: i32, remain: *const c_int, place: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    let (sub, colour, key) = with_cart(handle, |cart, rank| {
        // SAFETY: the caller's promise.
        cart.sub(rank, unsafe { array(remain, cart.dims.len())? })
    })?;
    let made = create::split(&comm, colour, key)?;
    let made = made.ok_or_else(|| Error::new(class::INTERN, "a part of the grid without members"))?;
    put(place, keep(made.with_topology(Some(Topology::Cart(sub))))?)
}

pub unsafe fn cart_map(
    handle: i32,
    count: i32,
    dims: *const c_int,
    periods: *const c_int,
    rank: Out<'_, c_int>,
) -> Mpi {
    let (comm, count) = (intra(handle)?, dimensions(count)?);
    // SAFETY: the caller's promise.
    unsafe {
        let cart = Cart::new(array(dims, count)?, array(periods, count)?, comm.size())?;
        let own = comm.rank();
        put(rank, if own < cart.count() { own as c_int } else { UNDEFINED })
    }
}

pub unsafe fn graph_map(
    handle: i32,
    nodes: i32,
    _index: *const c_int,
    _edges: *const c_int,
    rank: Out<'_, c_int>,
) -> Mpi {
    let (comm, nodes) = (intra(handle)?, length_of(nodes)?);
    if nodes > comm.size() {
        return Err(Error::new(class::ARG, format!("a graph of {nodes} nodes for {} ranks", comm.size())));
    }
    let own = comm.rank();
    put(rank, if own < nodes { own as c_int } else { UNDEFINED })
}

fn with_topology<T>(handle: i32, then: impl FnOnce(&Topology) -> Mpi<T>) -> Mpi<T> {
    then(comm(handle)?.topology.as_ref().ok_or_else(|| other("such"))?)
}

pub unsafe fn graphdims_get(handle: i32, nodes: Out<'_, c_int>, edges: *mut c_int) -> Mpi {
    with_topology(handle, |topology| match topology {
        // SAFETY: the caller's promise.
        Topology::Graph { index, edges: all } => unsafe {
            put(nodes, index.len() as c_int)?;
            put_at(edges, all.len() as c_int)
        },
        _ => Err(other("graph")),
    })
}

pub unsafe fn graph_get(
    handle: i32,
    most_nodes: i32,
    most_edges: i32,
    index: *mut c_int,
    edges: *mut c_int,
) -> Mpi {
    with_topology(handle, |topology| match topology {
        Topology::Graph { index: nodes, edges: all } => {
            let (few, some) =
                (length_of(most_nodes)?.min(nodes.len()), length_of(most_edges)?.min(all.len()));
            // SAFETY: the caller's promise.
            unsafe {
                array_mut(index, few)?.copy_from_slice(&nodes[..few]);
                array_mut(edges, some)?.copy_from_slice(&all[..some]);
            }
            Ok(())
        }
        _ => Err(other("graph")),
    })
}

pub fn graph_neighbors_count(handle: i32, rank: i32, count: Out<'_, c_int>) -> Mpi {
    with_topology(handle, |topology| put(count, topology.graph_neighbours(rank)?.len() as c_int))
}

pub unsafe fn graph_neighbors(handle: i32, rank: i32, most: i32, neighbours: *mut c_int) -> Mpi {
    with_topology(handle, |topology| {
        let all = topology.graph_neighbours(rank)?;
        let count = length_of(most)?.min(all.len());
        // SAFETY: the caller's promise.
        unsafe { array_mut(neighbours, count)?.copy_from_slice(&all[..count]) };
        Ok(())
    })
}

pub fn dist_graph_neighbors_count(
    handle: i32,
    ins: Out<'_, c_int>,
    outs: Out<'_, c_int>,
    flag: Out<'_, c_int>,
) -> Mpi {
    with_topology(handle, |topology| match topology {
        Topology::Distributed { sources, destinations, weighted, .. } => {
            put(ins, sources.len() as c_int)?;
            put(outs, destinations.len() as c_int)?;
            put(flag, c_int::from(*weighted))
        }
        _ => Err(other("distributed graph")),
    })
}

pub unsafe fn dist_graph_neighbors(
    handle: i32,
    most_in: i32,
    in_place: *mut c_int,
    in_weights: *mut c_int,
    most_out: i32,
    out_place: *mut c_int,
    out_weights: *mut c_int,
) -> Mpi {
    with_topology(handle, |topology| match topology {
        Topology::Distributed { sources, source_weights, destinations, destination_weights, weighted } => {
            let (ins, outs) = (length_of(most_in)?, length_of(most_out)?);
            // SAFETY: the caller's promise.
            unsafe {
                copy_some(in_place, ins, sources)?;
                copy_some(out_place, outs, destinations)?;
                if *weighted {
                    if !is_unweighted(in_weights) {
                        copy_some(in_weights, ins, source_weights)?;
                    }
                    if !is_unweighted(out_weights) {
                        copy_some(out_weights, outs, destination_weights)?;
                    }
                }
            }
            Ok(())
        }
        _ => Err(other("distributed graph")),
    })
}

unsafe fn copy_some(place: *mut c_int, most: usize, all: &[i32]) -> Mpi {
    let count = most.min(all.len());
    // SAFETY: the caller's promise.
    unsafe { array_mut(place, count)?.copy_from_slice(&all[..count]) };
    Ok(())
}
