//! The cost of a message by each protocol of shared memory. Two engines in two threads pass data to and fro, and each
//! protocol is forced in turn.
//!
//! The sender writes its data before each send, and the receiver reads its data after each receive. A program that reuses
//! unchanged data is not measured here.

use crate::duel::pin;
use crate::shared::{Side, pair};
use parvum_engine::{
    Buffering, Completion, Counter, Counters, Destination, Engine, Outgoing, Pattern, Sent, Settings,
    TagMatch, UserBuffer,
};
use parvum_wire::{EAGER, Tid};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How the data of a message travels between two tasks of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Whole, in the ring of the pair.
    Eager,
    /// In memory that both tasks map: both copy, one behind the other.
    Lent,
    /// The receiver reads the memory of the sender, and the sender waits for that. Both copy if the message is long.
    InPlace,
    /// In several frames of the ring.
    Frames,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Protocol; 4] = [Protocol::Eager, Protocol::Lent, Protocol::InPlace, Protocol::Frames];

    /// Whether messages of this length can take it.
    pub fn takes(self, bytes: usize) -> bool {
        match self {
            Protocol::Eager => bytes <= EAGER,
            Protocol::Lent | Protocol::Frames => bytes > EAGER,
            Protocol::InPlace => true,
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Eager => "eager",
            Protocol::Lent => "lent",
            Protocol::InPlace => "in place",
            Protocol::Frames => "frames",
        }
    }
}

/// The time of one message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// How its data travels.
    pub protocol: Protocol,
    /// The length of the data.
    pub bytes: usize,
    /// Half a round trip: the shortest of the samples, because other tasks may use the cores too. The time to
    /// write and to read the data is included.
    pub nanoseconds: u64,
}

/// Samples of each cost.
const SAMPLES: usize = 15;
/// Round trips before the clock runs: they touch all memory.
const WARM: usize = 3;
const TAG: i32 = 7;
const TIDS: [Tid; 2] = [Tid(0x40001), Tid(0x40002)];

/// Measures all protocols for messages of these lengths, with the two threads on these cores. A protocol that this host
/// refuses has no cost.
pub fn measure(cores: [usize; 2], lengths: &[usize]) -> Result<Vec<Cost>, String> {
    let mut costs = Vec::new();
    for &bytes in lengths {
        for protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.takes(bytes)) {
            let time = time(cores, protocol, bytes)?;
            costs.extend(time.map(|nanoseconds| Cost { protocol, bytes, nanoseconds }));
        }
    }
    Ok(costs)
}

/// One task of the pair.
struct End {
    engine: Engine,
    peer: Tid,
    buffering: Buffering,
    give: Vec<u64>,
    get: Vec<u64>,
    turn: u64,
}

fn ends(protocol: Protocol, bytes: usize) -> Result<[End; 2], String> {
    let is_single_copy = protocol != Protocol::Frames;
    let mut own = 0;
    Ok(pair(is_single_copy)?.map(|Side { mut link, .. }| {
        if protocol == Protocol::Frames {
            link.keep_no_descriptors(Arc::new(|| ()));
        }
        let (me, peer) = (TIDS[own], TIDS[1 - own]);
        own += 1;
        let mut engine = Engine::new(me, Settings::default(), Counters::private());
        engine.attach(peer, parvum_shm::TRANSPORT.route, Box::new(link));
        let buffering = if protocol == Protocol::InPlace { Buffering::Never } else { Buffering::BySize };
        let words = bytes.div_ceil(8);
        End { engine, peer, buffering, give: vec![0; words], get: vec![0; words], turn: 0 }
    }))
}

impl End {
    /// Posts the receive of the next message, sends one, and waits for both.
    fn send(&mut self) {
        self.turn += 1;
        self.give.fill(self.turn);
        let End { engine, peer, buffering, give, .. } = self;
        // SAFETY: any bits are bytes, and the slice has the length of the words.
        let bytes = unsafe { std::slice::from_raw_parts(give.as_ptr().cast::<u8>(), give.len() * 8) };
        let (to, pieces) = (*peer, &[bytes][..]);
        let (context, meta, keep, completion) = (0, 0, None, Completion::Copied);
        let message =
            Outgoing { to, tag: TAG, context, meta, pieces, keep, buffering: *buffering, completion };
        // SAFETY: the data stays until the request is over.
        let sent = unsafe { engine.send(message) }.expect("the peer is joined");
        if let Sent::Later(request) = sent {
            move_until(engine, |engine| engine.is_over(request));
            engine.test(request);
        }
    }

    fn receive(&mut self) {
        let End { engine, peer, get, .. } = self;
        let pattern = Pattern { from: Some(*peer), tag: TagMatch::Exactly(TAG), context: Some(0) };
        // SAFETY: the memory stays until the receive is over.
        let room = unsafe { UserBuffer::new(get.as_mut_ptr().cast(), get.len() * 8) };
        let request = engine.post(pattern, Destination::User(room), false, false);
        move_until(engine, |engine| engine.is_over(request));
        engine.completed(request).expect("the receive is over");
        black_box(get.iter().copied().fold(0, u64::wrapping_add));
    }

    /// The last message has come whole.
    fn is_right(&self) -> bool {
        self.get.iter().all(|word| *word == self.turn)
    }

    /// The messages took this protocol. The kernel may refuse to let tasks read the memory of each other.
    fn took(&self, protocol: Protocol) -> bool {
        let read = |counter| self.engine.ledger().read(counter) > 0;
        match protocol {
            Protocol::Eager => !read(Counter::BufferedAtSender) && !read(Counter::Pulled),
            Protocol::Lent => read(Counter::BufferedAtSender),
            Protocol::InPlace => read(Counter::Pulled),
            Protocol::Frames => read(Counter::CopiedIn) && !read(Counter::Pulled),
        }
    }
}

/// Moves the messages of an engine on until that is so. Two threads may share a core.
///
/// # Panics
/// If it is not so for ten seconds: the other thread has failed.
fn move_until(engine: &mut Engine, is_so: impl Fn(&Engine) -> bool) {
    const PATIENCE: Duration = Duration::from_secs(10);
    let mut looks = 0u32;
    let mut since = None;
    while !is_so(engine) {
        engine.progress();
        looks += 1;
        if looks.is_multiple_of(1 << 10) {
            assert!(
                since.get_or_insert_with(Instant::now).elapsed() < PATIENCE,
                "the other thread has failed"
            );
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// The shortest half round trip. `None`: the messages took another protocol.
fn time(cores: [usize; 2], protocol: Protocol, bytes: usize) -> Result<Option<u64>, String> {
    let [mut lead, mut follow] = ends(protocol, bytes)?;
    // Messages that are over in a microsecond are timed together.
    let trips = (65_536 / bytes.max(1)).clamp(1, 32);
    let mut samples = Vec::with_capacity(SAMPLES);
    let all = (WARM + SAMPLES) * trips;
    std::thread::scope(|scope| {
        let follower = scope.spawn(move || {
            pin(cores[1])?;
            for _ in 0..all {
                follow.receive();
                follow.send();
            }
            // The data of the last message is fetched before its memory goes.
            move_until(&mut follow.engine, |engine| engine.unfinished() == 0);
            Ok::<bool, String>(follow.is_right())
        });
        pin(cores[0])?;
        for sample in 0..WARM + SAMPLES {
            let begun = Instant::now();
            for _ in 0..trips {
                lead.send();
                lead.receive();
            }
            if sample >= WARM {
                samples.push(begun.elapsed().as_nanos() as u64 / (2 * trips as u64));
            }
        }
        while !follower.is_finished() {
            lead.engine.progress();
            std::thread::yield_now();
        }
        match follower.join() {
            Ok(Ok(true)) if lead.is_right() => Ok(()),
            Ok(Ok(_)) => Err(format!("{} of {bytes} bytes brought wrong data", protocol.name())),
            Ok(Err(why)) => Err(why),
            Err(_) => Err("the second thread failed".to_owned()),
        }
    })?;
    Ok(samples.into_iter().min().filter(|_| lead.took(protocol)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_carries_the_lengths_that_it_takes() {
        let lengths = [8, EAGER, 4 * EAGER];
        let allowed = rustix::thread::sched_getaffinity(None).expect("known");
        let core = (0..rustix::thread::CpuSet::MAX_CPU).find(|core| allowed.is_set(*core)).expect("some");
        let costs = measure([core, core], &lengths).expect("measured");
        let expected: Vec<_> = lengths
            .iter()
            .flat_map(|&bytes| {
                let all = Protocol::ALL.into_iter();
                all.filter(move |protocol| protocol.takes(bytes)).map(move |protocol| (protocol, bytes))
            })
            .collect();
        let measured: Vec<_> = costs.iter().map(|cost| (cost.protocol, cost.bytes)).collect();
        assert_eq!(measured, expected);
        assert!(costs.iter().all(|cost| cost.nanoseconds > 0));
    }
}
