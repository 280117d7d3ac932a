//! Operations at a segment that threads share, against the plans with messages.

use super::algorithms::{UNIT, chain, combined, content, sum};
use super::driven::on;
use crate::plans::{Area, Group, Order, choose, in_a_row};
use crate::segment::{self, Announcing, SharedSegment, Writers};
use crate::{Exchange, Failure, Fault, Memory, run};
use parvum_api::{SegmentPart, Status};
use std::sync::{Condvar, Mutex};

/// Small enough that long data takes many rounds.
const ROOM: usize = 20 * UNIT;

/// The data that a member publishes, with its word.
type Shown = (u32, Vec<u8>);

/// The shared state of all members: their data in this round, and the number of arrived members.
struct Wall {
    shown: Mutex<(u64, Vec<Option<Shown>>)>,
    /// The last round that has come.
    seen: Mutex<Vec<Vec<Shown>>>,
    changed: Condvar,
    /// The announcements, in order.
    announced: Mutex<Vec<Option<Shown>>>,
}

pub(super) struct Place<'w> {
    wall: &'w Wall,
    group: Group,
    round: usize,
    /// How many announcements it has made or heard.
    heard: usize,
}

impl Announcing for Place<'_> {
    fn announce(
        &mut self,
        word: u32,
        writers: Writers,
        own: Option<&[u8]>,
        parts: &mut [SegmentPart<'_>],
    ) -> Result<(), Failure> {
        let first = self.heard;
        self.heard += writers.entries(self.group.size);
        if let Some(data) = own {
            let own = writers.entry(self.group.own);
            assert_eq!(writers.member(own), self.group.own, "an entry of this operation");
            let mut announced = self.wall.announced.lock().expect("no panic");
            let length = announced.len().max(first + own + 1);
            announced.resize(length, None);
            assert_eq!(announced[first + own].replace((word, data.to_vec())), None, "an entry of one member");
        }
        for part in parts {
            let (entry, from) = part.what();
            loop {
                let announced = self.wall.announced.lock().expect("no panic");
                if let Some(Some((said, data))) = announced.get(first + entry) {
                    let into = part.into();
                    match data.get(from..from + into.len()) {
                        Some(data) if *said == word => into.copy_from_slice(data),
                        _ => return Err(Failure::Fault(Fault::Disagreed)),
                    }
                    break;
                }
                drop(announced);
                std::thread::yield_now();
            }
        }
        Ok(())
    }
}

impl SharedSegment for Place<'_> {
    fn group(&self) -> Group {
        self.group
    }

    fn room(&self) -> usize {
        ROOM
    }

    fn round(&mut self, word: u32, data: [&[u8]; 2]) -> Result<(), Failure> {
        assert!(data.concat().len() <= ROOM, "more than fits");
        let mut shown = self.wall.shown.lock().expect("no panic");
        shown.1[self.group.own] = Some((word, data.concat()));
        if shown.1.iter().all(Option::is_some) {
            let all = shown.1.iter_mut().map(|one| one.take().expect("all are there")).collect();
            self.wall.seen.lock().expect("no panic").push(all);
            shown.0 += 1;
            self.wall.changed.notify_all();
        }
        while shown.0 as usize <= self.round {
            shown = self.wall.changed.wait(shown).expect("no panic");
        }
        self.round += 1;
        let seen = self.wall.seen.lock().expect("no panic");
        let agree = seen[self.round - 1].iter().all(|(other, _)| *other == word);
        if agree { Ok(()) } else { Err(Failure::Fault(Fault::Disagreed)) }
    }

    fn read(&mut self, member: usize, from: usize, into: &mut [u8]) -> Result<(), Failure> {
        let seen = self.wall.seen.lock().expect("no panic");
        let shown = seen[self.round - 1][member].1.get(from..from + into.len());
        into.copy_from_slice(shown.ok_or(Failure::Engine(Status::BadArgument))?);
        Ok(())
    }
}

/// Runs `work` at a segment, on a thread for each of this number of members. Returns the results.
pub(super) fn in_segment<R: Send>(size: usize, work: impl Fn(&mut Place<'_>) -> R + Sync) -> Vec<R> {
    let wall = Wall {
        shown: Mutex::new((0, vec![None; size])),
        seen: Mutex::new(Vec::new()),
        changed: Condvar::new(),
        announced: Mutex::new(Vec::new()),
    };
    let (wall, work) = (&wall, &work);
    std::thread::scope(|scope| {
        let member = |own| {
            scope.spawn(move || work(&mut Place { wall, group: Group { own, size }, round: 0, heard: 0 }))
        };
        let threads: Vec<_> = (0..size).map(member).collect();
        threads.into_iter().map(|thread| thread.join().expect("a member ends")).collect()
    })
}

fn sizes() -> impl Iterator<Item = usize> {
    (1..=9).chain([16, 19])
}

fn lengths() -> [usize; 6] {
    [0, 1, 7, 20, 21, 300].map(|elements| elements * UNIT)
}

#[test]
fn data_reaches_its_receiver_in_segment() {
    for (size, each) in sizes().flat_map(|size| lengths().map(|length| (size, length))) {
        let root = size / 2;
        let all: Vec<u8> = (0..size).flat_map(|member| content(member, each)).collect();
        let parts = in_a_row((0..size).map(|_| each));
        in_segment(size, |place| {
            let own = place.group.own;
            segment::barrier(place).expect("all come");
            let mut data = if own == root { content(root, each) } else { vec![0; each] };
            segment::broadcast(place, root, &mut data).expect("it succeeds");
            assert!(data == content(root, each), "broadcast {size} {each}");
            let (mine, mut got) = (content(own, each), vec![0; size * each]);
            segment::allgather(place, Some(&mine), &parts, &mut got).expect("it succeeds");
            assert!(got == all, "allgather {size} {each}");
            let mut got = vec![0; size * each];
            got[own * each..][..each].copy_from_slice(&mine);
            segment::allgather(place, None, &parts, &mut got).expect("it succeeds");
            assert!(got == all, "allgather in place {size} {each}");
            let mut got = vec![0; size * each];
            if each <= ROOM {
                segment::allgather_short(place, &mine, &mut got).expect("it succeeds");
                assert!(got == all, "allgather of short parts {size} {each}");
            }
            let give: Vec<u8> = (0..size).flat_map(|to| content(100 * own + to, each)).collect();
            let mut get = vec![0; size * each];
            segment::alltoall(place, &give, &mut get).expect("it succeeds");
            let wanted: Vec<u8> = (0..size).flat_map(|from| content(100 * from + own, each)).collect();
            assert!(get == wanted, "alltoall {size} {each}");
        });
    }
}

#[test]
fn parts_of_any_lengths_are_gathered() {
    let lengths = [0, 3, 4 * ROOM + 1, 0, ROOM, 17];
    let parts = in_a_row(lengths);
    let wanted: Vec<u8> =
        lengths.iter().enumerate().flat_map(|(member, &one)| content(member, one)).collect();
    in_segment(lengths.len(), |place| {
        let (mine, mut all) = (content(place.group.own, lengths[place.group.own]), vec![0; wanted.len()]);
        segment::allgather(place, Some(&mine), &parts, &mut all).expect("it succeeds");
        assert!(all == wanted);
    });
}

#[test]
fn each_member_gets_its_part_of_a_reduction() {
    // Together shorter, and longer, than the room of a member.
    for lengths in [[3, 0, 5, 1, 7], [0, 40, 9, 21, 3], [2; 5], [60; 5]] {
        let parts = in_a_row(lengths.map(|elements| elements * UNIT));
        let whole = lengths.iter().sum::<usize>() * UNIT;
        let wanted = combined(0, lengths.len(), whole, chain);
        in_segment(lengths.len(), |place| {
            let (mine, part) = (content(place.group.own, whole), parts[place.group.own]);
            let mut data = vec![1; part.length];
            segment::reduce_scatter(place, &mine, &parts, &mut data, UNIT, &mut |x, y| chain(x, y))
                .expect("it succeeds");
            assert!(data == wanted[part.at..part.end()], "{lengths:?}");
            if lengths.iter().all(|&length| length == lengths[0]) && whole <= ROOM {
                data.fill(1);
                let combine = &mut |x: &mut [u8], y: &[u8]| chain(x, y);
                segment::reduce_scatter_block(place, &mine, &mut data, UNIT, combine).expect("it succeeds");
                assert!(data == wanted[part.at..part.end()], "{lengths:?}");
            }
        });
    }
}

#[test]
fn segment_combines_in_member_order() {
    for (size, length) in sizes().flat_map(|size| lengths().map(|length| (size, length))) {
        in_segment(size, |place| {
            for combine in [chain as crate::operators::Combine, sum] {
                let wanted = combined(0, size, length, combine);
                let mut data = content(place.group.own, length);
                segment::allreduce(place, &mut data, UNIT, &mut |x, y| combine(x, y)).expect("it succeeds");
                assert!(data == wanted, "{size} {length}");
            }
        });
    }
}

/// Numbers whose sum depends on what is added to what first.
pub(super) fn floats(member: usize, length: usize) -> Vec<u8> {
    let number =
        |at: usize| ((member * 31 + at * 7) % 1000) as f64 * 1e-3 + 1e13 / (1 + at % 5 + member) as f64;
    (0..length / UNIT).flat_map(|at| number(at).to_ne_bytes()).collect()
}

pub(super) fn add(into: &mut [u8], with: &[u8]) {
    let combine = crate::operators::combine(crate::operators::Operator::Sum, crate::operators::Kind::F64);
    combine.expect("a sum")(into, with);
}

#[test]
fn float_sum_in_segment_equals_sum_by_messages() {
    let mut grouping_matters = false;
    for (size, length) in sizes().flat_map(|size| [8, 96, 8000, 1 << 20].map(|length| (size, length))) {
        let by_segment = in_segment(size, |place| {
            let mut data = floats(place.group.own, length.min(8000));
            segment::allreduce(place, &mut data, UNIT, &mut add).expect("it succeeds");
            data
        });
        let by_messages = on(size, |mut node| {
            let group = node.group();
            let plan = choose::allreduce(group, length, UNIT, Order::Any);
            let (mut data, mut scratch) = (floats(group.own, length), vec![0; plan.needs(Area::Scratch)]);
            assert!(scratch.len() <= length.max(UNIT), "NX's programs give as much as the data is long");
            let memory = Memory { mine: &[], data: &mut data, scratch: &mut scratch };
            run(&mut node, &plan, memory, &mut add).expect("it succeeds");
            // The sums of the first elements do not depend on how many follow.
            data.truncate(8000);
            data
        });
        assert!(by_segment == by_messages, "{size} {length}");
        assert!(by_segment.iter().all(|one| *one == by_segment[0]));
        let mut backwards = floats(size - 1, length.min(8000));
        (0..size - 1).rev().for_each(|member| add(&mut backwards, &floats(member, length.min(8000))));
        grouping_matters |= backwards != by_segment[0];
    }
    assert!(grouping_matters, "with these numbers any order would do");
}

/// Lengths that an entry of the ring has.
fn short_lengths() -> [usize; 4] {
    [0, 1, 7, 100].map(|elements| elements * UNIT)
}

#[test]
fn data_reaches_its_receiver_by_ring() {
    for (size, each) in sizes().flat_map(|size| short_lengths().map(|length| (size, length))) {
        let all: Vec<u8> = (0..size).flat_map(|member| content(member, each)).collect();
        // Some members only give, and run ahead.
        in_segment(size, |place| {
            let own = place.group.own;
            let mine = content(own, each);
            for root in 0..size {
                let mut data = vec![0; each];
                match own == root {
                    true => segment::spread(place, &mine),
                    false => segment::hear(place, root, &mut data),
                }
                .expect("it succeeds");
                assert!(own == root || data == content(root, each), "broadcast {size} {each}");
                let mut part = vec![0; each];
                match own == root {
                    true => segment::give(place, &all),
                    false => segment::take(place, root, &mut part),
                }
                .expect("it succeeds");
                assert!(own == root || part == mine, "scatter {size} {each}");
                let mut got = vec![0; all.len()];
                got[own * each..][..each].copy_from_slice(&mine);
                match own == root {
                    true => segment::gather(place, &mut got),
                    false => segment::contribute(place, root, &mine, None),
                }
                .expect("it succeeds");
                assert!(own != root || got == all, "gather {size} {each}");
                let mut data = mine.clone();
                match own == root {
                    true => segment::reduce(place, &mut data, UNIT, &mut |x, y| chain(x, y)),
                    false => segment::contribute(place, root, &mine, Some(UNIT)),
                }
                .expect("it succeeds");
                assert!(own != root || data == combined(0, size, each, chain), "reduce {size} {each}");
            }
        });
    }
}

#[test]
fn scan_by_ring_equals_scan_by_messages() {
    for (size, length) in sizes().flat_map(|size| [0, 8, 96, 800].map(|length| (size, length))) {
        for exclusive in [false, true] {
            let by_ring = in_segment(size, |place| {
                let mut data = floats(place.group.own, length);
                segment::scan(place, &mut data, exclusive, UNIT, &mut add).expect("it succeeds");
                data
            });
            let by_messages = on(size, |mut node| {
                let group = node.group();
                let plan = match exclusive {
                    true => choose::exclusive_scan(group, length),
                    false => choose::scan(group, length),
                };
                let (mut data, mut scratch) = (floats(group.own, length), vec![0; plan.needs(Area::Scratch)]);
                let memory = Memory { mine: &[], data: &mut data, scratch: &mut scratch };
                run(&mut node, &plan, memory, &mut add).expect("it succeeds");
                data
            });
            assert!(by_ring == by_messages, "{size} {length} {exclusive}");
        }
    }
}

#[test]
fn entry_of_another_operation_is_error() {
    let told = in_segment(2, |place| match place.group.own {
        0 => segment::spread(place, &[1; 8]),
        _ => segment::hear(place, 0, &mut [0; 16]),
    });
    assert_eq!(told, [Ok(()), Err(Failure::Fault(Fault::Disagreed))]);
}

#[test]
fn element_may_be_as_long_as_all_data() {
    in_segment(5, |place| {
        let mut data = content(place.group.own, ROOM);
        let mut whole = |into: &mut [u8], with: &[u8]| {
            assert_eq!((into.len(), with.len()), (ROOM, ROOM));
            chain(into, with);
        };
        segment::allreduce(place, &mut data, ROOM, &mut whole).expect("it succeeds");
        assert!(data == combined(0, 5, ROOM, chain));
    });
}

#[test]
fn members_with_different_operations_get_error() {
    let told = in_segment(4, |place| match place.group.own {
        2 => segment::barrier(place),
        own => segment::allreduce(place, &mut [own as u8; 8], UNIT, &mut sum),
    });
    assert_eq!(told, vec![Err(Failure::Fault(Fault::Disagreed)); 4]);
    let told = in_segment(4, |place| {
        let length = if place.group.own == 3 { 9 } else { 8 };
        segment::broadcast(place, 0, &mut vec![0; length])
    });
    assert_eq!(told, vec![Err(Failure::Fault(Fault::Disagreed)); 4]);
}
