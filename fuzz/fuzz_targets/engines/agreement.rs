//! What daemons write to each other to agree: letters in pieces, and what a host that comes is handed.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut pieces = Vec::new();
    let mut rest = input;
    while let Some((length, behind)) = rest.split_first() {
        let (piece, behind) = behind.split_at(behind.len().min(usize::from(*length)));
        pieces.push(piece);
        rest = behind;
    }
    parvum_agreement::reads::messages(&pieces);
    parvum_agreement::reads::snapshot(input);
});
