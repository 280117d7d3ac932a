//! The mailbox.

use super::*;

#[test]
fn mailbox_flags_decide_who_may_replace_and_take() {
    let mut bench = Bench::new();
    bench.enrol(1);
    bench.enrol(2);
    let put = |index, flags| Request::MailPut { name: "n".into(), index, flags, data: "d".into() };
    let get = |take, wait| Request::MailGet { name: "n".into(), index: 0, first: true, take, wait };
    let plain = MailFlags::default();
    let open = MailFlags::OVERWRITABLE;
    assert_eq!(kind(&bench.call(1, get(false, false))), ErrorKind::NoSuchEntry);
    assert!(answers(&bench.call(2, get(false, true))).is_empty(), "it waits");
    let effects = answers(&bench.call(1, put(None, plain)));
    assert_eq!(effects[0], (1, Ok(Reply::Number(0))));
    let owner = bench.machine.tid_of(1);
    assert_eq!(effects[1], (2, Ok(Reply::Mail { index: 0, owner, flags: plain, data: "d".into() })));
    assert_eq!(answer(&bench.call(1, put(None, plain))), Ok(Reply::Number(0)), "the owner may");
    assert_eq!(kind(&bench.call(2, put(None, open))), ErrorKind::Denied);
    assert_eq!(kind(&bench.call(2, get(true, false))), ErrorKind::Denied);
    assert_eq!(kind(&bench.call(2, Request::MailRemove { name: "n".into(), index: 0 })), ErrorKind::Denied);
    bench.input(Input::Closed(1));
    assert_eq!(kind(&bench.call(2, get(false, false))), ErrorKind::NoSuchEntry, "it went with its owner");
    let multi = MailFlags::MULTI.and(MailFlags::PERSISTENT).and(MailFlags::OVERWRITABLE);
    for index in 0..3 {
        assert_eq!(answer(&bench.call(2, put(None, multi))), Ok(Reply::Number(index)));
    }
    assert_eq!(answer(&bench.call(2, put(Some(1), multi))), Ok(Reply::Number(3)), "beside the others");
    assert_eq!(answer(&bench.call(2, put(Some(1), open.and(MailFlags::PERSISTENT)))), Ok(Reply::Number(1)));
    bench.input(Input::Closed(2));
    bench.enrol(3);
    for index in 0..4 {
        let taken = answer(&bench.call(3, get(true, false)));
        assert!(matches!(taken, Ok(Reply::Mail { index: at, owner: None, .. }) if at == index), "{taken:?}");
    }
    assert_eq!(bench.machine.mailbox.bytes(), 0);
}

#[test]
fn mailbox_entry_taken_in_vain_returns_to_position() {
    let mut bench = Bench::new();
    bench.enrol(1);
    bench.enrol(2);
    let owner = bench.machine.tid_of(1);
    let flags = MailFlags::MULTI.and(MailFlags::OVERWRITABLE);
    let name = || "n".to_owned();
    for data in ["a", "b"] {
        bench.call(1, Request::MailPut { name: name(), index: None, flags, data: data.into() });
    }
    let bytes = bench.machine.mailbox.bytes();
    let get = |take| Request::MailGet { name: name(), index: 0, first: true, take, wait: false };
    let first = Ok(Reply::Mail { index: 0, owner, flags, data: "a".into() });
    assert_eq!(answer(&bench.call(2, get(true))), first);
    let back = |owner| Request::MailPutBack { name: name(), index: 0, owner, flags, data: "a".into() };
    assert_eq!(answer(&bench.call(2, back(owner))), Ok(Reply::Number(0)));
    assert_eq!(answer(&bench.call(2, get(false))), first, "before the other, and its owner's");
    assert_eq!(bench.machine.mailbox.bytes(), bytes);
    // Another has taken its place meanwhile.
    bench.call(2, get(true));
    bench.call(1, Request::MailPut { name: name(), index: None, flags, data: "c".into() });
    assert_eq!(answer(&bench.call(2, back(owner))), Ok(Reply::Number(2)), "nothing is replaced");
    // Its owner is gone, and it with its owner.
    for _ in 0..3 {
        bench.call(2, get(true));
    }
    bench.input(Input::Closed(1));
    assert_eq!(answer(&bench.call(2, back(owner))), Ok(Reply::Number(0)));
    assert_eq!(bench.machine.mailbox.bytes(), 0);
}

#[test]
fn mailbox_is_bounded() {
    let mut bench = Bench::with(Limits { mailbox_bytes: 1000, ..Limits::default() });
    bench.enrol(1);
    let data = Blob(vec![0; 900]);
    let flags = MailFlags::MULTI;
    let put = Request::MailPut { name: "n".into(), index: None, flags, data };
    assert_eq!(answer(&bench.call(1, put.clone())), Ok(Reply::Number(0)));
    assert_eq!(kind(&bench.call(1, put)), ErrorKind::TooLarge);
}
