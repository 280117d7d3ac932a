//! Cells that a peer wrote into shared memory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_shm::ring::{Consumer, RingMemory};

type Small = RingMemory<2, 2, 16>;

fuzz_target!(|input: &[u8]| {
    let (ring, mut consumer) = (Box::new(Small::fresh()), Consumer::default());
    let mut sum = 0u64;
    let mut sink = |_: &_, payload: &[u8]| sum += payload.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    for (position, content) in input.chunks_exact(60).take(8).enumerate() {
        let content = content.first_chunk().expect("60 bytes");
        ring.ring().publish_anything(position as u64, content);
        if consumer.receive(ring.ring(), 1, &mut sink).is_err() {
            return;
        }
    }
});
