//! Calls: at most once, timers, servers that are slow or dead.

use super::{World, cube, ethernet};
use crate::names::lock;
use crate::{Call, EthernetPort, Faults, Port, Representative, Station};
use containers::{Bounds, ClientState, Decision, Error, Protocol};
use std::time::Duration;

/// Servers on all nodes but the first; who doubles what it is asked counts how often it was.
fn servers(world: &mut World<EthernetPort>) -> (Vec<u32>, Vec<Representative<Station>>) {
    let mut containers = Vec::new();
    for (at, node) in world.nodes.iter_mut().enumerate().skip(1) {
        let container = node.create(Bounds::default());
        node.bind(&format!("server {at}"), container).expect("free");
        containers.push(container);
    }
    let look = |at: usize| format!("server {}", at + 1);
    let found = (0..containers.len()).map(|at| world.nodes[0].lookup(&look(at)).expect("bound")).collect();
    (containers, found)
}

/// Serves what has come; gives how many requests.
fn serve<P: Port>(world: &mut World<P>, node: usize, container: u32) -> usize {
    let (mut room, mut count) = ([0; 8], 0);
    while let Ok((_, sender)) = world.nodes[node].receive(container, &mut room) {
        let answer = (u64::from_le_bytes(room) * 2).to_le_bytes();
        world.nodes[node].reply(world.now, &sender, &answer).expect("a call");
        count += 1;
    }
    count
}

#[test]
fn request_runs_once_despite_network_faults() {
    for seed in 0..40 {
        let faults = Faults { lost: 150, repeated: 150, swapped: 100, seed };
        let (mut world, _) = ethernet(2, faults);
        let (containers, found) = servers(&mut world);
        let mut state = ClientState::new(Protocol::Reliable);
        state.set_timer(Duration::from_millis(1), Some(Box::new(|_| Decision::Again)));
        let mut runs = 0;
        for number in 0..100u64 {
            let mut call = world.nodes[0].call(world.now, &found[0], &number.to_le_bytes()).expect("sent");
            let (mut room, mut over) = ([0; 8], None);
            world.until("it is answered", |world| {
                runs += serve(world, 1, containers[0]);
                over = world.nodes[0].answer(world.now, &mut call, &mut room, &mut state);
                over.is_some()
            });
            assert_eq!((over, u64::from_le_bytes(room)), (Some(Ok(8)), number * 2));
        }
        assert_eq!(runs, 100, "seed {seed}");
        assert!(state.repeats() > 0);
    }
}

#[test]
fn timer_handler_extends_then_gives_up() {
    let (mut world, cable) = ethernet(2, Faults::default());
    let (containers, found) = servers(&mut world);
    let mut state = ClientState::new(Protocol::Reliable);
    let patient = |state: &mut ClientState| match state.expiries_in_a_row() {
        1..=3 => Decision::WaitOn,
        _ => Decision::GiveUp,
    };
    state.set_timer(Duration::from_millis(10), Some(Box::new(patient)));
    state.begin();
    let mut room = [0; 8];
    // It answers after 25 ms.
    let mut call = world.nodes[0].call(world.now, &found[0], &7u64.to_le_bytes()).expect("sent");
    let mut over = None;
    world.until("it is answered", |world| {
        if world.now >= 25_000 {
            serve(world, 1, containers[0]);
        }
        over = world.nodes[0].answer(world.now, &mut call, &mut room, &mut state);
        over.is_some()
    });
    assert_eq!((over, state.expiries()), (Some(Ok(8)), 2));
    // Then it is switched off.
    lock(&cable).switch_off(1);
    state.begin();
    let mut call = world.nodes[0].call(world.now, &found[0], &7u64.to_le_bytes()).expect("sent");
    let (began, mut over) = (world.now, None);
    world.until("it is given up", |world| {
        over = world.nodes[0].answer(world.now, &mut call, &mut room, &mut state);
        over.is_some()
    });
    assert_eq!(over, Some(Err(Error::TimedOut)));
    assert!((40_000..42_000).contains(&(world.now - began)), "four times 10 ms");
}

#[test]
fn group_call_gets_answers_of_living_servers() {
    let (mut world, cable) = ethernet(4, Faults::default());
    let (containers, found) = servers(&mut world);
    lock(&cable).switch_off(2);
    let mut state = ClientState::new(Protocol::Reliable);
    state.set_timer(Duration::from_millis(20), None);
    let ask = |world: &mut World<EthernetPort>, server| world.nodes[0].call(world.now, server, &[1; 8]);
    let mut calls: Vec<Call<Station>> =
        found.iter().map(|server| ask(&mut world, server).expect("sent")).collect();
    let mut outcomes = vec![None; 3];
    world.until("all are over", |world| {
        for node in [1, 3] {
            serve(world, node, containers[node - 1]);
        }
        for (call, outcome) in calls.iter_mut().zip(&mut outcomes).filter(|(_, outcome)| outcome.is_none()) {
            *outcome = world.nodes[0].answer(world.now, call, &mut [0; 8], &mut state);
        }
        outcomes.iter().all(Option::is_some)
    });
    assert_eq!(outcomes, [Some(Ok(8)), Some(Err(Error::TimedOut)), Some(Ok(8))]);
}

#[test]
fn cube_notices_dead_node_without_timer() {
    let (mut world, cube) = cube(2);
    let container = world.nodes[1].create(Bounds::default());
    world.nodes[1].bind("server", container).expect("free");
    let server = world.nodes[0].lookup("server").expect("bound");
    let mut state = ClientState::default();
    let mut call = world.nodes[0].call(0, &server, &3u64.to_le_bytes()).expect("sent");
    world.pass(10);
    assert_eq!(serve(&mut world, 1, container), 1);
    world.pass(10);
    let mut room = [0; 8];
    assert_eq!(world.nodes[0].answer(0, &mut call, &mut room, &mut state), Some(Ok(8)));
    let mut call = world.nodes[0].call(0, &server, &3u64.to_le_bytes()).expect("sent");
    lock(&cube).fail(1);
    assert_eq!(world.nodes[0].answer(0, &mut call, &mut room, &mut state), Some(Err(Error::Gone)));
    assert_eq!(
        world.nodes[0].reply(0, &super::super::Sender { at: 1, call: 0 }, b""),
        Err(Error::BadArgument)
    );
}
