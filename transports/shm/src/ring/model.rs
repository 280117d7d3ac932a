//! The two ends of a ring under loom.

use super::*;
use loom::sync::Arc;
use parvum_wire::Kind;

fn frame(number: u8, length: usize) -> (Header, Vec<u8>) {
    let length64 = length as u64;
    let header = Header {
        kind: Kind::Start,
        flags: 0,
        tag: number.into(),
        context: 0,
        length: length64,
        meta: 0,
        order: 0,
    };
    (header, vec![number; length])
}

/// Every interleaving of a producer and a consumer: frames arrive complete and in order, and a read never overlaps with
/// a write (loom checks the cells).
fn all_frames_arrive(lengths: &'static [usize], rests: bool) {
    loom::model(move || {
        let ring = Arc::new(RingMemory::<1, 1, 16>::fresh());
        let shared = ring.clone();
        let producing = loom::thread::spawn(move || {
            let mut producer = Producer::default();
            for (number, &length) in lengths.iter().enumerate() {
                let (header, data) = frame(number as u8, length);
                while producer.send(shared.ring(), &header, Gather::new(&[&data])).is_err() {
                    loom::thread::yield_now();
                }
                // Twice: at first the frame just sent counts as use.
                if rests && !producer.rest(shared.ring()) && producer.rest(shared.ring()) {
                    shared.ring().clear_bulk();
                }
            }
        });
        let mut consumer = Consumer::default();
        let mut next = 0;
        while next < lengths.len() {
            let got = consumer.receive(ring.ring(), 1, &mut |header: &Header, payload: &[u8]| {
                assert_eq!((*header, payload.to_vec()), frame(next as u8, lengths[next]));
                next += 1;
            });
            if got == Ok(0) {
                loom::thread::yield_now();
            }
        }
        producing.join().expect("the producer ends");
    });
}

#[test]
fn inline_frames_wrap_around_the_ring() {
    all_frames_arrive(&[1, 2, 3], false);
}

#[test]
fn bulk_frames_reuse_memory_in_turns() {
    all_frames_arrive(&[250, 40, 256], false);
}

#[test]
fn bulk_memory_is_freed_while_unread() {
    all_frames_arrive(&[250, 40, 256], true);
}
