//! The effects of a service on memory, without messages.

use crate::question::{Change, HEAD, PART, Question, Trouble, Window, outcome, status};
use crate::windows::{Reach, Windows};
use parvum_collectives::operators::{Kind, Operator};

/// Memory of which the last part is protected.
struct Fake {
    bytes: Vec<u8>,
    readable: usize,
    writable: usize,
}

impl Fake {
    fn new(bytes: Vec<u8>) -> Fake {
        let length = bytes.len();
        Fake { bytes, readable: length, writable: length }
    }
}

impl Reach for Fake {
    fn read(&mut self, address: u64, out: &mut [u8]) -> bool {
        let (from, to) = (address as usize, address as usize + out.len());
        to <= self.readable && {
            out.copy_from_slice(&self.bytes[from..to]);
            true
        }
    }

    fn write(&mut self, address: u64, data: &[u8]) -> bool {
        let (from, to) = (address as usize, address as usize + data.len());
        to <= self.writable && {
            self.bytes[from..to].copy_from_slice(data);
            true
        }
    }
}

fn exposed(start: u64, length: u64) -> (Windows, Window) {
    let mut windows = Windows::default();
    let window = windows.expose(start, length).expect("the first");
    (windows, window)
}

#[test]
fn get_returns_what_put_wrote() {
    let (windows, window) = exposed(4, 12);
    let mut memory = Fake::new(vec![0; 20]);
    let mut answer = vec![9];
    windows.serve(&Question::Put { window, offset: 3 }, b"abc", &mut memory, &mut answer).expect("fits");
    assert_eq!(answer, [9], "a put answers nothing");
    assert_eq!(&memory.bytes[7..10], b"abc");
    let get = Question::Get { window, offset: 2, length: 5 };
    windows.serve(&get, &[], &mut memory, &mut answer).expect("fits");
    assert_eq!(answer, b"\x09\0abc\0");
}

#[test]
fn window_refuses_access_beyond_its_end() {
    let (windows, window) = exposed(4, 12);
    let mut memory = Fake::new(vec![0; 20]);
    let mut ask = |question, data: &[u8]| {
        let mut answer = Vec::new();
        let outcome = windows.serve(&question, data, &mut memory, &mut answer);
        assert!(outcome.is_ok() || answer.is_empty());
        outcome
    };
    assert_eq!(ask(Question::Put { window, offset: 10 }, b"abc"), Err(Trouble::OutOfRange));
    assert_eq!(ask(Question::Put { window, offset: u64::MAX }, b"abc"), Err(Trouble::OutOfRange));
    assert_eq!(ask(Question::Get { window, offset: 0, length: 13 }, &[]), Err(Trouble::OutOfRange));
    assert_eq!(ask(Question::Get { window, offset: 1, length: u64::MAX }, &[]), Err(Trouble::OutOfRange));
    assert_eq!(ask(Question::Put { window, offset: 12 }, &[]), Ok(()), "nothing, at the end");
    assert_eq!(ask(Question::Put { window: Window(2), offset: 0 }, &[]), Err(Trouble::NoWindow));
    assert!(memory.bytes.iter().all(|byte| *byte == 0));
}

#[test]
fn withdrawn_window_is_gone_and_number_not_reused() {
    let (mut windows, window) = exposed(0, 8);
    assert!(windows.withdraw(window) && !windows.withdraw(window));
    assert_eq!(windows.range(window), Err(Trouble::NoWindow));
    assert_ne!(windows.expose(0, 8), Some(window));
}

#[test]
fn protected_memory_fails_for_the_requester() {
    let (windows, window) = exposed(0, 16);
    let mut memory = Fake { bytes: vec![1; 16], readable: 12, writable: 8 };
    let mut answer = Vec::new();
    let get = Question::Get { window, offset: 8, length: 8 };
    assert_eq!(windows.serve(&get, &[], &mut memory, &mut answer), Err(Trouble::Protected));
    let change = Question::Atomic {
        window,
        offset: 8,
        length: 4,
        change: Change::Combine(Operator::Sum),
        kind: Kind::I32,
    };
    assert_eq!(windows.serve(&change, &[1, 0, 0, 0], &mut memory, &mut answer), Err(Trouble::Protected));
    assert!(answer.is_empty() && memory.bytes.iter().all(|byte| *byte == 1));
}

fn atomic(memory: &mut Fake, change: Change, kind: Kind, data: &[u8]) -> Result<Vec<u8>, Trouble> {
    let (windows, window) = exposed(0, memory.bytes.len() as u64);
    let mut answer = Vec::new();
    let question = Question::Atomic { window, offset: 0, length: 8, change, kind };
    windows.serve(&question, data, memory, &mut answer).map(|()| answer)
}

#[test]
fn atomic_operations_return_old_value() {
    let mut memory = Fake::new([5i32, 7].map(i32::to_le_bytes).concat());
    let old = memory.bytes.clone();
    let words = |words: [i32; 2]| words.map(i32::to_le_bytes).concat();
    assert_eq!(atomic(&mut memory, Change::Nothing, Kind::I32, &[]), Ok(old.clone()));
    assert_eq!(atomic(&mut memory, Change::Combine(Operator::Sum), Kind::I32, &words([1, -1])), Ok(old));
    assert_eq!(memory.bytes, words([6, 6]));
    let swap = [words([6, 9]), words([1, 2])].concat();
    assert_eq!(atomic(&mut memory, Change::CompareAndSwap, Kind::I32, &swap), Ok(words([6, 6])));
    assert_eq!(memory.bytes, words([1, 6]), "the second did not compare");
    assert_eq!(atomic(&mut memory, Change::Replace, Kind::I64, &[8; 8]), Ok(words([1, 6])));
    assert_eq!(memory.bytes, [8; 8]);
}

#[test]
fn invalid_operations_change_nothing() {
    let mut memory = Fake::new(vec![3; 8]);
    for (change, kind, data) in [
        (Change::Combine(Operator::And), Kind::F64, &[0; 8][..]),
        (Change::Combine(Operator::Sum), Kind::I32, &[0; 7]),
        (Change::CompareAndSwap, Kind::I32, &[0; 4]),
    ] {
        assert_eq!(atomic(&mut memory, change, kind, data), Err(Trouble::NoSuchOperation));
    }
    assert_eq!(memory.bytes, [3; 8]);
    let (windows, window) = exposed(0, u64::MAX);
    let get = Question::Get { window, offset: 0, length: PART as u64 + 1 };
    assert_eq!(windows.serve(&get, &[], &mut memory, &mut Vec::new()), Err(Trouble::TooLong));
}

#[test]
fn questions_round_trip_and_invalid_ones_are_refused() {
    let window = Window(77);
    let mut all = vec![
        Question::Put { window, offset: 1 << 40 },
        Question::Get { window, offset: 3, length: 1 << 33 },
        Question::Request,
        Question::Describe { window },
        Question::Stop,
    ];
    let changes = Operator::ALL.map(Change::Combine);
    let others = [Change::Nothing, Change::Replace, Change::CompareAndSwap];
    for change in changes.into_iter().chain(others) {
        for kind in Kind::ALL {
            all.push(Question::Atomic { window, offset: 5, length: 9, change, kind });
        }
    }
    for question in all {
        let message = [&question.encode()[..], b"data"].concat();
        assert_eq!(Question::decode(&message), Ok((question, &b"data"[..])));
        assert_eq!(Question::decode(&message[..HEAD - 1]), Err(Trouble::Malformed));
    }
    for byte in 0..=255u8 {
        // Any bytes decode to a question or to an error.
        for at in 0..4 {
            let mut head =
                Question::Atomic { window, offset: 0, length: 0, change: Change::Replace, kind: Kind::I8 }
                    .encode();
            head[at] = byte;
            let _ = Question::decode(&head);
        }
    }
    assert_eq!(Question::decode(&[0; HEAD]), Err(Trouble::Malformed));
}

#[test]
fn outcomes_round_trip() {
    assert_eq!(outcome(status(Ok(()))), Ok(()));
    for why in [Trouble::NoWindow, Trouble::OutOfRange, Trouble::Protected, Trouble::NoAnswer] {
        assert_eq!(outcome(status(Err(why))), Err(why));
    }
    assert_eq!(outcome([255; 8]), Err(Trouble::Malformed));
}
