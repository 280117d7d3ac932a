//! The memory of a ring.

use super::*;
use parvum_wire::Kind;

type Usual = RingMemory<27, 229, 1024>;

fn send(producer: &mut Producer, ring: &Usual, length: usize) -> Result<(), Refused> {
    let header =
        Header { kind: Kind::Start, flags: 0, tag: 1, context: 0, length: length as u64, meta: 0, order: 0 };
    producer.send(ring.ring(), &header, Gather::new(&[&vec![7; length]]))
}

fn take(consumer: &mut Consumer, ring: &Usual, most: usize) -> usize {
    let mut sink = |_: &Header, payload: &[u8]| assert!(payload.iter().all(|&byte| byte == 7));
    consumer.receive(ring.ring(), most, &mut sink).expect("whole frames")
}

fn is_untouched(ring: &Usual) -> bool {
    ring.back.cells.iter().all(|cell| cell.publish.load(Ordering::Relaxed) == 0)
}

#[test]
fn ring_with_answers_stays_in_front_and_first_page() {
    let ring = Box::new(Usual::fresh());
    let (mut producer, mut consumer) = (Producer::default(), Consumer::default());
    // Miri is slow, and needs few rounds.
    for round in 0..if cfg!(miri) { 60 } else { 2_000 } {
        send(&mut producer, &ring, [8, 100, 1000][round % 3]).expect("room");
        assert_eq!(take(&mut consumer, &ring, 9), 1);
    }
    assert!(is_untouched(&ring));
    // SAFETY: nobody else uses the ring.
    let used = ring.back.bulk.0.iter().rposition(|line| line.with(|line| unsafe { (*line)[0] }) == 7);
    assert!(used.is_some_and(|line| line < 64), "{used:?}");
}

#[test]
fn ring_offers_all_room_before_and_after_jumps() {
    let ring = Box::new(Usual::fresh());
    let (mut producer, mut consumer) = (Producer::default(), Consumer::default());
    for round in 0..if cfg!(miri) { 3 } else { 60 } {
        for _ in 0..round {
            send(&mut producer, &ring, 8).expect("room");
            assert_eq!(take(&mut consumer, &ring, 9), 1);
        }
        let mut ahead = 0;
        while send(&mut producer, &ring, 8).is_ok() {
            ahead += 1;
        }
        // The skipped cells are not available until the cell with the jump is consumed.
        assert!((26..=256).contains(&ahead), "{ahead}");
        assert_eq!(take(&mut consumer, &ring, 1000), ahead);
    }
    assert!(!is_untouched(&ring));
}

#[test]
fn bulk_frames_of_any_length_find_room_again() {
    let ring = Box::new(Usual::fresh());
    let (mut producer, mut consumer) = (Producer::default(), Consumer::default());
    let mut seed = 1u64;
    for _ in 0..if cfg!(miri) { 60 } else { 20_000 } {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let length = (seed >> 33) as usize % if seed & 1 << 20 == 0 { 3_000 } else { 16_384 };
        if send(&mut producer, &ring, length).is_err() {
            assert!(take(&mut consumer, &ring, 1000) > 0);
            send(&mut producer, &ring, length).expect("an empty ring has room");
        } else if seed & 1 << 21 == 0 {
            take(&mut consumer, &ring, 1);
        }
    }
}
