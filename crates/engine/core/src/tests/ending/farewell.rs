//! How a task parts from peers: which news lead to what, and what becomes of last words that are on their way.

use crate::parting::farewell::{Listening, News, QUIET, Stage};
use crate::tests::basics::{bytes_of, outgoing, send};
use crate::tests::simulated::{Nature, ONE, OTHER, Random, engine, join, tid};
use crate::{Buffering, Destination, Engine, Outcome, Pattern, Received, SendError, Sent};
use parvum_transport::Route;
use parvum_wire::Tid;
use std::time::Duration;

const LISTENING: Listening = Listening {
    over: [true; Route::BOUND],
    announced: false,
    quiet_since: Duration::from_secs(10),
    heard: false,
    expected: 5,
};

fn waited(more: bool, announced: bool, expected: u32, now: Duration) -> News {
    News::Waited { more, announced, expected, now }
}

#[test]
fn farewell_stage_changes_as_table_says() {
    let (ending, dead) = (Stage::Ending { dead: false }, Stage::Ending { dead: true });
    let listening = Stage::Listening(LISTENING);
    let (since, late) = (LISTENING.quiet_since, LISTENING.quiet_since + QUIET);
    let heard = Stage::Listening(Listening { heard: true, ..LISTENING });
    let anew = |stage: Listening| Stage::Listening(Listening { quiet_since: late, ..stage });
    for (before, news, after) in [
        (None, News::Heard, None),
        (None, waited(false, false, 5, late), None),
        (None, News::Told(None), Some(ending)),
        (None, News::Told(Some(LISTENING)), Some(listening)),
        (None, News::Cut { more: false }, Some(ending)),
        (None, News::Cut { more: true }, Some(ending)),
        (None, News::Dead, Some(dead)),
        (Some(listening), News::Heard, Some(heard)),
        (Some(listening), News::Cut { more: true }, Some(listening)),
        (Some(listening), News::Cut { more: false }, Some(ending)),
        (Some(listening), News::Told(None), Some(ending)),
        (Some(listening), News::Dead, Some(dead)),
        (Some(listening), waited(true, false, 5, since), Some(listening)),
        (Some(listening), waited(false, false, 5, since), Some(ending)),
        (Some(listening), waited(true, false, 5, late), Some(ending)),
        // A message has come in between, by the usual or by the short path.
        (Some(heard), waited(true, false, 5, late), Some(anew(LISTENING))),
        (Some(listening), waited(true, false, 6, late), Some(anew(Listening { expected: 6, ..LISTENING }))),
        (Some(heard), waited(false, false, 5, late), Some(ending)),
        // A connection that was announced and has not come.
        (
            Some(listening),
            waited(false, true, 5, since),
            Some(Stage::Listening(Listening { announced: true, ..LISTENING })),
        ),
        (Some(ending), News::Heard, Some(ending)),
        (Some(ending), News::Told(Some(LISTENING)), Some(ending)),
        (Some(ending), waited(true, true, 6, since), Some(ending)),
        (Some(ending), News::Dead, Some(dead)),
        (Some(dead), News::Told(None), Some(dead)),
    ] {
        assert_eq!(Stage::after(before, news), after, "{before:?} and {news:?}");
    }
}

#[test]
fn farewell_news_of_another_route_is_added() {
    let over = |route: Route| std::array::from_fn(|place| place == route.place());
    let first = Stage::Listening(Listening { over: over(ONE), ..LISTENING });
    let both = Stage::after(Some(first), News::Told(Some(Listening { over: over(OTHER), ..LISTENING })));
    let Some(Stage::Listening(Listening { over, .. })) = both else { panic!("{both:?}") };
    assert!(over[ONE.place()] && over[OTHER.place()] && over.iter().filter(|&&over| over).count() == 2);
}

/// The messages that a task has received from `gone`, in order, and whether it knows of its end.
struct Heir {
    engine: Engine,
    gone: Tid,
    heard: Vec<u8>,
    now: Duration,
}

impl Heir {
    /// Sets the time, and lets the task make progress. Returns whether the peer is gone.
    fn step(&mut self, time: Duration) -> bool {
        self.engine.progress();
        self.now += time;
        let over = self.engine.part(self.now, |_| false);
        assert!(over.iter().all(|&tid| tid == self.gone));
        assert_eq!(over.len() == 1, self.engine.is_gone(self.gone), "who is gone is said once, and then");
        while let Some((id, _)) = self.engine.probe(&Pattern::ANY) {
            let request = self.engine.receive_message(id, Destination::Block).expect("it was found");
            self.heard.extend(bytes_of(&mut self.engine, request));
        }
        !over.is_empty()
    }
}

/// A task sends a number of messages of one byte over two routes, at random, and ends. Returns the receiver.
fn last_words(seed: u64) -> (Heir, u8, [crate::tests::simulated::Scissors; 2]) {
    let mut random = Random::new(seed);
    let (a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let mut heir = Heir { gone: b.me(), engine: a, heard: Vec::new(), now: Duration::ZERO };
    let ways = [ONE, OTHER].map(|route| {
        let nature = Nature { delay: random.below(30), ..Nature::QUICK };
        join(&mut heir.engine, &mut b, route, nature)
    });
    let count = 1 + random.below(40) as u8;
    for number in 0..count {
        b.prefer(heir.engine.me(), if random.one_in(2) { ONE } else { OTHER });
        assert_eq!(send(&mut b, outgoing(heir.engine.me(), 1, &[&[number]])), Ok(Sent::Now));
    }
    (heir, count, ways)
}

#[test]
fn peer_is_gone_only_after_its_messages_arrive() {
    for seed in 1..=300 {
        let (mut heir, count, ways) = last_words(seed);
        let mut random = Random::new(!seed);
        let late = heir.engine.post(
            Pattern { from: Some(heir.gone), ..crate::tests::basics::tagged(2) },
            Destination::Block,
            false,
            false,
        );
        for _ in 0..random.below(10) {
            assert!(!heir.step(Duration::ZERO));
        }
        // The machine may be quicker than the end of the links, and of one link quicker than the other's.
        let mut ends = [random.below(40), random.below(40)];
        heir.engine.peer_ended(heir.gone, &[ONE, OTHER], false, heir.now);
        assert!(heir.engine.is_leaving(heir.gone) && heir.engine.has_leaving());
        let mut steps = 0;
        loop {
            for (way, end) in ways.iter().zip(&mut ends) {
                if *end == 0 {
                    way.end();
                }
                *end = end.saturating_sub(1);
            }
            // It is never quiet for long: each message is heard in time.
            if heir.step(Duration::from_millis(10)) {
                break;
            }
            steps += 1;
            assert!(steps < 1_000, "seed {seed}: its links have ended, and it is not let go");
        }
        assert!(ends == [0; 2], "seed {seed}: let go before its links had ended");
        assert_eq!(heir.heard, (0..count).collect::<Vec<_>>(), "seed {seed}");
        assert!(matches!(heir.engine.test(late), Received::Over(Outcome::Gone(_))), "seed {seed}");
        assert!(!heir.engine.has_leaving() && !heir.engine.is_leaving(heir.gone));
        let gone = heir.gone;
        assert_eq!(send(&mut heir.engine, outgoing(gone, 1, &[b"x"])), Err(SendError::Gone(gone)));
    }
}

/// A task sends, and is refused because the peer has ended. No query has shown the peer's last messages yet.
#[test]
fn last_messages_are_received_after_refused_send() {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let way = join(&mut a, &mut b, ONE, Nature { unasked: true, ..Nature::QUICK });
    let (me, gone) = (a.me(), b.me());
    for number in 0..3u8 {
        assert_eq!(send(&mut b, outgoing(me, 1, &[&[number]])), Ok(Sent::Now));
    }
    way.end();
    let _ = send(&mut a, outgoing(gone, 1, &[b"unread"]));
    a.progress();
    assert!(a.is_gone(gone));
    for number in 0..3u8 {
        let received = a.post(Pattern { from: Some(gone), ..Pattern::ANY }, Destination::Block, false, false);
        assert_eq!(bytes_of(&mut a, received), [number]);
    }
}

#[test]
fn endless_link_is_waited_for_until_quiet() {
    for seed in 1..=50 {
        let (mut heir, count, _ways) = last_words(seed);
        heir.engine.peer_ended(heir.gone, &[ONE, OTHER], false, heir.now);
        // A message needs at most 30 looks, and while messages come, the time limit does not end.
        let step = QUIET / 40;
        let mut last = heir.now;
        loop {
            let before = heir.heard.len();
            let gone = heir.step(step);
            if heir.heard.len() > before {
                last = heir.now;
            }
            if gone {
                break;
            }
        }
        assert_eq!(heir.heard.len(), usize::from(count), "seed {seed}");
        assert!(heir.now >= last + QUIET && heir.now <= last + QUIET + 2 * step, "seed {seed}");
    }
}

#[test]
fn announced_connection_delays_end_of_peer() {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let gone = b.me();
    a.peer_ended(gone, &[ONE], true, Duration::ZERO);
    assert!(a.is_leaving(gone) && a.part(Duration::ZERO, |_| true).is_empty() && a.is_leaving(gone));
    let way = join(&mut a, &mut b, ONE, Nature::QUICK);
    let me = a.me();
    let _ = send(&mut b, outgoing(me, 1, &[b"late"]));
    way.end();
    assert!(a.part(Duration::ZERO, |_| false).is_empty(), "it has come, and is listened to");
    let received = a.post(Pattern::ANY, Destination::Block, false, false);
    while !a.is_gone(gone) {
        a.progress();
    }
    assert_eq!(bytes_of(&mut a, received), b"late");
    assert_eq!(
        a.part(Duration::ZERO, |_| false),
        [gone],
        "said though the end of its link was first to know"
    );
    assert!(a.part(Duration::ZERO, |_| false).is_empty() && !a.has_leaving());
}

#[test]
fn peer_that_never_joined_is_gone() {
    let mut a = engine(1, 1 << 20);
    let stranger = tid(9);
    a.peer_ended(stranger, &[ONE], true, Duration::ZERO);
    let waits = Pattern { from: Some(stranger), ..Pattern::ANY };
    let waits = a.post(waits, Destination::Block, false, false);
    assert!(a.part(QUIET / 2, |_| true).is_empty() && !a.is_over(waits));
    assert_eq!(a.part(QUIET, |_| true), [stranger], "nothing came for long");
    assert!(matches!(a.test(waits), Received::Over(Outcome::Gone(tid)) if tid == stranger));
}

/// A task that exits asks its receivers to fetch, and they listen to it: no offered data is lost.
#[test]
fn leaving_sender_hands_over_all_offered_data() {
    for seed in 1..=100 {
        let mut random = Random::new(seed);
        let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
        let nature = Nature {
            delay: random.below(10),
            capacity: 1 + random.below(10) as usize,
            single_copy: random.one_in(2),
            refuse_pull: random.below(3),
            ..Nature::QUICK
        };
        let way = join(&mut a, &mut b, ONE, nature);
        let data: Vec<Vec<u8>> = (0..1 + random.below(6) as u8).map(|n| vec![n; 5_000]).collect();
        let (me, gone) = (a.me(), b.me());
        for data in &data {
            let mut message = outgoing(me, 1, &[]);
            let pieces = [&data[..]];
            message.pieces = &pieces;
            message.buffering = if random.one_in(2) { Buffering::Never } else { Buffering::BySize };
            let _ = send(&mut b, message);
        }
        b.leave();
        for _ in 0..100_000 {
            if b.unfinished() == 0 {
                break;
            }
            b.progress();
            a.progress();
        }
        assert_eq!(b.unfinished(), 0, "seed {seed}: it may not end");
        drop(b);
        way.end();
        a.peer_ended(gone, &[ONE], false, Duration::ZERO);
        while a.part(Duration::ZERO, |_| false).is_empty() {
            a.progress();
        }
        for data in &data {
            let received = a.post(Pattern::ANY, Destination::Block, false, false);
            assert_eq!(&bytes_of(&mut a, received), data, "seed {seed}");
        }
    }
}
