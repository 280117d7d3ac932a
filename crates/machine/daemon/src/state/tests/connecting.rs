//! Offers of connections between tasks.

use super::*;

#[test]
fn crossing_connects_count_once_and_wait_for_join() {
    let mut bench = Bench::new();
    let a = bench.enrol(1);
    let b = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    let effects = bench.call_with(1, Request::Connect { to: b, route: 1 }, vec![42]);
    assert!(matches!(answer(&effects), Ok(Reply::Connected { pid: 1001 })));
    assert!(events(&effects).is_empty(), "b has not enrolled");
    let (_, effects) = bench.enrol_as(2, Role::Task, Some(b));
    let offered = effects.iter().position(|e| {
        matches!(e, Effect::Event { event: Event::Offered { from, .. }, fds, .. } if *from == a && fds[0] == 42 && fds.len() == 3)
    });
    let enrolled = effects.iter().position(|e| matches!(e, Effect::Reply { .. }));
    assert!(enrolled < offered, "first the welcome, then what waited");
    let effects = bench.call_with(2, Request::Connect { to: a, route: 1 }, vec![43]);
    assert_eq!(answer(&effects), Ok(Reply::AlreadyOffered));
    let effects = bench.call_with(1, Request::Connect { to: b, route: 1 }, vec![44]);
    assert_eq!(kind(&effects), ErrorKind::AlreadyConnected);
    assert_eq!(
        kind(&bench.call_with(1, Request::Connect { to: Tid(77), route: 1 }, vec![1])),
        ErrorKind::NoSuchTask
    );
    assert_eq!(kind(&bench.call(1, Request::Connect { to: b, route: 1 })), ErrorKind::BadParameter);
    let effects = bench.call_with(2, Request::Connect { to: a, route: 7 }, vec![45]);
    assert!(matches!(answer(&effects), Ok(Reply::Connected { .. })), "another route is another link");
    // Each hears of the other's end.
    assert_eq!(events(&bench.input(Input::Closed(2))), [(1, Event::Gone { tid: b, routed: false })]);
}

#[test]
fn tcp_connects_share_listener_with_token_per_pair() {
    let mut bench = Bench::new();
    let (a, b) = (bench.enrol(1), bench.enrol(2));
    let effects = bench.call(1, Request::Call { to: b, route: 2 });
    let Ok(Reply::Listener { token, encrypted: false, .. }) = answer(&effects) else { panic!("{effects:?}") };
    let told = events(&effects);
    assert!(matches!(told[0], (2, Event::Listen { .. })));
    assert_eq!(told[1], (2, Event::Expect { from: a, route: 2, token, encrypted: false }));
    let effects = bench.call(1, Request::Call { to: b, route: 2 });
    assert!(!effects.iter().any(|e| matches!(e, Effect::Listen(..))));
    assert!(matches!(answer(&effects), Ok(Reply::Listener { token: other, .. }) if other != token));
    // Another route has another listener, and who calls there does not wait for a call over the first.
    let effects = bench.call(2, Request::Call { to: a, route: 2 });
    assert_eq!(answer(&effects), Ok(Reply::AlreadyOffered));
    let effects = bench.call(2, Request::Call { to: a, route: 5 });
    assert!(effects.iter().any(|e| matches!(e, Effect::Listen(tid, 5) if *tid == a)), "{effects:?}");
    assert!(matches!(answer(&effects), Ok(Reply::Listener { .. })));
}

#[test]
fn events_for_task_that_never_joins_are_bounded() {
    let mut bench = Bench::with(Limits { queued_events: 2, ..Limits::default() });
    bench.enrol(1);
    let b = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    for client in 10..12 {
        bench.enrol(client);
        assert!(answer(&bench.call_with(client, Request::Connect { to: b, route: 1 }, vec![1])).is_ok());
    }
    let effects = bench.call_with(1, Request::Connect { to: b, route: 1 }, vec![1]);
    assert_eq!(kind(&effects), ErrorKind::OutOfResources);
}
