//! Containers on networks of packets: each process a thread with a node.

use super::program::program;
use containers::{Bounds, Error, Protocol};
use packets::{
    Cube, CubePort, Ethernet, EthernetPort, Faults, LoopbackPort, Node, Now, Port, Representative,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

struct Process<P: Port> {
    node: Node<P>,
    since: Instant,
    own: HashMap<String, u32>,
    others: HashMap<String, Representative<P::Address>>,
}

impl<P: Port> Process<P> {
    fn pass(&mut self) -> Now {
        let now = self.since.elapsed().as_micros() as Now;
        self.node.poll(now);
        now
    }

    /// Lets the network go on until there is a result.
    fn until<R>(&mut self, what: &str, mut done: impl FnMut(&mut Self, Now) -> Option<R>) -> R {
        loop {
            let now = self.pass();
            if let Some(result) = done(self, now) {
                return result;
            }
            assert!(self.since.elapsed() < Duration::from_secs(60), "never: {what}");
            std::thread::yield_now();
        }
    }
}

impl<P: Port> super::program::Process for Process<P> {
    fn open(&mut self, name: &str) {
        let container = self.node.create(Bounds::default());
        self.node.bind(name, container).expect("free");
        self.own.insert(name.to_owned(), container);
    }

    fn send(&mut self, name: &str, data: &[u8]) {
        if !self.others.contains_key(name) {
            let found = self.until("the name is bound", |it, _| it.node.lookup(name).ok());
            self.others.insert(name.to_owned(), found);
        }
        let to = self.others[name];
        let now = self.pass();
        self.node.send(now, &to, data, Protocol::Reliable).expect("sent");
    }

    fn receive(&mut self, name: &str) -> Vec<u8> {
        let (container, mut room) = (self.own[name], vec![0; 60_000]);
        let length = self.until("a message", |it, _| match it.node.receive(container, &mut room) {
            Ok((length, _)) => Some(length),
            Err(Error::Empty) => None,
            Err(why) => panic!("{why}"),
        });
        room.truncate(length);
        room
    }
}

/// Runs the program on such ports, a thread for each; gives what all have said, by process.
fn on<P: Port + Send>(ports: Vec<P>) -> Vec<String> {
    let (count, since, over) = (ports.len(), Instant::now(), &AtomicUsize::new(0));
    let run = |me: usize, port: P| {
        let (own, others) = (HashMap::new(), HashMap::new());
        let mut process = Process { node: Node::new(port), since, own, others };
        let said = program(&mut process, me, count);
        let is_through = |it: &mut Process<P>, _| {
            it.others.values().all(|to| it.node.is_delivered(to) == Ok(true)).then_some(())
        };
        process.until("all is delivered", is_through);
        // Others may still ask for what was lost.
        over.fetch_add(1, Ordering::Relaxed);
        process.until("all have ended", |_, _| (over.load(Ordering::Relaxed) == count).then_some(()));
        said
    };
    std::thread::scope(|scope| {
        let start = |(me, port)| scope.spawn(move || run(me, port));
        let threads: Vec<_> = ports.into_iter().enumerate().map(start).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it has not failed")).collect()
    })
}

pub fn on_loop() -> Vec<String> {
    on(vec![LoopbackPort::new(1000, 64)])
}

/// One packet in twenty is lost, others come twice or too early.
pub fn on_ethernet(count: usize) -> Vec<String> {
    let cable = Ethernet::new(Faults { lost: 50, repeated: 20, swapped: 50, seed: 7 });
    on((0..count as u32).map(|own| EthernetPort::new(&cable, own)).collect())
}

pub fn on_cube(count: usize) -> Vec<String> {
    let cube = Cube::new();
    on((0..count as u16).map(|own| CubePort::new(&cube, own)).collect())
}
