//! Which plan is the best, for so many members and bytes.
//!
//! Short data goes straight between one and everybody: a message takes a tenth of a microsecond, a turn of a task that must
//! wait for its core several, and a tree makes a task wait for turns of others. Longer data goes by trees. Long data is
//! shared out, so that several copy and combine at a time.
//!
//! The bounds were found with 2 to 8 tasks on two cores. There a plan in which all exchange with all in turn
//! ([`allreduce::doubling`], [`allgather::ring`]) costs a turn of each task in each round; where each has a core of its own
//! it has half the rounds of two trees.
//!
//! On several hosts ([`two_level`]) what is longer goes to each host once. Short data goes straight all the same: who passes it on adds a turn.
//! Measured with 2 hosts of 4 tasks, all on two cores, each task running as soon as it could (SCHED_FIFO), straight and by two
//! levels in us: 64 KiB allgather 7187 and 3337, allreduce 2743 and 1218, 1 MiB allreduce 29494 and 17312; barrier 424 and 259. Where all eight
//! shared the cores as usual, 64 KiB allgather 12.5 and 7.1 ms, 1 MiB allreduce 55 and 23; of 8 bytes allgather 1.0 and 1.8.

use super::hosts::{Hosts, Placement};
use super::ways::Way;
use super::{Group, Order, Plan, Span, barrier as barriers, two_level};
use super::{allgather, allreduce, alltoall, broadcast, gather, reduce, reduce_scatter, scan, scatter};

/// Up to so many bytes go straight.
pub const SHORT: usize = 4 << 10;
/// As long as there are no more members than this.
pub const FEW: usize = 64;
/// From so many bytes on two members divide the work of combining.
pub const LONG_FOR_TWO: usize = 64 << 10;
/// From so many bytes on data is shared out among the members.
pub const LONG: usize = 512 << 10;
/// From so many bytes on nobody has more than one part under way on a host.
pub const HUGE: usize = 1 << 20;

/// Whether a broadcast is the one that goes straight.
#[inline]
pub fn broadcasts_straight(group: Group, length: usize) -> bool {
    group.size <= 2 || (length <= SHORT && group.size <= FEW)
}

/// Whether each member gets some elements when the data is shared out.
fn is_long(group: Group, length: usize, unit: usize) -> bool {
    let long = if group.size == 2 { LONG_FOR_TWO } else { LONG };
    length >= long && length / unit.max(1) >= group.size
}

/// Waiting until all have come.
pub fn barrier<'h>(placement: impl Into<Placement<'h>>) -> Plan {
    let (group, hosts) = placement.into().levels();
    hosts.map_or_else(|| barriers::dissemination(group), |hosts| two_level::meet(group.own, hosts))
}

/// The root's data for all.
pub fn broadcast<'h>(placement: impl Into<Placement<'h>>, root: usize, length: usize) -> Plan {
    let (group, hosts) = placement.into().levels();
    if let Some(hosts) = hosts.filter(|_| !broadcasts_straight(group, length)) {
        return two_level::broadcast(group.own, hosts, root, length);
    }
    match () {
        () if broadcasts_straight(group, length) => broadcast::straight(group, root, length),
        // With fewer a tree is as quick.
        () if group.size >= 8 && is_long(group, length, 1) => broadcast::scattered(group, root, length),
        () => broadcast::binomial(group, root, length),
    }
}

/// Whether members on one host are to come to a [`board`](crate::board) at all. Measured with `parvum compare` on two cores: a barrier
/// of 4 and 8 takes 5.6 and 17.6 us by messages, 2.7 and 6.6 us at a board: where tasks wait for turns of their cores, a board needs
/// one turn of each, messages several. Two that have a core each take turns by a line each: 0.18 us, and 0.27 by messages.
pub fn use_board(group: Group) -> bool {
    group.size > 1
}

/// Up to so many bytes are combined at a board: in one piece, and longer ones are read in place more quickly than they are shown.
/// Measured likewise: 16 KiB of 4 and 8 members take 13 and 34 us by messages, 11 and 27 at a board; 128 KiB of 8 115, and 253.
pub const LONGEST_AT_BOARD: usize = 64 << 10;

/// Whether contributions of `length` bytes, of elements of `unit` bytes, are to be combined at a board.
pub fn reduces_at_board(group: Group, length: usize, unit: usize) -> bool {
    use_board(group) && length <= longest_reduced_at_board(group) && unit <= SHORT
}

/// 128 KiB and 1 MiB of 4 members take 54 and 560 us at the board, of 8 111 and 1290; 72 and 600, 198 and 1375 by each other's memory. Of two
/// members 128 KiB take 28 and 27.
fn longest_reduced_at_board(group: Group) -> usize {
    if group.size == 2 { LONGEST_AT_BOARD } else { 1 << 20 }
}

/// Up to so many bytes a root announces at a board, without waiting for the others.
pub const LONGEST_ANNOUNCED: usize = 1 << 10;

/// Whether the root's bytes are to be announced at a board.
#[inline]
pub fn announces_broadcast(group: Group, length: usize) -> bool {
    use_board(group) && length <= LONGEST_ANNOUNCED
}

/// Whether the root's bytes are to be shown at a board, piece by piece: however many there are, for each piece is in the caches when the
/// others read it. Measured with 4, 8 and 16 members on two cores, 1 MiB: 207, 360 and 710 us; 431, 749 and 1365 where each read the
/// root's memory by itself, by the kernel. Two go straight.
pub fn broadcasts_at_board(group: Group, length: usize) -> bool {
    group.size > 2 && use_board(group) && length > SHORT
}

/// Whether data of all members is to be shown to all at a board: likewise. 16 KiB of each of 4, 8 and 16 members: 10, 24 and 195 us, and
/// 21, 68 and 353 where each read the others' memory; 1 MiB of each of 4 and 8: 0.77 and 2.6 ms, and 1.0 and 4.2.
pub fn collects_at_board(group: Group) -> bool {
    use_board(group)
}

/// Whether so many bytes, of which each member gives each its part, are to be shown at a board. A member reads but its part of what each
/// shows, and the longer all is the less of it is in the caches then: 256 KiB of each of 4, 8 and 16 take 76, 238 and 685 us so, and 82, 282 and 787
/// where they read each other's memory; 512 KiB of 8 and 16 490 and 1403, and 450 and 1020.
pub fn exchanges_at_board(group: Group, whole: usize) -> bool {
    let most = if group.size == 2 { 64 << 10 } else { 256 << 10 };
    use_board(group) && whole <= most
}

/// Whether contributions to one are read by it out of their members' memory ([`exposed`](crate::exposed)), where they can on one host. With
/// two members, one message is quicker.
pub fn exposes_reduce(group: Group, length: usize) -> bool {
    group.size > 2 && use_board(group) && length > LONGEST_AT_BOARD
}

/// The same of a reduction for all, that is too long for the board. 4 MiB of 4 and 8 members take 2.1 and 4.8 ms so, and 2.6 and 7.3 there.
pub fn exposes_allreduce(group: Group, length: usize) -> bool {
    use_board(group) && length > longest_reduced_at_board(group)
}

/// The same of an exchange. Two that send each other as much copy at the same time from both ends.
pub fn exposes_exchange(group: Group, whole: usize) -> bool {
    use_board(group) && !exchanges_at_board(group, whole) && (group.size > 2 || whole < HUGE)
}

/// Up to so many members of several hosts send to all others directly, as long as they have not tried whether that is the quicker way.
const FEW_APART: usize = 4;

/// Whether short data of all, `whole` bytes together, goes between hosts in few messages one behind the other, not in one from each to each:
/// there a message costs some ten microseconds of processors, as much as a good network takes.
///
/// Measured on two cores, 8 bytes of each, straight and in rounds: 8 members of 2, 4 and 8 hosts that are joined directly, allgather 100 and 50, 150 and
/// 95, 180 and 130 us, alltoall 100 and 70, 160 and 110, 190 and 144; at a Gbit/s the same. 4 of 4 hosts 33 and 25, but over a network on which a message takes
/// half a millisecond 530 and 890; 8 of 8 there 1140 and 1440.
fn goes_in_rounds(placement: Placement<'_>, whole: usize) -> bool {
    let many = placement.group.size > FEW_APART;
    is_short_apart(placement, whole) && placement.way.map_or(many, |way| way == Way::Rounds)
}

/// Where there is nothing to be given, straight is no message at all.
fn is_short_apart(placement: Placement<'_>, whole: usize) -> bool {
    placement.hosts.is_some() && (1..=SHORT).contains(&whole)
}

/// So many members may try to send to all others directly; more have too many messages for it to be the quicker way anywhere.
const MOST_TRIED: usize = 16;

/// Whether [`allgather`] of so many bytes of all together may go between hosts either way, and [trying](super::ways) tells which is the quicker.
pub fn has_two_ways(placement: Placement<'_>, whole: usize) -> bool {
    // Two have the same messages either way.
    is_short_apart(placement, whole) && (3..=MOST_TRIED).contains(&placement.group.size)
}

/// The same of [`alltoall`] of so many bytes of each for each.
pub fn alltoall_has_two_ways(placement: Placement<'_>, each: usize) -> bool {
    each <= LONGEST_IN_ROUNDS && has_two_ways(placement, each * placement.group.size)
}

/// Parts of up to so many bytes of each for each go in rounds, in which they are sent several times.
const LONGEST_IN_ROUNDS: usize = SHORT / 16;

/// Parts of `each` bytes from the root.
pub fn scatter(group: Group, root: usize, each: usize) -> Plan {
    match group.size > FEW && each <= SHORT {
        true => scatter::binomial(group, root, each),
        false => scatter::straight(group, root, &parts(group, each), each),
    }
}

/// Parts of `each` bytes to the root.
pub fn gather(group: Group, root: usize, each: usize) -> Plan {
    match group.size > FEW && each <= SHORT {
        true => gather::binomial(group, root, each),
        false => gather::straight(group, root, &parts(group, each), each),
    }
}

fn parts(group: Group, each: usize) -> Vec<Span> {
    (0..group.size).map(|member| Span { at: member * each, length: each }).collect()
}

/// Every member's data for all.
pub fn allgather<'h>(placement: impl Into<Placement<'h>>, parts: &[Span]) -> Plan {
    let placement = placement.into();
    let (group, hosts) = placement.levels();
    let whole: usize = parts.iter().map(|part| part.length).sum();
    // What lies in one piece goes in one message.
    let bound = |hosts: &Hosts| if hosts.are_rows() { SHORT } else { LONGEST_AT_BOARD };
    if let Some(hosts) = hosts.filter(|hosts| whole > bound(hosts) || group.size > FEW) {
        return two_level::allgather(group.own, hosts, parts);
    }
    match () {
        () if whole >= HUGE => allgather::ring(group, parts),
        () if group.size > FEW || goes_in_rounds(placement, whole) => allgather::doubling(group, parts),
        () => allgather::straight(group, parts),
    }
}

/// To each its part of everybody's, all of `each` bytes.
pub fn alltoall<'h>(placement: impl Into<Placement<'h>>, each: usize) -> Plan {
    let placement = placement.into();
    let group = placement.group;
    if each <= LONGEST_IN_ROUNDS && (group.size > FEW || goes_in_rounds(placement, each * group.size)) {
        return alltoall::bruck(group, each);
    }
    let parts = parts(group, each);
    alltoall_of_parts(placement, &parts, &parts)
}

/// The same of any lengths. Members do not know each other's, so all do the same; both ways fit together.
pub fn alltoall_of_parts<'h>(placement: impl Into<Placement<'h>>, give: &[Span], get: &[Span]) -> Plan {
    let Placement { group, hosts, .. } = placement.into();
    let whole: usize = give.iter().map(|part| part.length).sum();
    match whole >= HUGE {
        true => alltoall::pairwise(group, give, get, if hosts.is_some() { UNDER_WAY } else { 1 }),
        false => alltoall::straight(group, give, get),
    }
}

/// So many parts of a member are under way between hosts. With one it waits for whoever is late, and its link lies idle: four tasks on four hosts
/// give each other 1 MiB over an emulated ATM in 0.31 to 0.36 s for 0.57 to 0.64, over HIPPI in 50 ms for 76 to 89. Where the hosts
/// are one machine nothing is gained, and more are more memory: with 4 MiB each 49 ms for 41.
const UNDER_WAY: usize = 3;

/// Whether a reduction goes by two levels: where that gives the bits of one by one.
fn reduces_by_hosts(hosts: &Hosts, group: Group, length: usize, order: Order) -> bool {
    let is_same = order == Order::Exact || hosts.are_rows() && group.size <= FEW;
    is_same && (length > SHORT || group.size > FEW)
}

/// The contributions of all combined at the root; `unit` is the bytes of an element. Up to [`FEW`] members they are combined one by
/// one in their order, however long the data is.
pub fn reduce<'h>(
    placement: impl Into<Placement<'h>>,
    root: usize,
    length: usize,
    unit: usize,
    order: Order,
) -> Plan {
    let (group, hosts) = placement.into().levels();
    if let Some(hosts) = hosts.filter(|hosts| reduces_by_hosts(hosts, group, length, order)) {
        return two_level::reduce(group.own, hosts, root, (length, unit), order);
    }
    match group.size > FEW {
        true if is_long(group, length, unit) => reduce::halving(group, root, length, unit, order),
        true => reduce::binomial(group, root, length, order),
        false if group.size <= 2 || length <= LONGEST_AT_BOARD || length / unit.max(1) < group.size => {
            reduce::straight(group, root, length, Order::Members)
        }
        false => reduce::shared_out(group, root, length, unit),
    }
}

/// The contributions of all combined, for all; `unit` is the bytes of an element. Up to [`FEW`] members they are combined one by one
/// in their order, however long the data is: as at a [`board`](crate::board), bit for bit.
pub fn allreduce<'h>(placement: impl Into<Placement<'h>>, length: usize, unit: usize, order: Order) -> Plan {
    let (group, hosts) = placement.into().levels();
    if let Some(hosts) = hosts.filter(|hosts| reduces_by_hosts(hosts, group, length, order)) {
        return two_level::allreduce(group.own, hosts, (length, unit), order);
    }
    let is_divided = length / unit.max(1) >= group.size;
    match group.size {
        0..=1 => allreduce::doubling(group, length),
        // Two combine at once.
        2 if !is_long(group, length, unit) => allreduce::doubling(group, length),
        2 => allreduce::halving(group, length, unit, Order::Members),
        3..=FEW if length <= SHORT => allreduce::straight(group, length),
        3..=FEW if is_divided => allreduce::shared_out(group, length, unit),
        3..=FEW => {
            reduce::straight(group, 0, length, Order::Members).then(broadcast::binomial(group, 0, length))
        }
        _ if is_long(group, length, unit) => allreduce::halving(group, length, unit, order),
        _ => reduce::binomial(group, 0, length, order).then(broadcast::binomial(group, 0, length)),
    }
}

/// The contributions of all combined, of which each gets its part.
pub fn reduce_scatter(group: Group, parts: &[Span], order: Order) -> Plan {
    let whole: usize = parts.iter().map(|part| part.length).sum();
    match whole >= HUGE {
        true => reduce_scatter::pairwise(group, parts, order),
        false => reduce_scatter::straight(group, parts),
    }
}

/// The contributions of those up to each member combined.
pub fn scan(group: Group, length: usize) -> Plan {
    scan::doubling(group, length)
}

/// The contributions of those before each member combined.
pub fn exclusive_scan(group: Group, length: usize) -> Plan {
    scan::exclusive_doubling(group, length)
}
