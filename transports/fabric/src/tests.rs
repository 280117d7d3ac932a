//! The contract of links, over the providers of libfabric that work on one host.

use super::*;
use crate::domain::{Domain, Prefix};
use crate::link::{FabricLink, LIMITS};
use crate::ofi::{FabricError, Posted};
use crate::secret::Secret;
use parvum_tcp::TcpLink;
use parvum_tcp::proof::End;
use parvum_tests::{Lack, skip};
use parvum_transport::conformance::{self, Pair};
use parvum_transport::{Gather, Link, Refused};
use parvum_wire::{Header, Kind, Tid};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TOKEN: [u8; 16] = [7; 16];
const CALLER: Tid = Tid(0x40001);
const PROVIDERS: [&str; 2] = ["tcp", "sockets"];

/// Whether the library is here.
fn has_library() -> bool {
    match Domain::open(Some("tcp")) {
        Err(FabricError::Missing(why)) => {
            skip(Lack::Tools, format!("libfabric.so.1 cannot be loaded: {why}"));
            false
        }
        _ => true,
    }
}

/// Two ends of a connection.
fn connected(encrypted: bool) -> [TcpLink; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("bound").to_string();
    let calling = parvum_tcp::connect(&address, CALLER, &TOKEN, encrypted).expect("connected");
    let mut greeting = parvum_tcp::accept(&listener).expect("a caller");
    let called = loop {
        match greeting.heard() {
            parvum_tcp::Heard::NotYet(again) => greeting = again,
            parvum_tcp::Heard::Nothing => panic!("it closed"),
            parvum_tcp::Heard::Hello(caller) => break caller.admit(&TOKEN, encrypted),
        }
    };
    [calling, called]
}

/// Two ends with endpoints of their own, or without.
fn pair(providers: [Option<&str>; 2], encrypted: bool) -> [FabricLink; 2] {
    let [calling, called] = connected(encrypted);
    let domain = |provider: Option<&str>| match provider {
        Some(provider) => Domain::open(Some(provider)).map(Arc::new),
        None => Err(FabricError::Missing("left out by the test".to_owned())),
    };
    let secret = |end| encrypted.then(|| Secret::new(end, &TOKEN, CALLER));
    [
        FabricLink::new(calling, domain(providers[0]), secret(End::Caller)),
        FabricLink::new(called, domain(providers[1]), secret(End::Listener)),
    ]
}

/// Sends a frame as soon as it is taken, and takes it at the other end.
fn carry(from: &mut FabricLink, to: &mut FabricLink, order: u32) {
    let header = Header { order, ..Header::answer(Kind::Start, 8, 0) };
    let bytes = u64::from(order).to_le_bytes();
    let deadline = Instant::now() + Duration::from_secs(10);
    let (mut is_sent, mut has_come) = (false, false);
    while !has_come {
        assert!(Instant::now() < deadline, "frame {order} does not come");
        if !is_sent {
            is_sent = from.send(&header, Gather::new(&[&bytes])).is_ok();
        }
        from.flush().expect("open");
        let mut sink = |seen: &Header, payload: &[u8]| {
            assert_eq!((*seen, payload), (header, &bytes[..]));
            has_come = true;
        };
        to.receive(9, &mut sink).expect("open");
        from.receive(9, &mut |_: &Header, _: &[u8]| panic!("a frame that nobody sent")).expect("open");
    }
}

#[test]
fn fabric_passes_conformance_over_each_provider_of_one_host() {
    if !has_library() {
        return;
    }
    for provider in PROVIDERS {
        for encrypted in [false, true] {
            conformance::run(&TRANSPORT, || {
                let [left, right] = pair([Some(provider); 2], encrypted);
                Pair { left: Box::new(left), right: Box::new(right), keep: Box::new(()) }
            });
        }
    }
}

#[test]
fn frames_switch_to_the_fabric_and_keep_their_order() {
    if !has_library() {
        return;
    }
    let [mut left, mut right] = pair([Some("tcp"); 2], false);
    for order in 0..200 {
        carry(&mut left, &mut right, order);
        carry(&mut right, &mut left, order);
    }
    assert!(left.is_switched() && right.is_switched());
}

#[test]
fn link_stays_on_tcp_if_one_end_has_no_fabric_or_another_provider() {
    if !has_library() {
        return;
    }
    for providers in [[Some("tcp"), None], [None, Some("tcp")], [Some("tcp"), Some("sockets")], [None, None]]
    {
        let [mut left, mut right] = pair(providers, false);
        for order in 0..50 {
            carry(&mut left, &mut right, order);
            carry(&mut right, &mut left, order);
        }
        assert!(!left.is_switched() && !right.is_switched(), "{providers:?}");
    }
}

#[test]
fn link_ends_after_the_frames_of_a_peer_that_left() {
    if !has_library() {
        return;
    }
    let [mut left, mut right] = pair([Some("tcp"); 2], false);
    carry(&mut left, &mut right, 0);
    carry(&mut right, &mut left, 0);
    // Short, in several messages, and long ones.
    let lengths = [100, 100_000, LIMITS.frame, 9, LIMITS.frame];
    let bytes: Vec<u8> = (0..LIMITS.frame).map(|at| (at * 7 % 251) as u8).collect();
    let sent: Vec<u8> = lengths.iter().flat_map(|length| bytes[..*length].to_vec()).collect();
    for length in lengths {
        let header = Header::answer(Kind::Start, length as u64, 0);
        left.send(&header, Gather::new(&[&bytes[..length]])).expect("room");
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut come = Vec::new();
    while !left.flush().expect("open") {
        assert!(Instant::now() < deadline, "it does not leave");
        // A long payload leaves when the receiver asks for it.
        right.receive(1, &mut |_: &Header, payload: &[u8]| come.extend_from_slice(payload)).expect("open");
    }
    drop(left);
    loop {
        match right.receive(9, &mut |_: &Header, payload: &[u8]| come.extend_from_slice(payload)) {
            Ok(_) => assert!(Instant::now() < deadline, "{} bytes came", come.len()),
            Err(why) => break assert_eq!(why, Refused::Closed),
        }
    }
    assert!(come == sent, "{} of {} bytes came", come.len(), sent.len());
    let header = Header::answer(Kind::Start, 8, 0);
    assert_eq!(right.send(&header, Gather::new(&[&[0; 8]])), Err(Refused::Closed));
}

#[test]
fn several_links_share_an_endpoint_and_a_sleeper_sees_frames_of_each() {
    if !has_library() {
        return;
    }
    let shared = Arc::new(Domain::open(Some("tcp")).expect("an endpoint"));
    let mut pairs: Vec<[FabricLink; 2]> = Vec::new();
    for _ in 0..3 {
        let [calling, called] = connected(false);
        let far = Domain::open(Some("tcp")).map(Arc::new);
        pairs.push([
            FabricLink::new(calling, Ok(Arc::clone(&shared)), None),
            FabricLink::new(called, far, None),
        ]);
    }
    for order in 0..100 {
        for [near, far] in &mut pairs {
            carry(far, near, order);
            carry(near, far, order);
        }
    }
    // A frame for the first link, that the second one's look brings in.
    let bytes = 100u64.to_le_bytes();
    let header = Header::answer(Kind::Start, 8, 0);
    pairs[0][1].send(&header, Gather::new(&[&bytes])).expect("room");
    let deadline = Instant::now() + Duration::from_secs(10);
    while !shared.turn().shows_waiting() {
        assert!(Instant::now() < deadline, "it does not come");
        pairs[0][1].flush().expect("open");
        pairs[1][0].receive(9, &mut |_: &Header, _: &[u8]| panic!("another link's frame")).expect("open");
    }
    let mut has_come = false;
    pairs[0][0].receive(9, &mut |_: &Header, _: &[u8]| has_come = true).expect("open");
    assert!(has_come && !shared.turn().shows_waiting());
}

#[test]
fn unknown_provider_is_refused_with_help() {
    if !has_library() {
        return;
    }
    let why = Domain::open(Some("pigeon")).err().expect("refused").to_string();
    assert!(why.contains("no provider \"pigeon\"") && why.contains("help: `fi_info"), "{why}");
}

/// A peer that dies says nothing of what it has sent.
#[test]
fn frames_of_a_killed_peer_are_taken_before_the_end() {
    if !has_library() {
        return;
    }
    let [mut left, mut right] = pair([Some("tcp"); 2], false);
    carry(&mut left, &mut right, 0);
    carry(&mut right, &mut left, 0);
    let header = Header::answer(Kind::Start, 8, 0);
    for _ in 0..20 {
        left.send(&header, Gather::new(&[&[7; 8]])).expect("room");
    }
    left.forget_to_part();
    drop(left);
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut count = 0;
    while let Ok(taken) = right.receive(3, &mut |_: &Header, _: &[u8]| ()) {
        count += taken;
        assert!(Instant::now() < deadline, "{count} frames came");
    }
    assert_eq!(count, 20);
}

/// A stranger may reach the endpoint, and guess the number of a link.
#[test]
fn messages_of_strangers_are_dropped() {
    if !has_library() {
        return;
    }
    let shared = Arc::new(Domain::open(Some("tcp")).expect("an endpoint"));
    let [calling, called] = connected(false);
    let far = Domain::open(Some("tcp")).map(Arc::new);
    let mut near = FabricLink::new(calling, Ok(Arc::clone(&shared)), None);
    let mut far = FabricLink::new(called, far, None);
    carry(&mut far, &mut near, 0);
    carry(&mut near, &mut far, 0);
    let stranger = Domain::open(Some("tcp")).expect("an endpoint");
    let address = shared.turn().endpoint.address().to_vec();
    let to = stranger.turn().endpoint.add_peer(&address).expect("an address");
    for (key, long) in [(0, 0), (1, 0), (2, 100_000)] {
        let prefix = Prefix { link: 1, key, number: 1, taken: 70, long };
        let deadline = Instant::now() + Duration::from_secs(10);
        let send = || {
            stranger.turn().send(1, to, true, |buffer| {
                buffer[..Prefix::SIZE].copy_from_slice(&prefix.encode());
                Prefix::SIZE + 40
            })
        };
        while send() != Posted::Yes {
            assert!(Instant::now() < deadline, "it is not sent");
            stranger.turn().poll();
            near.receive(9, &mut |_: &Header, _: &[u8]| panic!("a stranger's frame")).expect("open");
        }
    }
    for order in 1..100 {
        stranger.turn().poll();
        carry(&mut far, &mut near, order);
        carry(&mut near, &mut far, order);
    }
}

/// psm2, which Debian's libfabric loads, sets handlers for SIGTERM and others.
#[test]
fn signal_handlers_of_the_program_stay() {
    let ask = || std::fs::read_to_string("/proc/self/status").expect("it is there");
    let caught = |status: &str| {
        let line = status.lines().find(|line| line.starts_with("SigCgt:")).expect("a line");
        line.trim_start_matches("SigCgt:").trim().to_owned()
    };
    let before = caught(&ask());
    if !has_library() {
        return;
    }
    assert_eq!(caught(&ask()), before);
}
