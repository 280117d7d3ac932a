//! What a peer wrote into the memory of a copy that both ends make.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_shm::receive_beside_nonsense;

fuzz_target!(|input: &[u8]| {
    let mut words = input.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
    receive_beside_nonsense(1, || words.next());
});
