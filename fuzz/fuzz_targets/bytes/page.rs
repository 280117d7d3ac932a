//! A task's page, its ledgers and its recording, as the daemon and onlookers read them: the task may write there what it likes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_control::{CounterBook, Happening, Recording, ControlBlock, totals};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Writes the input into the file where it says: a place, and eight bytes.
fn scribble(file: &File, input: &[u8], from: u64) {
    let bytes = file.metadata().expect("a file").len() - from;
    for entry in input.chunks_exact(10) {
        let place = u64::from(u16::from_le_bytes([entry[0], entry[1]])) * 8 % bytes;
        let _ = file.write_all_at(&entry[2..], from + place);
    }
}

fuzz_target!(|input: &[u8]| {
    let (page, file) = ControlBlock::create().expect("memory");
    let file = File::from(file);
    scribble(&file, input, 0);
    page.identity();
    page.interface();
    page.program();
    page.barrier();
    page.waiting_for();
    page.unmatched();
    let book = CounterBook::open(&file).expect("the same file");
    totals(page.layout(), &book.read());
    // Who comes later takes it for a page, or not.
    let _ = ControlBlock::open(&file);

    let (recording, file) = Recording::create(1 << 14, false).expect("memory");
    let file = File::from(file);
    scribble(&file, input, 0);
    recording.began();
    let from = input.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    for (from, most) in [(0, 100), (from, 100), (u64::MAX, 1)] {
        let (first, records) = recording.ring().read(from, most);
        assert!(records.len() <= most && first.checked_add(records.len() as u64).is_some());
        records.into_iter().filter_map(Happening::read).for_each(drop);
    }
    let _ = Recording::open(&file);
});
