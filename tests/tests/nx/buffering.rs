//! Where the bytes of messages lie, and in which call they are copied.

use crate::programs::run;
use parvum_tests::TestMachine;

const LONG: i64 = 200_000;

/// What node 1 counted in a scene.
#[derive(Debug, PartialEq)]
struct Counted {
    direct: i64,
    buffered: i64,
    /// In crecv, irecv, msgwait, msgdone, global operations, elsewhere.
    copied: [i64; 6],
    kept_by_sender: i64,
}

fn scene(said: &str, name: &str) -> Counted {
    let line = said.lines().find_map(|line| line.split_once(&format!("{name}: ")).map(|(_, rest)| rest));
    let line = line.unwrap_or_else(|| panic!("no scene {name:?} in {said}"));
    let numbers: Vec<i64> = line.split([' ', '|']).filter_map(|word| word.parse().ok()).collect();
    Counted {
        direct: numbers[0],
        buffered: numbers[1],
        copied: numbers[2..8].try_into().expect("six calls"),
        kept_by_sender: numbers[8],
    }
}

fn buffered(direct: i64, copied: [i64; 6]) -> Counted {
    Counted { direct, buffered: LONG, copied, kept_by_sender: 0 }
}

const DIRECT: Counted = Counted { direct: LONG, buffered: 0, copied: [0; 6], kept_by_sender: 0 };
const IN_CRECV: [i64; 6] = [LONG, 0, 0, 0, 0, 0];
const IN_IRECV: [i64; 6] = [0, LONG, 0, 0, 0, 0];
const IN_MSGWAIT: [i64; 6] = [0, 0, LONG, 0, 0, 0];
const IN_MSGDONE: [i64; 6] = [0, 0, 0, LONG, 0, 0];
const IN_GSYNC: [i64; 6] = [0, 0, 0, 0, LONG, 0];

#[test]
fn paragon_mode_copies_in_msgwait() {
    let machine = TestMachine::up();
    let said = run(&machine, 2, "nx_buffering", &[]);
    for how in ["csend", "isend"] {
        assert_eq!(scene(&said, &format!("posted, {how}")), DIRECT, "{said}");
        assert_eq!(scene(&said, &format!("not posted, {how}")), buffered(0, IN_CRECV), "{said}");
    }
    assert_eq!(scene(&said, "irecv, msgwait"), buffered(0, IN_MSGWAIT));
    // The other message comes late, and so directly.
    assert_eq!(scene(&said, "crecv of another between"), buffered(LONG, IN_CRECV));
    assert_eq!(scene(&said, "gsync between"), buffered(0, IN_GSYNC));
    assert_eq!(scene(&said, "irecv and msgwait of another between"), buffered(LONG, IN_MSGWAIT));
    assert_eq!(scene(&said, "irecv, msgdone"), buffered(0, IN_MSGDONE));
}

#[test]
fn ipsc_mode_copies_in_irecv() {
    let machine = TestMachine::up();
    let said = run(&machine, 2, "nx_buffering", &[("PARVUM_NX_BUFFERING", "ipsc")]);
    for how in ["csend", "isend"] {
        assert_eq!(scene(&said, &format!("posted, {how}")), DIRECT, "{said}");
        assert_eq!(scene(&said, &format!("not posted, {how}")), buffered(0, IN_CRECV), "{said}");
    }
    for name in ["irecv, msgwait", "gsync between", "irecv, msgdone"] {
        assert_eq!(scene(&said, name), buffered(0, IN_IRECV), "{name}: {said}");
    }
    for name in ["crecv of another between", "irecv and msgwait of another between"] {
        assert_eq!(scene(&said, name), buffered(LONG, IN_IRECV), "{name}: {said}");
    }
}
