//! Control frames between daemons, cut as the first bytes say.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use parvum_mesh::wire::frames::Framer;

fuzz_target!(|input: &[u8]| {
    let Some((cuts, stream)) = input.split_first_chunk::<4>() else { return };
    let mut framer = Framer::new(256);
    let (mut rest, mut turn) = (stream, 0);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(usize::from(cuts[turn % 4]) + 1));
        framer.push(Bytes::copy_from_slice(piece));
        loop {
            match framer.frame() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        (rest, turn) = (after, turn + 1);
    }
});
