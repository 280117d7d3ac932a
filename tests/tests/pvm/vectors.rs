//! What packed messages look like, byte for byte, held against what PVM 3.4.6 made of the same values.

use parvum_tests::TestMachine;
use std::path::Path;

/// PVM cuts a long to four bytes and loses what does not fit; Parvum's longs have eight, so it can differ in
/// these lines only: which words of each are longs.
const LONGS: [(&str, &[usize]); 4] = [
    ("long xdr", &[0, 1, 2, 3, 4, 5]),
    ("long strided xdr", &[0, 1, 2]),
    ("ulong xdr", &[0, 1, 2, 3]),
    ("packf xdr", &[9]),
];

/// The line with its longs written in eight bytes.
fn widened(line: &str) -> String {
    let (name, bytes) = line.split_once(':').expect("name: bytes");
    let Some((_, longs)) = LONGS.iter().find(|(long, _)| *long == name) else { return line.to_owned() };
    let words = bytes.split_whitespace().enumerate().map(|(at, word)| {
        let sign = if word.starts_with(|c| c >= '8') { "ffffffff" } else { "00000000" };
        if longs.contains(&at) { format!(" {sign} {word}") } else { format!(" {word}") }
    });
    format!("{name}:{}", words.collect::<String>())
}

#[test]
fn packed_messages_equal_those_of_pvm_bytewise() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors.txt");
    let recorded = std::fs::read_to_string(recorded).expect("the record is there");
    let machine = TestMachine::up();
    let said = machine.check(&mut machine.program("vectors"));
    assert!(recorded.lines().count() > 80);
    for (ours, theirs) in said.lines().zip(recorded.lines()) {
        assert_eq!(ours, widened(theirs));
    }
    assert_eq!(said.lines().count(), recorded.lines().count());
}
