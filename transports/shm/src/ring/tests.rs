//! Frames through a ring in one thread and between two.

use super::*;
use parvum_wire::Kind;

type Small = RingMemory<2, 2, 16>;

fn header(tag: i32, length: usize) -> Header {
    Header { kind: Kind::Start, flags: 0, tag, context: 0, length: length as u64, meta: 0, order: 0 }
}

#[test]
fn cells_occupy_one_cache_line() {
    assert_eq!(size_of::<Cell>(), 64);
    assert_eq!(size_of::<Consumed>(), 64);
    assert_eq!(std::mem::offset_of!(Back<2, 16>, bulk), 4096);
    assert_eq!(size_of::<Front<27>>(), 29 * 64);
}

#[test]
fn garbage_in_a_cell_closes_the_ring() {
    let last = u64::MAX - 255;
    for (kind, count, start) in
        [(200u8, 0u8, 0u64), (1, 33, 0), (1, IN_BULK, 1), (1, IN_BULK, 960), (1, IN_BULK, last)]
    {
        let ring = Small::fresh();
        let mut body = [0u8; LINE];
        body[4] = kind;
        body[5] = count;
        body[32..40].copy_from_slice(&start.to_le_bytes());
        body[40..44].copy_from_slice(&200u32.to_le_bytes());
        // SAFETY: the test is the only user of the ring.
        ring.front.cells[0].body.with_mut(|shared| unsafe { (*shared).copy_from_slice(&body[4..]) });
        ring.front.cells[0].publish.store(1, Ordering::Release);
        let got =
            Consumer::default().receive(ring.ring(), 1, &mut |_: &Header, _: &[u8]| panic!("delivered"));
        assert_eq!(got, Err(Refused::Closed), "kind {kind}, count {count}, start {start}");
    }
}

#[test]
fn bulk_memory_is_freed_after_use_ends() {
    let ring = Small::fresh();
    let (mut producer, mut consumer) = (Producer::default(), Consumer::default());
    let send = |producer: &mut Producer, length: usize| {
        producer.send(ring.ring(), &header(1, length), Gather::new(&[&vec![1; length]])).expect("room");
    };
    assert!(!producer.rest(ring.ring()) && !producer.rest(ring.ring()), "never used");
    send(&mut producer, 200);
    assert!(!producer.rest(ring.ring()), "used since");
    assert!(!producer.rest(ring.ring()), "not read yet");
    assert_eq!(consumer.receive(ring.ring(), 9, &mut |_: &Header, _: &[u8]| {}), Ok(1));
    assert!(producer.rest(ring.ring()));
    assert!(!producer.rest(ring.ring()), "given back");
    send(&mut producer, 64);
    send(&mut producer, 8);
    assert_eq!(consumer.receive(ring.ring(), 9, &mut |_: &Header, _: &[u8]| {}), Ok(2));
    assert!(!producer.rest(ring.ring()) && !producer.rest(ring.ring()), "too little to care");
}

#[test]
fn invalid_consumer_counts_close_the_ring() {
    type Wide = RingMemory<2, 30, 16>;
    let closes = |length: usize, damage: &dyn Fn(&Wide)| {
        let ring = Wide::fresh();
        let mut producer = Producer::default();
        let mut send = || producer.send(ring.ring(), &header(1, length), Gather::new(&[&vec![1; length]]));
        assert_eq!(std::iter::repeat_with(&mut send).find(Result::is_err), Some(Err(Refused::Full)));
        damage(&ring);
        assert_eq!(send(), Err(Refused::Closed));
        assert!(!producer.rest(ring.ring()));
    };
    for count in [33, 1 << 20, u64::MAX] {
        closes(8, &|ring| ring.front.consumed.cells.store(count, Ordering::Relaxed));
    }
    // Few of these fill the bulk, not the cells.
    for bytes in [1025, 1 << 20, u64::MAX] {
        closes(200, &|ring| ring.front.consumed.bulk.store(bytes, Ordering::Relaxed));
    }
}

/// On heap memory: so Miri and the thread sanitizer see both ends.
#[test]
fn frames_arrive_whole_and_in_order_from_another_thread() {
    let frames = if cfg!(miri) { 24 } else { 20_000u32 };
    let lengths = [0, 8, 32, 33, 200];
    let ring = Small::fresh();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut producer = Producer::default();
            for order in 0..frames {
                let length = lengths[order as usize % lengths.len()];
                let data = vec![order as u8; length];
                let header = Header { order, ..header(1, length) };
                while producer.send(ring.ring(), &header, Gather::new(&[&data])).is_err() {
                    std::thread::yield_now();
                }
            }
        });
        let (mut consumer, mut next) = (Consumer::default(), 0u32);
        while next < frames {
            let got = consumer.receive(ring.ring(), 3, &mut |header: &Header, payload: &[u8]| {
                assert_eq!((header.order, payload.len() as u64), (next, header.length));
                assert!(payload.iter().all(|&byte| byte == next as u8));
                next += 1;
            });
            if got == Ok(0) {
                std::thread::yield_now();
            }
        }
    });
}

#[test]
fn frame_at_end_of_bulk_skips_to_front() {
    let ring = Small::fresh();
    let (mut producer, mut consumer) = (Producer::default(), Consumer::default());
    for round in 0..if cfg!(miri) { 9 } else { 100u8 } {
        let data = vec![round; 200];
        producer.send(ring.ring(), &header(1, 200), Gather::new(&[&data])).expect("room");
        let got =
            consumer.receive(ring.ring(), 9, &mut |_: &Header, payload: &[u8]| assert_eq!(payload, data));
        assert_eq!(got, Ok(1));
    }
}
