//! Messages, datagrams, groups, bounds.

use super::{content, cube, ethernet};
use crate::header::fragments;
use crate::names::lock;
use crate::{EthernetPort, Faults, Station};
use containers::{Bounds, Error, Protocol};

const LENGTHS: [usize; 10] = [0, 1, 1399, 1400, 1401, 4095, 4096, 4097, 70_000, 1 << 20];

#[test]
fn fragment_count_matches_length_on_ethernet() {
    let (mut world, _) = ethernet(2, Faults::default());
    let container = world.nodes[1].create(Bounds::default());
    world.nodes[1].bind("c", container).expect("free");
    let to = world.nodes[0].lookup("c").expect("bound");
    let mut room = vec![0; 1 << 20];
    for (number, length) in LENGTHS.into_iter().enumerate() {
        let before = world.nodes[0].counts();
        let data = content(number, length);
        world.nodes[0].send(world.now, &to, &data, Protocol::Reliable).expect("sent");
        world.until("it is there", |world| world.nodes[0].is_delivered(&to) == Ok(true));
        let after = world.nodes[0].counts();
        assert_eq!((after.fragments - before.fragments) as usize, fragments(length, 1400), "{length}");
        assert_eq!(after.repeats, 0);
        let (got, from) = world.nodes[1].receive(container, &mut room).expect("it is there");
        assert!(room[..got] == data[..], "{length}");
        assert_eq!((from.at, from.call), (Station::One(0), 0));
    }
    assert_eq!(world.nodes[0].counts().exchanges, 1, "one question for all messages");
    assert_eq!(world.nodes[1].pool().in_use(), 0);
}

#[test]
fn cube_copies_only_once_on_receive() {
    let (mut world, _) = cube(2);
    let container = world.nodes[1].create(Bounds::default());
    world.nodes[1].bind("c", container).expect("free");
    let to = world.nodes[0].lookup("c").expect("bound");
    let mut room = vec![0; 1 << 20];
    for (number, length) in LENGTHS.into_iter().enumerate() {
        let before = world.nodes[0].counts().fragments;
        let data = content(number, length);
        world.nodes[0].send(world.now, &to, &data, Protocol::Reliable).expect("sent");
        world.until("it is there", |world| world.nodes[0].is_delivered(&to) == Ok(true));
        let sent = (world.nodes[0].counts().fragments - before) as usize;
        assert_eq!(sent, fragments(length, 4096), "{length}");
        let (got, _) = world.nodes[1].receive(container, &mut room).expect("it is there");
        assert!(room[..got] == data[..], "{length}");
    }
    let (sender, receiver) = (world.nodes[0].counts(), world.nodes[1].counts());
    assert_eq!((sender.copies_out, receiver.copies_in), (0, LENGTHS.len() as u64));
    assert_eq!((sender.repeats, receiver.unwanted), (0, 0));
}

/// A network on which one packet in ten is lost and others come twice or too early.
fn bad(seed: u64) -> Faults {
    Faults { lost: 100, repeated: 50, swapped: 100, seed }
}

#[test]
fn reliable_messages_arrive_once_and_in_order() {
    for seed in 0..60 {
        let (mut world, _) = ethernet(2, bad(seed));
        let container = world.nodes[1].create(Bounds { messages: 7, bytes: 0 });
        world.nodes[1].bind("c", container).expect("free");
        let to = world.nodes[0].lookup("c").expect("bound");
        let length = |number: usize| number * number * 97 % 9000;
        for number in 0..60 {
            let data = content(number, length(number));
            world.nodes[0].send(world.now, &to, &data, Protocol::Reliable).expect("sent");
        }
        let mut room = vec![0; 10_000];
        for number in 0..60 {
            let mut got = Err(Error::Empty);
            world.until("it comes", |world| {
                got = world.nodes[1].receive(container, &mut room);
                got.is_ok()
            });
            let (got, _) = got.expect("it came");
            assert_eq!((got, &room[..got]), (length(number), &content(number, got)[..]), "seed {seed}");
        }
        world.until("all is answered", |world| world.nodes[0].is_delivered(&to) == Ok(true));
        world.pass(1_000_000);
        assert_eq!(world.nodes[1].receive(container, &mut room), Err(Error::Empty), "nothing twice");
        assert_eq!(world.nodes[1].pool().in_use(), 0);
        assert!(world.nodes[0].counts().repeats > 0, "the faults are there");
    }
}

#[test]
fn datagrams_arrive_whole_or_not_at_all() {
    let mut arrived = 0;
    for seed in 0..40 {
        let (mut world, _) = ethernet(2, bad(seed));
        let container = world.nodes[1].create(Bounds::default());
        world.nodes[1].bind("c", container).expect("free");
        let to = world.nodes[0].lookup("c").expect("bound");
        for number in 0..50 {
            let data = content(number, 100 + number * 100);
            world.nodes[0].send(world.now, &to, &data, Protocol::Datagram).expect("sent");
        }
        world.pass(100);
        let mut room = vec![0; 10_000];
        while let Ok((length, _)) = world.nodes[1].receive(container, &mut room) {
            let number = (length - 100) / 100;
            assert!(room[..length] == content(number, length)[..], "mixed: {length}, seed {seed}");
            arrived += 1;
        }
        // Those that never become whole are freed.
        world.pass(2_000_000);
        let counts = world.nodes[1].counts();
        assert!(counts.stale > 0 && world.nodes[1].pool().in_use() == 0, "{counts:?}");
    }
    assert!((500..2000).contains(&arrived), "{arrived} of 2000");
}

#[test]
fn full_container_blocks_reliable_sender_and_drops_datagrams() {
    let (mut world, _) = ethernet(2, Faults::default());
    let container = world.nodes[1].create(Bounds { messages: 3, bytes: 100 });
    world.nodes[1].bind("c", container).expect("free");
    let to = world.nodes[0].lookup("c").expect("bound");
    for number in 0..5u8 {
        world.nodes[0].send(0, &to, &[number], Protocol::Reliable).expect("sent");
    }
    (0..20).for_each(|_| world.pass(3000));
    assert_eq!(world.nodes[0].is_delivered(&to), Ok(false));
    world.nodes[0].send(world.now, &to, &[99], Protocol::Datagram).expect("sent");
    world.pass(1000);
    assert_eq!(world.nodes[1].counts().dropped, 1);
    let mut room = [0; 10];
    for number in 0..5 {
        assert_eq!(world.nodes[1].receive(container, &mut []), Err(Error::NoRoom { length: 1 }));
        let got = world.nodes[1].receive(container, &mut room);
        assert_eq!((got.map(|got| got.0), room[0]), (Ok(1), number));
        (0..3).for_each(|_| world.pass(200_000));
    }
    assert_eq!(world.nodes[0].is_delivered(&to), Ok(true));
}

#[test]
fn group_send_uses_one_packet_and_one_copy_each() {
    let (mut world, cable) = ethernet(4, Faults::default());
    let mut members = Vec::new();
    for node in 1..4 {
        for _ in 0..node {
            let container = world.nodes[node].create(Bounds::default());
            world.nodes[node].join(7, container);
            world.nodes[node].join(7, container);
            members.push((node, container));
        }
    }
    let to = world.nodes[0].group(Station::All, 7);
    let data = content(1, 5000);
    world.nodes[0].send(0, &to, &data, Protocol::Reliable).expect("sent");
    world.pass(100);
    assert_eq!(lock(&cable).transmissions(), 4);
    let mut room = [0; 5000];
    for (node, container) in members {
        assert_eq!(world.nodes[node].receive(container, &mut room).map(|got| got.0), Ok(5000));
        assert!(room[..] == data[..]);
        assert_eq!(world.nodes[node].receive(container, &mut room), Err(Error::Empty));
    }
    assert!(world.nodes.iter().all(|node| node.pool().in_use() == 0));
}

#[test]
fn message_to_same_node_uses_no_network() {
    let (mut world, cable) = ethernet(1, Faults { lost: 1000, ..Faults::default() });
    let node = &mut world.nodes[0];
    let container = node.create(Bounds::default());
    node.bind("c", container).expect("free");
    let to = node.lookup("c").expect("bound");
    for number in 0..10 {
        node.send(0, &to, &content(number, 3000), Protocol::Reliable).expect("sent");
    }
    let mut room = [0; 3000];
    for number in 0..10 {
        assert_eq!(node.receive(container, &mut room).map(|got| got.0), Ok(3000));
        assert!(room[..] == content(number, 3000)[..]);
    }
    assert_eq!((lock(&cable).transmissions(), node.counts().packets), (0, 0));
}

#[test]
fn names_are_unique_and_stale_handles_fail() {
    let (mut world, _) = ethernet(2, Faults::default());
    let container = world.nodes[1].create(Bounds::default());
    world.nodes[1].bind("c", container).expect("free");
    assert_eq!(world.nodes[0].bind("c", 1), Err(Error::NameTaken("c".into())));
    assert_eq!(world.nodes[0].lookup("d"), Err(Error::Unbound));
    assert_eq!(world.nodes[0].unbind("d"), Err(Error::Unbound));
    let to = world.nodes[0].lookup("c").expect("bound");
    world.nodes[1].destroy(container);
    world.nodes[0].send(0, &to, b"late", Protocol::Reliable).expect("under way");
    world.until("it is told", |world| world.nodes[0].is_delivered(&to) == Err(Error::Gone));
    assert_eq!(world.nodes[0].send(0, &to, b"later", Protocol::Reliable), Err(Error::Gone));
    world.nodes[1].unbind("c").expect("bound");
    let next = world.nodes[1].create(Bounds::default());
    world.nodes[1].bind("c", next).expect("free again");
    let to = world.nodes[0].lookup("c").expect("bound");
    world.nodes[0].send(0, &to, b"new", Protocol::Reliable).expect("sent");
    world.until("it is there", |world| world.nodes[0].is_delivered(&to) == Ok(true));
}

#[test]
fn arbitrary_packets_are_harmless() {
    let (mut world, cable) = ethernet(2, Faults::default());
    let container = world.nodes[1].create(Bounds::default());
    let mut random = 1u64;
    for round in 0..20_000u32 {
        let mut packet = crate::header::Header {
            kind: crate::header::Kind::Reliable,
            conversation: 1,
            sequence: 0,
            container,
            call: 0,
            fragment: 0,
            fragments: 3,
            length: 4000,
        }
        .encode()
        .to_vec();
        packet.resize(32 + round as usize % 1400, 1);
        for _ in 0..3 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (at, value) = ((random >> 40) as usize % 32, (random >> 32) as u8);
            packet[at] = value % 6;
        }
        crate::Transfer::send(
            crate::Port::transfer(world.nodes[0].port()),
            Station::One(1),
            &packet[..32],
            &packet[32..],
        );
        world.nodes[1].poll(0);
        // The answers go nowhere.
        world.nodes[0].poll(0);
    }
    drop(cable);
    let _: &EthernetPort = world.nodes[1].port();
    assert!(world.nodes[1].counts().unwanted > 0);
}
