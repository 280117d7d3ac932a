//! A transport that is registered only here. It keeps the contract, users choose it by name, it moves messages, and all
//! tools show its name.

use crate::connecting::routes::{RoutePolicy, RouteWish};
use crate::connecting::transports::{ALL, FABRIC_FIRST, USUAL};
use crate::status::account;
use crate::status::counters;
use parvum_control::{ControlBlock, CounterBook, SENT_OVER, Taken, totals};
use parvum_engine::{
    Buffering, Completion, Counters, Destination, Engine, Outgoing, Pattern, Sent, Settings, TagMatch,
};
use parvum_transport::conformance::{self, Pair};
use parvum_transport::{Gather, Limits, Link, Needs, Refused, Route, Sink, Transport, own};
use parvum_wire::{Header, Tid};
use std::collections::VecDeque;
use std::ffi::{CStr, c_char};
use std::sync::{Arc, Mutex};

const TOY: Transport = Transport {
    route: Route::new(6),
    name: "toy",
    limits: Limits { frame: 1 << 10, eager: 1 << 10, single_copy: false, buffered: false },
    needs: Needs { one_host: false, daemons: false },
};

/// A line in such a list is all that a transport needs. The built-in transports have a list like this.
static WITH_TOY: [Transport; 3] = [parvum_shm::TRANSPORT, TOY, own::TRANSPORT];

type Queue = Arc<Mutex<VecDeque<(Header, Vec<u8>)>>>;

/// One end: a queue each way, of a few frames.
struct ToyLink {
    out: Queue,
    incoming: Queue,
}

impl Link for ToyLink {
    fn limits(&self) -> Limits {
        TOY.limits
    }

    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        let mut out = self.out.lock().expect("whole");
        if out.len() >= 16 {
            return Err(Refused::Full);
        }
        let mut bytes = vec![0; payload.len()];
        payload.copy_to(&mut bytes);
        out.push_back((*header, bytes));
        Ok(())
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        for taken in 0..most {
            let Some((header, bytes)) = self.incoming.lock().expect("whole").pop_front() else {
                return Ok(taken);
            };
            sink.frame(&header, &bytes);
        }
        Ok(most)
    }
}

fn ends() -> (ToyLink, ToyLink) {
    let (a, b) = (Queue::default(), Queue::default());
    (ToyLink { out: a.clone(), incoming: b.clone() }, ToyLink { out: b, incoming: a })
}

#[test]
fn new_transport_passes_conformance() {
    conformance::run(&TOY, || {
        let (left, right) = ends();
        Pair { left: Box::new(left), right: Box::new(right), keep: Box::new(()) }
    });
}

#[test]
fn new_transport_is_chosen_by_name_and_by_need() {
    let (here, near, far) = (Tid(0x40001), Tid(0x40002), Tid(0x80001));
    let named = RoutePolicy::new(&WITH_TOY, Some("toy")).expect("it is there");
    assert_eq!((named.wanted(here, near), named.wanted(here, far)), (TOY.route, TOY.route));
    assert_eq!(RoutePolicy::new(&WITH_TOY, Some("tcp")).err().as_deref(), Some("auto, shm or toy"));
    assert_eq!(
        RoutePolicy::new(&ALL, Some("itself")).err().as_deref(),
        Some("auto, shm, tcp, routed or fabric")
    );

    let mut best = RoutePolicy::new(&WITH_TOY, None).expect("no name");
    assert_eq!(best.wanted(here, near), parvum_shm::TRANSPORT.route);
    assert_eq!(best.wanted(here, far), TOY.route, "the first that leads to other hosts");
    best.ask(RouteWish::ByDaemons);
    assert_eq!(best.wanted(here, far), TOY.route, "there is none");
    let reasons = best.reasons(TOY.route, &[], false);
    assert_eq!(reasons[TOY.route.place()], Taken::InUse as u8);
    assert_eq!(reasons[parvum_shm::TRANSPORT.route.place()], Taken::OtherHost as u8);
}

#[test]
fn builtin_transports_fall_back_in_order() {
    let [shm, tcp, routed] = [parvum_shm::TRANSPORT, parvum_tcp::TRANSPORT, parvum_routed::TRANSPORT];
    let (here, far) = (Tid(0x40001), Tid(0x80001));
    let mut policy = RoutePolicy::new(&USUAL, None).expect("no name");
    assert_eq!(policy.wanted(here, far), tcp.route);
    assert_eq!(policy.after(tcp.route), Some(routed.route));
    assert_eq!(policy.after(routed.route), None);
    policy.take_detour(far, tcp.route, routed.route);
    assert_eq!(policy.detour(far, tcp.route), Some(routed.route));
    assert_eq!(policy.detour(far, shm.route), None, "that one was not tried");
    policy.forget(far);
    assert_eq!(policy.detour(far, tcp.route), None);
    let reasons = policy.reasons(routed.route, &[tcp.route], false);
    assert_eq!(reasons[tcp.route.place()], Taken::Refused as u8);
    policy.ask(RouteWish::ByDaemons);
    assert_eq!(policy.wanted(here, here), routed.route);
    assert_eq!(policy.reasons(routed.route, &[], true)[shm.route.place()], Taken::AskedOther as u8);
}

#[test]
fn fabric_is_first_between_hosts_only_if_it_is_asked_for() {
    let (here, near, far) = (Tid(0x40001), Tid(0x40002), Tid(0x80001));
    let [shm, tcp, fabric] = [parvum_shm::TRANSPORT, parvum_tcp::TRANSPORT, parvum_fabric::TRANSPORT];
    assert!(USUAL.iter().all(|one| one.route != fabric.route));
    let policy = RoutePolicy::new(&FABRIC_FIRST, None).expect("no name");
    assert_eq!((policy.wanted(here, near), policy.wanted(here, far)), (shm.route, fabric.route));
    assert_eq!(policy.after(fabric.route), Some(tcp.route));
    let named = RoutePolicy::new(&FABRIC_FIRST, Some("fabric")).expect("it is there");
    assert_eq!((named.wanted(here, near), named.wanted(here, far)), (fabric.route, fabric.route));
    assert_eq!(FABRIC_FIRST.len(), ALL.len());
}

/// An engine that counts in a control block, and tools' view of that.
fn engine_in_view(me: Tid) -> (Engine, &'static ControlBlock, &'static CounterBook) {
    let (control_block, file) = ControlBlock::create().expect("memory");
    let (control_block, book) = (
        Box::leak(Box::new(control_block)),
        Box::leak(Box::new(CounterBook::open(&file).expect("its ledgers"))),
    );
    control_block.name_routes(&RoutePolicy::new(&WITH_TOY, None).expect("no name").names());
    account::open(control_block, book, None);
    let cells = control_block.counters().first_chunk().expect("there are more");
    let ledger = Counters::new(cells, book.pairs(), &control_block.layout().unmatched);
    (Engine::new(me, Settings::default(), ledger), control_block, book)
}

#[test]
fn messages_of_new_transport_are_counted_under_its_name() {
    let (left, right) = ends();
    let (one, other) = (Tid(0x40001), Tid(0x40002));
    let (mut sender, control_block, book) = engine_in_view(one);
    let mut receiver = Engine::new(other, Settings::default(), Counters::private());
    sender.attach(other, TOY.route, Box::new(left));
    receiver.attach(one, TOY.route, Box::new(right));
    // The long one goes in several frames.
    let data: Vec<u8> = (0..5000u32).map(|at| at as u8).collect();
    for bytes in [&data[..8], &data] {
        let pieces = [bytes];
        let message = Outgoing {
            to: other,
            tag: 7,
            context: 0,
            meta: 0,
            pieces: &pieces,
            keep: None,
            buffering: Buffering::BySize,
            completion: Completion::Copied,
        };
        // SAFETY: the data outlives both engines.
        let sent = unsafe { sender.send(message) };
        assert!(matches!(sent, Ok(Sent::Now | Sent::Later(_))), "{sent:?}");
        let pattern = Pattern { from: Some(one), tag: TagMatch::Exactly(7), context: Some(0) };
        let id = receiver.post(pattern, Destination::Block, false, false);
        while !receiver.is_over(id) {
            sender.progress();
            receiver.progress();
        }
        let completed = receiver.completed(id).expect("it has come");
        assert!(completed.block.expect("a block").bytes() == bytes);
    }
    let names = control_block.routes();
    let pairs = book.read();
    let pair = pairs.iter().find(|pair| pair.peer == other.0).expect("it was sent to");
    assert_eq!(names[usize::from(pair.route)], "toy");
    let counted = totals(control_block.layout(), &pairs);
    assert_eq!(counted[SENT_OVER + TOY.route.place()], 2);
    assert_eq!(sender.ledger().sent_over(TOY.route), 2);
    // SAFETY: the text ends with a zero, and stays.
    let told = |name: *const c_char| unsafe { CStr::from_ptr(name) }.to_str().map(str::to_owned);
    assert_eq!(told(counters::parvum_route_name(6)).as_deref(), Ok("toy"));
    assert!([2, -1, 8].into_iter().all(|route| counters::parvum_route_name(route).is_null()));
}
