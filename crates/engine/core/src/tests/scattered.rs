//! Data whose layout only its owner knows, on either side or on both.

use super::basics::{outgoing, send, tagged};
use super::simulated::{Nature, engine, pair, run_until_quiet};
use crate::{
    Buffering, Completion, Counter, Destination, Engine, Outgoing, Pattern, Scattered, Sent, UserBuffer,
};
use parvum_transport::own::OwnLink;
use std::sync::{Arc, Mutex};

/// Every third byte of some memory is a message's.
#[derive(Clone, Debug)]
struct Thirds {
    memory: Arc<Mutex<Vec<u8>>>,
    length: usize,
}

const UNTOUCHED: u8 = 0xee;

impl Thirds {
    fn new(length: usize) -> Thirds {
        Thirds { memory: Arc::new(Mutex::new(vec![UNTOUCHED; 3 * length])), length }
    }

    fn of(data: &[u8]) -> Thirds {
        let mut thirds = Thirds::new(data.len());
        thirds.copy_in(0, data);
        thirds
    }

    fn room(&self) -> Destination {
        Destination::Scattered(Box::new(self.clone()))
    }

    fn data(&self) -> Vec<u8> {
        let mut out = vec![0; self.length];
        self.copy_out(0, &mut out);
        out
    }

    /// Whether only the message's bytes were written.
    fn is_clean(&self) -> bool {
        let memory = self.memory.lock().unwrap();
        memory.iter().enumerate().all(|(at, byte)| at % 3 == 0 || *byte == UNTOUCHED)
    }
}

impl Scattered for Thirds {
    fn length(&self) -> usize {
        self.length
    }

    fn copy_out(&self, from: usize, out: &mut [u8]) {
        let memory = self.memory.lock().unwrap();
        out.iter_mut().enumerate().for_each(|(at, byte)| *byte = memory[3 * (from + at)]);
    }

    fn copy_in(&mut self, from: usize, bytes: &[u8]) {
        let mut memory = self.memory.lock().unwrap();
        bytes.iter().enumerate().for_each(|(at, byte)| memory[3 * (from + at)] = *byte);
    }
}

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 % 241) as u8).collect()
}

/// Which sides have a layout.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sides {
    Both,
    Sender,
    Receiver,
}

fn start(a: &mut Engine, message: Outgoing<'_>, data: &[u8], sides: Sides) -> Sent {
    match sides {
        Sides::Receiver => send(a, Outgoing { pieces: &[data], ..message }).expect("it is sent"),
        _ => {
            let from = Thirds::of(data);
            let sent = a.send_scattered(message, &from).expect("it is sent");
            // It may be changed at once.
            from.memory.lock().unwrap().fill(0);
            sent
        }
    }
}

/// One message of `length` bytes into room for `room`; what the receiver's engine counted.
fn pass(
    nature: Nature,
    (length, room): (usize, usize),
    how: Buffering,
    sides: Sides,
    posted: bool,
) -> Engine {
    let what = format!("{length} bytes into {room}, {how:?}, {sides:?}, posted {posted}");
    let (mut a, mut b) = pair(nature);
    let (data, thirds, mut plain) = (data(length), Thirds::new(room), vec![UNTOUCHED; room]);
    let mut into = Some(match sides {
        // SAFETY: the memory is there until the end of this function.
        Sides::Sender => Destination::User(unsafe { UserBuffer::new(plain.as_mut_ptr(), room) }),
        _ => thirds.room(),
    });
    let mut post = |b: &mut Engine| b.post(tagged(1), into.take().expect("once"), false, false);
    let mut receive = posted.then(|| post(&mut b));
    let message = Outgoing { buffering: how, ..outgoing(b.me(), 1, &[]) };
    let sent = start(&mut a, message, &data, sides);
    run_until_quiet(&mut [&mut a, &mut b]);
    let receive = *receive.get_or_insert_with(|| post(&mut b));
    run_until_quiet(&mut [&mut a, &mut b]);
    if let Sent::Later(sent) = sent {
        assert!(a.is_over(sent), "{what}");
    }
    let completed = b.completed(receive).unwrap_or_else(|| panic!("{what}: it is received"));
    assert_eq!((completed.envelope.length, completed.is_cut(room)), (length as u64, length > room), "{what}");
    let got = if sides == Sides::Sender { plain } else { thirds.data() };
    let fits = length.min(room);
    assert!(got[..fits] == data[..fits], "{what}");
    assert!(
        got[fits..].iter().all(|byte| *byte == UNTOUCHED) && thirds.is_clean(),
        "{what}: no more is touched"
    );
    b
}

#[test]
fn scattered_message_arrives_whole_or_truncated_on_any_link() {
    let natures = [
        Nature::QUICK,
        Nature { single_copy: false, ..Nature::QUICK },
        Nature { refuse_pull: 1, ..Nature::QUICK },
        Nature { refuse_pull: 2, ..Nature::QUICK },
        Nature { lends: Some(0), ..Nature::QUICK },
        Nature { lends: Some(700), ..Nature::QUICK },
        Nature { delay: 3, capacity: 2, ..Nature::QUICK },
    ];
    let lengths =
        [(0, 0), (1, 1), (77, 200), (5_000, 5_000), (100_001, 100_001), (300_000, 299_993), (90_000, 0)];
    for nature in natures {
        for how in [Buffering::BySize, Buffering::Never, Buffering::AtSender, Buffering::AtReceiver] {
            for length in lengths {
                for sides in [Sides::Both, Sides::Sender, Sides::Receiver] {
                    for posted in [true, false] {
                        pass(nature, length, how, sides, posted);
                    }
                }
            }
        }
    }
}

#[test]
fn message_in_lent_memory_is_not_buffered() {
    let b = pass(
        Nature { lends: Some(0), ..Nature::QUICK },
        (200_000, 200_000),
        Buffering::BySize,
        Sides::Both,
        true,
    );
    assert_eq!(b.ledger().read(Counter::PulledBytes), 200_000);
    assert_eq!((b.ledger().read(Counter::CopiedOut), b.ledger().read(Counter::BufferedHere)), (0, 0));
}

#[test]
fn listed_pieces_arrive_in_scattered_buffer() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let (data, into) = (data(300_000), Thirds::new(250_000));
    let pieces: Vec<&[u8]> = data.chunks(70_001).collect();
    let receive = b.post(Pattern::ANY, into.room(), false, false);
    let _ = send(&mut a, Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), 1, &pieces) });
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(b.completed(receive).expect("over").is_cut(250_000));
    assert!(into.data() == data[..250_000] && into.is_clean());
    assert_eq!(b.ledger().read(Counter::PulledBytes), 300_000);
}

#[test]
fn synchronous_send_completes_when_matched() {
    for length in [100, 50_000] {
        let (mut a, mut b) = pair(Nature::QUICK);
        let (data, into) = (data(length), Thirds::new(length));
        let (buffering, completion) = (Buffering::Never, Completion::Matched);
        let message = Outgoing { buffering, completion, ..outgoing(b.me(), 1, &[]) };
        let Sent::Later(sent) = start(&mut a, message, &data, Sides::Both) else {
            panic!("nobody wants it yet")
        };
        run_until_quiet(&mut [&mut a, &mut b]);
        assert!(!a.is_over(sent));
        let receive = b.post(Pattern::ANY, into.room(), false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert!(a.is_over(sent) && b.completed(receive).is_some() && into.data() == data);
    }
}

#[test]
fn task_sends_scattered_data_to_itself() {
    for length in [10, 900_000, 3_000_000] {
        let mut a = engine(1, 1 << 20);
        a.attach(a.me(), parvum_transport::Route::OWN, Box::<OwnLink>::default());
        let (data, into) = (data(length), Thirds::new(length));
        let receive = a.post(Pattern::ANY, into.room(), false, false);
        let message = outgoing(a.me(), 1, &[]);
        start(&mut a, message, &data, Sides::Both);
        run_until_quiet(&mut [&mut a]);
        assert!(a.completed(receive).is_some() && into.data() == data);
    }
}

#[test]
fn sender_death_mid_message_frees_receive_for_others() {
    use super::simulated::{ONE, join, tid};
    let slow = Nature { lends: Some(10), ..Nature::QUICK };
    let (mut a, mut b, mut c) = (engine(1, 1 << 20), engine(2, 1 << 20), engine(3, 1 << 20));
    let scissors = join(&mut a, &mut b, ONE, slow);
    join(&mut c, &mut b, ONE, Nature::QUICK);
    let into = Thirds::new(100_000);
    let receive = b.post(Pattern::ANY, into.room(), false, false);
    start(&mut a, outgoing(b.me(), 1, &[]), &data(100_000), Sides::Both);
    for _ in 0..20 {
        b.progress();
    }
    assert!(!b.is_over(receive));
    scissors.cut(0);
    b.peer_gone(tid(1));
    run_until_quiet(&mut [&mut b, &mut c]);
    assert!(!b.is_over(receive), "half a message is nobody's");
    let again = data(90_000);
    start(&mut c, outgoing(b.me(), 1, &[]), &again, Sides::Both);
    run_until_quiet(&mut [&mut b, &mut c]);
    assert_eq!(b.completed(receive).expect("the other's").envelope.from, tid(3));
    assert!(into.data()[..90_000] == again);
}
