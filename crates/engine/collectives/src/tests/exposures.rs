//! Operations of members that read each other's memory, on threads that do.

use super::algorithms::{UNIT, chain, combined, content, sum};
use super::segments::{Place, floats, in_segment};
use crate::exposed::{self, Exposed, OpenMemory};
use crate::plans::in_a_row;
use crate::segment::{self, SharedSegment};
use crate::{Failure, Fault};
use parvum_shm::single_copy;
use parvum_transport::RemoteMemory as Range;
use std::io::IoSliceMut;

/// A member whose fetches of this number and later ones are refused.
struct Member<'p, 'w> {
    place: &'p mut Place<'w>,
    fetches: usize,
    refused_from: usize,
}

impl<'p, 'w> Member<'p, 'w> {
    fn new(place: &'p mut Place<'w>) -> Member<'p, 'w> {
        Member { place, fetches: 0, refused_from: usize::MAX }
    }
}

impl SharedSegment for Member<'_, '_> {
    fn group(&self) -> crate::plans::Group {
        self.place.group()
    }

    fn room(&self) -> usize {
        self.place.room()
    }

    fn round(&mut self, word: u32, data: [&[u8]; 2]) -> Result<(), Failure> {
        self.place.round(word, data)
    }

    fn read(&mut self, member: usize, from: usize, into: &mut [u8]) -> Result<(), Failure> {
        self.place.read(member, from, into)
    }
}

impl OpenMemory for Member<'_, '_> {
    fn reaches(&self) -> bool {
        true
    }

    fn fetch(&mut self, _: usize, address: u64, into: &mut [u8]) -> bool {
        self.fetches += 1;
        let range = Range { address, length: into.len() };
        let whole = into.len();
        self.fetches <= self.refused_from
            && (whole == 0
                || single_copy::read(std::process::id(), &[range], &mut [IoSliceMut::new(into)]) == Ok(whole))
    }
}

const SIZES: [usize; 6] = [1, 2, 3, 5, 8, 13];

fn lengths() -> [usize; 6] {
    // A tile has 4096 elements.
    [0, 1, 7, 300, 4096, 50_001].map(|elements| elements * UNIT)
}

#[test]
fn data_reaches_its_receiver_in_exposures() {
    for (size, each) in SIZES.iter().flat_map(|size| lengths().map(|length| (*size, length))) {
        in_segment(size, |place| {
            let member = &mut Member::new(place);
            let own = member.group().own;
            let give: Vec<u8> = (0..size).flat_map(|to| content(100 * own + to, each)).collect();
            let mut get = vec![0; size * each];
            assert_eq!(exposed::alltoall(member, &give, &mut get), Ok(Exposed::Done));
            let wanted: Vec<u8> = (0..size).flat_map(|from| content(100 * from + own, each)).collect();
            assert!(get == wanted, "alltoall {size} {each}");
        });
    }
}

#[test]
fn exposures_combine_in_member_order() {
    for (size, length) in SIZES.iter().flat_map(|size| lengths().map(|length| (*size, length))) {
        in_segment(size, |place| {
            let member = &mut Member::new(place);
            let own = member.group().own;
            for (combine, root) in [(chain as crate::operators::Combine, size - 1), (sum, 0)] {
                let (wanted, mine) = (combined(0, size, length, combine), content(own, length));
                let combine = &mut |x: &mut [u8], y: &[u8]| combine(x, y);
                let mut data = vec![1; length];
                let done = exposed::allreduce(member, Some(&mine), &mut data, UNIT, combine);
                assert!(done == Ok(Exposed::Done) && data == wanted, "{size} {length}");
                let mut data = mine.clone();
                let done = exposed::allreduce(member, None, &mut data, UNIT, combine);
                assert!(done == Ok(Exposed::Done) && data == wanted, "in place {size} {length}");
                let mut data = vec![1; if own == root { length } else { 0 }];
                let done = exposed::reduce(member, root, Some(&mine), &mut data, UNIT, combine);
                assert!(done == Ok(Exposed::Done) && (own != root || data == wanted), "{size} {length}");
                let mut data = mine.clone();
                let done = exposed::reduce(member, root, None, &mut data, UNIT, combine);
                assert!(done == Ok(Exposed::Done), "{size} {length}");
                assert!(data == *if own == root { &wanted } else { &mine }, "in place {size} {length}");
            }
        });
    }
}

#[test]
fn each_member_gets_its_part_of_a_reduction() {
    for lengths in [[3, 0, 5, 1, 7], [0, 4096, 50_001, 21, 3]] {
        let parts = in_a_row(lengths.map(|elements| elements * UNIT));
        let whole = lengths.iter().sum::<usize>() * UNIT;
        let wanted = combined(0, lengths.len(), whole, chain);
        for refused_from in [0, usize::MAX] {
            in_segment(lengths.len(), |place| {
                let own = place.group().own;
                let (mine, part) = (content(own, whole), parts[own]);
                let mut data = vec![1; part.length];
                let member = &mut Member {
                    place,
                    fetches: 0,
                    refused_from: if own == 2 { refused_from } else { usize::MAX },
                };
                let combine = &mut |x: &mut [u8], y: &[u8]| chain(x, y);
                let told = exposed::reduce_scatter(member, &mine, &parts, &mut data, UNIT, combine);
                if refused_from == 0 {
                    assert_eq!(told, Ok(Exposed::Refused));
                } else {
                    assert!(told == Ok(Exposed::Done) && data == wanted[part.at..part.end()], "{lengths:?}");
                }
            });
        }
    }
}

#[test]
fn float_sum_in_exposures_equals_sum_in_segment() {
    let sums = in_segment(7, |place| {
        let mut in_segment = floats(place.group().own, 8000);
        let mine = in_segment.clone();
        segment::allreduce(place, &mut in_segment, UNIT, &mut super::segments::add).expect("it succeeds");
        let mut exposed = vec![0; 8000];
        let done = exposed::allreduce(
            &mut Member::new(place),
            Some(&mine),
            &mut exposed,
            UNIT,
            &mut super::segments::add,
        );
        assert_eq!(done, Ok(Exposed::Done));
        (in_segment, exposed)
    });
    assert!(sums.iter().all(|(in_segment, exposed)| in_segment == exposed && *exposed == sums[0].1));
}

#[test]
fn exposure_fails_for_all_when_one_cannot_read() {
    let (size, length) = (4, 6000 * UNIT);
    for refused_from in 0..3 {
        in_segment(size, |place| {
            let own = place.group().own;
            let mine = content(own, length);
            let refuse = if own == 2 { refused_from } else { usize::MAX };
            let member = &mut Member { place, fetches: 0, refused_from: refuse };
            let combine = &mut |x: &mut [u8], y: &[u8]| chain(x, y);
            let mut data = mine.clone();
            let told = exposed::allreduce(member, None, &mut data, UNIT, combine);
            assert_eq!(told, Ok(Exposed::Refused), "{refused_from}");
            assert!(data == mine);
            member.fetches = 0;
            let mut all = vec![0; size * length];
            let told = exposed::alltoall(member, &content(own, size * length), &mut all);
            assert_eq!(told, Ok(Exposed::Refused));
        });
    }
}

#[test]
fn members_with_different_operations_get_error() {
    let told = in_segment(3, |place| match place.group().own {
        1 => exposed::alltoall(&mut Member::new(place), &[0; 9], &mut [0; 9]),
        _ => exposed::alltoall(&mut Member::new(place), &[0; 6], &mut [0; 6]),
    });
    assert_eq!(told, vec![Err(Failure::Fault(Fault::Disagreed)); 3]);
}
