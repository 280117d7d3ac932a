//! Matching among many: the same answers as a look at each in turn, for the price of a few looks.

use super::simulated::Random;
use crate::Counters;
use crate::ids::{MessageId, RequestId};
use crate::matching::{Body, Message, Queues};
use crate::receiving::message::{Block, Envelope, Pattern, TagMatch};
use parvum_wire::Tid;

fn envelope(from: i32, tag: i32, context: u32) -> Envelope {
    Envelope { from: Tid(from), tag, context, meta: 0, length: 0, order: None }
}

fn arrive(queues: &mut Queues, envelope: Envelope) -> MessageId {
    let id = queues.store(Message::new(envelope, 0, 0, Body::Whole(Block::EMPTY)));
    queues.enqueue(id, &Counters::private());
    id
}

fn post(queues: &mut Queues, pattern: Pattern) -> RequestId {
    let turn = queues.next_turn();
    let id = RequestId::from_number(turn);
    queues.post(turn, pattern, id, false);
    id
}

/// Every kind of pattern for one certain message.
fn patterns(message: &Envelope) -> Vec<Pattern> {
    let mut all = Vec::new();
    for from in [None, Some(message.from)] {
        for context in [None, Some(message.context)] {
            for tag in [TagMatch::Any, TagMatch::Exactly(message.tag)] {
                all.push(Pattern { from, tag, context });
            }
        }
    }
    all
}

/// How many entries a search has looked at.
fn looks(queues: &Queues, search: usize) -> usize {
    let seen = queues.looked.replace(0);
    assert!(seen > 0, "search {search} looked at nothing");
    seen
}

#[test]
fn receive_cost_does_not_grow_with_queued_messages() {
    let mut counts = [Vec::new(), Vec::new()];
    for (count, looked) in [10, 10_000].into_iter().zip(&mut counts) {
        let mut queues = Queues::default();
        for number in 0..count {
            arrive(&mut queues, envelope(number % 100, number, 7));
        }
        let last = envelope((count - 1) % 100, count - 1, 7);
        for (search, pattern) in patterns(&last).into_iter().enumerate() {
            queues.looked.set(0);
            let found = queues.find_match(&pattern).expect("it is there");
            assert!(queues.get(found).is_some_and(|message| pattern.matches(&message.envelope)));
            looked.push(looks(&queues, search));
        }
    }
    for (few, many) in counts[0].iter().zip(&counts[1]) {
        assert!(2 * many <= 3 * few.max(&1), "{counts:?}");
    }
}

#[test]
fn match_cost_does_not_grow_with_posted_receives() {
    let mut counts = [Vec::new(), Vec::new()];
    for (count, looked) in [10, 10_000].into_iter().zip(&mut counts) {
        for kind in 0..8 {
            let mut queues = Queues::default();
            for number in 0..count - 1 {
                post(&mut queues, patterns(&envelope(1000 + number % 100, number, 7))[6 + kind % 2]);
            }
            let wanted = envelope(5, -1, 9);
            let last = post(&mut queues, patterns(&wanted)[kind]);
            queues.looked.set(0);
            // Half of the receives before it want any message of a sender, in another context.
            assert_eq!(queues.match_posted(&wanted), Some(last), "{kind}");
            looked.push(looks(&queues, kind));
            assert_eq!(queues.match_posted(&wanted), None);
            queues.looked.set(0);
            assert!(queues.withdraw(RequestId::from_number(count as u64 / 2)));
        }
    }
    for (few, many) in counts[0].iter().zip(&counts[1]) {
        assert!(2 * many <= 3 * few.max(&1), "{counts:?}");
    }
}

/// The same by a look at each in turn.
#[derive(Default)]
struct Naive {
    posted: Vec<(RequestId, Pattern)>,
    visible: Vec<(MessageId, Envelope, u64)>,
    hidden: Vec<(MessageId, Envelope, u64)>,
    arrivals: u64,
}

fn random_pattern(random: &mut Random) -> Pattern {
    let tag = match random.below(5) {
        0 => TagMatch::Any,
        1 => TagMatch::Masked { mask: 3, value: random.below(4) as i32 },
        2 => TagMatch::Within { first: 1, last: random.below(6) as i32 },
        3 => TagMatch::Among { few: random.below(64) as u32, last: 40 },
        _ => TagMatch::Exactly(random.below(8) as i32),
    };
    let from = (!random.one_in(3)).then(|| Tid(random.below(5) as i32));
    let context = (!random.one_in(4)).then(|| random.below(3) as u32);
    Pattern { from, tag, context }
}

fn random_envelope(random: &mut Random) -> Envelope {
    envelope(random.below(5) as i32, random.below(8) as i32, random.below(3) as u32)
}

fn step(queues: &mut Queues, naive: &mut Naive, random: &mut Random, grows: bool) {
    let ledger = Counters::private();
    match random.below(if grows { 8 } else { 14 }) {
        0..3 => {
            let pattern = random_pattern(random);
            naive.posted.push((post(queues, pattern), pattern));
        }
        3..6 => {
            let message = random_envelope(random);
            naive.arrivals += 1;
            naive.visible.push((arrive(queues, message), message, naive.arrivals));
        }
        6 if !naive.hidden.is_empty() => {
            let at = random.below(naive.hidden.len() as u64) as usize;
            let back = naive.hidden.swap_remove(at);
            let place = naive.visible.partition_point(|other| other.2 < back.2);
            naive.visible.insert(place, back);
            queues.unhide(back.0);
        }
        7 => {
            let from = Tid(random.below(5) as i32);
            let mut wanted: Vec<_> =
                naive.posted.iter().filter(|(_, pattern)| pattern.from == Some(from)).collect();
            assert_eq!(queues.first_posted_for(from), wanted.first().map(|(_, pattern)| pattern));
            let mut said = queues.posted_for(from);
            said.sort_unstable_by_key(|id| id.number());
            wanted.sort_unstable_by_key(|(id, _)| id.number());
            assert!(said.iter().eq(wanted.iter().map(|(id, _)| id)));
        }
        8..10 if !naive.posted.is_empty() => {
            let (id, _) = naive.posted.remove(random.below(naive.posted.len() as u64) as usize);
            assert!(queues.withdraw(id));
            assert!(!queues.withdraw(id));
        }
        10..12 => {
            let message = random_envelope(random);
            let at = naive.posted.iter().position(|(_, pattern)| pattern.matches(&message));
            assert_eq!(queues.match_posted(&message), at.map(|at| naive.posted.remove(at).0));
        }
        _ => {
            let pattern = random_pattern(random);
            let at = naive.visible.iter().position(|(_, message, _)| pattern.matches(message));
            let found = queues.find_match(&pattern);
            assert_eq!(found, at.map(|at| naive.visible[at].0));
            if let Some(at) = at {
                let taken = naive.visible.remove(at);
                queues.hide(taken.0, &ledger);
                if random.one_in(2) {
                    naive.hidden.push(taken);
                } else {
                    assert!(queues.remove(taken.0).is_some());
                }
            }
        }
    }
    assert_eq!(queues.waiting(), naive.visible.len());
    assert_eq!(queues.is_empty(), naive.posted.is_empty() && naive.visible.is_empty());
}

#[test]
fn bins_match_like_linear_search() {
    for seed in 0..60 {
        let (mut queues, mut naive, mut random) = (Queues::default(), Naive::default(), Random::new(seed));
        for round in 0..2_000 {
            // It grows over the bound and shrinks to nothing, again and again.
            step(&mut queues, &mut naive, &mut random, round / 250 % 2 == 0);
        }
        let found: Vec<_> = std::iter::from_fn(|| {
            let id = queues.find_match(&Pattern::ANY)?;
            queues.hide(id, &Counters::private());
            Some(id)
        })
        .collect();
        assert!(found.into_iter().eq(naive.visible.iter().map(|(id, ..)| *id)), "seed {seed}");
    }
}
