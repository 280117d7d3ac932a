//! A trace on a machine: who has a processor when, and when each message comes.
//!
//! One event after the other, in the order of their times. A task that has something to do (a computation, its part of a message)
//! takes a processor of its host, or queues for one and gets turns; one that waits for a message has none. A message leaves
//! when its sender has done its part: it then has the link of its host and, a latency later, that of the receiver's, one message after the other on
//! each; or it waits for the medium, for which hosts take turns.

mod medium;

use crate::machine::{Machine, Route};
use crate::trace::{Action, Trace};
use medium::{Medium, OnMedium};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet, VecDeque};

/// Whoever shares a processor gives it up after so long.
const TURN: f64 = 3e6;

/// How it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// When the last task ended, in nanoseconds.
    pub time: f64,
    /// When each did.
    pub ended: Vec<f64>,
    /// How long each waited for messages.
    pub waited: Vec<f64>,
    /// Tasks that waited to the end for a message that never came.
    pub stuck: Vec<usize>,
}

/// Plays the trace.
pub fn play(trace: &Trace, machine: &Machine) -> Played {
    let mut world = World::new(trace, machine);
    for task in 0..trace.tasks.len() {
        if let Some(work) = world.next_work(task) {
            world.ready(task, work);
        }
    }
    while let Some(Next { time, what, .. }) = world.events.pop() {
        world.now = time;
        match what {
            What::Turn(task) => world.end_turn(task),
            What::Lands(host, passage) => world.lands(host, passage),
            What::Arrives(task, key) => world.arrives(task, key),
            What::MediumFree => {
                world.medium.end();
                world.use_medium();
            }
        }
    }
    let waits = |task: &&usize| world.tasks[**task].next < trace.tasks[**task].len();
    let all: Vec<usize> = (0..trace.tasks.len()).collect();
    let stuck = all.iter().filter(waits).copied().collect();
    let ended: Vec<f64> = world.tasks.iter().map(|task| task.ended).collect();
    let waited = world.tasks.iter().map(|task| task.waited).collect();
    Played { time: ended.iter().copied().fold(0.0, f64::max), ended, waited, stuck }
}

/// A message, to its receiver: its sender, and its number.
type Key = (usize, u32);

/// A message on the link into a host.
#[derive(Clone, Copy)]
struct Passage {
    /// How long it passes, and how long it keeps others from it.
    whole: f64,
    busy: f64,
    /// The task that it is for.
    to: usize,
    key: Key,
}

#[derive(Clone, Copy)]
enum What {
    /// A task's turn on its processor is over.
    Turn(usize),
    /// The beginning of a message has come to its receiver's host, through the switch.
    Lands(usize, Passage),
    /// A message has come.
    Arrives(usize, Key),
    /// What was on the shared medium has left it.
    MediumFree,
}

struct Next {
    time: f64,
    /// Of two at one time the first that was planned.
    order: u64,
    what: What,
}

impl PartialEq for Next {
    fn eq(&self, other: &Next) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Next) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Next) -> Ordering {
        // The heap has the greatest first.
        other.time.total_cmp(&self.time).then(other.order.cmp(&self.order))
    }
}

#[derive(Default)]
struct Task {
    /// Which action is next, or under way.
    next: usize,
    /// What its processor still has to do for that.
    left: f64,
    /// How long the turn is that it has, and what is left of its share before others come.
    turn: f64,
    share: f64,
    here: HashSet<Key>,
    waits: Option<(Key, f64)>,
    waited: f64,
    ended: f64,
}

#[derive(Default)]
struct Processors {
    free: usize,
    queue: VecDeque<usize>,
}

struct World<'a> {
    trace: &'a Trace,
    machine: &'a Machine,
    now: f64,
    planned: u64,
    events: BinaryHeap<Next>,
    tasks: Vec<Task>,
    processors: Vec<Processors>,
    /// When a link is free again: out of a host, and into it.
    out: Vec<f64>,
    into: Vec<f64>,
    medium: Medium,
}

impl<'a> World<'a> {
    fn new(trace: &'a Trace, machine: &'a Machine) -> World<'a> {
        let hosts = machine.hosts.max(1);
        let pools = if machine.shared_processors { 1 } else { hosts };
        let pool = || Processors { free: machine.processors.max(1), queue: VecDeque::new() };
        World {
            trace,
            machine,
            now: 0.0,
            planned: 0,
            events: BinaryHeap::new(),
            tasks: trace.tasks.iter().map(|_| Task::default()).collect(),
            processors: (0..pools).map(|_| pool()).collect(),
            out: vec![0.0; hosts],
            into: vec![0.0; hosts],
            medium: Medium::default(),
        }
    }

    fn plan(&mut self, time: f64, what: What) {
        self.planned += 1;
        self.events.push(Next { time, order: self.planned, what });
    }

    fn host(&self, task: usize) -> usize {
        self.machine.host(task, self.trace.tasks.len())
    }

    fn pool(&mut self, task: usize) -> &mut Processors {
        let place = if self.machine.shared_processors { 0 } else { self.host(task) };
        &mut self.processors[place]
    }

    fn route(&self, from: usize, to: usize) -> &Route {
        if self.host(from) == self.host(to) { &self.machine.within } else { &self.machine.between }
    }

    /// What the processor has to do for the task's next action; none when the task waits, or has ended.
    fn next_work(&mut self, task: usize) -> Option<f64> {
        let Some(action) = self.trace.tasks[task].get(self.tasks[task].next) else {
            self.tasks[task].ended = self.now;
            return None;
        };
        match *action {
            Action::Compute(ns) => Some(ns),
            Action::Send { to, bytes, .. } => Some(self.route(task, to).send.of(bytes)),
            Action::Receive { from, number, bytes } => {
                let work = self.route(from, task).receive.of(bytes);
                let own = &mut self.tasks[task];
                if own.here.remove(&(from, number)) {
                    return Some(work);
                }
                own.waits = Some(((from, number), self.now));
                None
            }
        }
    }

    /// A task that has no processor wants one.
    fn ready(&mut self, task: usize, work: f64) {
        let own = &mut self.tasks[task];
        (own.left, own.share) = (work, TURN);
        let pool = self.pool(task);
        if pool.free > 0 {
            pool.free -= 1;
            self.start_turn(task);
        } else {
            pool.queue.push_back(task);
        }
    }

    fn start_turn(&mut self, task: usize) {
        let own = &mut self.tasks[task];
        own.turn = own.left.min(own.share);
        let ends = self.now + own.turn;
        self.plan(ends, What::Turn(task));
    }

    /// It keeps its processor until it waits, ends, or has had its share while others queue.
    fn end_turn(&mut self, task: usize) {
        let own = &mut self.tasks[task];
        own.left -= own.turn;
        own.share -= own.turn;
        if own.left <= 0.0 {
            self.finish(task);
            self.tasks[task].next += 1;
            match self.next_work(task) {
                Some(work) => self.tasks[task].left = work,
                None => return self.pass_on(task),
            }
        }
        if self.tasks[task].share <= 0.0 {
            self.tasks[task].share = TURN;
            if !self.pool(task).queue.is_empty() {
                self.pool(task).queue.push_back(task);
                return self.pass_on(task);
            }
        }
        self.start_turn(task);
    }

    /// The processor that a task had is the next one's.
    fn pass_on(&mut self, task: usize) {
        let pool = self.pool(task);
        match pool.queue.pop_front() {
            Some(next) => self.start_turn(next),
            None => pool.free += 1,
        }
    }

    /// The processor has done its part of the action.
    fn finish(&mut self, task: usize) {
        let Action::Send { to, number, bytes } = self.trace.tasks[task][self.tasks[task].next] else {
            return;
        };
        let (source, target) = (self.host(task), self.host(to));
        let route = *self.route(task, to);
        let arrives = What::Arrives(to, (task, number));
        if source == target {
            return self.plan(self.now + route.latency + route.passes(bytes), arrives);
        }
        if self.machine.shared_medium {
            self.medium
                .wait(source, OnMedium { time: route.occupies(bytes), latency: route.latency, arrives });
            return self.use_medium();
        }
        let begins = self.out[source].max(self.now);
        let (busy, whole) = (route.occupies(bytes), route.passes(bytes));
        self.out[source] = begins + busy;
        self.plan(
            begins + route.latency,
            What::Lands(target, Passage { busy, whole, to, key: (task, number) }),
        );
    }

    /// A message has come through the switch to its receiver's link, which those that came before it have first.
    fn lands(&mut self, target: usize, passage: Passage) {
        let comes = self.now.max(self.into[target]) + passage.whole;
        self.into[target] = comes.max(self.now + passage.busy);
        self.plan(comes, What::Arrives(passage.to, passage.key));
    }

    /// Whose turn it is has the medium, if that is free.
    fn use_medium(&mut self) {
        let Some(next) = self.medium.begin() else { return };
        let ends = self.now + next.time;
        self.plan(ends, What::MediumFree);
        self.plan(ends + next.latency, next.arrives);
    }

    fn arrives(&mut self, task: usize, key: Key) {
        let own = &mut self.tasks[task];
        match own.waits.take_if(|(wanted, _)| *wanted == key) {
            None => _ = own.here.insert(key),
            Some((_, since)) => {
                own.waited += self.now - since;
                let Action::Receive { from, bytes, .. } = self.trace.tasks[task][own.next] else { return };
                let work = self.route(from, task).receive.of(bytes);
                self.ready(task, work);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Overhead;

    const WAY: Route = Route {
        latency: 1000.0,
        send: Overhead { message: 100.0, byte: 0.0 },
        receive: Overhead { message: 200.0, byte: 0.0 },
        gap: 50.0,
        byte: 2.0,
        frame: 0.0,
    };

    fn machine(hosts: usize) -> Machine {
        Machine::of(hosts, WAY)
    }

    fn send(to: usize, number: u32, bytes: u64) -> Action {
        Action::Send { to, number, bytes }
    }

    fn receive(from: usize, number: u32, bytes: u64) -> Action {
        Action::Receive { from, number, bytes }
    }

    #[test]
    fn message_takes_its_route_time_alone() {
        let trace = Trace { tasks: vec![vec![send(1, 0, 500)], vec![receive(0, 0, 500)]] };
        assert_eq!(play(&trace, &machine(2)).time, WAY.alone(500));
        let played = play(&trace, &machine(2));
        assert_eq!((played.ended[0], played.waited[1]), (100.0, 100.0 + 1000.0 + 1000.0));
    }

    #[test]
    fn messages_to_one_host_are_serialized() {
        let mut tasks: Vec<Vec<Action>> = (0..4).map(|_| vec![send(4, 0, 1000)]).collect();
        tasks.push((0..4).map(|from| receive(from, 0, 1000)).collect());
        let trace = Trace { tasks };
        // Four times 2000 ns on the link into the last host.
        assert_eq!(play(&trace, &machine(5)).time, 100.0 + 1000.0 + 4.0 * 2000.0 + 200.0);
        // On one medium as well; on a switch two pairs do not meet.
        let pairs = Trace {
            tasks: vec![
                vec![send(2, 0, 1000)],
                vec![send(3, 0, 1000)],
                vec![receive(0, 0, 1000)],
                vec![receive(1, 0, 1000)],
            ],
        };
        let medium = Machine { shared_medium: true, ..machine(4) };
        assert_eq!(play(&pairs, &machine(4)).time, 100.0 + 1000.0 + 2000.0 + 200.0);
        assert_eq!(play(&pairs, &medium).time, 100.0 + 1000.0 + 4000.0 + 200.0);
    }

    /// Who sends first to many is not in the way of who comes later to one of them.
    #[test]
    fn link_into_host_serves_first_arrival() {
        let trace = Trace {
            tasks: vec![
                vec![send(2, 0, 1000), send(3, 0, 1000)],
                vec![Action::Compute(100.0), send(3, 0, 1000)],
                vec![receive(0, 0, 1000)],
                vec![receive(1, 0, 1000), receive(0, 0, 1000)],
            ],
        };
        // The second task's comes first, and the first one's second behind it.
        assert_eq!(play(&trace, &machine(4)).time, 200.0 + 1000.0 + 2.0 * 2000.0 + 200.0);
    }

    #[test]
    fn hosts_alternate_on_shared_medium() {
        // The first host has three to send when the second one comes with one, which goes between them.
        let trace = Trace {
            tasks: vec![
                vec![send(2, 0, 1000), send(2, 1, 1000), send(2, 2, 1000)],
                vec![Action::Compute(1000.0), send(2, 0, 1000)],
                vec![receive(1, 0, 1000)],
            ],
        };
        let medium = Machine { shared_medium: true, ..machine(3) };
        assert_eq!(play(&trace, &medium).time, 100.0 + 2.0 * 2000.0 + 1000.0 + 200.0);
    }

    #[test]
    fn tasks_share_processors_in_time_slices() {
        let trace = Trace { tasks: vec![vec![Action::Compute(10e6)], vec![Action::Compute(4e6)], vec![]] };
        let played = play(&trace, &machine(1));
        assert_eq!(played.time, 14e6);
        // Turns of 3 ms: 3 of the first, 3 of the second, 3, 1.
        assert_eq!(played.ended, [14e6, 10e6, 0.0]);
        let two = Machine { processors: 2, ..machine(1) };
        assert_eq!(play(&trace, &two).time, 10e6);
        let in_name = Machine { hosts: 3, shared_processors: true, ..machine(1) };
        assert_eq!(play(&trace, &in_name).time, 14e6);
    }

    #[test]
    fn task_stuck_in_receive_is_reported() {
        let trace = Trace { tasks: vec![vec![receive(1, 0, 8)], vec![receive(0, 0, 8), send(0, 0, 8)]] };
        let played = play(&trace, &machine(2));
        assert_eq!(played.stuck, [0, 1]);
    }
}
