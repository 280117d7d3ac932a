//! The rules themselves.
//!
//! Figures in the reasons are microseconds on two cores, from `parvum compare`. "By memory" stands for the memory of the others.

use super::Algorithm::*;
use super::Only::{
    AllPartsUpTo, AnElementEach, HostsInRows, OpenMemory as Memory, PartsUpTo, Regular, Rounds, SameOrder,
    Segment, SharedHosts, ShortElements,
};
use super::{Algorithm, Only, Operation, Rule};

/// The limit of short data, which goes straight, or in few messages between hosts.
pub const SHORT: usize = 4 << 10;
/// The limit of members for which one member combines or sends for all; a segment has room for no more (`MOST_MEMBERS`
/// of parvum-segment).
pub(super) const FEW: usize = 64;
/// The limit of members on separate hosts that send straight to all others, before their trials.
pub(super) const FEW_APART: usize = 4;
/// The limit of bytes that a root announces in the ring, without waiting for the others.
pub const LONGEST_IN_RING: usize = 1 << 10;
/// The limit of bytes that are combined in one piece: in the segment by two members, by messages at one member.
pub const LONGEST_IN_SEGMENT: usize = 64 << 10;

/// The limit of members for trials of sending to all others directly. More members have too many messages for straight
/// to be faster anywhere.
pub const FEW_TRIED: usize = 16;
/// The maximum number of bytes of a part in an alltoall in rounds, because rounds send parts several times.
pub const LONGEST_IN_ROUNDS: usize = SHORT / 16;

const MANY: usize = FEW + 1;
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const ALL: usize = usize::MAX;

/// A rule: members from and to, bytes from and to, further conditions, the algorithm, the reason.
const fn rule(
    members: (usize, usize),
    bytes: (usize, usize),
    only: &'static [Only],
    algorithm: Algorithm,
    why: &'static str,
) -> Rule {
    Rule { members, bytes, only, algorithm, why }
}

#[inline]
pub(super) fn of(operation: Operation) -> &'static [Rule] {
    match operation {
        Operation::Barrier => BARRIER,
        Operation::Broadcast => BROADCAST,
        Operation::Gather => GATHER,
        Operation::Scatter => SCATTER,
        Operation::Allgather => ALLGATHER,
        Operation::Alltoall => ALLTOALL,
        Operation::Reduce => REDUCE,
        Operation::Allreduce => ALLREDUCE,
        Operation::ReduceScatter => REDUCE_SCATTER,
        Operation::Scan | Operation::ExclusiveScan => SCAN,
    }
}

#[rustfmt::skip]
static BARRIER: &[Rule] = &[
    rule((2, FEW), (0, ALL), &[Segment], SharedSegment,
        "one turn of each member's core, by messages several: 4 and 8 members 2.7 and 6.6, by messages 5.6 and 17.6; 2 members 0.18 and 0.27"),
    rule((0, ALL), (0, ALL), &[SharedHosts], TwoLevels, "2 hosts of 4 members 259, by one level 424"),
    rule((0, ALL), (0, ALL), &[], Dissemination, "log2 n rounds"),
];

#[rustfmt::skip]
static BROADCAST: &[Rule] = &[
    rule((2, FEW), (0, LONGEST_IN_RING), &[Segment], BroadcastRing, "the root goes on at once; one system call wakes all sleepers"),
    rule((3, FEW), (SHORT + 1, ALL), &[Segment], SharedSegment,
        "each piece is in the caches when the others read it: 1 MiB for 4, 8 and 16 members 207, 360 and 710, by memory 431, 749 and 1365"),
    rule((0, 2), (0, ALL), &[], Straight, "one message"),
    rule((3, FEW), (0, SHORT), &[], Straight, "a message takes less than the turn of a member that passes it on"),
    rule((0, ALL), (0, ALL), &[SharedHosts], TwoLevels, "the data goes to each host once"),
    rule((8, ALL), (512 * KIB, ALL), &[AnElementEach], ScatterAllgather, "all members copy at a time; fewer than 8 are as quick by a tree"),
    rule((0, ALL), (0, ALL), &[], Binomial, "several members pass the data on at a time"),
];

#[rustfmt::skip]
static ALLREDUCE: &[Rule] = &[
    rule((2, 2), (0, LONGEST_IN_SEGMENT), &[Segment, ShortElements], SharedSegment, "128 KiB take 28, by memory 27"),
    rule((3, FEW), (0, MIB), &[Segment, ShortElements], SharedSegment,
        "16 KiB of 4 and 8 members 11 and 27, by messages 13 and 34; 1 MiB of 4 and 8 560 and 1290, by memory 600 and 1375"),
    rule((2, 2), (LONGEST_IN_SEGMENT + 1, ALL), &[Memory], OpenMemory, "each byte is copied once"),
    rule((3, FEW), (MIB + 1, ALL), &[Memory], OpenMemory, "4 MiB of 4 and 8 members 2.1 and 4.8 ms, in the segment 2.6 and 7.3 ms"),
    rule((0, ALL), (SHORT + 1, ALL), &[SharedHosts, SameOrder], TwoLevels,
        "the data goes between hosts once: 2 hosts of 4 members, 64 KiB 1218, by one level 2743; 1 MiB 17312 and 29494"),
    rule((MANY, ALL), (0, ALL), &[SharedHosts, SameOrder], TwoLevels, "fewer messages between hosts"),
    rule((0, 1), (0, ALL), &[], Doubling, "nothing to send"),
    rule((2, 2), (64 * KIB, ALL), &[AnElementEach], Halving, "both combine, each one half"),
    rule((2, 2), (0, ALL), &[], Doubling, "both combine the whole at once"),
    rule((3, FEW), (0, SHORT), &[], Straight, "one round, and the same order of operands on all members"),
    rule((3, FEW), (0, ALL), &[AnElementEach], SharedOut, "all combine at a time, in the order of members"),
    rule((3, FEW), (0, ALL), &[], StraightThenBroadcast, "too few elements to share out"),
    rule((MANY, ALL), (512 * KIB, ALL), &[AnElementEach], Halving, "all combine at a time"),
    rule((0, ALL), (0, ALL), &[], BinomialThenBroadcast, "log2 n rounds each way"),
];

#[rustfmt::skip]
static REDUCE: &[Rule] = &[
    rule((2, FEW), (0, LONGEST_IN_RING), &[Segment], BroadcastRing,
        "members write their contributions and go on: 8 bytes of 2, 4 and 8 members 0.11, 0.7 and 1.8, by messages 0.24, 3.4 and 6.4"),
    rule((2, 2), (MIB, ALL), &[Memory], OpenMemory, "both combine a half: 1 and 4 MiB 117 and 530, by a message 145 and 820; 512 KiB 59 and 57"),
    rule((3, FEW), (LONGEST_IN_SEGMENT + 1, ALL), &[Memory], OpenMemory, "the root reads each contribution once"),
    rule((0, ALL), (SHORT + 1, ALL), &[SharedHosts, SameOrder], TwoLevels, "the data goes between hosts once"),
    rule((MANY, ALL), (0, ALL), &[SharedHosts, SameOrder], TwoLevels, "fewer messages between hosts"),
    rule((MANY, ALL), (512 * KIB, ALL), &[AnElementEach], Halving, "all combine at a time"),
    rule((MANY, ALL), (0, ALL), &[], Binomial, "log2 n rounds"),
    rule((0, 2), (0, ALL), &[], Straight, "one message"),
    rule((3, FEW), (0, LONGEST_IN_SEGMENT), &[], Straight, "the root combines in the order of members"),
    rule((3, FEW), (0, ALL), &[AnElementEach], SharedOut, "all combine at a time, in the order of members"),
    rule((0, ALL), (0, ALL), &[], Straight, "too few elements to share out"),
];

#[rustfmt::skip]
static ALLGATHER: &[Rule] = &[
    rule((2, FEW), (0, ALL), &[Segment], SharedSegment,
        "16 KiB of each of 4, 8 and 16 members 10, 24 and 195, by memory 21, 68 and 353; 1 MiB of 4 and 8 0.77 and 2.6 ms, 1.0 and 4.2 ms"),
    rule((MANY, ALL), (0, ALL), &[SharedHosts], TwoLevels, "fewer messages between hosts"),
    rule((0, ALL), (SHORT + 1, ALL), &[HostsInRows], TwoLevels,
        "what lies in one piece goes in one message: 2 hosts of 4 members, 64 KiB 3337, by one level 7187"),
    rule((0, ALL), (LONGEST_IN_SEGMENT + 1, ALL), &[SharedHosts], TwoLevels, "the data goes between hosts once"),
    rule((0, ALL), (MIB, ALL), &[], Ring, "one part of each member under way on a host"),
    rule((MANY, ALL), (0, ALL), &[], Doubling, "log2 n rounds"),
    rule((0, ALL), (1, SHORT), &[Rounds], Doubling,
        "8 bytes of each of 8 members on 2, 4 and 8 hosts 50, 95 and 130, straight 100, 150 and 180; where a message takes 0.5 ms 890, straight 530"),
    rule((0, ALL), (0, ALL), &[], Straight, "one round"),
];

#[rustfmt::skip]
static ALLTOALL: &[Rule] = &[
    rule((2, 2), (0, 64 * KIB), &[Segment, Regular], SharedSegment, "both copy at a time"),
    rule((3, FEW), (0, 256 * KIB), &[Segment, Regular], SharedSegment,
        "256 KiB of each of 4, 8 and 16 members 76, 238 and 685, by memory 82, 282 and 787; 512 KiB of 8 and 16 490 and 1403, 450 and 1020"),
    rule((3, FEW), (0, ALL), &[Memory, Regular], OpenMemory, "each byte is copied once"),
    rule((2, 2), (0, MIB - 1), &[Memory, Regular], OpenMemory, "two that send each other more copy from both ends by messages"),
    rule((MANY, ALL), (0, ALL), &[PartsUpTo(LONGEST_IN_ROUNDS), Regular], Bruck, "log2 n rounds"),
    rule((0, ALL), (1, SHORT), &[PartsUpTo(LONGEST_IN_ROUNDS), Rounds, Regular], Bruck,
        "8 bytes for each of 8 members on 2, 4 and 8 hosts 70, 110 and 144, straight 100, 160 and 190"),
    rule((0, ALL), (MIB, ALL), &[], Pairwise, "one part under way on a host, three between hosts: there 1 MiB of four 0.31 to 0.36 s over ATM, 0.57 to 0.64 with one"),
    rule((0, ALL), (0, ALL), &[], Straight, "one round"),
];

#[rustfmt::skip]
static GATHER: &[Rule] = &[
    rule((2, FEW), (0, LONGEST_IN_RING), &[Segment, Regular], BroadcastRing,
        "members write their parts and go on: 8 bytes of 2, 4 and 8 members 0.10, 0.7 and 1.7, by messages 0.28, 3.7 and 9.8"),
    rule((MANY, ALL), (0, SHORT), &[Regular], Binomial, "the root has log2 n messages"),
    rule((0, ALL), (0, ALL), &[], Straight, "each part is copied once"),
];

#[rustfmt::skip]
static SCATTER: &[Rule] = &[
    rule((2, FEW), (0, LONGEST_IN_RING), &[Segment, Regular, AllPartsUpTo(LONGEST_IN_RING)], BroadcastRing,
        "the root writes all parts once and goes on: 8 bytes for each of 2 and 4 members 0.25 and 0.77, by messages 0.35 and 2.77"),
    rule((MANY, ALL), (0, SHORT), &[Regular], Binomial, "the root has log2 n messages"),
    rule((0, ALL), (0, ALL), &[], Straight, "each part is copied once"),
];

#[rustfmt::skip]
static REDUCE_SCATTER: &[Rule] = &[
    rule((2, FEW), (0, LONGEST_IN_SEGMENT), &[Segment, ShortElements], SharedSegment,
        "one turn of each member's core: 64 KiB of 2 and 4 members 8.2 and 15, by messages 11 and 22; 8 bytes for each of 4 members 2.6 and 4.9"),
    rule((2, FEW), (LONGEST_IN_SEGMENT + 1, ALL), &[Memory], OpenMemory, "each byte is copied once: 1 MiB of 2 members 60, by messages 211"),
    rule((0, ALL), (MIB, ALL), &[], Pairwise, "one part under way"),
    rule((0, ALL), (0, ALL), &[], Straight, "one round"),
];

#[rustfmt::skip]
static SCAN: &[Rule] = &[
    rule((2, FEW), (0, LONGEST_IN_RING), &[Segment], BroadcastRing,
        "members wait for earlier members only: 8 bytes of 2 members 0.10, by messages 0.31"),
    rule((0, ALL), (0, ALL), &[], Doubling, "log2 n rounds"),
];
