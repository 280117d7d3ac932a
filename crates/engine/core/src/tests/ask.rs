//! Sends whose data only the sender may buffer, and only when no receive is posted.

use super::basics::{outgoing, send, tagged};
use super::simulated::{Nature, ONE, Random, engine, join, pair, run_until_quiet};
use crate::{
    AskOutcome, Buffering, Completion, Counter, Destination, Engine, Outcome, Outgoing, Pattern, Received,
    RequestId, SendError, Sent,
};

fn asking<'a>(to: &Engine, tag: i32, pieces: &'a [&'a [u8]]) -> Outgoing<'a> {
    Outgoing { buffering: Buffering::SenderIfUnposted, ..outgoing(to.me(), tag, pieces) }
}

fn never<'a>(to: &Engine, pieces: &'a [&'a [u8]]) -> Outgoing<'a> {
    let (buffering, completion) = (Buffering::Never, Completion::Matched);
    Outgoing { buffering, completion, ..outgoing(to.me(), 4, pieces) }
}

fn from(engine: &Engine, tag: i32) -> Pattern {
    Pattern { from: Some(engine.me()), ..tagged(tag) }
}

fn later(sent: Result<Sent, SendError>) -> RequestId {
    match sent {
        Ok(Sent::Later(id)) => id,
        other => panic!("{other:?}"),
    }
}

fn received(engine: &mut Engine, id: RequestId) -> Vec<u8> {
    engine.completed(id).expect("over").block.expect("a block").bytes().to_vec()
}

/// Two of which the second was waiting for the last message that the first sent: the next short one goes without a question.
fn prompt_pair() -> (Engine, Engine) {
    let (mut a, mut b) = pair(Nature::QUICK);
    let wanted = b.post(from(&a, 4), Destination::Block, false, false);
    assert_eq!(send(&mut a, asking(&b, 4, &[b"prompt"])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(received(&mut b, wanted), b"prompt");
    (a, b)
}

/// At the sender, at the receiver.
fn buffered(a: &Engine, b: &Engine) -> (u64, u64) {
    (a.ledger().read(Counter::BufferedAtSender), b.ledger().read(Counter::BufferedHere))
}

#[test]
fn long_data_for_posted_receive_is_copied_once() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data = vec![3; 50_000];
    let wanted = b.post(Pattern::ANY, Destination::Block, false, false);
    let sent = later(send(&mut a, asking(&b, 1, &[&data])));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(a.asked(b.me(), sent), AskOutcome::Over);
    assert_eq!(received(&mut b, wanted), data);
    assert_eq!(buffered(&a, &b), (0, 0));
    assert_eq!(b.ledger().read(Counter::PulledBytes), 50_000);
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn unawaited_data_is_copied_by_its_sender() {
    for length in [1usize, 100, 50_000] {
        let (mut a, mut b) = pair(Nature::QUICK);
        let mut data = vec![3; length];
        let sent = later(send(&mut a, asking(&b, 1, &[&data])));
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(a.asked(b.me(), sent), AskOutcome::Unposted);
        assert!(a.keep_at_sender(b.me(), sent));
        assert!(matches!(a.test(sent), Received::Over(Outcome::Sent)));
        data.fill(9);
        assert_eq!(b.probe(&tagged(1)).expect("it is known of").1.length, length as u64);
        let wanted = b.post(tagged(1), Destination::Block, false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(received(&mut b, wanted), vec![3; length], "{length}");
        assert_eq!(buffered(&a, &b), (length as u64, 0), "{length}");
        assert_eq!(a.unfinished(), 0);
    }
}

#[test]
fn long_pieces_are_asked_about_and_copied_once() {
    for into in [Destination::Block, Destination::ByReference] {
        let (mut a, mut b) = pair(Nature::QUICK);
        let parts: Vec<Vec<u8>> = (0..3).map(|n| vec![n; 20_000]).collect();
        let pieces: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let refers = matches!(into, Destination::ByReference);
        let wanted = b.post(Pattern::ANY, into, false, false);
        let sent = later(send(&mut a, asking(&b, 1, &pieces)));
        run_until_quiet(&mut [&mut a, &mut b]);
        if refers {
            let remote = b.completed(wanted).expect("over").remote.expect("where it lies");
            // All of it, and what begins and ends within a piece.
            for (from, length) in [(0usize, 60_000usize), (19_000, 22_000), (59_999, 1)] {
                let mut out = vec![9; length];
                b.read_remote(&remote, from as u64, &mut out).expect("it is there");
                assert!(out == parts.concat()[from..from + length]);
            }
            b.release_remote(remote);
        } else {
            assert_eq!(received(&mut b, wanted), parts.concat());
        }
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(a.asked(b.me(), sent), AskOutcome::Over);
        assert_eq!((buffered(&a, &b), a.unfinished()), ((0, 0), 0));
    }
}

#[test]
fn question_before_receive_is_posted_copies_without_buffer() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data = vec![3; 50_000];
    let sent = later(send(&mut a, asking(&b, 1, &[&data])));
    // The look that finds the question is the last of another wait.
    b.progress();
    assert!(b.has_askers());
    let wanted = b.post(tagged(1), Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(a.asked(b.me(), sent), AskOutcome::Over);
    assert_eq!(received(&mut b, wanted), data);
    assert_eq!((buffered(&a, &b), b.has_askers(), a.unfinished()), ((0, 0), false, 0));
}

#[test]
fn copy_is_fetched_while_sender_is_away() {
    // The receiver is there when the question comes, or not; and before the copy is made, or after.
    for (length, answers, early) in [1usize, 100, 50_000]
        .into_iter()
        .flat_map(|length| [false, true].map(|answers| (length, answers)))
        .flat_map(|(length, answers)| [false, true].map(|early| (length, answers, early)))
    {
        let case = format!("{length} bytes, {answers}, {early}");
        let (mut a, mut b) = pair(Nature::QUICK);
        let mut data = vec![3; length];
        let sent = later(send(&mut a, asking(&b, 1, &[&data])));
        if answers {
            run_until_quiet(&mut [&mut a, &mut b]);
        }
        let mut wanted = None;
        if early {
            wanted = Some(b.post(tagged(1), Destination::Block, false, false));
        }
        assert!(a.keep_at_sender(b.me(), sent), "{case}");
        data.fill(9);
        let wanted = wanted.unwrap_or_else(|| b.post(tagged(1), Destination::Block, false, false));
        run_until_quiet(&mut [&mut b]);
        assert_eq!(received(&mut b, wanted), vec![3; length], "{case}");
        assert_eq!(buffered(&a, &b), (length as u64, 0), "{case}");
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(a.unfinished(), 0, "{case}");
    }
    // The same of what went before its sender knew.
    let (mut a, mut b) = prompt_pair();
    assert_eq!(send(&mut a, asking(&b, 4, &[b"early"])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut b]);
    let wanted = b.post(from(&a, 4), Destination::Block, false, false);
    run_until_quiet(&mut [&mut b]);
    assert_eq!(received(&mut b, wanted), b"early");
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn copy_announced_before_answered_question_is_fetched() {
    for posted in [false, true] {
        let (mut a, mut b) = pair(Nature::QUICK);
        // The data is in several pieces, and its copy in one.
        let mut data = vec![3; 50_000];
        let sent = later(send(&mut a, asking(&b, 1, &[&data[..20_000], &data[20_000..]])));
        b.progress();
        assert!(b.has_askers());
        let early = posted.then(|| b.post(tagged(1), Destination::Block, false, false));
        assert!(a.keep_at_sender(b.me(), sent));
        data.fill(9);
        b.progress();
        b.answer_askers();
        let wanted = early.unwrap_or_else(|| b.post(tagged(1), Destination::Block, false, false));
        // Its sender is away.
        run_until_quiet(&mut [&mut b]);
        assert_eq!(received(&mut b, wanted), [3; 50_000]);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!((a.asked(b.me(), sent), a.unfinished()), (AskOutcome::Over, 0));
    }
}

#[test]
fn silent_receiver_is_not_waited_for() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let sent = later(send(&mut a, asking(&b, 1, &[&[5; 9000]])));
    assert_eq!(a.asked(b.me(), sent), AskOutcome::Unanswered);
    assert!(a.keep_at_sender(b.me(), sent) && a.is_silent(b.me()));
    let wanted = b.post(tagged(1), Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(!a.is_silent(b.me()), "it has answered now");
    assert_eq!(received(&mut b, wanted), [5; 9000]);
    assert_eq!(buffered(&a, &b), (9000, 0));
}

#[test]
fn memory_that_receiver_may_read_is_not_freed() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data = vec![3; 50_000];
    let wanted = b.post(Pattern::ANY, Destination::Block, false, false);
    let sent = later(send(&mut a, asking(&b, 1, &[&data])));
    b.progress();
    a.progress();
    assert_eq!(a.asked(b.me(), sent), AskOutcome::Posted);
    assert!(!a.keep_at_sender(b.me(), sent), "b was told where the data lies");
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(received(&mut b, wanted), data);
    assert_eq!(buffered(&a, &b), (0, 0));
}

#[test]
fn short_awaited_data_is_sent_at_once() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for round in 0..5u8 {
        let wanted = b.post(from(&a, 4), Destination::Block, false, false);
        assert_eq!(send(&mut a, asking(&b, 4, &[&[round]])), Ok(Sent::Now));
        b.progress();
        assert_eq!(received(&mut b, wanted), [round]);
    }
    assert_eq!(buffered(&a, &b), (0, 0));
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn short_data_sent_too_early_is_kept_by_sender() {
    let (mut a, mut b) = prompt_pair();
    // The receiver does not await this message, and the sender learns this after it has left.
    assert_eq!(send(&mut a, asking(&b, 4, &[b"early"])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(buffered(&a, &b), (5, 0));
    assert_eq!(b.ledger().read(Counter::WaitingBytes), 0);
    let wanted = b.post(from(&a, 4), Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(received(&mut b, wanted), b"early");
    assert_eq!((buffered(&a, &b), a.unfinished()), ((5, 0), 0));
}

#[test]
fn unneeded_copy_is_freed() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let first = b.post(from(&a, 4), Destination::Block, false, false);
    assert_eq!(send(&mut a, asking(&b, 4, &[b"1"])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(received(&mut b, first), b"1");
    // Any sender may be meant: that is not published.
    let second = b.post(tagged(4), Destination::Block, false, false);
    assert_eq!(send(&mut a, asking(&b, 4, &[b"2"])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(received(&mut b, second), b"2");
    assert_eq!(a.unfinished(), 0, "the copy is freed");
}

#[test]
fn short_unbufferable_data_waits_unless_awaited() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for round in 0..3u8 {
        // No receive is posted: the data stays, and its contents count when a receive is posted.
        let mut data = [round; 8];
        let copied = b.ledger().read(Counter::PulledBytes);
        // SAFETY: it stays until the send is over.
        let piece = unsafe { std::slice::from_raw_parts(data.as_ptr(), data.len()) };
        let stays = later(send(&mut a, never(&b, &[piece])));
        run_until_quiet(&mut [&mut a, &mut b]);
        assert!(matches!(a.test(stays), Received::Pending));
        data.fill(99);
        let wanted = b.post(from(&a, 4), Destination::Block, false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(received(&mut b, wanted), [99; 8]);
        assert!(matches!(a.test(stays), Received::Over(Outcome::Sent)));
        assert_eq!(b.ledger().read(Counter::PulledBytes), copied + 8);
        // It is awaited: one copy into the link, and one out of it.
        let wanted = b.post(from(&a, 4), Destination::Block, false, false);
        assert_eq!(send(&mut a, never(&b, &[&[round; 8]])), Ok(Sent::Now));
        b.progress();
        assert_eq!(received(&mut b, wanted), [round; 8]);
        assert_eq!(b.ledger().read(Counter::PulledBytes), copied + 8);
        run_until_quiet(&mut [&mut a, &mut b]);
    }
    assert_eq!((buffered(&a, &b), a.unfinished()), ((0, 0), 0));
}

#[test]
fn awaited_message_survives_cancelled_receive() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let wanted = b.post(from(&a, 4), Destination::Block, false, false);
    assert_eq!(send(&mut a, asking(&b, 4, &[b"late"])), Ok(Sent::Now));
    assert!(b.cancel(wanted));
    run_until_quiet(&mut [&mut a, &mut b]);
    let wanted = b.post(tagged(4), Destination::Block, false, false);
    assert!(matches!(b.test(wanted), Received::Over(Outcome::Received(_))));
    assert_eq!(b.ledger().read(Counter::BufferedHere), 4, "who took it back buffers it");
}

#[test]
fn receive_stays_published_while_other_messages_arrive() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let wanted = b.post(from(&a, 4), Destination::Block, false, false);
    assert_eq!(send(&mut a, outgoing(b.me(), 9, &[b"another"])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(send(&mut a, asking(&b, 4, &[b"this"])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(received(&mut b, wanted), b"this");
    assert_eq!(buffered(&a, &b).0, 0);
}

#[test]
fn refused_single_copy_is_streamed() {
    for refuse_pull in [0, 1] {
        let nature = Nature { single_copy: refuse_pull > 0, refuse_pull, ..Nature::QUICK };
        let (mut a, mut b) = pair(nature);
        let data: Vec<u8> = (0..50_000u32).map(|i| i as u8).collect();
        let wanted = b.post(Pattern::ANY, Destination::Block, false, false);
        later(send(&mut a, asking(&b, 1, &[&data])));
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(received(&mut b, wanted), data);
        assert_eq!((buffered(&a, &b), a.unfinished()), ((0, 0), 0));
    }
}

#[test]
fn flood_stops_at_credit_and_resumes_after_drain() {
    let (mut a, mut b) = (engine(1, 10_000), engine(2, 10_000));
    join(&mut a, &mut b, ONE, Nature::QUICK);
    let mut sent = 0;
    loop {
        match send(&mut a, asking(&b, 1, &[&[7; 400]])) {
            Ok(Sent::Now) => {}
            Ok(Sent::Later(id)) => {
                run_until_quiet(&mut [&mut a, &mut b]);
                assert!(a.keep_at_sender(b.me(), id));
                a.test(id);
            }
            Err(why) => {
                assert_eq!(why, SendError::Full(b.me()));
                break;
            }
        }
        sent += 1;
        assert!(sent < 100);
    }
    for _ in 0..sent {
        let wanted = b.post(Pattern::ANY, Destination::Block, false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(received(&mut b, wanted), [7; 400]);
    }
    assert!(send(&mut a, asking(&b, 1, &[&[7; 400]])).is_ok(), "drained");
}

#[test]
fn death_ends_questions_and_reports_lost_copies() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
        let scissors = join(&mut a, &mut b, ONE, Nature::QUICK);
        let data = [1; 5000];
        let open = later(send(&mut a, asking(&b, 1, &[&data])));
        let kept = later(send(&mut a, asking(&b, 2, &[&data])));
        assert!(a.keep_at_sender(b.me(), kept));
        let wanted = b.post(from(&a, 1), Destination::Block, false, false);
        for _ in 0..random.below(4) {
            b.progress();
            if random.one_in(2) {
                a.progress();
            }
        }
        scissors.cut(random.below(3) as usize);
        let b_tid = b.me();
        a.peer_gone(b_tid);
        b.peer_gone(a.me());
        assert!(a.is_over(open) && b.is_over(wanted), "seed {seed}");
        assert_eq!(a.unfinished(), 0, "seed {seed}");
        assert!(a.ledger().read(Counter::Lost) >= 1, "seed {seed}: the copy is lost, and that is told");
    }
}

#[test]
fn asked_data_may_stay_with_its_sender() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data = vec![3; 50_000];
    let wanted = b.post(Pattern::ANY, Destination::ByReference, false, false);
    let sent = later(send(&mut a, asking(&b, 1, &[&data])));
    run_until_quiet(&mut [&mut a, &mut b]);
    let remote = b.completed(wanted).expect("over").remote.expect("where it lies");
    assert_eq!(a.asked(b.me(), sent), AskOutcome::Posted);
    assert!(!a.keep_at_sender(b.me(), sent), "it may be read");
    let mut read = vec![0; data.len()];
    assert_eq!(b.read_remote(&remote, 0, &mut read), Ok(()));
    b.release_remote(remote);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!((a.asked(b.me(), sent), read), (AskOutcome::Over, data));
    assert_eq!((a.unfinished(), buffered(&a, &b)), (0, (0, 0)));
}

#[test]
fn data_in_pieces_is_received_into_block() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let (one, two) = (vec![3; 50_000], vec![4; 70_000]);
    let wanted = b.post(Pattern::ANY, Destination::Lazily, false, false);
    let sent = later(send(&mut a, asking(&b, 1, &[&one, &two])));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(received(&mut b, wanted), [one, two].concat());
    assert_eq!((a.asked(b.me(), sent), a.unfinished()), (AskOutcome::Over, 0));
}
